#ifndef UTIL_PRIORITY_H
#define UTIL_PRIORITY_H

/*
 * priority_lower() gives the calling thread, and those that it starts from here
 * on, a lower priority than the trainer's.  Called first in main() it is for
 * the process.  A thread that cannot be lowered stays as it is, and so does one
 * that is that low already.
 */
enum priority {
    /* a person looks on: a quarter of a processor that another wants, too */
    PRIORITY_BESIDE = 5,
    /* neither the trainer nor a person waits: the lowest that there is, a
     * hundredth of such a processor */
    PRIORITY_SPARE = 19,
};

void priority_lower(enum priority nice);

#endif
