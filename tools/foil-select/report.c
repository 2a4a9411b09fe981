#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "select.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

enum { LISTED = 20 }; /* maximum rejected samples named on stderr */

void
select_quarantine_add(struct select_quarantine *quarantine, int64_t id,
                      const char *reason)
{
    struct select_rejected *item = quarantine->item;
    size_t at = 0, high = quarantine->n;

    while (at < high) { // find the id, or where to insert it
        const size_t middle = at + (high - at) / 2;

        if (item[middle].id < id)
            at = middle + 1;
        else
            high = middle;
    }
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

/* The name of a sample, or "" if its record cannot be read. */
static const char *
name_of(const struct data_set *set, size_t id)
{
    struct err err;

    return data_touch(set, id, &err) ? "" : data_name(set, id);
}

void
select_report(const struct select_quarantine *bad, const struct data_set *set,
              const char *file)
{
    struct file_draft draft;
    struct err err;

    if (bad->n)
        log_message("%zu sample%s could not be used:", bad->n, plural(bad->n));
    for (size_t i = 0; i < bad->n && i < LISTED; i++)
        log_message("%" PRId64 " '%s': %s", bad->item[i].id,
                    name_of(set, (size_t)bad->item[i].id), bad->item[i].reason);
    if (bad->n > LISTED)
        log_message("... and %zu more", bad->n - LISTED);
    if (!file)
        return;
    or_die(file_draft_open(&draft, file, &err), &err);
    for (size_t i = 0; i < bad->n; i++)
        fprintf(draft.file, "%" PRId64 "\t%s\t%s\n", bad->item[i].id,
                name_of(set, (size_t)bad->item[i].id), bad->item[i].reason);
    or_die(file_draft_keep(&draft, &err), &err);
}
