#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loss/rows.h"
#include "nn/checkpoint.h"
#include "nn/model.h"
#include "run/batches.h"
#include "train/config.h"
#include "util/file.h"
#include "util/isa.h"
#include "util/mem.h"
#include "util/opt.h"

static const char without_service[] = "steps_without_service";

static const struct {
    const char *name;
    size_t offset;
} fields[] = {
    {"epoch", offsetof(struct train_state, epoch)},
    {"step", offsetof(struct train_state, step)},
    {"steps", offsetof(struct train_state, steps)},
    {"epochs", offsetof(struct train_state, epochs)},
    {"total", offsetof(struct train_state, total)},
    {"images", offsetof(struct train_state, images)},
    {"substituted", offsetof(struct train_state, substituted)},
    {"skipped", offsetof(struct train_state, skipped)},
    {without_service, offsetof(struct train_state, steps_without_service)},
};

static const struct {
    const char *name;
    size_t offset, room;
} texts[] = {
    {"plan", offsetof(struct train_state, plan),
     sizeof((struct train_state *)0)->plan},
    {"order", offsetof(struct train_state, order),
     sizeof((struct train_state *)0)->order},
};

json_t *
train_state_put(const struct train_state *state)
{
    json_t *object = json_object();

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        json_object_set_new(
            object, fields[i].name,
            json_integer(
                *(const int64_t *)((const char *)state + fields[i].offset)));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = (const char *)state + texts[i].offset;

        if (*text)
            json_object_set_new(object, texts[i].name, json_string(text));
    }
    return object;
}

int
train_state_get(struct train_state *state, const json_t *object,
                struct err *err)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        int64_t *field = (int64_t *)((char *)state + fields[i].offset);
        const char *name = fields[i].name;

        if (name == without_service && !json_object_get(object, name))
            name = "alone"; // of an older version
        if (json_get_whole(object, name, 0, INT64_MAX, field, err))
            return -1;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *to = (char *)state + texts[i].offset;
        const char *text = "";

        if (json_object_get(object, texts[i].name) &&
            json_get_text(object, texts[i].name, &text, err))
            return -1;
        snprintf(to, texts[i].room, "%s", text);
    }
    return 0;
}

int
train_config_save(const struct train_config *config, const char *folder,
                  struct err *err)
{
    const struct train_shape *shape = config->shape;
    char *cpu = util_processor(), *text;
    json_t *object = json_pack(
        "{s:s, s:i, s:s, s:O, s:o, s:{s:s, s:I}, s:{s:I, s:I}, s:{s:s, s:s}, "
        "s:o}",
        "format", "foil-config", "version", 1, "foil", FOIL_VERSION, "options",
        config->options, "encoder", nn_spec_put(config->encoder), "dataset",
        "digest", shape->digest, "size", (json_int_t)shape->size, "batch",
        "images", (json_int_t)shape->images, "extra", (json_int_t)shape->extra,
        "engine", "processor", cpu, "table", config->table, "state",
        train_state_put(config->state));
    int rc;

    REQUIRE(object);
    if (shape->per_image > 2)
        json_object_set_new(json_object_get(object, "batch"), "views",
                            json_integer((json_int_t)shape->per_image));
    if (shape->small)
        json_object_set_new(json_object_get(object, "batch"), "small",
                            json_pack("[I,I,I]", (json_int_t)shape->small,
                                      (json_int_t)shape->small_height,
                                      (json_int_t)shape->small_width));
    if (config->text) {
        json_object_set_new(object, "text", nn_spec_put(config->text));
        json_object_set_new(json_object_get(object, "dataset"), "captions",
                            json_integer((json_int_t)shape->captions));
    }
    text = json_text(object, JSON_INDENT(2));
    rc = file_write(mem_temp("%s/%s", folder, NN_CHECKPOINT_CONFIG), text,
                    strlen(text), err);
    mem_free(cpu, text);
    json_decref(object);
    return rc;
}

/* Reads the views of a second size. */
static int
read_small(const json_t *small, struct train_shape *shape, struct err *err)
{
    json_int_t views, height, width;

    if (!small)
        return 0;
    if (json_unpack((json_t *)small, "[I,I,I]", &views, &height, &width) ||
        views < 1 || (size_t)views >= shape->per_image || height < 1 ||
        (size_t)height > shape->height || width < 1 ||
        (size_t)width > shape->width)
        return err_set(err, "'small' is not a number of views with a height "
                            "and a width");
    shape->small = (size_t)views;
    shape->small_height = (size_t)height;
    shape->small_width = (size_t)width;
    return 0;
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
    int64_t images, extra, captions = 0, views = 2;

    if (train_state_get(state, json_object_get(config, "state"), err) ||
        json_get_text(data, "digest", &digest, err) ||
        json_get_whole(data, "size", 1, TRAIN_SIZE_MAX, &shape->size, err) ||
        json_get_whole(batch, "images", 2, RUN_IMAGES_MAX, &images, err) ||
        json_get_whole(batch, "extra", 0, 2 * RUN_IMAGES_MAX, &extra, err) ||
        (json_object_get(batch, "views") &&
         json_get_whole(batch, "views", 2, LOSS_VIEWS_MAX, &views, err)) ||
        (json_object_get(config, "text") &&
         json_get_whole(data, "captions", 0, TRAIN_CAPTIONS_MAX, &captions,
                        err)) ||
        nn_spec_get(&encoder, spec, err))
        return -1;
    *shape = (struct train_shape){
        .size = shape->size,
        .images = (size_t)images,
        .extra = (size_t)extra,
        .per_image = (size_t)views,
        .height = encoder.height,
        .width = encoder.image_width,
        .channels = encoder.channels,
        .captions = (size_t)captions,
        .views = encoder.views ? (size_t)encoder.views : 2,
        .basis = (size_t)encoder.basis,
    };
    snprintf(shape->digest, sizeof shape->digest, "%s", digest);
    return read_small(json_object_get(batch, "small"), shape, err);
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
