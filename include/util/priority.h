#ifndef UTIL_PRIORITY_H
#define UTIL_PRIORITY_H

/*
 * priority_lower() gives the calling thread, and threads that it starts from
 * here on, a lower priority than the trainer's; called first in main(), it
 * lowers the whole process.  A thread that cannot be lowered stays as it is,
 * and so does one that is that low already.
 */
enum priority {
    /* for work that a person waits for: beside a busy process it gets a quarter
     * of a processor */
    PRIORITY_BESIDE = 5,
    /* for work that nobody waits for: the lowest that there is, a hundredth of
     * such a processor */
    PRIORITY_SPARE = 19,
};

void priority_lower(enum priority nice);

#endif
