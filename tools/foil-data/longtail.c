#include <stdlib.h>

#include "data.h"
#include "data/split.h"
#include "util/mem.h"

static const char *output;
static double factor = .01;
static long seed = 1;

const struct opt longtail_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE",
     "the index of the subset; must be given"},
    {"factor", 0, OPT_REAL, &factor, 1e-6, 1e6, "X",
     "size of the last class over that of the first; above 1 they rise"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N", "seed of the random numbers"},
    {0},
};

void
run_longtail(char **operand)
{
    const char *path = wanted_output(output, "index");
    struct data_set *set = data_open_or_die(operand[0], 0);
    uint8_t *in_part = mem_array(data_size(set), 1);
    size_t kept;

    if (!data_classes(set))
        die("'%s' has no labels, so no class to thin out", operand[0]);
    kept = data_longtail(set, factor, (uint64_t)seed, in_part);
    write_subset(set, in_part, 1, path);
    say("'%s': %zu of %zu sample%s", path, kept, data_size(set),
        plural(data_size(set)));
    free(in_part);
    data_close(set);
}
