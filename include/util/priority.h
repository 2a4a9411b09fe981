#ifndef UTIL_PRIORITY_H
#define UTIL_PRIORITY_H

/*
 * priority_low() gives this process the lowest priority there is (nice 19):
 * for stages that feed the trainer and must not take its processor time.
 * What cannot be lowered stays as it is.
 */
void priority_low(void);

#endif
