#ifndef FOIL_DOCTOR_REPORT_H
#define FOIL_DOCTOR_REPORT_H

/*
 * print_row() prints a line of the report.  refuse_run() saves the
 * first reason why no run can start; refusal() returns it, or NULL.
 */
void print_row(const char *name, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void refuse_run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *refusal(void);

/*
 * check_data() prints the size of a data set and the seconds of an
 * epoch, which it measures by some steps of a pipeline.
 *   path  of the data, or of their index
 *   made  a folder for an index, if the data have none, and for the run
 *   stop  when this descriptor is readable, the steps end
 */
void check_data(char *path, const char *made, int stop);

#endif
