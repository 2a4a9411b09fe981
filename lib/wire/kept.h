#ifndef WIRE_KEPT_H
#define WIRE_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "wire/msg.h"

/*
 * The last answer to each asker of a service: a repeated request gets the
 * same one, and one from before that, on an earlier connection, is late. Askers
 * are named, as their connections come and go; the one that was answered
 * longest ago makes room.  For lib/wire/server.c.
 */
enum { WIRE_KEPT_MAX = 64 };

struct wire_kept {
    uint64_t turn;
    struct {
        char name[64];
        int64_t id;
        uint64_t turn;
        struct wire_msg *msg; /* held; NULL: free */
    } answer[WIRE_KEPT_MAX];
};

/* wire_kept_find() returns the answer to that request, or NULL. */
struct wire_msg *wire_kept_find(const struct wire_kept *kept, const char *name,
                                int64_t id);

/* wire_kept_late() returns 1 when that asker has the answer to a later request:
 * ids rise. */
int wire_kept_late(const struct wire_kept *kept, const char *name, int64_t id);

/* wire_kept_put() holds msg, in place of the asker's answer before. */
void wire_kept_put(struct wire_kept *kept, const char *name, int64_t id,
                   struct wire_msg *msg);

void wire_kept_release(struct wire_kept *kept);

#endif
