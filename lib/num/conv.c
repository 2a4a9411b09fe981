#include <stdlib.h>

#include "num/conv.h"
#include "util/err.h"
#include "util/mem.h"

#include "dnn_op.h"
#include "planes.h"
#include "taps.h"
#include "winograd.h"

enum { ALIGN = 64 };

struct num_conv {
    struct num_conv_spec spec;
    const struct num_dnn *dnn;
    struct dnn_op pass[3];
    struct dnn_op to[2];   /* weights out of OIHW: forward, back_data */
    struct dnn_op from[2]; /* gradient into OIHW: overwritten, added to */
    size_t weights;        /* bytes for weights in any layout */
    struct num_winograd winograd;
    struct num_taps taps;
    const struct kernel *by[3]; /* what does a pass */
};

/* What num/conv.h says, by one way to do it; `scratch` for a pass. */
struct kernel {
    const char *(*name)(const struct num_conv *conv, enum num_conv_pass pass);
    size_t (*scratch)(const struct num_conv *conv, enum num_conv_pass pass);
    void (*forward)(const struct num_conv *conv, const void *x, const float *w,
                    const float *b, void *y, void *scratch);
    void (*back_data)(const struct num_conv *conv, const void *dy,
                      const float *w, void *dx, void *scratch);
    void (*back_weights)(const struct num_conv *conv, const void *x,
                         const void *dy, float *dw, float *db, int accumulate,
                         void *scratch);
};

static const struct kernel by_dnn, by_winograd, by_taps;

static struct dnn_conv
tensors_of(const struct num_conv_spec *spec)
{
    struct num_map y = num_conv_out(spec);
    dnnl_dim_t k = (dnnl_dim_t)spec->kernel, step = (dnnl_dim_t)spec->stride;
    dnnl_dim_t pad = (dnnl_dim_t)spec->pad;
    dnnl_dims_t w = {(dnnl_dim_t)spec->out, (dnnl_dim_t)spec->in.c, k, k};

    // "inference" would want weights transformed for Winograd, and changing
    // the layout of weights takes longer than the convolution
    return (struct dnn_conv){
        .kind = dnnl_forward_training,
        .x = num_dnn_map(&spec->in),
        .y = num_dnn_map(&y),
        .bias = spec->bias ? num_dnn_md_new(1, w, dnnl_f32, dnnl_x) : NULL,
        .w = num_dnn_md_new(4, w, spec->in.bf16 ? dnnl_bf16 : dnnl_f32,
                            dnnl_format_tag_any),
        .dw = num_dnn_md_new(4, w, dnnl_f32, dnnl_format_tag_any),
        .plain = num_dnn_md_new(4, w, dnnl_f32, dnnl_oihw),
        .strides = {step, step},
        .low = {pad, pad},
        .high = {((dnnl_dim_t)y.h - 1) * step + k - (dnnl_dim_t)spec->in.h -
                     pad,
                 ((dnnl_dim_t)y.w - 1) * step + k - (dnnl_dim_t)spec->in.w -
                     pad},
    };
}

static void
release_tensors(struct dnn_conv *s)
{
    num_dnn_md_free(s->x);
    num_dnn_md_free(s->y);
    num_dnn_md_free(s->bias);
    num_dnn_md_free(s->w);
    num_dnn_md_free(s->dw);
    num_dnn_md_free(s->plain);
}

/* Finds an implementation of a pass: Winograd where it is wanted and there,
 * else direct.  NULL when there is none. */
static dnnl_primitive_desc_t
find(const struct num_dnn *dnn, const struct num_conv_spec *spec,
     const struct dnn_conv *s, enum num_conv_pass pass,
     const_dnnl_primitive_desc_t forward)
{
    dnnl_alg_kind_t how = spec->how == NUM_CONV_DNN_WINOGRAD
                              ? dnnl_convolution_winograd
                              : dnnl_convolution_direct;
    int is_forward = pass == NUM_CONV_FORWARD;
    dnnl_primitive_attr_t attr =
        num_dnn_attr(is_forward && spec->add, is_forward && spec->relu);
    dnnl_primitive_desc_t found =
        num_dnn_conv_find(dnn, s, pass, how, attr, forward);

    if (!found && how != dnnl_convolution_direct)
        found = num_dnn_conv_find(dnn, s, pass, dnnl_convolution_direct, attr,
                                  forward);
    num_dnn_ok(dnnl_primitive_attr_destroy(attr));
    return found;
}

/* Makes one pass, with the reorder of its weights; 0, or -1 without one. */
static int
make_pass(struct num_conv *conv, const struct dnn_conv *s,
          enum num_conv_pass pass, const_dnnl_primitive_desc_t forward)
{
    static const int args[3][3] = {
        {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
        {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC},
        {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST},
    };
    const struct num_dnn *dnn = conv->dnn;
    const struct num_conv_spec *spec = &conv->spec;
    struct dnn_op *op = &conv->pass[pass];
    dnnl_primitive_desc_t desc = find(dnn, spec, s, pass, forward);
    dnn_md w;

    if (!desc)
        return -1;
    w = num_dnn_md_of(desc, pass == NUM_CONV_BACK_WEIGHTS
                                ? dnnl_query_diff_weights_md
                                : dnnl_query_weights_md);
    num_dnn_op_init(op, dnn, desc);
    num_dnn_op_arg(op, dnn, args[pass][0],
                   pass == NUM_CONV_BACK_DATA ? s->y : s->x);
    num_dnn_op_arg(op, dnn, args[pass][1], w);
    num_dnn_op_arg(op, dnn, args[pass][2],
                   pass == NUM_CONV_BACK_DATA ? s->x : s->y);
    if (spec->bias && pass != NUM_CONV_BACK_DATA)
        num_dnn_op_arg(op, dnn,
                       pass == NUM_CONV_FORWARD ? DNNL_ARG_BIAS
                                                : DNNL_ARG_DIFF_BIAS,
                       s->bias);
    if (pass == NUM_CONV_BACK_WEIGHTS) {
        num_dnn_op_reorder(&conv->from[0], dnn, w, s->plain, 0);
        num_dnn_op_reorder(&conv->from[1], dnn, w, s->plain, 1);
    } else {
        num_dnn_op_reorder(&conv->to[pass], dnn, s->plain, w, 0);
    }
    if (conv->weights < num_dnn_size(w))
        conv->weights = num_dnn_size(w);
    num_dnn_md_free(w);
    return 0;
}

/*
 * The table: Winograd where there are enough channels that its transforms are
 * paid for, and maps that fill its tiles of 4x4.  With 32 channels it takes .35
 * to .58 of the time of oneDNN's direct sums, and with bfloat16, whose products
 * are twice as fast, .56 to .98; with 16 channels .43 to .92, and with bfloat16
 * .90 to .95, and .57 for the gradient of the weights.  With stride 2 it takes
 * .72 to .82 from 64 channels on and .83 to .99 below, and with bfloat16 1.5 to
 * 1.8, so there oneDNN does it (scripts/benchmarks/conv.sh).
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
 * Products by tap pay on small maps, where oneDNN multiplies with zeros: up to
 * so many pixels a side, by the shape of the kernel, the numbers, and the pass.
 * On 128 images of 128@2 they take .69, .80 and .43 of the time of oneDNN's
 * direct sums, of 256@1 .46, .78 and .13, of 128-256@2/2 .51, .29 and .21; with
 * AVX2, where oneDNN has loops in plain C for the gradient, the last three are
 * down to .0004.  On larger maps they take up to 1.3 times as long, and with
 * bfloat16 two to three times.
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

    return spec->in.h <= side && spec->in.w <= side;
}

static void
choose(struct num_conv *conv)
{
    const struct num_conv_spec *spec = &conv->spec;
    const struct winograd_isa *isa = num_winograd_isa(0);
    const int wanted[3] = {1, spec->back_data, spec->train};
    const enum num_conv_how how = spec->how;
    const int winograd = !num_winograd_init(&conv->winograd, spec, isa);
    const int taps = !num_taps_init(&conv->taps, spec, isa);

    for (int i = 0; i < 3; i++) {
        const enum num_conv_pass pass = (enum num_conv_pass)i;

        conv->by[i] = &by_dnn;
        if (!wanted[i])
            continue;
        if (taps && (how == NUM_CONV_TAPS ||
                     (how == NUM_CONV_TABLE && taps_pay(spec, pass))))
            conv->by[i] = &by_taps;
        else if (winograd && num_winograd_does(&conv->winograd, pass) &&
                 (how == NUM_CONV_WINOGRAD ||
                  (how == NUM_CONV_TABLE && winograd_pays(spec))))
            conv->by[i] = &by_winograd;
    }
}

/* Makes the passes that are wanted and not our own; 0, or -1. */
static int
make_passes(struct num_conv *conv)
{
    const struct num_conv_spec *spec = &conv->spec;
    const int wanted[3] = {1, spec->back_data, spec->train};
    struct dnn_conv s = tensors_of(spec);
    dnnl_primitive_desc_t forward = NULL;
    int bad = 0;

    for (int i = 0; i < 3 && !bad; i++) {
        if (!wanted[i] || conv->by[i] != &by_dnn)
            continue;
        // backward passes want to see a forward one, which need not run
        if (i && !forward)
            forward = find(conv->dnn, spec, &s, NUM_CONV_FORWARD, NULL);
        bad = make_pass(conv, &s, (enum num_conv_pass)i, forward);
    }
    if (forward)
        num_dnn_ok(dnnl_primitive_desc_destroy(forward));
    release_tensors(&s);
    return bad;
}

struct num_conv *
num_conv_new(struct num_dnn *dnn, const struct num_conv_spec *spec)
{
    struct num_conv *conv = mem_array(1, sizeof *conv);
    int bad;

    REQUIRE(!spec->train || (!spec->relu && !spec->add));
    conv->dnn = dnn;
    conv->spec = *spec;
    choose(conv);
    bad = make_passes(conv);
    if (bad) {
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
    for (int i = 0; i < 3; i++)
        num_dnn_op_release(&conv->pass[i]);
    for (int i = 0; i < 2; i++) {
        num_dnn_op_release(&conv->to[i]);
        num_dnn_op_release(&conv->from[i]);
    }
    free(conv);
}

/* Scratch is the weights in the layout wanted, a bias gradient to be added,
 * and what the primitives ask for. */
static size_t
aligned(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static size_t
bias_bytes(const struct num_conv *conv)
{
    return conv->spec.bias ? aligned(conv->spec.out * sizeof(float)) : 0;
}

static size_t
dnn_scratch(const struct num_conv *conv, enum num_conv_pass pass)
{
    size_t most = conv->pass[pass].room;

    for (int i = 0; i < 2; i++) {
        most = conv->to[i].room > most ? conv->to[i].room : most;
        most = conv->from[i].room > most ? conv->from[i].room : most;
    }
    return aligned(conv->weights) + bias_bytes(conv) + aligned(most);
}

static const char *
dnn_name(const struct num_conv *conv, enum num_conv_pass pass)
{
    return conv->pass[pass].primitive ? conv->pass[pass].name : "-";
}

/* Brings weights into the layout of a pass and runs it. */
static void
run_with_weights(const struct num_conv *conv, enum num_conv_pass pass,
                 const void *from, const float *w, const float *b, void *to,
                 void *scratch)
{
    void *own = scratch, *rest = (char *)scratch + aligned(conv->weights);

    num_dnn_op_run(&conv->to[pass], conv->dnn, (void *[]){(void *)w, own},
                   rest);
    num_dnn_op_run(&conv->pass[pass], conv->dnn,
                   (void *[]){(void *)from, own, to, (void *)b}, rest);
}

static void
dnn_forward(const struct num_conv *conv, const void *x, const float *w,
            const float *b, void *y, void *scratch)
{
    run_with_weights(conv, NUM_CONV_FORWARD, x, w, b, y, scratch);
}

static void
dnn_back_data(const struct num_conv *conv, const void *dy, const float *w,
              void *dx, void *scratch)
{
    run_with_weights(conv, NUM_CONV_BACK_DATA, dy, w, NULL, dx, scratch);
}

static void
dnn_back_weights(const struct num_conv *conv, const void *x, const void *dy,
                 float *dw, float *db, int accumulate, void *scratch)
{
    char *own = scratch, *bias = own + aligned(conv->weights);
    char *rest = bias + bias_bytes(conv);

    num_dnn_op_run(&conv->pass[NUM_CONV_BACK_WEIGHTS], conv->dnn,
                   (void *[]){(void *)x, own, (void *)dy, bias}, rest);
    num_dnn_op_run(&conv->from[!!accumulate], conv->dnn, (void *[]){own, dw},
                   rest);
    for (size_t o = 0; conv->spec.bias && o < conv->spec.out; o++)
        db[o] = (accumulate ? db[o] : 0) + ((float *)bias)[o];
}

static const struct kernel by_dnn = {dnn_name, dnn_scratch, dnn_forward,
                                     dnn_back_data, dnn_back_weights};

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

/* A row of what lib/num/winograd.h and lib/num/taps.h have, which leave db to
 * others. */
#define OWN(kind)                                                             \
    static const char *kind##_name(const struct num_conv *conv,               \
                                   enum num_conv_pass pass)                   \
    {                                                                         \
        (void)pass;                                                           \
        return num_##kind##_name(&conv->kind);                                \
    }                                                                         \
    static size_t kind##_scratch(const struct num_conv *conv,                 \
                                 enum num_conv_pass pass)                     \
    {                                                                         \
        return num_##kind##_scratch(&conv->kind, pass);                       \
    }                                                                         \
    static void kind##_forward(const struct num_conv *conv, const void *x,    \
                               const float *w, const float *b, void *y,       \
                               void *scratch)                                 \
    {                                                                         \
        num_##kind##_forward(&conv->kind, x, w, b, y, scratch);               \
    }                                                                         \
    static void kind##_back_data(const struct num_conv *conv, const void *dy, \
                                 const float *w, void *dx, void *scratch)     \
    {                                                                         \
        num_##kind##_back_data(&conv->kind, dy, w, dx, scratch);              \
    }                                                                         \
    static void kind##_back_weights(const struct num_conv *conv,              \
                                    const void *x, const void *dy, float *dw, \
                                    float *db, int accumulate, void *scratch) \
    {                                                                         \
        num_##kind##_back_weights(&conv->kind, x, dy, dw, accumulate,         \
                                  scratch);                                   \
        if (conv->spec.bias)                                                  \
            sum_bias(&conv->spec, dy, db, accumulate);                        \
    }                                                                         \
    static const struct kernel by_##kind = {kind##_name, kind##_scratch,      \
                                            kind##_forward, kind##_back_data, \
                                            kind##_back_weights};
OWN(winograd)
OWN(taps)

size_t
num_conv_scratch(const struct num_conv *conv)
{
    size_t most = 0;

    for (int i = 0; i < 3; i++) {
        size_t own = conv->by[i]->scratch(conv, (enum num_conv_pass)i);

        most = own > most ? own : most;
    }
    return most;
}

const char *
num_conv_name(const struct num_conv *conv, enum num_conv_pass pass)
{
    return conv->by[pass]->name(conv, pass);
}

void
num_conv_forward(const struct num_conv *conv, const void *x, const float *w,
                 const float *b, void *y, void *scratch)
{
    conv->by[NUM_CONV_FORWARD]->forward(conv, x, w, b, y, scratch);
}

void
num_conv_back_data(const struct num_conv *conv, const void *dy, const float *w,
                   void *dx, void *scratch)
{
    conv->by[NUM_CONV_BACK_DATA]->back_data(conv, dy, w, dx, scratch);
}

void
num_conv_back_weights(const struct num_conv *conv, const void *x,
                      const void *dy, float *dw, float *db, int accumulate,
                      void *scratch)
{
    conv->by[NUM_CONV_BACK_WEIGHTS]->back_weights(conv, x, dy, dw, db,
                                                  accumulate, scratch);
}
