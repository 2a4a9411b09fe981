#include <stdio.h>
#include <string.h>

#include "kept.h"

struct wire_msg *
wire_kept_find(const struct wire_kept *kept, const char *name, int64_t id)
{
    for (size_t i = 0; i < WIRE_KEPT_MAX; i++)
        if (kept->answer[i].msg && kept->answer[i].id == id &&
            !strcmp(kept->answer[i].name, name))
            return kept->answer[i].msg;
    return NULL;
}

int
wire_kept_late(const struct wire_kept *kept, const char *name, int64_t id)
{
    for (size_t i = 0; i < WIRE_KEPT_MAX; i++)
        if (kept->answer[i].msg && kept->answer[i].id > id &&
            !strcmp(kept->answer[i].name, name))
            return 1;
    return 0;
}

/* The asker's own place, else the oldest: free ones have turn 0. */
static size_t
place_for(const struct wire_kept *kept, const char *name)
{
    size_t oldest = 0;

    for (size_t i = 0; i < WIRE_KEPT_MAX; i++) {
        if (kept->answer[i].msg && !strcmp(kept->answer[i].name, name))
            return i;
        if (kept->answer[i].turn < kept->answer[oldest].turn)
            oldest = i;
    }
    return oldest;
}

void
wire_kept_put(struct wire_kept *kept, const char *name, int64_t id,
              struct wire_msg *msg)
{
    size_t i = place_for(kept, name);

    wire_msg_hold(msg);
    wire_msg_free(kept->answer[i].msg);
    snprintf(kept->answer[i].name, sizeof kept->answer[i].name, "%s", name);
    kept->answer[i].id = id;
    kept->answer[i].turn = ++kept->turn;
    kept->answer[i].msg = msg;
}

void
wire_kept_release(struct wire_kept *kept)
{
    for (size_t i = 0; i < WIRE_KEPT_MAX; i++)
        wire_msg_free(kept->answer[i].msg);
    *kept = (struct wire_kept){0};
}
