#ifndef FOIL_DOCTOR_REPORT_H
#define FOIL_DOCTOR_REPORT_H

void print_row(const char *name, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* refuse_run() saves the first reason why no run can start; refusal() returns
 * it, or NULL. */
void refuse_run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *refusal(void);

#endif
