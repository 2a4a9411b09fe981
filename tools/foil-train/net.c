#include <stdlib.h>

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
        .height = shape->height,
        .image_width = shape->width,
        .channels = shape->channels,
        .bf16 = o->precision[0] == 'b',
        .direct = o->conv[0] == 'd',
    };
    if (three("mean", o->mean, spec->mean, err))
        return -1;
    return three("deviation", o->deviation, spec->deviation, err);
}

static struct nn_optim_spec
optim_spec(const struct train_options *o)
{
    const char *lars = o->lars[0] == 'a' ? "lars-a" : "lars-b";

    return (struct nn_optim_spec){.name = o->optim[0] == 'l' ? lars : o->optim,
                                  .momentum = o->momentum,
                                  .nesterov = o->nesterov,
                                  .weight_decay = o->weight_decay};
}

int
train_check(const struct train_options *o, struct err *err)
{
    const struct train_shape any = {.height = 32, .width = 32, .channels = 3};
    const struct nn_optim_spec optim = optim_spec(o);
    const struct loss_objective *objective =
        loss_objective_find(o->objective, err);
    struct nn_schedule schedule;
    struct nn_spec spec;
    struct nn_optim *made;
    struct nn_net *net;

    if (!objective || loss_objective_check(objective, &o->loss, 0, 0, err) ||
        nn_schedule_parse(o->schedule, &schedule, err) ||
        train_spec(o, &any, &spec, err))
        return -1;
    net = nn_net_new(&spec, 1, 0, err);
    made = net ? nn_optim_new(&optim, NULL, 0, 0, err) : NULL;
    nn_optim_free(made);
    nn_net_free(net);
    return made ? 0 : -1;
}

static void
make_room(struct train *t)
{
    const struct train_shape *shape = &t->shape;
    const size_t n = 2 * shape->images, rows = t->rows;
    const size_t d = nn_net_dim(t->net);
    const struct loss_batch largest = {
        .b = shape->images, .extra = shape->extra, .d = d};
    size_t statistics;

    nn_net_statistics(t->net, &statistics);
    t->statistics = mem_array(statistics, sizeof(float));
    if (shape->extra)
        t->pixels =
            mem_array(rows * shape->height * shape->width, shape->channels);
    t->z = mem_aligned(rows * d, sizeof(float));
    t->v = mem_aligned(rows * d, sizeof(float));
    t->dz = mem_aligned(rows * d, sizeof(float));
    t->columns =
        mem_array(shape->images * t->objective->columns, sizeof(float));
    t->work =
        mem_aligned(loss_objective_size(t->objective, &largest), sizeof(float));
    if (t->objective->wants_weights)
        t->weights = mem_aligned(n * rows, sizeof(float));
}

int
train_net_open(struct train *t, struct err *err)
{
    const struct train_options *o = t->options;
    const struct nn_tensor *tensors;
    const struct nn_optim_spec optim = optim_spec(o);
    struct nn_spec spec;
    size_t n, count;

    t->rows = 2 * t->shape.images + t->shape.extra;
    if (train_spec(o, &t->shape, &spec, err))
        return -1;
    t->net = nn_net_new(&spec, t->rows, 1, err);
    if (!t->net || loss_objective_check(t->objective, &o->loss, t->shape.images,
                                        nn_net_dim(t->net), err))
        return -1;
    nn_net_init(t->net, (uint64_t)o->seed);
    tensors = nn_net_tensors(t->net, &n);
    nn_net_params(t->net, &count);
    t->optim = nn_optim_new(&optim, tensors, n, count, err);
    if (!t->optim)
        return -1;
    train_samples_init(&t->samples, t->objective, (size_t)t->shape.size);
    make_room(t);
    return 0;
}

void
train_net_close(struct train *t)
{
    nn_net_free(t->net);
    nn_optim_free(t->optim);
    train_samples_release(&t->samples);
    free(t->statistics);
    free(t->pixels);
    free(t->z);
    free(t->v);
    free(t->dz);
    free(t->columns);
    free(t->weights);
    free(t->work);
}
