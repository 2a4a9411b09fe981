#ifndef UTIL_PRIORITY_H
#define UTIL_PRIORITY_H

/*
 * priority_low() gives this process the lowest priority there is (nice 19):
 * for stages beside the trainer, which must not take its processor time, and
 * never for what a user waits for.
 * What cannot be lowered stays as it is.
 */
void priority_low(void);

#endif
