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
the_shape_is(const struct train_shape *in)
{
    T(!strcmp(in->digest, shape.digest) && in->size == shape.size &&
          in->images == shape.images && in->extra == shape.extra &&
          in->height == shape.height && in->width == shape.width &&
          in->channels == shape.channels && in->views == shape.views &&
          in->basis == shape.basis,
      "and the shape, image and views out of the encoder");
}

static void
the_engine_is_checked(json_t *config, const char *own, const char *other)
{
    struct err err = {""};

    T(!train_config_check_processor(config, never, &err) &&
          !train_config_check_table(config, own, never, &err),
      "the same net on the same machine may go on");
    T(train_config_check_table(config, other, never, &err) &&
          strstr(err.msg, "--override table"),
      "another one is refused: %s", err.msg);
    T(!train_config_check_table(config, other, table_only, &err),
      "unless that is overridden");
    json_object_set_new(json_object_get(config, "engine"), "processor",
                        json_string("abacus"));
    T(train_config_check_processor(config, table_only, &err) &&
          strstr(err.msg, "is of 'abacus'") &&
          strstr(err.msg, "--override processor"),
      "another processor is refused: %s", err.msg);
    T(!train_config_check_processor(config, processor_only, &err) &&
          !train_config_check_table(config, other, processor_only, &err),
      "unless that is overridden, and its algorithms with it");
}

/* How many a sample has is known where there are texts. */
static void
texts_want_captions(json_t *config, struct train_shape *in,
                    struct train_state *then)
{
    struct err err = {""};

    T(in->captions == 0, "without texts there are no captions");
    json_object_set_new(config, "text", json_object());
    T(train_config_get(config, in, then, &err) && strstr(err.msg, "captions"),
      "texts want to be known by how many captions a sample has: %s", err.msg);
    json_object_del(config, "text");
}

/* Of a run that has texts besides. */
static void
captions_come_back(struct train_config pairs)
{
    struct train_shape with = shape, in = {0};
    struct train_state then;
    struct err err = {""};
    json_t *config = NULL;

    with.captions = 3;
    pairs.shape = &with;
    pairs.text = pairs.encoder;
    T(!train_config_save(&pairs, ".", &err) &&
          (config = nn_checkpoint_config(".", &err)) &&
          !train_config_get(config, &in, &then, &err) && in.captions == 3,
      "with texts, captions come back %s", err.msg);
    json_decref(config);
}

/* One that differs from tiny_spec() in its width. */
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

/* Its table; it is closed. */
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
    char *own = train_encoder_table(&encoder), *others = table_of(&other);
    const struct train_config out = {.options = json_pack("{s:i}", "lr", 3),
                                     .encoder = &spec.net,
                                     .table = own,
                                     .shape = &shape,
                                     .state = &state};
    struct train_state then = {0};
    struct train_shape in = {0};
    struct err err = {""};
    char scratch[256];
    json_t *config = NULL;

    child_scratch(scratch);
    T(!train_config_save(&out, ".", &err) &&
          (config = nn_checkpoint_config(".", &err)) &&
          json_equal(json_object_get(config, "options"), out.options),
      "the options are those that were given %s", err.msg);
    T(!train_config_get(config, &in, &then, &err) &&
          !memcmp(&then, &state, sizeof then),
      "the state comes back %s", err.msg);
    the_shape_is(&in);
    the_engine_is_checked(config, own, others);
    free(others);
    texts_want_captions(config, &in, &then);
    json_object_del(json_object_get(config, "dataset"), "size");
    T(train_config_get(config, &in, &then, &err) && strstr(err.msg, "size"),
      "what is missing is named: %s", err.msg);
    captions_come_back(out);
    T(!unlink("config.json") && !nn_checkpoint_config(".", &err) &&
          !chdir("/") && !rmdir(scratch),
      "no file is no config, nothing else was written: %s", err.msg);
    json_decref(config);
    json_decref(out.options);
    free(own);
    train_encoder_close(&encoder);
    return t_done();
}
