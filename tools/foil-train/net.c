#include <stdlib.h>
#include <string.h>

#include "data/npy.h"
#include "num/vec.h"
#include "train.h"
#include "util/mem.h"

/* Three numbers, commas between them. */
static int
three(const char *option, const char *text, float out[3], struct err *err)
{
    const char *at = text;

    for (int i = 0; i < 3; i++) {
        char *end;

        out[i] = strtof(at, &end);
        if (end == at || *end != (i < 2 ? ',' : 0))
            return err_set(err, "--%s '%s': want three numbers, as 0.5,0.5,0.5",
                           option, text);
        at = end + 1;
    }
    return 0;
}

int
train_is_table(const struct train_options *o)
{
    return !strcmp(o->arch, "table");
}

int
train_spec(const struct train_options *o, const struct train_shape *shape,
           struct nn_spec *spec, struct err *err)
{
    *spec = (struct nn_spec){
        .arch = o->arch,
        .stem = o->stem,
        .norm = o->norm,
        .head = o->head,
        .width = o->width,
        .hidden = o->hidden,
        .basis = (long)shape->basis,
        .height = shape->height,
        .image_width = shape->width,
        .channels = shape->channels,
        .bf16 = o->bf16,
        .direct = o->direct,
    };
    if (train_is_table(o)) {
        spec->samples = shape->size;
        spec->views = (long)shape->views;
    }
    if (shape->basis) { // which is one of pixels / 255, offset included
        for (int k = 0; k < 3; k++)
            spec->deviation[k] = 1;
        return 0;
    }
    if (three("mean", o->mean, spec->mean, err))
        return -1;
    return three("deviation", o->deviation, spec->deviation, err);
}

static struct nn_optim_spec
optim_spec(const struct train_options *o)
{
    const char *lars = o->lars_b ? "lars-b" : "lars-a";

    return (struct nn_optim_spec){.name = strcmp(o->optim, "lars") ? o->optim
                                                                   : lars,
                                  .momentum = o->momentum,
                                  .nesterov = o->nesterov,
                                  .weight_decay = o->weight_decay,
                                  .accumulate = o->accumulate};
}

int
train_check(const struct train_options *o, struct err *err)
{
    const struct train_shape any = {.size = 1,
                                    .height = 32,
                                    .width = 32,
                                    .channels = 3,
                                    .views = 2,
                                    .basis = *o->basis ? 1 : 0};
    const struct nn_optim_spec optim = optim_spec(o);
    const struct loss_objective *objective =
        loss_objective_find(o->objective, err);
    struct nn_spec spec;
    struct nn_optim *made;
    struct nn_net *net;

    if (!objective || loss_objective_check(objective, &o->loss, 0, 0, err) ||
        train_pace_check(o, NULL, err) || train_spec(o, &any, &spec, err))
        return -1;
    net = nn_net_new(&spec, 1, 0, err);
    made = net ? nn_optim_new(&optim, NULL, 0, 0, err) : NULL;
    nn_optim_free(made);
    nn_net_free(net);
    return made ? 0 : -1;
}

static enum train_nonfinite
on_nonfinite(const char *policy)
{
    return !strcmp(policy, "skip")       ? TRAIN_ON_NONFINITE_SKIP
           : !strcmp(policy, "rollback") ? TRAIN_ON_NONFINITE_ROLLBACK
                                         : TRAIN_ON_NONFINITE_STOP;
}

static int
open_learner(struct train *t, struct err *err)
{
    const struct train_options *o = t->options;
    const struct train_learner_spec spec = {
        .objective = t->objective,
        .settings = &o->loss,
        .pace = t->pace,
        .encoder = {&t->encoder},
        .table_views = train_is_table(o) ? t->shape.views : 0,
        .images = t->shape.images,
        .extra = t->shape.extra,
        .samples = &t->samples,
        .state = &t->state,
        .negatives = &t->negatives,
        .nonfinite = on_nonfinite(o->nonfinite),
    };

    t->negatives = train_negatives_of(t);
    return train_learner_open(&t->learner, &spec, err);
}

int
train_basis(struct train *t, struct err *err)
{
    const char *path = t->options->basis;
    struct data_npy npy;

    if (!*path)
        return 0;
    if (data_npy_read(path, &npy, err))
        return -1;
    if (npy.type != DATA_F4 || npy.rank != 2 || npy.shape[0] < 2) {
        data_npy_release(&npy);
        return err_set(err,
                       "'%s': want f4 [k + 1,pixels], as foil-eval pca "
                       "writes it",
                       path);
    }
    t->basis = npy.data;
    t->shape.basis = npy.shape[0] - 1;
    t->basis_width = npy.shape[1];
    return 0;
}

/* The basis of the file becomes the encoder's. */
static int
give_basis(struct train *t, struct err *err)
{
    const struct train_shape *shape = &t->shape;
    const size_t pixels = shape->height * shape->width * shape->channels;

    if (t->basis_width != pixels)
        return err_set(err, "'%s' is for images of %zu numbers, these have %zu",
                       t->options->basis, t->basis_width, pixels);
    nn_net_set_basis(t->encoder.net, t->basis);
    free(t->basis);
    t->basis = NULL;
    return 0;
}

int
train_net_open(struct train *t, struct err *err)
{
    const struct train_options *o = t->options;
    struct train_encoder_spec spec = {.optim = optim_spec(o),
                                      .rows =
                                          2 * t->shape.images + t->shape.extra,
                                      .micro = (size_t)o->micro,
                                      .seed = (uint64_t)o->seed};

    if (train_spec(o, &t->shape, &spec.net, err) ||
        train_encoder_open(&t->encoder, &spec, err) ||
        (t->basis && give_basis(t, err)))
        return -1;
    train_samples_init(&t->samples, t->objective, (size_t)t->shape.size);
    train_features_room(t);
    return open_learner(t, err);
}

int
train_rows(struct train *t, struct err *err)
{
    const char *path = t->options->rows;
    const size_t d = t->encoder.dim;
    struct data_npy npy;
    size_t count;
    float *table = nn_net_params(t->encoder.net, &count);
    int rc = 0;

    if (!*path)
        return 0;
    if (data_npy_read(path, &npy, err))
        return -1;
    if (npy.type != DATA_F4 || npy.rank != 2 || npy.shape[1] != d ||
        npy.shape[0] != count / d || !num_finite(count, npy.data))
        rc = err_set(err, "'%s': want finite f4 [%zu,%zu], a row for each view",
                     path, count / d, d);
    else
        memcpy(table, npy.data, count * sizeof *table);
    data_npy_release(&npy);
    return rc;
}

void
train_net_close(struct train *t)
{
    train_encoder_close(&t->encoder);
    train_samples_release(&t->samples);
    train_learner_close(&t->learner);
    free(t->basis);
}
