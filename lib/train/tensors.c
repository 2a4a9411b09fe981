#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "util/mem.h"

enum {
    NAME = 200,
    RANK = sizeof((struct nn_tensor *)0)->shape / sizeof(size_t)
};

static const double most = 1e11; // numbers of a tensor

void
train_tensors_release(struct train_tensors *tensors)
{
    for (size_t i = 0; i < tensors->n; i++)
        free((char *)tensors->tensor[i].name);
    free(tensors->tensor);
    *tensors = (struct train_tensors){0};
}

/* Parses "64x3x7x7" and counts its numbers; returns 1, or 0. */
static int
parse_shape(const char *text, struct nn_tensor *t)
{
    double count = 1;
    char *end;

    for (;;) {
        const unsigned long long side = strtoull(text, &end, 10);

        if (end == text || *text == '-' || *text == '+' || *text == ' ' ||
            !side || t->rank == RANK || (count *= (double)side) > most)
            return 0;
        t->shape[t->rank++] = (size_t)side;
        if (!*end)
            break;
        if (*end != 'x')
            return 0;
        text = end + 1;
    }
    t->count = (size_t)count;
    return 1;
}

static const struct nn_tensor *
find_tensor(const struct nn_tensor *tensor, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(tensor[i].name, name))
            return tensor + i;
    return NULL;
}

int
train_tensors_take(void *of, const char *line, struct err *err)
{
    struct train_tensors *tensors = of;
    struct nn_tensor t = {.decays = 1};
    char name[NAME + 1], kind[16], shape[128];
    size_t *block;

    if (sscanf(line, "tensor %200s %15s %127s", name, kind, shape) != 3 ||
        (strcmp(kind, "parameter") && strcmp(kind, "statistic")) ||
        !parse_shape(shape, &t))
        return err_set(err,
                       "answered '%.80s': want 'tensor NAME "
                       "parameter|statistic SHAPE', the shape as 64x3x7x7, of "
                       "%d numbers at most",
                       line, RANK);
    if (find_tensor(tensors->tensor, tensors->n, name))
        return err_set(err, "has two tensors '%.80s'", name);
    t.name = mem_text(name);
    t.statistic = !strcmp(kind, "statistic");
    block = t.statistic ? &tensors->statistics : &tensors->params;
    t.offset = *block;
    *block += t.count;
    mem_grow(&tensors->tensor, &tensors->room, tensors->n + 1,
             sizeof *tensors->tensor);
    tensors->tensor[tensors->n++] = t;
    return 0;
}

static void
print_shape(const struct nn_tensor *t, char text[128])
{
    size_t at = 0;

    for (size_t k = 0; k < t->rank; k++)
        at += (size_t)snprintf(text + at, 128 - at, "%s%zu", k ? "x" : "",
                               t->shape[k]);
}

static int
match_tensor(const struct nn_tensor *t, const struct nn_tensor *want,
             const char *arch, const char *line, struct err *err)
{
    char is[128], wanted[128];

    if (!t)
        return err_set(err,
                       "encoder: '%.100s' has no tensor '%s', which --arch %s "
                       "has: --arch program takes any tensors",
                       line, want->name, arch);
    print_shape(t, is);
    print_shape(want, wanted);
    if (strcmp(is, wanted) || t->statistic != want->statistic)
        return err_set(err,
                       "encoder: '%.100s' has tensor '%s' as %s %s, --arch %s "
                       "as %s %s: --arch program takes any tensors",
                       line, t->name, t->statistic ? "statistic" : "parameter",
                       is, arch, want->statistic ? "statistic" : "parameter",
                       wanted);
    return 0;
}

int
train_tensors_match(const struct train_tensors *tensors,
                    const struct nn_spec *net, size_t dim, const char *line,
                    struct err *err)
{
    struct nn_net *ours = nn_net_new(net, 1, 0, err);
    const struct nn_tensor *want;
    size_t n;
    int rc = 0;

    if (!ours)
        return -1;
    want = nn_net_tensors(ours, &n);
    for (size_t i = 0; i < n && !rc; i++)
        rc =
            match_tensor(find_tensor(tensors->tensor, tensors->n, want[i].name),
                         want + i, net->arch, line, err);
    for (size_t i = 0; i < tensors->n && !rc; i++)
        if (!find_tensor(want, n, tensors->tensor[i].name))
            rc = err_set(err,
                         "encoder: '%.100s' has a tensor '%s', which --arch %s "
                         "has not: --arch program takes any tensors",
                         line, tensors->tensor[i].name, net->arch);
    if (!rc && dim != nn_net_dim(ours))
        rc = err_set(err,
                     "encoder: '%.100s' makes embeddings of %zu numbers, "
                     "--arch %s with --head %s of %zu",
                     line, dim, net->arch, net->head, nn_net_dim(ours));
    nn_net_free(ours);
    return rc;
}
