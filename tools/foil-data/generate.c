#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "image/generate.h"
#include "making.h"
#include "util/mem.h"

static const char *output;
static long quality = 95, size = 32, seed = 1;

const struct opt generate_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE", "the tar; must be given"},
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
    struct making making;

    making_start(&making, output, quality, n);
    for (size_t i = 0; i < n; i++) {
        char caption[DATA_GENERATE_CAPTION], text[8], name[32];
        int label = data_generate((uint64_t)seed, i, side, pixel, caption);

        snprintf(text, sizeof text, "%d", label);
        snprintf(name, sizeof name, "%06zu.cls", i);
        making_add(&making, name, text, strlen(text));
        snprintf(name, sizeof name, "%06zu.jpg", i);
        making_add_jpeg(&making, name, pixel, side, side, 3);
        snprintf(name, sizeof name, "%06zu.txt", i);
        making_add(&making, name, caption, strlen(caption));
    }
    making_finish(&making);
    free(pixel);
}
