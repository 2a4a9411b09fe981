#include <stdlib.h>
#include <string.h>

#include "num/conv.h"
#include "util/err.h"
#include "util/isa.h"
#include "util/mem.h"

#include "direct.h"
#include "planes.h"
#include "taps.h"
#include "tiles.h"
#include "winograd.h"

struct num_conv {
    struct num_conv_spec spec;
    struct num_direct direct;
    struct num_winograd winograd;
    struct num_taps taps;
    struct num_tiles tiles;
    enum by { BY_DIRECT, BY_WINOGRAD, BY_TAPS, BY_TILES } by[3]; /* of a pass */
};

/*
 * The table: with AMX, bfloat16 maps use tiles, which take .08 to .5 of the
 * time of Winograd and of oneDNN's direct sums.
 *
 * Winograd needs enough channels to outweigh its transforms, and maps that fill
 * its tiles of 4x4.  With 32 channels it takes .35 to .58 of the time of
 * oneDNN's direct sums, and with bfloat16, which oneDNN multiplies twice as
 * fast, .56 to .98; with 16 channels .43 to .92, and with bfloat16 .90 to .95,
 * and .57 for the gradient of the weights.  With stride 2 it takes .72 to .82
 * from 64 channels on and .83 to .99 below, and with bfloat16 1.5 to 1.8, so
 * that case uses oneDNN (scripts/benchmarks/conv.sh).
 */
static int
winograd_pays(const struct num_conv_spec *spec)
{
    const struct num_map y = num_conv_out(spec);
    const size_t least = 16;

    return spec->in.c >= least && y.c >= least && y.h >= 4 && y.w >= 4 &&
           (spec->stride == 1 || !spec->in.bf16);
}

/*
 * Taps are faster on small maps, on which oneDNN multiplies many zeros.  The
 * table has the largest width and height, by kernel, type and pass.  On 128
 * images of 128 channels and 2x2 pixels they take .69, .80 and .43 of the time
 * of oneDNN's direct sums, of 256@1 .46, .78 and .13, of 128-256@2/2 .51, .29
 * and .21; with AVX2, for which oneDNN computes the gradient in plain C, the
 * last is down to .0004.  On larger maps they take up to 1.3 times as long, and
 * with bfloat16 two to three times.
 */
static int
taps_pay(const struct num_conv_spec *spec, enum num_conv_pass pass)
{
    enum { SINGLE, HALF, NARROW }; /* f32, bf16, f32 without AVX-512 */
    static const unsigned char sides[2][2][3][3] = {
        {{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}},  /* 1x1 */
         {{2, 2, 2}, {1, 1, 2}, {2, 2, 2}}}, /* 1x1, stride 2 */
        {{{2, 2, 2}, {1, 1, 2}, {2, 2, 2}},  /* 3x3 */
         {{4, 8, 8}, {2, 2, 8}, {4, 8, 8}}}, /* 3x3, stride 2 */
    };
    const int numbers = spec->in.bf16         ? HALF
                        : spec->in.block < 16 ? NARROW
                                              : SINGLE;
    const size_t side =
        sides[spec->kernel > 1][spec->stride > 1][numbers][pass];

    return spec->in.block > 1 && spec->in.h <= side && spec->in.w <= side;
}

/* Selects the kernel of a pass: by spec.how, else by the table. */
static void
choose_pass(struct num_conv *conv, enum num_conv_pass pass, int winograd,
            int taps, int tiles)
{
    const struct num_conv_spec *spec = &conv->spec;
    const enum num_conv_how how = spec->how;

    if (tiles && (how == NUM_CONV_TILES || how == NUM_CONV_TABLE))
        conv->by[pass] = BY_TILES;
    else if (taps && num_taps_does(&conv->taps, pass) &&
             (how == NUM_CONV_TAPS ||
              (how == NUM_CONV_TABLE && taps_pay(spec, pass))))
        conv->by[pass] = BY_TAPS;
    else if (winograd && num_winograd_does(&conv->winograd, pass) &&
             (how == NUM_CONV_WINOGRAD ||
              (how == NUM_CONV_TABLE && winograd_pays(spec))))
        conv->by[pass] = BY_WINOGRAD;
}

static void
choose_kernels(struct num_conv *conv)
{
    const struct num_conv_spec *spec = &conv->spec;
    const struct winograd_isa *isa = num_winograd_isa(0);
    const int wanted[3] = {1, spec->back_data, spec->train};
    const int winograd = !num_winograd_init(&conv->winograd, spec, isa);
    const int taps = !num_taps_init(&conv->taps, spec, isa);
    const int tiles = !num_tiles_init(&conv->tiles, spec, num_tile_kernel());

    for (int i = 0; i < 3; i++) {
        conv->by[i] = BY_DIRECT;
        if (wanted[i])
            choose_pass(conv, (enum num_conv_pass)i, winograd, taps, tiles);
    }
}

/* Without AVX2 oneDNN computes gradients in plain C; taps take .003 to .02 of
 * its time. */
static int
is_slow(const struct num_conv *conv, enum num_conv_pass pass)
{
    return util_isa() == UTIL_ISA_PLAIN &&
           conv->spec.how != NUM_CONV_DNN_WINOGRAD && conv->taps.isa &&
           num_taps_does(&conv->taps, pass) &&
           !strncmp(num_direct_name(&conv->direct, pass), "ref", 3);
}

/* Prepares oneDNN's passes; 0, or -1. */
static int
make_passes(struct num_conv *conv)
{
    const int wanted[3] = {1, conv->spec.back_data, conv->spec.train};

    for (int i = 0; i < 3; i++) {
        if (!wanted[i] || conv->by[i] != BY_DIRECT)
            continue;
        if (num_direct_make(&conv->direct, (enum num_conv_pass)i))
            return -1;
        if (is_slow(conv, (enum num_conv_pass)i))
            conv->by[i] = BY_TAPS;
    }
    return 0;
}

struct num_conv *
num_conv_new(struct num_dnn *dnn, const struct num_conv_spec *spec)
{
    struct num_conv *conv = mem_array(1, sizeof *conv);

    REQUIRE(!spec->train || (!spec->relu && !spec->add));
    conv->spec = *spec;
    num_direct_init(&conv->direct, dnn, spec);
    choose_kernels(conv);
    if (make_passes(conv)) {
        num_conv_free(conv);
        return NULL;
    }
    return conv;
}

void
num_conv_free(struct num_conv *conv)
{
    if (!conv)
        return;
    num_direct_release(&conv->direct);
    free(conv);
}

/* db (+)= sum over images and pixels of dy. */
static void
sum_bias(const struct num_conv_spec *spec, const void *dy, float *db,
         int accumulate)
{
    const struct num_map y = num_conv_out(spec);

#pragma omp parallel for schedule(static)
    for (size_t g = 0; g < planes_count(&y); g++) {
        double sum[16] = {0};

        for (size_t i = 0; i < y.n; i++) {
            float lane[16];

            num_planes()->sum(planes_size(&y), y.bf16, planes_at(&y, dy, i, g),
                              lane);
            for (size_t l = 0; l < 16; l++)
                sum[l % y.block] += lane[l];
        }
        for (size_t k = 0; k < y.block; k++) {
            float *at = db + g * y.block + k;

            *at = (accumulate ? *at : 0) + (float)sum[k];
        }
    }
}

static size_t
pass_scratch(const struct num_conv *conv, enum num_conv_pass pass)
{
    switch (conv->by[pass]) {
    case BY_WINOGRAD:
        return num_winograd_scratch(&conv->winograd, pass);
    case BY_TAPS:
        return num_taps_scratch(&conv->taps, pass);
    case BY_TILES:
        return num_tiles_scratch(&conv->tiles, pass);
    default:
        return num_direct_scratch(&conv->direct, pass);
    }
}

size_t
num_conv_scratch(const struct num_conv *conv)
{
    size_t most = 0;

    for (int i = 0; i < 3; i++) {
        const size_t bytes = pass_scratch(conv, (enum num_conv_pass)i);

        most = bytes > most ? bytes : most;
    }
    return most;
}

const char *
num_conv_name(const struct num_conv *conv, enum num_conv_pass pass)
{
    switch (conv->by[pass]) {
    case BY_WINOGRAD:
        return conv->winograd.isa->name;
    case BY_TAPS:
        return conv->taps.isa->taps;
    case BY_TILES:
        return conv->tiles.kernel->name;
    default:
        return num_direct_name(&conv->direct, pass);
    }
}

int
num_conv_fuses_norm(const struct num_conv *conv)
{
    return conv->by[NUM_CONV_FORWARD] == BY_WINOGRAD &&
           conv->by[NUM_CONV_BACK_WEIGHTS] == BY_WINOGRAD;
}

int
num_conv_by_image(const struct num_conv *conv, enum num_conv_pass pass)
{
    return conv->by[pass] == BY_WINOGRAD && conv->winograd.pass[pass].by_image;
}

void
num_conv_run(const struct num_conv *conv, enum num_conv_pass pass,
             const struct num_conv_args *args)
{
    const int sums = pass == NUM_CONV_BACK_WEIGHTS;

    if (conv->by[pass] != BY_WINOGRAD) {
        REQUIRE(!args->norm || pass == NUM_CONV_BACK_DATA);
        REQUIRE(!args->after.run || sums);
    }
    switch (conv->by[pass]) {
    case BY_DIRECT:
        num_direct_run(&conv->direct, pass, args);
        return;
    case BY_WINOGRAD:
        num_winograd_run(&conv->winograd, pass, args);
        break;
    case BY_TAPS:
        num_taps_run(&conv->taps, pass, args);
        break;
    case BY_TILES:
        num_tiles_run(&conv->tiles, pass, args);
        break;
    }
    if (sums && conv->spec.bias)
        sum_bias(&conv->spec, args->dy, args->db, args->accumulate);
}
