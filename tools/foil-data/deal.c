#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "data/pack.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/progress.h"
#include "util/rng.h"

enum { OPEN_TARS = 256 };

static const char *output;
static long seed = 1;

const struct opt deal_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "DIR",
     "the folder of the tars; required"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N", "seed of the random numbers"},
    STAGE_FETCH_OPTS,
    {0},
};

static void
add_member(struct data_pack *pack, size_t id, const char *suffix,
           const void *bytes, size_t len)
{
    char name[64];
    struct err err;

    snprintf(name, sizeof name, "%012zu.%s", id, suffix);
    or_die(data_pack_add(pack, name, bytes, len, &err), &err);
}

/* Copies a sample with its class and its captions. */
static void
add_sample(struct data_pack *pack, struct data_set *set, size_t id,
           struct data_bytes *bytes)
{
    const char *caption, *class;
    struct err err;
    int label;

    or_die(data_read(set, id, bytes, &err), &err);
    add_member(pack, id, image_codec_name(data_file(set, id).codec),
               bytes->data, bytes->len);
    label = data_label(set, id);
    class = label < 0 ? "" : data_class_name(set, (size_t)label);
    if (*class)
        add_member(pack, id, "cls", class, strlen(class));
    caption = data_caption(set, id);
    if (*caption)
        add_member(pack, id, "txt", caption, strlen(caption));
}

/* Makes the tars from .. from + n - 1 that are missing. */
static size_t
make_tars(struct data_set *set, const uint32_t *tar, size_t from, size_t n,
          struct progress *progress)
{
    struct data_pack *pack[OPEN_TARS] = {NULL};
    struct data_bytes bytes = {0};
    struct err err;
    size_t written = 0, size = data_size(set);

    for (size_t i = 0; i < n; i++) {
        const char *path = mem_temp("%s/%05zu.tar", output, from + i);

        if (!file_exists(path)) {
            pack[i] = data_pack_open(path, &err);
            written++;
            or_die(!pack[i], &err);
        }
    }
    for (size_t id = 0; written && id < size; id++) {
        if (tar[id] - from >= n || !pack[tar[id] - from])
            continue;
        add_sample(pack[tar[id] - from], set, id, &bytes);
        progress_show(progress, (double)from + (double)(n * id / size), "");
    }
    for (size_t i = 0; i < n; i++)
        or_die(pack[i] && data_pack_keep(pack[i], &err), &err);
    data_bytes_release(&bytes);
    return written;
}

void
run_deal(char **operand)
{
    const size_t each = (size_t)opt_whole("N", operand[0], 1, 1e9);
    struct data_set *set;
    struct progress progress;
    size_t n, tars, written = 0;
    struct err err;
    int64_t *order;
    uint32_t *tar;
    struct rng rng;

    if (!output)
        opt_misuse("name the folder of the tars with -o DIR");
    set = data_open_or_die(operand[1], 0);
    n = data_size(set);
    tars = (n + each - 1) / each;
    or_die(file_mkdir(output, 0777, &err), &err);
    // the tar of each sample: as many samples in each, to within one
    order = mem_array(n, sizeof *order);
    tar = mem_array(n, sizeof *tar);
    for (size_t i = 0; i < n; i++)
        order[i] = (int64_t)i;
    rng_init(&rng, (uint64_t)seed, RNG_SPLIT, 0, 0, 1);
    rng_shuffle(&rng, n, order);
    for (size_t i = 0; i < n; i++)
        tar[order[i]] = (uint32_t)(i % tars);
    free(order);
    progress_start(&progress, "tars", 0, (double)tars);
    for (size_t from = 0; from < tars; from += OPEN_TARS)
        written += make_tars(set, tar, from,
                             tars - from < OPEN_TARS ? tars - from : OPEN_TARS,
                             &progress);
    progress_clear(&progress);
    log_message("'%s': %zu image%s in %zu tar%s, %zu of them new", output,
                data_size(set), plural(data_size(set)), tars, plural(tars),
                written);
    free(tar);
    data_close(set);
}
