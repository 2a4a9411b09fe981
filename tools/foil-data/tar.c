#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/import.h"
#include "image/generate.h"
#include "util/mem.h"

#include "data.h"

const char *
require_output(const char *output, const char *what)
{
    if (!output)
        opt_misuse("name the %s with -o FILE", what);
    return output;
}

void
tar_start(struct tar *tar, const char *path, long quality, size_t total)
{
    struct err err;

    *tar = (struct tar){.path = require_output(path, "tar"),
                        .quality = (int)quality};
    tar->pack = data_pack_open(path, &err);
    if (!tar->pack)
        die("%s", err.msg);
    progress_start(&tar->progress, "images", 0, (double)total);
}

_Noreturn void
tar_give_up(struct tar *tar, const char *why)
{
    progress_clear(&tar->progress);
    data_pack_drop(tar->pack);
    die("%s", why);
}

void
tar_add(struct tar *tar, const char *name, const void *bytes, size_t len)
{
    struct err err;

    if (data_pack_add(tar->pack, name, bytes, len, &err))
        tar_give_up(tar, err.msg);
}

void
tar_add_jpeg(struct tar *tar, const char *name, const uint8_t *pixel,
             size_t width, size_t height, size_t channels)
{
    struct err err;

    if (image_jpeg_encode(pixel, width, height, channels, tar->quality,
                          &tar->jpeg, &err))
        tar_give_up(tar, err.msg);
    tar_add(tar, name, tar->jpeg.data, tar->jpeg.len);
    tar->done++;
    progress_show(&tar->progress, (double)tar->done, "");
}

void
tar_finish(struct tar *tar)
{
    struct err err;

    progress_clear(&tar->progress);
    if (data_pack_keep(tar->pack, &err))
        die("%s", err.msg);
    log_message("'%s': %zu image%s", tar->path, tar->done, plural(tar->done));
    data_bytes_release(&tar->jpeg);
}

static const char *output, *classes;
static long quality = 95, size = 32, seed = 1, limit, from;
static int coarse;

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

    tar_start(&tar, output, quality, n);
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
    if (!import)
        die("%s", err.msg);
    n = data_import_size(import);
    n = n > (size_t)from ? n - (size_t)from : 0;
    tar_start(&tar, output, quality, n < most ? n : most);
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
