#include <stdlib.h>
#include <string.h>

#include "nn/average.h"
#include "nn/checkpoint.h"
#include "nn/model.h"
#include "num/dnn.h"
#include "util/mem.h"

#include "encoder.h"

/* The fields of a spec by name, for writing and reading.  LATER is a LONG that
 * older checkpoints do not have: 0; OPTIONAL one that is not written if it is
 * 0. */
enum field_kind { TEXT, LONG, LATER, OPTIONAL, SIZE, FLAG, TRIPLE };

static const struct {
    const char *name;
    enum field_kind kind;
    size_t offset;
} fields[] = {
    {"arch", TEXT, offsetof(struct nn_spec, arch)},
    {"stem", TEXT, offsetof(struct nn_spec, stem)},
    {"norm", TEXT, offsetof(struct nn_spec, norm)},
    {"head", TEXT, offsetof(struct nn_spec, head)},
    {"width", LONG, offsetof(struct nn_spec, width)},
    {"hidden", LONG, offsetof(struct nn_spec, hidden)},
    {"basis", LATER, offsetof(struct nn_spec, basis)},
    {"samples", LATER, offsetof(struct nn_spec, samples)},
    {"views", LATER, offsetof(struct nn_spec, views)},
    {"vocabulary", LATER, offsetof(struct nn_spec, vocabulary)},
    {"context", LATER, offsetof(struct nn_spec, context)},
    {"second", OPTIONAL, offsetof(struct nn_spec, second)},
    {"quick_gelu", LATER, offsetof(struct nn_spec, quick_gelu)},
    {"height", SIZE, offsetof(struct nn_spec, height)},
    {"image_width", SIZE, offsetof(struct nn_spec, image_width)},
    {"channels", SIZE, offsetof(struct nn_spec, channels)},
    {"feature_size", OPTIONAL, offsetof(struct nn_spec, feature_size)},
    {"mean", TRIPLE, offsetof(struct nn_spec, mean)},
    {"deviation", TRIPLE, offsetof(struct nn_spec, deviation)},
    {"bf16", FLAG, offsetof(struct nn_spec, bf16)},
    {"direct", FLAG, offsetof(struct nn_spec, direct)},
};

json_t *
nn_spec_put(const struct nn_spec *spec)
{
    json_t *object = json_object();

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const void *at = (const char *)spec + fields[i].offset;
        const float *triple = at;
        json_t *value = NULL;

        switch (fields[i].kind) {
        case TEXT:
            value = json_string(*(const char *const *)at);
            break;
        case OPTIONAL:
            if (!*(const long *)at)
                continue;
            // fall through
        case LONG:
        case LATER:
            value = json_integer(*(const long *)at);
            break;
        case SIZE:
            value = json_integer((json_int_t) * (const size_t *)at);
            break;
        case FLAG:
            value = json_boolean(*(const int *)at);
            break;
        case TRIPLE:
            value = json_pack("[f,f,f]", (double)triple[0], (double)triple[1],
                              (double)triple[2]);
            break;
        }
        json_object_set_new(object, fields[i].name, value);
    }
    return object;
}

static int
take_triple(const json_t *object, const char *name, float *triple,
            struct err *err)
{
    const json_t *list = json_object_get(object, name);

    if (json_array_size(list) != 3)
        return err_set(err, "field '%s' is not a list of three", name);
    for (size_t i = 0; i < 3; i++) {
        if (!json_is_number(json_array_get(list, i)))
            return err_set(err, "field '%s' is not a list of numbers", name);
        triple[i] = (float)json_number_value(json_array_get(list, i));
    }
    return 0;
}

int
nn_spec_get(struct nn_spec *spec, const json_t *object, struct err *err)
{
    int rc = 0;

    *spec = (struct nn_spec){0};
    for (size_t i = 0; i < sizeof fields / sizeof *fields && !rc; i++) {
        void *at = (char *)spec + fields[i].offset;
        const char *name = fields[i].name;
        int64_t whole = 0;

        switch (fields[i].kind) {
        case TEXT:
            rc = json_get_text(object, name, at, err);
            break;
        case LATER:
        case OPTIONAL:
            if (!json_object_get(object, name))
                break;
            // fall through
        case LONG:
            rc = json_get_whole(object, name, 0, 1L << 31, &whole, err);
            *(long *)at = (long)whole;
            break;
        case SIZE:
            rc = json_get_whole(object, name, 0, 1 << 20, &whole, err);
            *(size_t *)at = (size_t)whole;
            break;
        case FLAG:
            if (!json_is_boolean(json_object_get(object, name)))
                rc = err_set(err, "field '%s' is not true or false", name);
            *(int *)at = json_is_true(json_object_get(object, name));
            break;
        case TRIPLE:
            rc = take_triple(object, name, at, err);
            break;
        }
    }
    return rc;
}

/* Reads the config of a verified checkpoint, and the spec of that name in it.
 */
static int
read_config(const char *folder, const char *name, struct nn_model *model,
            struct err *err)
{
    struct err why;

    model->config = nn_checkpoint_config(folder, err);
    if (!model->config)
        return -1;
    if (!strcmp(name, "text") && !json_object_get(model->config, name))
        return err_set(err, "'%s' has no text encoder", folder);
    if (nn_spec_get(&model->spec, json_object_get(model->config, name), &why))
        return err_set(err, "'%s/" NN_CHECKPOINT_CONFIG "': %s", folder,
                       why.msg);
    return 0;
}

static int
fill_about(struct nn_model *model, const char *folder, struct err *err)
{
    char hex[DIGEST_HEX];

    if (nn_checkpoint_digest(folder, hex, err))
        return -1;
    model->folder = mem_text(folder);
    model->about = nn_spec_put(&model->spec);
    json_object_set_new(model->about, "checkpoint", json_string(folder));
    json_object_set_new(model->about, "manifest", json_string(hex));
    return 0;
}

/* Verifies the checkpoint that was found at a path; the error names the one
 * before, if the path is a run. */
static int
verify_checkpoint(const char *path, const char *folder, struct err *err)
{
    struct err damage, ignored;
    size_t n = 0;
    long *step;

    if (!nn_checkpoint_verify(folder, &damage))
        return 0;
    step = nn_checkpoint_steps(path, &n, &ignored);
    if (step && n > 1)
        err_set(err, "%.300s: the one before is '%s/step-%08ld'", damage.msg,
                path, step[n - 2]);
    else
        *err = damage;
    free(step);
    return -1;
}

int
nn_model_read(struct nn_model *model, const char *path, int texts,
              struct err *err)
{
    char *folder = nn_checkpoint_need(path, err);
    int rc = 0;

    *model = (struct nn_model){0};
    if (!folder || verify_checkpoint(path, folder, err) ||
        read_config(folder, texts ? "text" : "encoder", model, err) ||
        fill_about(model, folder, err)) {
        nn_model_release(model);
        rc = -1;
    }
    free(folder);
    return rc;
}

int
nn_model_build(struct nn_model *model, size_t max_rows, int train, int average,
               struct err *err)
{
    struct nn_weights blocks;
    struct err none;
    const struct nn_encoder *encoder = nn_encoder_find(model->spec.arch, &none);

    if (!num_dnn_bf16()) {
        model->widened = model->spec.bf16 && encoder && encoder->bf16;
        model->spec.bf16 = 0;
    }
    model->net = nn_net_new(&model->spec, max_rows, train, err);
    if (model->net) {
        blocks = nn_net_weights(model->net);
        if (!nn_weights_load(model->folder, &blocks, err) &&
            (!average || !nn_average_use(model, &blocks, err)))
            return 0;
    }
    nn_model_release(model);
    return -1;
}

int
nn_model_fits(const struct nn_model *model, size_t samples, size_t views,
              struct err *err)
{
    const struct nn_spec *spec = &model->spec;

    if (!nn_encoder_reads(spec->arch, NN_IDS))
        return 0;
    if ((size_t)spec->samples != samples)
        return err_set(
            err, "the encoder is a table of %ld image%s, the data set has %zu",
            spec->samples, plural((size_t)spec->samples), samples);
    if ((size_t)spec->views < views)
        return err_set(err,
                       "the encoder is a table of %ld view%s, there is no view "
                       "%ld",
                       spec->views, plural((size_t)spec->views), spec->views);
    return 0;
}

void
nn_model_release(struct nn_model *model)
{
    nn_net_free(model->net);
    json_decref(model->config);
    json_decref(model->about);
    free(model->folder);
    *model = (struct nn_model){0};
}
