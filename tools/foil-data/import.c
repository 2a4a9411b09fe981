#include <stdint.h>
#include <stdio.h>

#include "data.h"
#include "data/import.h"
#include "making.h"

static const char *output, *classes;
static long quality = 95, limit, from;
static int coarse;

const struct opt import_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE", "the tar; must be given"},
    {"quality", 'q', OPT_WHOLE, &quality, 1, 100, "Q", "quality of the JPEGs"},
    {"limit", 'n', OPT_WHOLE, &limit, 0, 1e14, "N", "take N images; 0 is all"},
    {"from", 0, OPT_WHOLE, &from, 0, 1e14, "N", "leave out the first N"},
    {"classes", 0, OPT_TEXT, &classes, 0, 0, "FILE",
     "names of the classes, one a line"},
    {"coarse", 0, OPT_FLAG, &coarse, 0, 0, NULL,
     "cifar100: the 20 coarse classes"},
    {0},
};

static enum data_form
form_of(const char *name)
{
    enum data_form form;
    struct err err;

    if (data_form_find(name, &form, &err))
        opt_misuse("%s", err.msg);
    return form;
}

/* The next image that is wanted: 0 at the end. */
static int
next_image(struct data_import *import, struct making *making,
           struct data_picture *picture)
{
    struct err err;
    int got = data_import_next(import, picture, &err);

    for (; got > 0 && from > 0; from--)
        got = data_import_next(import, picture, &err);
    if (got < 0)
        making_give_up(making, err.msg);
    return got;
}

void
run_import(char **operand)
{
    struct data_import_how how = {.form = form_of(operand[0]),
                                  .file = operand + 1,
                                  .coarse = coarse,
                                  .classes = classes};
    struct data_import *import;
    struct data_picture picture;
    struct making making;
    struct err err;
    size_t most = limit ? (size_t)limit : SIZE_MAX, n;

    while (operand[1 + how.files])
        how.files++;
    wanted_output(output, "tar");
    import = data_import_open(&how, &err);
    if (!import)
        die("%s", err.msg);
    n = data_import_size(import);
    n = n > (size_t)from ? n - (size_t)from : 0;
    making_start(&making, output, quality, n < most ? n : most);
    while (making.done < most && next_image(import, &making, &picture)) {
        char name[128];

        snprintf(name, sizeof name, "%s%s%05zu.jpg",
                 picture.class ? picture.class : "", picture.class ? "/" : "",
                 making.done);
        making_add_jpeg(&making, name, picture.pixel, picture.width,
                        picture.height, picture.channels);
    }
    if (!making.done)
        making_give_up(&making, "there is no image to import");
    making_finish(&making);
    data_import_close(import);
}
