#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "select.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

enum { LISTED = 20 }; /* most rejected samples named on stderr */

/* The name of a sample, or "" if its record cannot be read. */
static const char *
name_of(const struct data_set *set, size_t id)
{
    struct err err;

    return data_touch(set, id, &err) ? "" : data_name(set, id);
}

/* The quarantine list: lines of id, name and reason, with tabs. */
static char *
list_quarantine(const struct select_quarantine *bad, const struct data_set *set)
{
    size_t len = 0, room = 0;
    char *text = NULL;

    mem_grow(&text, &room, 1, 1);
    text[0] = '\0';
    for (size_t i = 0; i < bad->n; i++) {
        const struct select_rejected *r = &bad->item[i];
        char *line = mem_format("%" PRId64 "\t%s\t%s\n", r->id,
                                name_of(set, (size_t)r->id), r->reason);
        size_t n = strlen(line) + 1;

        mem_grow(&text, &room, len + n, 1);
        memcpy(text + len, line, n);
        len += n - 1;
        free(line);
    }
    return text;
}

void
select_report(const struct select_quarantine *bad, const struct data_set *set,
              const char *file)
{
    struct err err;
    char *list;

    if (bad->n)
        log_message("%zu sample%s could not be used:", bad->n, plural(bad->n));
    for (size_t i = 0; i < bad->n && i < LISTED; i++)
        log_message("%" PRId64 " '%s': %s", bad->item[i].id,
                    name_of(set, (size_t)bad->item[i].id), bad->item[i].reason);
    if (bad->n > LISTED)
        log_message("... and %zu more", bad->n - LISTED);
    if (!file)
        return;
    list = list_quarantine(bad, set);
    if (file_write(file, list, strlen(list), &err))
        die("%s", err.msg);
    free(list);
}
