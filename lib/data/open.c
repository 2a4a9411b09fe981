#include "data/open.h"

#include "util/opt.h"

static struct data_set *
compare_with_index(struct data_set *set, int lenient, struct err *err)
{
    const int stale = set ? data_stale(set, err) : 0;

    if (!set || (stale < 0 && !lenient))
        die("%s", err->msg);
    if (stale)
        say("%s", err->msg);
    return set;
}

struct data_set *
data_open_or_die(const char *path, int lenient)
{
    struct err err;

    return compare_with_index(data_open(path, &err), lenient, &err);
}

struct data_set *
data_open_parts_or_die(const char *path)
{
    struct err err;

    return compare_with_index(data_open_parts(path, &err), 1, &err);
}

void
data_spare_or_die(const struct data_set *set, const char *output)
{
    if (data_reads(set, output))
        opt_misuse("'%s' is read from: it would be lost", output);
}
