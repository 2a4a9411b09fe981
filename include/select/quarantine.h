#ifndef SELECT_QUARANTINE_H
#define SELECT_QUARANTINE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The quarantine: samples that could not be used, each with the first reason
 * reported for it.
 */
struct select_rejected {
    int64_t id;
    char *reason;
};

struct select_quarantine {
    struct select_rejected *item; /* [n], ascending by id */
    size_t n, room;
};

/* select_quarantine_add() adds a sample with a copy of the reason, unless the
 * sample is there already: O(log n), O(n) if it is new.  A zeroed struct is an
 * empty quarantine. */
void select_quarantine_add(struct select_quarantine *quarantine, int64_t id,
                           const char *reason);
void select_quarantine_release(struct select_quarantine *quarantine);

#endif
