#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/import.h"
#include "data/pack.h"
#include "data/pool.h"
#include "data/sheet.h"
#include "image/corrupt.h"
#include "image/generate.h"
#include "util/mem.h"
#include "util/progress.h"

#include "data.h"

static const char *output, *classes, *kind_name, *sheet;
static long quality = 95, size = 32, seed = 1, limit, from, severity = 1;
static long max_pixels = IMAGE_MAX_PIXELS;
static int coarse;

const char *
require_output(const char *path, const char *what)
{
    if (!path)
        opt_misuse("name the %s with -o FILE", what);
    return path;
}

/* A tar that is being written. */
struct tar {
    struct data_pack *pack;
    struct data_bytes jpeg;
    struct progress progress;
    size_t done;
};

/* Begins a tar of about `total` images. */
static void
tar_start(struct tar *tar, size_t total)
{
    struct err err;

    *tar = (struct tar){
        .pack = data_pack_open(require_output(output, "tar"), &err)};
    or_die(!tar->pack, &err);
    progress_start(&tar->progress, "images", 0, (double)total);
}

/* Removes the tar and dies. */
_Noreturn static void
tar_give_up(struct tar *tar, const char *why)
{
    progress_clear(&tar->progress);
    data_pack_drop(tar->pack);
    die("%s", why);
}

static void
tar_add(struct tar *tar, const char *name, const void *bytes, size_t len)
{
    struct err err;

    if (data_pack_add(tar->pack, name, bytes, len, &err))
        tar_give_up(tar, err.msg);
}

/* Adds pixels as a file. */
static void
tar_add_jpeg(struct tar *tar, const char *name, const uint8_t *pixel,
             size_t width, size_t height, size_t channels)
{
    struct err err;

    if (image_jpeg_encode(pixel, width, height, channels, (int)quality,
                          &tar->jpeg, &err))
        tar_give_up(tar, err.msg);
    tar_add(tar, name, tar->jpeg.data, tar->jpeg.len);
    tar->done++;
    progress_show(&tar->progress, (double)tar->done, "");
}

static void
tar_finish(struct tar *tar)
{
    struct err err;

    progress_clear(&tar->progress);
    or_die(data_pack_keep(tar->pack, &err), &err);
    log_message("'%s': %zu image%s", output, tar->done, plural(tar->done));
    data_bytes_release(&tar->jpeg);
}

const struct opt generate_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE", "the tar; required"},
    {"quality", 'q', OPT_WHOLE, &quality, 1, 100, "Q", "quality of the JPEGs"},
    {"size", 0, OPT_WHOLE, &size, 8, 4096, "N", "images are N x N"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N", "seed of the random numbers"},
    {0},
};

void
run_generate(char **operand)
{
    size_t side = (size_t)size,
           n = (size_t)opt_whole("COUNT", operand[0], 1, 1e9);
    uint8_t *pixel = mem_array(side * side * 3, 1);
    struct tar tar;

    tar_start(&tar, n);
    for (size_t i = 0; i < n; i++) {
        char caption[IMAGE_GENERATE_CAPTION], text[8], name[32];
        int label = image_generate((uint64_t)seed, i, side, pixel, caption);

        snprintf(text, sizeof text, "%d", label);
        snprintf(name, sizeof name, "%06zu.cls", i);
        tar_add(&tar, name, text, strlen(text));
        snprintf(name, sizeof name, "%06zu.jpg", i);
        tar_add_jpeg(&tar, name, pixel, side, side, 3);
        snprintf(name, sizeof name, "%06zu.txt", i);
        tar_add(&tar, name, caption, strlen(caption));
    }
    tar_finish(&tar);
    free(pixel);
}

const struct opt import_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE", "the tar; required"},
    {"quality", 'q', OPT_WHOLE, &quality, 1, 100, "Q", "quality of the JPEGs"},
    {"limit", 'n', OPT_WHOLE, &limit, 0, 1e14, "N", "take N images; 0: all"},
    {"from", 0, OPT_WHOLE, &from, 0, 1e14, "N", "leave out the first N"},
    {"classes", 0, OPT_TEXT, &classes, 0, 0, "FILE",
     "names of the classes, one a line"},
    {"coarse", 0, OPT_FLAG, &coarse, 0, 0, NULL,
     "cifar100: the 20 coarse classes"},
    {0},
};

/* Reads the next image after the first `from`: 0 at the end. */
static int
next_image(struct data_import *import, struct tar *tar,
           struct data_picture *picture)
{
    struct err err;
    int got = data_import_next(import, picture, &err);

    for (; got > 0 && from > 0; from--)
        got = data_import_next(import, picture, &err);
    if (got < 0)
        tar_give_up(tar, err.msg);
    return got;
}

void
run_import(char **operand)
{
    struct data_import_settings how = {
        .file = operand + 1, .coarse = coarse, .classes = classes};
    struct data_import *import;
    struct data_picture picture;
    struct tar tar;
    struct err err;
    size_t most = limit ? (size_t)limit : SIZE_MAX, n;

    if (data_form_find(operand[0], &how.form, &err))
        opt_misuse("%s", err.msg);
    while (operand[1 + how.files])
        how.files++;
    require_output(output, "tar");
    import = data_import_open(&how, &err);
    or_die(!import, &err);
    n = data_import_size(import);
    n = n > (size_t)from ? n - (size_t)from : 0;
    tar_start(&tar, n < most ? n : most);
    while (tar.done < most && next_image(import, &tar, &picture)) {
        char name[128];

        snprintf(name, sizeof name, "%s%s%05zu.jpg",
                 picture.class ? picture.class : "", picture.class ? "/" : "",
                 tar.done);
        tar_add_jpeg(&tar, name, picture.pixel, picture.width, picture.height,
                     picture.channels);
    }
    if (!tar.done)
        tar_give_up(&tar, "there is no image to import");
    tar_finish(&tar);
    data_import_close(import);
}

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
    STAGE_FETCH_OPTS,
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
add_sidecar(struct tar *tar, const char *stem, const char *end,
            const char *text)
{
    tar_add(tar, mem_temp("%s.%s", stem, end), text, strlen(text));
}

static void
add_damaged(struct tar *tar, const struct data_set *set, struct data_pool *pool,
            size_t id, size_t kind, size_t strength)
{
    const char *stem =
        mem_temp("%s/%zu/%08zu", image_corrupt_name(kind), strength, id);
    struct image damaged = {0};
    struct err err;
    const struct image *image = data_pool_get(pool, id, NULL, &err);
    const int label = data_label(set, id);

    if (!image)
        tar_give_up(tar, err.msg);
    image_corrupt(kind, (int)strength, (uint64_t)seed, id, image, &damaged);
    if (label >= 0)
        add_sidecar(tar, stem, "cls", data_class_name(set, (size_t)label));
    tar_add_jpeg(tar, mem_temp("%s.jpg", stem), damaged.pixel, damaged.width,
                 damaged.height, 3);
    if (*data_caption(set, id))
        add_sidecar(tar, stem, "txt", data_caption(set, id));
    image_release(&damaged);
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
        tar_start(&tar,
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
