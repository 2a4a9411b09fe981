#include <string.h>
#include <unistd.h>

#include "child.h"
#include "nn/checkpoint.h"
#include "t.h"
#include "tiny.h"
#include "train/config.h"

static const struct train_shape shape = {.digest = "0123456789abcdef",
                                         .size = 500,
                                         .images = 32,
                                         .extra = 64,
                                         .height = TINY_SIDE,
                                         .width = TINY_SIDE,
                                         .channels = 3,
                                         .views = 2};
static const struct train_state state = {1, 2, 30, 4,      50,  600,
                                         7, 8, 9,  "-b 4", "0f"};

static int
never(const char *key)
{
    return key == NULL;
}

static int
table_only(const char *key)
{
    return !strcmp(key, "table");
}

static int
processor_only(const char *key)
{
    return !strcmp(key, "processor");
}

static void
check_shape(const struct train_shape *in)
{
    T(!strcmp(in->digest, shape.digest) && in->size == shape.size &&
          in->images == shape.images && in->extra == shape.extra &&
          in->height == shape.height && in->width == shape.width &&
          in->channels == shape.channels && in->views == shape.views &&
          in->basis == shape.basis,
      "the shape is restored, with image and views from the encoder");
}

static void
check_engine(json_t *config, const char *own, const char *other)
{
    struct err err = {""};

    T(!train_config_check_processor(config, never, &err) &&
          !train_config_check_table(config, own, never, &err),
      "the same net on the same machine is accepted");
    T(train_config_check_table(config, other, never, &err) &&
          strstr(err.msg, "--override table"),
      "another net is refused: %s", err.msg);
    T(!train_config_check_table(config, other, table_only, &err),
      "another net is accepted if that is overridden");
    json_object_set_new(json_object_get(config, "engine"), "processor",
                        json_string("abacus"));
    T(train_config_check_processor(config, table_only, &err) &&
          strstr(err.msg, "is from 'abacus'") &&
          strstr(err.msg, "--override processor"),
      "another processor is refused: %s", err.msg);
    T(!train_config_check_processor(config, processor_only, &err) &&
          !train_config_check_table(config, other, processor_only, &err),
      "another processor is accepted if overridden, with its algorithms");
}

/* A config with texts must have the number of captions. */
static void
texts_need_captions(json_t *config, struct train_shape *in,
                    struct train_state *state_in)
{
    struct err err = {""};

    T(in->captions == 0, "without texts there are no captions");
    json_object_set_new(config, "text", json_object());
    T(train_config_get(config, in, state_in, &err) &&
          strstr(err.msg, "captions"),
      "texts without a number of captions are refused: %s", err.msg);
    json_object_del(config, "text");
}

/* The config of a run with texts. */
static void
captions_are_restored(struct train_config pairs)
{
    struct train_shape with = shape, in = {0};
    struct train_state state_in;
    struct err err = {""};
    json_t *config = NULL;

    with.captions = 3;
    pairs.shape = &with;
    pairs.text = pairs.encoder;
    T(!train_config_save(&pairs, ".", &err) &&
          (config = nn_checkpoint_config(".", &err)) &&
          !train_config_get(config, &in, &state_in, &err) && in.captions == 3,
      "with texts, captions are restored %s", err.msg);
    json_decref(config);
}

/* An encoder that differs from tiny_spec() in its width. */
static struct train_encoder
wider_one(void)
{
    struct train_encoder_spec spec = tiny_spec("batch", 8, 0);
    struct train_encoder encoder;
    struct err err;

    spec.net.width = 16;
    if (train_native_open(&encoder, &spec, &err))
        printf("# %s\n", err.msg);
    return encoder;
}

/* Returns the encoder's table and closes the encoder. */
static char *
table_of(struct train_encoder *encoder)
{
    char *table = train_encoder_table(encoder);

    train_encoder_close(encoder);
    return table;
}

int
main(void)
{
    const struct train_encoder_spec spec = tiny_spec("batch", 8, 0);
    struct train_encoder encoder = tiny_open("batch", 8, 0);
    struct train_encoder other = wider_one();
    char *own = train_encoder_table(&encoder), *other_table = table_of(&other);
    const struct train_config out = {.options = json_pack("{s:i}", "lr", 3),
                                     .encoder = &spec.net,
                                     .table = own,
                                     .shape = &shape,
                                     .state = &state};
    struct train_state state_in = {0};
    struct train_shape in = {0};
    struct err err = {""};
    char scratch[256];
    json_t *config = NULL;

    child_scratch(scratch);
    T(!train_config_save(&out, ".", &err) &&
          (config = nn_checkpoint_config(".", &err)) &&
          json_equal(json_object_get(config, "options"), out.options),
      "the options are restored %s", err.msg);
    T(!train_config_get(config, &in, &state_in, &err) &&
          !memcmp(&state_in, &state, sizeof state_in),
      "the state is restored %s", err.msg);
    check_shape(&in);
    check_engine(config, own, other_table);
    free(other_table);
    texts_need_captions(config, &in, &state_in);
    json_object_del(json_object_get(config, "dataset"), "size");
    T(train_config_get(config, &in, &state_in, &err) && strstr(err.msg, "size"),
      "a missing field is named: %s", err.msg);
    captions_are_restored(out);
    T(!unlink("config.json") && !nn_checkpoint_config(".", &err) &&
          !chdir("/") && !rmdir(scratch),
      "a missing file is an error, and nothing else was written: %s", err.msg);
    json_decref(config);
    json_decref(out.options);
    free(own);
    train_encoder_close(&encoder);
    return t_done();
}
