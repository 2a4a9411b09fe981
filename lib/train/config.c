#include <stdlib.h>
#include <string.h>

#include "nn/checkpoint.h"
#include "nn/model.h"
#include "run/batches.h"
#include "train/config.h"
#include "util/file.h"
#include "util/isa.h"
#include "util/mem.h"
#include "util/opt.h"

static json_t *
describe_config(const struct train_config *config)
{
    const struct train_shape *shape = config->shape;
    char *cpu = util_processor();
    json_t *object = json_pack(
        "{s:s, s:i, s:s, s:O, s:o, s:{s:s, s:I}, s:{s:I, s:I}, s:{s:s, s:s}, "
        "s:o}",
        "format", "foil-config", "version", 1, "foil", FOIL_VERSION, "options",
        config->options, "encoder", nn_spec_put(config->encoder), "dataset",
        "digest", shape->digest, "size", (json_int_t)shape->size, "batch",
        "images", (json_int_t)shape->images, "extra", (json_int_t)shape->extra,
        "engine", "processor", cpu, "table", config->table, "state",
        train_state_put(config->state));

    free(cpu);
    REQUIRE(object);
    if (config->text) {
        json_object_set_new(object, "text", nn_spec_put(config->text));
        json_object_set_new(json_object_get(object, "dataset"), "captions",
                            json_integer((json_int_t)shape->captions));
    }
    return object;
}

int
train_config_save(const struct train_config *config, const char *folder,
                  struct err *err)
{
    char *path = mem_format("%s/%s", folder, NN_CHECKPOINT_CONFIG);
    json_t *object = describe_config(config);
    char *text = json_text(object, JSON_INDENT(2));
    const int rc = file_write(path, text, strlen(text), err);

    free(text);
    json_decref(object);
    free(path);
    return rc;
}

int
train_config_get(const json_t *config, struct train_shape *shape,
                 struct train_state *state, struct err *err)
{
    const json_t *data = json_object_get(config, "dataset");
    const json_t *batch = json_object_get(config, "batch");
    const json_t *spec = json_object_get(config, "encoder");
    struct nn_spec encoder;
    const char *digest;
    int64_t images, extra, captions = 0;

    if (train_state_get(state, json_object_get(config, "state"), err) ||
        json_get_text(data, "digest", &digest, err) ||
        json_get_whole(data, "size", 1, TRAIN_SIZE_MAX, &shape->size, err) ||
        json_get_whole(batch, "images", 2, RUN_IMAGES_MAX, &images, err) ||
        json_get_whole(batch, "extra", 0, 2 * RUN_IMAGES_MAX, &extra, err) ||
        (json_object_get(config, "text") &&
         json_get_whole(data, "captions", 1, TRAIN_CAPTIONS_MAX, &captions,
                        err)) ||
        nn_spec_get(&encoder, spec, err))
        return -1;
    *shape = (struct train_shape){
        .size = shape->size,
        .images = (size_t)images,
        .extra = (size_t)extra,
        .height = encoder.height,
        .width = encoder.image_width,
        .channels = encoder.channels,
        .captions = (size_t)captions,
        .views = encoder.views ? (size_t)encoder.views : 2,
        .basis = (size_t)encoder.basis,
    };
    snprintf(shape->digest, sizeof shape->digest, "%s", digest);
    return 0;
}

int
train_config_check_processor(const json_t *config,
                             int (*overridden)(const char *key),
                             struct err *err)
{
    const json_t *engine = json_object_get(config, "engine");
    char *is = util_processor();
    const char *was;
    int rc = json_get_text(engine, "processor", &was, err);

    if (!rc && strcmp(is, was) && !overridden("processor"))
        rc = err_set(err,
                     "this is '%.80s', the checkpoint is from '%.80s', so the "
                     "last bits of every result would differ: --override "
                     "processor continues anyway",
                     is, was);
    free(is);
    return rc;
}

int
train_config_check_table(const json_t *config, const char *table,
                         int (*overridden)(const char *key), struct err *err)
{
    const json_t *engine = json_object_get(config, "engine");
    const char *was;
    int rc = json_get_text(engine, "table", &was, err);

    if (!rc && strcmp(table, was) && !overridden("processor") &&
        !overridden("table"))
        rc =
            err_set(err, "the table differs from the checkpoint's, so the last "
                         "bits of every result would differ: --override "
                         "table continues anyway");
    return rc;
}
