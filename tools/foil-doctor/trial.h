#ifndef FOIL_DOCTOR_TRIAL_H
#define FOIL_DOCTOR_TRIAL_H

/*
 * check_data() prints the size of a data set and the seconds of an epoch, which
 * it measures by some steps of a pipeline.
 *   path  of the data, or of their index
 *   made  a folder for an index, if the data have none, and for the run
 *   stop  when this descriptor is readable, the steps end
 */
void check_data(char *path, const char *made, int stop);

#endif
