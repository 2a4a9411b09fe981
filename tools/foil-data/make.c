#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "data/generate.h"
#include "data/jpeg.h"
#include "data/pack.h"
#include "data/source.h"
#include "util/mem.h"
#include "util/progress.h"
#include "util/stop.h"

static const char *output;
static long quality = 95, limit, size = 32, seed = 1;
static const char *classes;
static int coarse;

const struct opt import_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE", "the tar; must be given"},
    {"quality", 'q', OPT_WHOLE, &quality, 1, 100, "Q", "of the JPEGs"},
    {"limit", 'n', OPT_WHOLE, &limit, 0, 1e14, "N",
     "take the first N images; 0 is all"},
    {"classes", 0, OPT_TEXT, &classes, 0, 0, "FILE",
     "names of the classes, one a line"},
    {"coarse", 0, OPT_FLAG, &coarse, 0, 0, NULL,
     "cifar100: the 20 coarse classes"},
    {0},
};

const struct opt generate_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE", "the tar; must be given"},
    {"quality", 'q', OPT_WHOLE, &quality, 1, 100, "Q", "of the JPEGs"},
    {"size", 0, OPT_WHOLE, &size, 8, 4096, "N", "images are N x N"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N", "of the random numbers"},
    {0},
};

/* What an archive in the making needs at each image. */
struct making {
    struct data_pack *pack;
    struct data_bytes jpeg;
    struct progress progress;
    size_t done;
};

static void
start_making(struct making *making, size_t total)
{
    struct err err;

    *making = (struct making){
        .pack = data_pack_open(wanted_output(output, "tar"), &err)};
    if (!making->pack)
        die("%s", err.msg);
    watch_signals();
    progress_start(&making->progress, "images", 0, (double)total);
}

_Noreturn static void
give_up(struct making *making, const char *why)
{
    progress_clear(&making->progress);
    data_pack_drop(making->pack);
    die("%s", why);
}

static void
add_file(struct making *making, const char *name, const void *bytes, size_t len)
{
    struct err err;

    if (data_pack_add(making->pack, name, bytes, len, &err))
        give_up(making, err.msg);
}

static void
add_jpeg(struct making *making, const char *name,
         const struct data_picture *picture)
{
    struct err err;

    if (stop_asked())
        give_up(making, "stopped: no tar is written");
    if (data_jpeg_encode(picture->pixel, picture->width, picture->height,
                         picture->channels, (int)quality, &making->jpeg, &err))
        give_up(making, err.msg);
    add_file(making, name, making->jpeg.data, making->jpeg.len);
    making->done++;
    progress_show(&making->progress, (double)making->done, "");
}

static void
finish_making(struct making *making)
{
    struct err err;

    progress_clear(&making->progress);
    if (!making->done)
        give_up(making, "there is no image to import");
    if (data_pack_keep(making->pack, &err))
        die("%s", err.msg);
    say("'%s': %zu images", output, making->done);
    data_bytes_release(&making->jpeg);
}

static enum data_form
form_of(const char *name)
{
    static const char *const forms[] = {[DATA_IDX] = "idx",
                                        [DATA_CIFAR10] = "cifar10",
                                        [DATA_CIFAR100] = "cifar100",
                                        [DATA_STL10] = "stl10"};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(name, forms[i]))
            return (enum data_form)i;
    opt_misuse("FORM '%s': want one of idx, cifar10, cifar100, stl10", name);
}

void
run_import(char **operand)
{
    struct data_source_how how = {.form = form_of(operand[0]),
                                  .file = operand + 1,
                                  .coarse = coarse,
                                  .classes = classes};
    struct data_source *source;
    struct data_picture picture;
    struct making making;
    struct err err;
    size_t most = limit ? (size_t)limit : SIZE_MAX, n;
    int got;

    while (operand[1 + how.files])
        how.files++;
    wanted_output(output, "tar");
    source = data_source_open(&how, &err);
    if (!source)
        die("%s", err.msg);
    n = data_source_size(source);
    start_making(&making, n < most ? n : most);
    while (making.done < most &&
           (got = data_source_next(source, &picture, &err)) != 0) {
        char name[128];

        if (got < 0)
            give_up(&making, err.msg);
        snprintf(name, sizeof name, "%s%s%05zu.jpg",
                 picture.class ? picture.class : "", picture.class ? "/" : "",
                 making.done);
        add_jpeg(&making, name, &picture);
    }
    finish_making(&making);
    data_source_close(source);
}

void
run_generate(char **operand)
{
    size_t side = (size_t)size,
           n = (size_t)opt_whole("COUNT", operand[0], 1, 1e9);
    uint8_t *pixel = mem_array(side * side * 3, 1);
    struct data_picture picture = {pixel, side, side, 3, NULL};
    struct making making;

    start_making(&making, n);
    for (size_t i = 0; i < n; i++) {
        char caption[DATA_GENERATE_CAPTION], text[8], name[32];
        int label = data_generate((uint64_t)seed, i, side, pixel, caption);

        snprintf(text, sizeof text, "%d", label);
        snprintf(name, sizeof name, "%06zu.cls", i);
        add_file(&making, name, text, strlen(text));
        snprintf(name, sizeof name, "%06zu.jpg", i);
        add_jpeg(&making, name, &picture);
        snprintf(name, sizeof name, "%06zu.txt", i);
        add_file(&making, name, caption, strlen(caption));
    }
    finish_making(&making);
    free(pixel);
}
