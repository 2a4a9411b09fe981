#pragma once

/*
 * For tests/conformance.c: encoders of texts and vision transformers.  `param.`
 * and the name of a tensor are its weights; z is what comes of tokens [b,len]
 * with lengths [b], or of images [b,h,w,c] with mean and deviation; `grad.` and
 * a name are the gradient of sum z dz.  tests/data/conformance/make_towers.py
 * makes them.
 */
#include <stdlib.h>

#include "conform_loss.h"
#include "nn/net.h"

/* A file's net with its batch. */
struct tower {
    struct nn_net *net;
    struct nn_input input;
    size_t *offsets;
    int32_t *ids;
};

static void
tower_release(struct tower *tower)
{
    nn_net_free(tower->net);
    free(tower->offsets);
    free(tower->ids);
}

/* A whole number of the metadata, 0 where it is not there. */
static int
whole_get(const struct file *file, const char *key, long *value,
          struct err *err)
{
    double real = 0;

    if (json_object_get(file->metadata, key) && real_get(file, key, &real, err))
        return -1;
    *value = (long)real;
    return 0;
}

/* Rows of tokens, padded, end to end. */
static int
pack_texts(const struct file *file, struct tower *tower, struct err *err)
{
    const struct nn_array *tokens = array_get(file, "I32", "tokens", err);
    const struct nn_array *lengths =
        tokens ? array_get(file, "I32", "lengths", err) : NULL;
    const int32_t *from, *len;
    size_t n, wide, at = 0;

    if (!lengths)
        return -1;
    if (tokens->rank != 2 || lengths->count != tokens->shape[0])
        return err_set(err, "'lengths' is not of 'tokens'");
    n = tokens->shape[0];
    wide = tokens->shape[1];
    from = tokens->data;
    len = lengths->data;
    tower->offsets = mem_array(n + 1, sizeof *tower->offsets);
    tower->ids = mem_array(tokens->count, sizeof *tower->ids);
    for (size_t i = 0; i < n; i++) {
        if (len[i] < 1 || (size_t)len[i] > wide)
            return err_set(err, "'lengths': a row of %d", len[i]);
        for (int32_t k = 0; k < len[i]; k++)
            tower->ids[at++] = from[i * wide + (size_t)k];
        tower->offsets[i + 1] = at;
    }
    tower->input =
        (struct nn_input){.n = n, .ids = tower->ids, .offsets = tower->offsets};
    return 0;
}

static int
lend_images(const struct file *file, struct nn_spec *spec, struct tower *tower,
            struct err *err)
{
    const struct nn_array *images = array_get(file, "U8", "images", err);
    const struct nn_array *mean = array_get(file, "F32", "mean", err);
    const struct nn_array *deviation = array_get(file, "F32", "deviation", err);

    if (!images || !mean || !deviation)
        return -1;
    if (images->rank != 4 || mean->count != 3 || deviation->count != 3)
        return err_set(err, "'images' are not [b,h,w,3] with three means");
    spec->height = images->shape[1];
    spec->image_width = images->shape[2];
    spec->channels = images->shape[3];
    memcpy(spec->mean, mean->data, sizeof spec->mean);
    memcpy(spec->deviation, deviation->data, sizeof spec->deviation);
    tower->input =
        (struct nn_input){.n = images->shape[0], .images = images->data};
    return 0;
}

static int
tower_open(const struct file *file, struct tower *tower, struct err *err)
{
    struct nn_spec spec = {.stem = "small", .norm = "batch"};

    if (json_get_text(file->metadata, "arch", &spec.arch, err) ||
        json_get_text(file->metadata, "head", &spec.head, err) ||
        whole_get(file, "vocabulary", &spec.vocabulary, err) ||
        whole_get(file, "context", &spec.context, err) ||
        whole_get(file, "quick_gelu", &spec.quick_gelu, err) ||
        (nn_encoder_reads(spec.arch, NN_TOKENS)
             ? pack_texts(file, tower, err)
             : lend_images(file, &spec, tower, err)))
        return -1;
    tower->net = nn_net_new(&spec, tower->input.n, 1, err);
    return tower->net ? 0 : -1;
}

/* The array "BEGINNING.name" for so many numbers, or NULL. */
static const float *
numbers_get(const struct file *file, const char *beginning, const char *name,
            size_t count, struct err *err)
{
    char *path = mem_format("%s%s", beginning, name);
    const struct nn_array *a = array_get(file, "F32", path, err);

    if (a && a->count != count) {
        err_set(err, "'%s' has %zu numbers, not %zu", path, a->count, count);
        a = NULL;
    }
    free(path);
    return a ? a->data : NULL;
}

/* The largest difference, over the largest value or `least`. */
static double
apart(size_t n, const float *got, const float *want, double least)
{
    double off = 0;

    for (size_t i = 0; i < n; i++) {
        least = fmax(least, fabs(want[i]));
        off = worse(off, fabs((double)got[i] - want[i]));
    }
    return off / least;
}

static int
take_params(const struct file *file, struct nn_net *net, struct err *err)
{
    float *params = nn_net_params(net, NULL);
    size_t n;
    const struct nn_tensor *t = nn_net_tensors(net, &n);

    for (size_t i = 0; i < n; i++) {
        const float *from =
            numbers_get(file, "param.", t[i].name, t[i].count, err);

        if (!from)
            return -1;
        memcpy(params + t[i].offset, from, t[i].count * sizeof *from);
    }
    return 0;
}

/* Tensors whose gradient vanishes, as that of a key's bias, are judged by a
 * hundredth of the largest of all. */
static int
compare_grads(struct file *file, struct nn_net *net, struct err *err)
{
    const float *grads = nn_net_grads(net);
    double least = 0;
    size_t n, count;
    const struct nn_tensor *t = nn_net_tensors(net, &n);

    nn_net_params(net, &count);
    for (size_t i = 0; i < count; i++)
        least = fmax(least, 1e-2 * fabs(grads[i]));
    for (size_t i = 0; i < n; i++) {
        const float *want =
            numbers_get(file, "grad.", t[i].name, t[i].count, err);

        if (!want)
            return -1;
        note(file, "gradients",
             apart(t[i].count, grads + t[i].offset, want, least), RELATIVE);
    }
    return 0;
}

static int
tower(struct file *file, const char *name, struct err *err)
{
    struct tower tower = {.net = NULL};
    float *z = NULL;
    const float *dz, *want;
    size_t count;
    int rc = -1;

    (void)name;
    if (tower_open(file, &tower, err) || take_params(file, tower.net, err))
        goto out;
    count = tower.input.n * nn_net_dim(tower.net);
    dz = numbers_get(file, "", "dz", count, err);
    want = numbers_get(file, "", "z", count, err);
    if (!dz || !want)
        goto out;
    z = mem_array(count, sizeof *z);
    nn_net_forward(tower.net, NN_TRAIN, &tower.input, NULL, z);
    note(file, "embeddings", apart(count, z, want, 0), RELATIVE);
    nn_net_backward(tower.net, dz, 0);
    rc = compare_grads(file, tower.net, err);

out:
    free(z);
    tower_release(&tower);
    return rc;
}
