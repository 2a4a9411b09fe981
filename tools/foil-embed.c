#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/features.h"
#include "foil-embed/images.h"
#include "nn/model.h"
#include "num/threads.h"
#include "util/digest.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/priority.h"
#include "util/progress.h"

static const char *output, *layer = "h", *recipe_spec, *bad = "refuse";
static int raw, untrained;
static long size, seed, view, batch = 256, threads;
static long max_pixels = DATA_MAX_PIXELS;

static const struct opt opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE",
     "output, .npy; must be given"},
    {"layer", 0, OPT_WORD, &layer, 0, 0, "h|z",
     "the encoder's features or the head's embeddings"},
    {"untrained", 0, OPT_FLAG, &untrained, 0, 0, NULL,
     "with initial weights instead of the checkpoint's"},
    {"raw", 0, OPT_FLAG, &raw, 0, 0, NULL,
     "no encoder: the pixels are the features"},
    {"size", 0, OPT_WHOLE, &size, 0, 1024, "N",
     "images are N x N; 0: as in training, 32 with --raw"},
    {"recipe", 0, OPT_TEXT, &recipe_spec, 0, 0, "SPEC",
     "augmented views, by NAME[,FIELD=X]...; else plain ones"},
    {"view", 0, OPT_WHOLE, &view, 0, 65535, "N",
     "number of the augmented view"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N",
     "seed of augmented views and initial weights"},
    {"batch", 'b', OPT_WHOLE, &batch, 1, 65536, "N", "images at a time"},
    {"bad", 0, OPT_WORD, &bad, 0, 0, "refuse|skip",
     "what to do with an image that is damaged"},
    {"max-pixels", 0, OPT_WHOLE, &max_pixels, 1, 1e9, "N",
     "an image with more pixels is bad"},
    {"threads", 0, OPT_WHOLE, &threads, 0, 1024, "N",
     "threads to use; 0: all cores"},
    {0},
};

static const struct opt_tool tool = {
    "foil-embed",
    "turn the images of a data set into features",
    "[CHECKPOINT] DATA",
    1,
    2,
    opts,
};

/* Which rows of a table the images at a time are. */
static int32_t *ids;

static void
open_images(struct embed_images *images, const char *path)
{
    struct embed_config config = {
        .path = path,
        .recipe = recipe_spec,
        .seed = (uint64_t)seed,
        .max_pixels = (size_t)max_pixels,
        .skip = !strcmp(bad, "skip"),
    };

    embed_images_open(images, &config);
}

/* Puts --size, where it is given, into the spec of an encoder. */
static void
resize(struct nn_spec *spec, void *data)
{
    (void)data;
    if (size)
        spec->height = spec->image_width = (size_t)size;
}

static void
model_open(struct nn_model *model, const char *path)
{
    struct err err;

    if (nn_model_open(model, path, (size_t)batch, 0, resize, NULL, &err))
        die("%s", err.msg);
    if (model->spec.height != model->spec.image_width)
        die("'%s' is for images of %zu x %zu, not for square ones", path,
            model->spec.image_width, model->spec.height);
    size = (long)model->spec.height;
    if (untrained)
        nn_net_init(model->net, (uint64_t)seed);
    if (nn_net_ids(model->net))
        ids = mem_array((size_t)batch, sizeof *ids);
}

/* The features of n images, [n,size,size,3], go to x [n,d]. */
static void
embed(const struct nn_model *model, size_t n, const uint8_t *images, float *x)
{
    const struct nn_input input = {.n = n, .images = images, .ids = ids};
    size_t pixels = n * (size_t)(size * size) * 3;

    if (!model->net)
        for (size_t i = 0; i < pixels; i++)
            x[i] = images[i] / 255.f;
    else if (*layer == 'h')
        nn_net_infer(model->net, &input, x, NULL);
    else
        nn_net_infer(model->net, &input, NULL, x);
}

static size_t
width(const struct nn_model *model)
{
    if (!model->net)
        return (size_t)(size * size) * 3;
    return *layer == 'h' ? nn_net_features(model->net) : nn_net_dim(model->net);
}

/* The view of a sample, or its id in a table, goes to place i. */
static int
bring(struct embed_images *images, const struct nn_model *model, size_t id,
      size_t i, uint8_t *image, struct err *err)
{
    if (!ids)
        return embed_images_view(images, id, (size_t)size, (uint64_t)view,
                                 image, err);
    ids[i] = (int32_t)(id * (size_t)model->spec.views + (size_t)view);
    return 0;
}

/* Embeds all samples; returns how many were skipped. */
static size_t
run(struct embed_images *images, const struct nn_model *model,
    struct data_features *f)
{
    size_t each = (size_t)(size * size) * 3, all = data_size(images->set);
    uint8_t *pixels = mem_array((size_t)batch, each);
    int skip = !strcmp(bad, "skip");
    struct progress progress;
    size_t waiting = 0;
    struct err err;

    data_features_room(f, images->set, width(model));
    progress_start(&progress, "images", 0, (double)all);
    for (size_t id = 0; id < all; id++) {
        if (bring(images, model, id, waiting, pixels + waiting * each, &err)) {
            progress_clear(&progress);
            if (!skip)
                die("%s", err.msg);
            say("%s", err.msg);
        } else {
            f->ids[f->n + waiting] = (int64_t)id;
            if (f->labels)
                f->labels[f->n + waiting] = data_label(images->set, id);
            waiting++;
        }
        if (waiting == (size_t)batch || (id + 1 == all && waiting)) {
            embed(model, waiting, pixels, f->x + f->n * f->d);
            f->n += waiting;
            waiting = 0;
            progress_show(&progress, (double)(id + 1), "");
        }
    }
    progress_clear(&progress);
    free(pixels);
    if (!f->n)
        die("none of %zu images is sound", all);
    return all - f->n;
}

/* How the features were made: x.json. */
static json_t *
about(const struct embed_images *images, const struct nn_model *model,
      const char *data, size_t skipped)
{
    struct digest digest = data_digest(images->set);
    json_t *encoder = raw ? json_null() : json_incref(model->about);
    char hex[DIGEST_HEX];
    json_t *how = json_pack(
        "{s:s s:s s:{s:s s:s s:I} s:o s:s s:I s:s s:I s:I s:I s:I}", "tool",
        "foil-embed", "version", FOIL_VERSION, "data", "path", data, "digest",
        digest_hex(&digest, hex), "size", (json_int_t)data_size(images->set),
        "encoder", encoder, "layer", raw ? "pixels / 255" : layer, "image_size",
        (json_int_t)size, "view", recipe_spec ? recipe_spec : "plain", "seed",
        (json_int_t)seed, "skipped", (json_int_t)skipped, "batch",
        (json_int_t)batch, "threads", (json_int_t)threads);

    REQUIRE(how);
    if (!raw)
        json_object_set_new(encoder, "untrained", json_boolean(untrained));
    if (recipe_spec)
        json_object_set_new(how, "view_number", json_integer(view));
    return how;
}

int
main(int argc, char **argv)
{
    struct data_features features = {0};
    struct nn_model model = {0};
    struct embed_images images;
    const char *data;
    char **operand;
    struct err err;
    size_t skipped;

    num_threads_sleep(argv);
    operand = opt_parse(&tool, argc, argv);
    data = operand[!raw];
    if ((operand[1] == NULL) != raw || (raw && untrained))
        opt_misuse("wants CHECKPOINT and DATA, or --raw and DATA alone");
    if (!output)
        opt_misuse("wants a file to write to, -o FILE");
    priority_low();
    threads = num_threads((int)threads);
    end_when_stopped();
    open_images(&images, data);
    if (!raw)
        model_open(&model, operand[0]);
    else if (!size)
        size = 32;
    if (!raw &&
        nn_model_fits(&model, data_size(images.set), (size_t)view + 1, &err))
        die("%s", err.msg);
    images.recipe.size = (size_t)size;

    skipped = run(&images, &model, &features);
    features.about = about(&images, &model, data, skipped);
    if (data_features_write(output, &features, &err))
        die("%s", err.msg);
    if (skipped)
        say("%zu of %zu images were bad and are left out", skipped,
            data_size(images.set));
    data_features_release(&features);
    nn_model_release(&model);
    free(ids);
    embed_images_close(&images);
    close_stdout();
    return EXIT_OK;
}
