#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data.h"
#include "data/split.h"
#include "util/mem.h"

static long seed = 1, count;
static double share = .1;

const struct opt split_opts[] = {
    {"share", 0, OPT_REAL, &share, 1e-6, 1 - 1e-6, "X",
     "share of each class that PART gets"},
    {"count", 'n', OPT_WHOLE, &count, 0, 1e14, "N",
     "number of samples that PART gets; 0: by share"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N", "seed of the random numbers"},
    {0},
};

void
refuse_overwriting(const char *index)
{
    struct stat st;
    struct err err;

    if (!stat(index, &st) && S_ISREG(st.st_mode) && st.st_size &&
        data_is_index(index, &err) != 1)
        opt_misuse("'%s' exists and is no index; choose another name, or "
                   "remove it",
                   index);
}

/* Writes the index of the samples whose in_part is `which`. */
static void
write_subset(const struct data_set *set, const uint8_t *in_part, uint8_t which,
             const char *path)
{
    struct err err;

    data_protect_or_die(set, path);
    refuse_overwriting(path);
    or_die(data_subset(set, in_part, which, path, &err), &err);
}

void
run_split(char **operand)
{
    struct data_set *set;
    uint8_t *in_part;

    if (count && opt_is_set(&share))
        opt_misuse("give --share or --count, not both");
    if (!strcmp(operand[1], operand[2]))
        opt_misuse("PART and REST are both '%s'", operand[1]);
    set = data_open_or_die(operand[0], 0);
    in_part = mem_array(data_size(set), 1);
    if ((size_t)count >= data_size(set))
        die("'%s' has %zu sample%s: cannot take %ld and leave some", operand[0],
            data_size(set), plural(data_size(set)), count);
    if (count)
        share = (double)count / (double)data_size(set);
    data_split(set, share, (uint64_t)seed, in_part);
    write_subset(set, in_part, 1, operand[1]);
    write_subset(set, in_part, 0, operand[2]);
    free(in_part);
    data_close(set);
}

static const char *output;
static double factor = .01;

const struct opt longtail_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE",
     "the index of the subset; required"},
    {"factor", 0, OPT_REAL, &factor, 1e-6, 1e6, "X",
     "size of the last class over the first's; above 1: sizes increase"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N", "seed of the random numbers"},
    {0},
};

void
run_longtail(char **operand)
{
    const char *path = require_output(output, "index");
    struct data_set *set = data_open_or_die(operand[0], 0);
    uint8_t *in_part = mem_array(data_size(set), 1);
    size_t kept;

    if (!data_classes(set))
        die("'%s' has no labels; longtail needs classes", operand[0]);
    kept = data_longtail(set, factor, (uint64_t)seed, in_part);
    write_subset(set, in_part, 1, path);
    log_message("'%s': %zu of %zu sample%s", path, kept, data_size(set),
                plural(data_size(set)));
    free(in_part);
    data_close(set);
}
