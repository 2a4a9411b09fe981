#include <stdlib.h>
#include <string.h>

#include "nn/pretrained.h"
#include "nn/safetensors.h"
#include "num/half.h"
#include "num/vec.h"
#include "util/dtype.h"
#include "util/mem.h"

enum { IMAGES = 1, TEXTS = 2 };

/* Prefixes of other programs' names. */
static const struct {
    int of;
    const char *text;
} prefix[] = {{TEXTS, "text."}, {TEXTS, "distilbert."}};

/* Parts of names that differ in other programs, or in older ones. */
static const struct {
    int of;
    const char *theirs, *ours;
} alias[] = {{IMAGES, ".mlp.linear_1.", ".mlp.0."},
             {IMAGES, ".mlp.linear_2.", ".mlp.3."}};

/* Names with these prefixes are skipped. */
static const struct {
    int of;
    const char *text;
} skip[] = {{IMAGES, "fc."},   {IMAGES, "heads."},     {TEXTS, "visual."},
            {TEXTS, "vocab_"}, {TEXTS, "logit_scale"}, {TEXTS, "logit_bias"}};

/* Names with these prefixes may be missing. */
static const char *const heads[] = {"head.", "text_projection"};

enum {
    PREFIXES = sizeof prefix / sizeof *prefix,
    ALIASES = sizeof alias / sizeof *alias,
    SKIPS = sizeof skip / sizeof *skip,
    HEADS = sizeof heads / sizeof *heads
};

struct load {
    const char *path;
    struct nn_net *net;
    const struct nn_tensor *tensor;
    size_t n;
    int of;     /* IMAGES or TEXTS */
    char *done; /* [n] */
    size_t skipped[SKIPS];
};

static int
begins_with(const char *name, const char *with)
{
    return !strncmp(name, with, strlen(with));
}

/* Translates a name to ours; the caller frees it. */
static char *
our_name_of(const struct load *load, const char *theirs)
{
    for (size_t i = 0; i < PREFIXES; i++)
        if (prefix[i].of & load->of && begins_with(theirs, prefix[i].text)) {
            theirs += strlen(prefix[i].text);
            break;
        }
    for (size_t i = 0; i < ALIASES; i++) {
        const char *at = strstr(theirs, alias[i].theirs);

        if (at && alias[i].of & load->of)
            return mem_format("%.*s%s%s", (int)(at - theirs), theirs,
                              alias[i].ours, at + strlen(alias[i].theirs));
    }
    return mem_text(theirs);
}

/* A shape as "[64,3,7,7]". */
static char *
shape_of(size_t rank, const size_t *shape)
{
    char *text = mem_text("[");

    for (size_t i = 0; i < rank; i++)
        mem_append(&text, "%s%zu", i ? "," : "", shape[i]);
    mem_append(&text, "]");
    return text;
}

/* Whether the shapes fit; an array of text positions may be longer. */
static int
fits_tensor(const struct load *load, const struct nn_array *a,
            const struct nn_tensor *t)
{
    const int positions = load->of == TEXTS && t->rank == 2 && !t->decays;

    if (a->rank != t->rank)
        return 0;
    for (size_t i = 0; i < t->rank; i++)
        if (a->shape[i] < t->shape[i] ||
            (a->shape[i] > t->shape[i] && !(positions && i == 0)))
            return 0;
    return 1;
}

/* Converts n numbers to f32; -1 for an unsupported type. */
static int
widen_numbers(const struct nn_array *a, size_t n, float *to)
{
    const uint16_t *half = a->data;
    const double *wide = a->data;

    if (!strcmp(a->dtype, "F32")) {
        memcpy(to, a->data, n * sizeof *to);
    } else if (!strcmp(a->dtype, "F16")) {
        half_widen(n, half, to);
    } else if (!strcmp(a->dtype, "BF16")) {
        num_half_get(n, 1, half, to);
    } else if (!strcmp(a->dtype, "F64")) {
        for (size_t i = 0; i < n; i++)
            to[i] = (float)wide[i];
    } else {
        return -1;
    }
    return 0;
}

static int
take_numbers(struct load *load, const struct nn_array *a, size_t i,
             struct err *err)
{
    const struct nn_tensor *t = &load->tensor[i];
    float *block = t->statistic ? nn_net_statistics(load->net, NULL)
                                : nn_net_params(load->net, NULL);
    float *to = block + t->offset;

    if (load->done[i])
        return err_set(err, "'%s': tensor '%s' is there twice", load->path,
                       t->name);
    if (!fits_tensor(load, a, t)) {
        char *is = shape_of(a->rank, a->shape),
             *want = shape_of(t->rank, t->shape);

        err_set(err, "'%s': tensor '%s' is %s, the encoder's is %s", load->path,
                a->name, is, want);
        mem_free(is, want);
        return -1;
    }
    if (widen_numbers(a, t->count, to))
        return err_set(err,
                       "'%s': tensor '%s' is %s, want F32, F16, BF16 or F64",
                       load->path, a->name, a->dtype);
    if (!num_finite(t->count, to))
        return err_set(err, "'%s': tensor '%s' is not finite", load->path,
                       a->name);
    load->done[i] = 1;
    return 0;
}

/* Loads a tensor of the file, skips it, or refuses it. */
static int
place_tensor(struct load *load, const struct nn_array *a, struct err *err)
{
    static const char tracked[] = ".num_batches_tracked";
    const size_t len = strlen(a->name), tail = strlen(tracked);
    char *name = our_name_of(load, a->name);
    int rc = 1;

    for (size_t i = 0; i < load->n && rc > 0; i++)
        if (!strcmp(load->tensor[i].name, name))
            rc = take_numbers(load, a, i, err);
    for (size_t i = 0; i < SKIPS && rc > 0; i++)
        if (skip[i].of & load->of && begins_with(name, skip[i].text)) {
            load->skipped[i]++;
            rc = 0;
        }
    if (rc > 0 && len > tail && !strcmp(a->name + len - tail, tracked))
        rc = 0;
    if (rc > 0)
        rc = err_set(err, "'%s': tensor '%s' is one too many", load->path,
                     a->name);
    free(name);
    return rc;
}

static int
check_complete(const struct load *load, struct err *err)
{
    for (size_t i = 0; i < load->n; i++) {
        int head = 0;

        for (size_t k = 0; k < HEADS; k++)
            head |= begins_with(load->tensor[i].name, heads[k]);
        if (!load->done[i] && !head)
            return err_set(err, "'%s': tensor '%s' is missing", load->path,
                           load->tensor[i].name);
    }
    return 0;
}

int
nn_pretrained_load(const char *path, struct nn_net *net, char **skipped,
                   struct err *err)
{
    struct load load = {
        .path = path,
        .net = net,
        .of = nn_net_texts(net) ? TEXTS : IMAGES,
    };
    struct nn_array *array;
    size_t n;
    int rc = 0;

    if (nn_arrays_read(path, &array, &n, NULL, err))
        return -1;
    load.tensor = nn_net_tensors(net, &load.n);
    load.done = mem_array(load.n, 1);
    for (size_t i = 0; i < n && !rc; i++)
        rc = place_tensor(&load, &array[i], err);
    if (!rc)
        rc = check_complete(&load, err);
    if (!rc && skipped) {
        struct series all = {.most = SKIPS};

        for (size_t i = 0; i < SKIPS; i++)
            if (load.skipped[i])
                series_put(&all,
                           mem_temp("%s (%zu)", skip[i].text, load.skipped[i]));
        *skipped = series_end(&all);
    }
    nn_arrays_free(array, n);
    free(load.done);
    return rc;
}
