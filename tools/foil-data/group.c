#include <stdlib.h>

#include "data.h"
#include "data/group.h"
#include "data/npy.h"
#include "data/pool.h"
#include "util/mem.h"
#include "util/progress.h"

static const char *output;
static int by = -1;
enum { BY_DUPLICATE, BY_CAPTION, BY_LABEL, BY_FILE };
static long bits = 8, max_pixels = IMAGE_MAX_PIXELS;
static double levels = 12;

const struct opt group_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE",
     "group of each sample, .npy; required"},
    {"by", 0, OPT_CHOICE, &by, 0, 0, "duplicate|caption|label|file",
     "what samples of a group have in common; required"},
    {"bits", 0, OPT_WHOLE, &bits, 0, 15, "N",
     "duplicate: most bits of 64 that differ between hashes"},
    {"levels", 0, OPT_REAL, &levels, 0, 255, "X",
     "duplicate: largest mean difference of colours"},
    {"max-pixels", 0, OPT_WHOLE, &max_pixels, 1, 1e9, "N",
     "refuse images with more pixels"},
    STAGE_FETCH_OPTS,
    {0},
};

static size_t
group_duplicates(struct data_set *set, int64_t *group)
{
    const struct data_pool_settings how = {.policy = IMAGE_REFUSE,
                                           .max_pixels = (size_t)max_pixels};
    struct data_pool *pool = data_pool_new(set, &how);
    const size_t n = data_size(set);
    struct image_fingerprint *print = mem_array(n, sizeof *print);
    struct image_scratch *scratch = NULL;
    struct progress progress;
    size_t groups;

    progress_start(&progress, "images", 0, (double)n);
    for (size_t i = 0; i < n; i++) {
        struct err err;
        const struct image *image = data_pool_get(pool, i, NULL, &err);

        if (!image) {
            progress_clear(&progress);
            die("%s", err.msg);
        }
        image_fingerprint(image, &scratch, &print[i]);
        progress_show(&progress, (double)i, "");
    }
    progress_clear(&progress);
    groups = data_group_fingerprint(n, print, (size_t)bits, levels, group);
    image_scratch_free(scratch);
    free(print);
    data_pool_free(pool);
    return groups;
}

void
run_group(char **operand)
{
    const char *path = require_output(output, "list of groups");
    struct data_set *set;
    struct data_npy npy = {.type = DTYPE_I8, .rank = 1, .shape = {0, 1}};
    size_t n, groups, grouped = 0, *members;
    int64_t *group;
    struct err err;

    if (by < 0)
        opt_misuse("say what samples have in common with --by");
    set = data_open_or_die(operand[0], 0);
    data_protect_or_die(set, path);
    npy.shape[0] = n = data_size(set);
    npy.data = group = mem_array(n, sizeof *group);
    groups = by == BY_DUPLICATE ? group_duplicates(set, group)
             : by == BY_CAPTION ? data_group_caption(set, group)
             : by == BY_LABEL   ? data_group_label(set, group)
                                : data_group_file(set, group);
    members = mem_array(groups, sizeof *members);
    for (size_t i = 0; i < n; i++)
        members[group[i]]++;
    for (size_t i = 0; i < n; i++)
        grouped += members[group[i]] > 1;
    or_die(data_npy_write(path, &npy, &err), &err);
    log_message(
        "'%s': %zu sample%s in %zu group%s, %zu of them in groups of two or "
        "more",
        path, n, plural(n), groups, plural(groups), grouped);
    free(members);
    data_npy_release(&npy);
    data_close(set);
}
