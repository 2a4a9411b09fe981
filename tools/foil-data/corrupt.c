#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "data/pool.h"
#include "data/sheet.h"
#include "image/corrupt.h"
#include "util/mem.h"

static const char *output, *kind_name, *sheet;
static long severity = 1, quality = 95, seed = 1;
static long max_pixels = IMAGE_MAX_PIXELS;

const struct opt corrupt_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE", "the tar; required"},
    {"kind", 'k', OPT_TEXT, &kind_name, 0, 0, "NAME",
     "kind of corruption, or all; required"},
    {"severity", 0, OPT_WHOLE, &severity, 0, IMAGE_SEVERITIES, "N",
     "1 weak to 5 strong; 0: all five"},
    {"quality", 'q', OPT_WHOLE, &quality, 1, 100, "Q", "quality of the JPEGs"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N", "seed of the random numbers"},
    {"max-pixels", 0, OPT_WHOLE, &max_pixels, 1, 1e9, "N",
     "refuse images with more pixels"},
    {"sheet", 0, OPT_TEXT, &sheet, 0, 0, "FILE",
     "draw all kinds and severities as PNG, and end"},
    {0},
};

/* A half-open range of kinds or severities. */
struct range {
    size_t from, to;
};

static struct range
read_kinds(void)
{
    struct range range;
    struct err err;

    if (!kind_name)
        opt_misuse("name the corruption with --kind NAME");
    if (!strcmp(kind_name, "all"))
        return (struct range){0, IMAGE_CORRUPTIONS};
    if (image_corrupt_find(kind_name, &range.from, &err))
        opt_misuse("%s", err.msg);
    range.to = range.from + 1;
    return range;
}

static void
draw_sheet(const struct data_set *set, struct data_pool *pool)
{
    struct data_sheet how = {.rows = (IMAGE_CORRUPTIONS + 1) / 2,
                             .columns = 2,
                             .views = IMAGE_SEVERITIES,
                             .size = 32,
                             .seed = (uint64_t)seed,
                             .letters = 1};

    data_protect_or_die(set, sheet);
    data_sheet_begin(&how);
    data_sheet_corruptions(&how, data_size(set), pool);
    data_sheet_write_or_die(&how, sheet);
}

/* Adds a text of an image as STEM.END. */
static void
add_text(struct tar *tar, const char *stem, const char *end, const char *text)
{
    char *name = mem_format("%s.%s", stem, end);

    tar_add(tar, name, text, strlen(text));
    free(name);
}

static void
add_damaged(struct tar *tar, const struct data_set *set, struct data_pool *pool,
            size_t id, size_t kind, size_t strength)
{
    char *stem =
        mem_format("%s/%zu/%08zu", image_corrupt_name(kind), strength, id);
    char *name = mem_format("%s.jpg", stem);
    struct image damaged = {0};
    struct err err;
    const struct image *image = data_pool_get(pool, id, NULL, &err);
    const int label = data_label(set, id);

    if (!image)
        tar_give_up(tar, err.msg);
    image_corrupt(kind, (int)strength, (uint64_t)seed, id, image, &damaged);
    if (label >= 0)
        add_text(tar, stem, "cls", data_class_name(set, (size_t)label));
    tar_add_jpeg(tar, name, damaged.pixel, damaged.width, damaged.height, 3);
    if (*data_caption(set, id))
        add_text(tar, stem, "txt", data_caption(set, id));
    image_release(&damaged);
    free(name);
    free(stem);
}

void
run_corrupt(char **operand)
{
    const struct data_pool_settings how = {.policy = IMAGE_REFUSE,
                                           .max_pixels = (size_t)max_pixels,
                                           .keep_bytes = 1 << 28};
    struct range kind = {0, 0}, strength = {1, IMAGE_SEVERITIES + 1};
    struct data_pool *pool;
    struct data_set *set;
    struct tar tar;
    size_t n;

    if (sheet && (output || kind_name))
        opt_misuse("--sheet draws all kinds and makes no tar: leave out %s",
                   output ? "-o" : "-k");
    if (!sheet)
        kind = read_kinds();
    if (severity)
        strength = (struct range){(size_t)severity, (size_t)severity + 1};
    set = data_open_or_die(operand[0], 0);
    pool = data_pool_new(set, &how);
    if (sheet) {
        draw_sheet(set, pool);
    } else {
        n = data_size(set);
        data_protect_or_die(set, require_output(output, "tar"));
        tar_start(&tar, output, quality,
                  n * (kind.to - kind.from) * (strength.to - strength.from));
        for (size_t k = kind.from; k < kind.to; k++)
            for (size_t s = strength.from; s < strength.to; s++)
                for (size_t id = 0; id < n; id++)
                    add_damaged(&tar, set, pool, id, k, s);
        tar_finish(&tar);
    }
    data_pool_free(pool);
    data_close(set);
}
