#include "data/open.h"

#include "util/opt.h"

struct data_set *
data_open_or_die(const char *path, int lenient)
{
    struct err err;
    struct data_set *set = data_open(path, &err);
    const int stale = set ? data_stale(set, &err) : 0;

    if (!set || (stale < 0 && !lenient))
        die("%s", err.msg);
    if (stale)
        say("%s", err.msg);
    return set;
}
