#include "data.h"
#include "data/split.h"

struct data_set *
open_set(const char *path)
{
    struct err err;
    struct data_set *set = data_open(path, &err);
    int stale = set ? data_stale(set, &err) : -1;

    if (stale < 0)
        die("%s", err.msg);
    if (stale)
        say("%s", err.msg);
    return set;
}

const char *
wanted_output(const char *output, const char *what)
{
    if (!output)
        opt_misuse("name the %s with -o FILE", what);
    return output;
}

void
write_subset(const struct data_set *set, const uint8_t *in_part, uint8_t which,
             const char *path)
{
    struct err err;

    if (data_subset(set, in_part, which, path, &err))
        die("%s", err.msg);
}
