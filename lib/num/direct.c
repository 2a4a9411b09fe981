#include <omp.h>
#include <stdlib.h>

#include "util/err.h"
#include "util/mem.h"

#include "direct.h"
#include "helpers.h"

/* Up to so many weights each thread has its own gradient. */
enum { APART = 3 << 19 };

static struct dnn_conv
tensors_of(const struct num_conv_spec *spec)
{
    const struct num_map y = num_conv_out(spec);
    dnnl_dim_t k = (dnnl_dim_t)spec->kernel, step = (dnnl_dim_t)spec->stride;
    dnnl_dim_t pad = (dnnl_dim_t)spec->pad;
    dnnl_dims_t w = {(dnnl_dim_t)spec->out, (dnnl_dim_t)spec->in.c, k, k};

    // "inference" would use weights transformed for Winograd; changing their
    // layout takes longer than the convolution
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

/* Finds an implementation of a pass: Winograd if requested and available, else
 * direct.  NULL if there is none. */
static dnnl_primitive_desc_t
find_conv_desc(const struct num_dnn *dnn, const struct num_conv_spec *spec,
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

/* Finds a pass; backward passes need the description of the forward pass. */
static dnnl_primitive_desc_t
find_with_forward(const struct num_dnn *dnn, const struct num_conv_spec *spec,
                  const struct dnn_conv *s, enum num_conv_pass pass)
{
    dnnl_primitive_desc_t forward, found;

    if (pass == NUM_CONV_FORWARD)
        return find_conv_desc(dnn, spec, s, pass, NULL);
    forward = find_conv_desc(dnn, spec, s, NUM_CONV_FORWARD, NULL);
    if (!forward)
        return NULL;
    found = find_conv_desc(dnn, spec, s, pass, forward);
    num_dnn_ok(dnnl_primitive_desc_destroy(forward));
    return found;
}

/* Makes the primitive of a pass and returns its layout of weights; NULL if
 * there is none. */
static dnn_md
make_op(struct dnn_op *op, const struct num_dnn *dnn,
        const struct num_conv_spec *spec, const struct dnn_conv *s,
        enum num_conv_pass pass)
{
    static const int args[3][3] = {
        {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
        {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC},
        {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST},
    };
    const int back = pass == NUM_CONV_BACK_DATA;
    dnnl_primitive_desc_t desc = find_with_forward(dnn, spec, s, pass);
    dnn_md w;

    if (!desc)
        return NULL;
    w = num_dnn_md_of(desc, pass == NUM_CONV_BACK_WEIGHTS
                                ? dnnl_query_diff_weights_md
                                : dnnl_query_weights_md);
    num_dnn_op_init(op, dnn, desc);
    num_dnn_op_arg(op, dnn, args[pass][0], back ? s->y : s->x);
    num_dnn_op_arg(op, dnn, args[pass][1], w);
    num_dnn_op_arg(op, dnn, args[pass][2], back ? s->x : s->y);
    if (spec->bias && !back)
        num_dnn_op_arg(op, dnn,
                       pass == NUM_CONV_FORWARD ? DNNL_ARG_BIAS
                                                : DNNL_ARG_DIFF_BIAS,
                       s->bias);
    return w;
}

void
num_direct_init(struct num_direct *d, const struct num_dnn *dnn,
                const struct num_conv_spec *spec)
{
    *d = (struct num_direct){.spec = *spec, .dnn = dnn, .parts = 1};
}

/* Makes the primitives of the weight gradient of each part. */
static dnn_md
make_parts(struct num_direct *d)
{
    const int threads = omp_get_max_threads();
    struct num_conv_spec spec = d->spec;
    struct dnn_conv s;
    dnn_md w = NULL;
    const size_t weights = spec.out * spec.in.c * spec.kernel * spec.kernel;

    // the largest number of equal parts of the images, at most one per thread
    d->parts = weights > APART ? 1 : (size_t)threads;
    while (spec.in.n % d->parts)
        d->parts--;
    d->part = mem_array(d->parts, sizeof *d->part);
    spec.in.n /= d->parts;
    s = tensors_of(&spec);
    if (d->parts > 1)
        omp_set_num_threads(1);
    for (size_t i = 0; i < d->parts; i++) {
        num_dnn_md_free(w);
        d->part[i].dnn = num_dnn_new();
        w = make_op(&d->part[i].op, d->part[i].dnn, &spec, &s,
                    NUM_CONV_BACK_WEIGHTS);
    }
    omp_set_num_threads(threads);
    release_tensors(&s);
    return w;
}

int
num_direct_make(struct num_direct *d, enum num_conv_pass pass)
{
    struct dnn_conv s = tensors_of(&d->spec);
    dnn_md w = pass == NUM_CONV_BACK_WEIGHTS
                   ? make_parts(d)
                   : make_op(&d->pass[pass], d->dnn, &d->spec, &s, pass);

    if (w && pass == NUM_CONV_BACK_WEIGHTS) {
        num_dnn_op_reorder(&d->from[0], d->dnn, w, s.plain, 0);
        num_dnn_op_reorder(&d->from[1], d->dnn, w, s.plain, 1);
    } else if (w) {
        num_dnn_op_reorder(&d->to[pass], d->dnn, s.plain, w, 0);
    }
    if (w && d->weights < dnnl_memory_desc_get_size(w))
        d->weights = dnnl_memory_desc_get_size(w);
    release_tensors(&s);
    if (!w)
        return -1;
    num_dnn_md_free(w);
    return 0;
}

void
num_direct_release(struct num_direct *d)
{
    for (int i = 0; i < 2; i++) {
        num_dnn_op_release(&d->pass[i]);
        num_dnn_op_release(&d->to[i]);
        num_dnn_op_release(&d->from[i]);
    }
    for (size_t i = 0; d->part && i < d->parts; i++) {
        num_dnn_op_release(&d->part[i].op);
        num_dnn_free(d->part[i].dnn);
    }
    free(d->part);
}

static const struct dnn_op *
op_of(const struct num_direct *d, enum num_conv_pass pass)
{
    if (pass == NUM_CONV_BACK_WEIGHTS)
        return d->part ? &d->part->op : NULL;
    return &d->pass[pass];
}

const char *
num_direct_name(const struct num_direct *d, enum num_conv_pass pass)
{
    const struct dnn_op *op = op_of(d, pass);

    return op && op->primitive ? op->name : "-";
}

static size_t
bias_bytes(const struct num_direct *d)
{
    return d->spec.bias ? num_align(d->spec.out * sizeof(float)) : 0;
}

/* Scratch of each part: the weights in oneDNN's layout, a bias gradient, and
 * the scratch of the primitives. */
static size_t
scratch_each(const struct num_direct *d, enum num_conv_pass pass)
{
    const struct dnn_op *op = op_of(d, pass);
    size_t most = op ? op->room : 0;

    for (int i = 0; i < 2; i++) {
        most = d->to[i].room > most ? d->to[i].room : most;
        most = d->from[i].room > most ? d->from[i].room : most;
    }
    return num_align(d->weights) + bias_bytes(d) + num_align(most);
}

size_t
num_direct_scratch(const struct num_direct *d, enum num_conv_pass pass)
{
    return (pass == NUM_CONV_BACK_WEIGHTS ? d->parts : 1) *
           scratch_each(d, pass);
}

/* Forward and back_data: converts weights to the layout of the pass. */
static void
run_with_weights(const struct num_direct *d, enum num_conv_pass pass,
                 const struct num_conv_args *args)
{
    const int back = pass == NUM_CONV_BACK_DATA;
    void *w = args->scratch, *rest = (char *)w + num_align(d->weights);

    num_dnn_op_run(&d->to[pass], d->dnn, (void *[]){(void *)args->w, w}, rest);
    num_dnn_op_run(&d->pass[pass], d->dnn,
                   (void *[]){(void *)(back ? args->dy : args->x), w,
                              back ? args->dx : args->y, (void *)args->b},
                   rest);
}

/* Adds the sums of other parts to those of the first. */
static void
add_parts(const struct num_direct *d, size_t each, size_t n, float *first)
{
#pragma omp parallel for schedule(static)
    for (size_t k = 0; k < n; k++)
        for (size_t i = 1; i < d->parts; i++)
            first[k] += first[i * each / sizeof *first + k];
}

static void
write_gradient(const struct num_direct *d, const struct num_conv_args *args)
{
    const struct num_map y = num_conv_out(&d->spec);
    const size_t each = scratch_each(d, NUM_CONV_BACK_WEIGHTS);
    const size_t from = num_map_bytes(&d->spec.in) / d->parts;
    const size_t to = num_map_bytes(&y) / d->parts;
    char *scratch = args->scratch;
    float *bias = (void *)(scratch + num_align(d->weights));
    void *rest = (char *)bias + bias_bytes(d);

#pragma omp parallel for num_threads((int)d->parts) if (d->parts > 1)
    for (size_t i = 0; i < d->parts; i++)
        num_dnn_op_run(&d->part[i].op, d->part[i].dnn,
                       (void *[]){(char *)args->x + i * from,
                                  scratch + i * each, (char *)args->dy + i * to,
                                  (char *)bias + i * each},
                       (char *)rest + i * each);
    add_parts(d, each, d->weights / sizeof(float), args->scratch);
    num_dnn_op_run(&d->from[!!args->accumulate], d->dnn,
                   (void *[]){scratch, args->dw}, rest);
    if (!d->spec.bias)
        return;
    add_parts(d, each, d->spec.out, bias);
    for (size_t o = 0; o < d->spec.out; o++)
        args->db[o] = (args->accumulate ? args->db[o] : 0) + bias[o];
}

void
num_direct_run(const struct num_direct *d, enum num_conv_pass pass,
               const struct num_conv_args *args)
{
    if (pass == NUM_CONV_BACK_WEIGHTS)
        write_gradient(d, args);
    else
        run_with_weights(d, pass, args);
}
