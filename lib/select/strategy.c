#include <string.h>

#include "select/replace.h"
#include "select/shuffle.h"
#include "select/strategy.h"

static const struct select_strategy table[] = {
    {"shuffle", "a new permutation in each epoch", select_shuffle},
    {"replace", "each batch drawn by itself, with replacement", select_replace},
};

enum { COUNT = sizeof table / sizeof *table };

const struct select_strategy *
select_strategy_find(const char *name, struct err *err)
{
    char names[256] = "";

    for (size_t i = 0; i < COUNT; i++) {
        if (!strcmp(table[i].name, name))
            return &table[i];
        strncat(names, " ", sizeof names - strlen(names) - 1);
        strncat(names, table[i].name, sizeof names - strlen(names) - 1);
    }
    err_set(err, "no strategy '%s': there are%s", name, names);
    return NULL;
}
