#pragma once

/* priority_lower() lowers the priority of the calling thread and of threads
 * that it starts later, below the trainer's; called first in main(), it lowers
 * the whole process.  It never raises a priority, and ignores failure. */
enum priority {
    /* for work that a person waits for: a quarter of a processor that another
     * process keeps busy */
    PRIORITY_LOW = 5,
    /* for work without deadline, the lowest: a hundredth of such a processor */
    PRIORITY_IDLE = 19,
};

void priority_lower(enum priority nice);

/* nofile_raise() raises the limit of open files of this process to its maximum
 * (RLIMIT_NOFILE, soft to hard).  Returns the new limit. */
unsigned long nofile_raise(void);
