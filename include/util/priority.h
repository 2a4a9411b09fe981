#ifndef UTIL_PRIORITY_H
#define UTIL_PRIORITY_H

/*
 * priority_low() gives the calling thread, and those that it starts from here
 * on, the lowest priority there is (nice 19): for work beside the trainer,
 * which must not take its processor time, and never for work that the trainer
 * or a user waits for.  Called first in main() it is for the process.  A
 * thread that cannot be lowered stays as it is; one that was lowered
 * cannot be raised again without privileges.
 */
void priority_low(void);

#endif
