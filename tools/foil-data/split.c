#include <stdlib.h>

#include "data.h"
#include "data/split.h"
#include "util/mem.h"

static long seed = 1;
static double share = .1;

const struct opt split_opts[] = {
    {"share", 0, OPT_REAL, &share, 1e-6, 1 - 1e-6, "X",
     "of each class that PART gets"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N", "of the random numbers"},
    {0},
};

static void
write_subset(const struct data_set *set, const uint8_t *in_part, uint8_t which,
             const char *path)
{
    struct err err;

    if (data_subset(set, in_part, which, path, &err))
        die("%s", err.msg);
}

void
run_split(char **operand)
{
    struct data_set *set = open_set(operand[0]);
    uint8_t *in_part = mem_array(data_size(set), 1);

    data_split(set, share, (uint64_t)seed, in_part);
    write_subset(set, in_part, 1, operand[1]);
    write_subset(set, in_part, 0, operand[2]);
    free(in_part);
    data_close(set);
}
