#include "pages.h"

#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/mem.h"

/* Finds a page of that name in the installation, perhaps compressed, or in the
 * checkout of this program; to be freed, or NULL. */
static char *
find_file(const char *folder, char section, const char *name)
{
    char *where[] = {
        mem_format("%s/../share/man/man%c/%s", folder, section, name),
        mem_format("%s/../share/man/man%c/%s.gz", folder, section, name),
        mem_format("%s/../../../tools/%s", folder, name),
    };
    char *page = NULL;

    for (size_t i = 0; i < sizeof where / sizeof *where; i++)
        if (!page && file_exists(where[i]))
            page = where[i];
        else
            free(where[i]);
    return page;
}

char *
pages_find(const char *folder, const char *topic)
{
    static const char sections[] = "157";

    if (strchr(topic, '/'))
        return NULL;
    for (const char *in = sections; *in; in++)
        for (int lead = 1; lead >= 0; lead--) {
            char *name = mem_format("%s%s.%c", lead ? "foil-" : "", topic, *in);
            char *page = find_file(folder, *in, name);

            free(name);
            if (page)
                return page;
        }
    return NULL;
}
