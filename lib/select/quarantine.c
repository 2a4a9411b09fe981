#include <stdlib.h>
#include <string.h>

#include "select/quarantine.h"
#include "util/mem.h"

/* The index of an id, or where to insert it. */
static size_t
find_quarantined(const struct select_quarantine *quarantine, int64_t id)
{
    size_t low = 0, high = quarantine->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (quarantine->item[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void
select_quarantine_add(struct select_quarantine *quarantine, int64_t id,
                      const char *reason)
{
    size_t at = find_quarantined(quarantine, id);
    struct select_rejected *item = quarantine->item;

    if (at < quarantine->n && item[at].id == id)
        return;
    mem_grow(&quarantine->item, &quarantine->room, quarantine->n + 1,
             sizeof *item);
    item = quarantine->item;
    memmove(item + at + 1, item + at, (quarantine->n - at) * sizeof *item);
    item[at] = (struct select_rejected){id, mem_text(reason)};
    quarantine->n++;
}

void
select_quarantine_release(struct select_quarantine *quarantine)
{
    for (size_t i = 0; i < quarantine->n; i++)
        free(quarantine->item[i].reason);
    free(quarantine->item);
    *quarantine = (struct select_quarantine){0};
}
