#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "nn/checkpoint.h"
#include "nn/model.h"
#include "nn/safetensors.h"
#include "nn/stored.h"
#include "t.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/rng.h"

static struct nn_optim *
new_optim(struct nn_net *net, const char *name)
{
    const struct nn_optim_spec of = {name, 0, 0, 0, 3, 0, 0, 0};
    size_t n, count;
    const struct nn_tensor *tensors = nn_net_tensors(net, &n);
    struct err err;

    nn_net_params(net, &count);
    return nn_optim_new(&of, tensors, n, count, &err);
}

/* Noise in a block, so that no two elements are equal. */
static void
fill(uint64_t seed, size_t n, float *x)
{
    struct rng rng;

    rng_init(&rng, seed, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rng_normal(&rng);
}

static void
a_net_survives(void)
{
    struct nn_net *a = net_new(&image), *b = net_new(&image);
    struct err err = {""};
    size_t n, m;

    net_fill(a, 1);
    T(!nn_weights_save(folder, (struct nn_weights[]){nn_net_weights(a)}, 7,
                       &err),
      "saves %s", err.msg);
    T(!nn_weights_load(folder, (struct nn_weights[]){nn_net_weights(b)}, &err),
      "loads %s", err.msg);
    nn_net_params(a, &n);
    nn_net_statistics(a, &m);
    T(!memcmp(nn_net_params(a, &n), nn_net_params(b, &n), n * sizeof(float)),
      "all %zu parameters", n);
    T(!memcmp(nn_net_statistics(a, &m), nn_net_statistics(b, &m),
              m * sizeof(float)),
      "all %zu statistics", m);
    nn_net_free(a);
    nn_net_free(b);
}

static void
an_optimiser_survives(const char *name)
{
    struct nn_net *net = net_new(&image);
    struct nn_optim *a = new_optim(net, name), *b = new_optim(net, name);
    struct nn_moments from = nn_optim_moments(a), to = nn_optim_moments(b);
    struct err err = {""};
    size_t n;

    nn_net_params(net, &n);
    for (size_t k = 0; k < from.n; k++)
        fill(k, n, from.block[k]);
    *from.steps = 1234567;
    *from.pending = 2;
    T(!nn_optim_save(folder, net, a, &err), "%s saves %s", name, err.msg);
    T(!nn_optim_load(folder, net, b, &err), "%s loads %s", name, err.msg);
    for (size_t k = 0; k < from.n; k++)
        T(!memcmp(from.block[k], to.block[k], n * sizeof(float)), "%s: %s",
          name, from.name[k]);
    T(*to.steps == 1234567, "%s: steps", name);
    T(*to.pending == 2, "%s: how many gradients wait", name);
    nn_optim_free(a);
    nn_optim_free(b);
    nn_net_free(net);
}

static void
moments_of_another_are_refused(void)
{
    struct nn_net *net = net_new(&image);
    struct nn_optim *sgd = new_optim(net, "sgd"), *adam;
    struct err err;

    adam = new_optim(net, "adam");
    T(!nn_optim_save(folder, net, sgd, &err) &&
          nn_optim_load(folder, net, adam, &err) < 0 &&
          strstr(err.msg, "tensor 'mean.conv1.weight' is missing"),
      "moments of sgd for adam: %s", err.msg);
    nn_optim_free(sgd);
    nn_optim_free(adam);
    nn_net_free(net);
}

/* Loads the saved net into one of another spec. */
static void
refuses(struct nn_spec other, const char *sentence)
{
    struct nn_net *net = net_new(&other);
    struct err err = {""};

    T(nn_weights_load(folder, (struct nn_weights[]){nn_net_weights(net)},
                      &err) < 0 &&
          strstr(err.msg, sentence),
      "%s", err.msg);
    nn_net_free(net);
}

static void
other_nets_are_refused(void)
{
    struct nn_spec other = image;

    other.arch = "resnet20";
    refuses(other, "tensor 'layer1.1.conv1.weight' is missing");
    other = image;
    other.width = 32;
    refuses(other, "the shape of tensor 'conv1.weight' is not the net's");
    other = image;
    other.norm = "none";
    refuses(other, "tensor 'conv1.bias' is missing");
    other = image;
    other.head = "none";
    refuses(other, "tensor 'head.0.weight' is one too many");
    other.head = "16-8-8";
    refuses(other, "tensor 'head.");
}

/* The names are torchvision's: what a user's script looks for. */
static void
names_are_torchvisions(void)
{
    static const char *const names[] = {
        "conv1.weight", "bn1.weight", "bn1.running_var",
        "layer1.0.conv2.weight", "layer2.0.downsample.1.bias"};
    char *path = mem_format("%s/model.safetensors", folder);
    struct nn_array *a;
    const struct nn_array *count;
    struct err err;
    size_t n;

    if (nn_arrays_read(path, &a, &n, NULL, &err))
        abort();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        T(nn_arrays_find(a, n, names[i]), "there is %s", names[i]);
    T(!nn_arrays_find(a, n, "head.0.weight"), "the head has other names");
    count = nn_arrays_find(a, n, "layer1.0.bn1.num_batches_tracked");
    T(count && !strcmp(count->dtype, "I64") && count->rank == 0 &&
          *(int64_t *)count->data == 7,
      "there is num_batches_tracked, and it is the steps");
    nn_arrays_free(a, n);
    free(path);
}

static void
a_spec_survives(void)
{
    json_t *object = nn_spec_put(&image), *again;
    struct nn_spec got;
    struct err err;

    T(!nn_spec_get(&got, object, &err), "a spec is read");
    again = nn_spec_put(&got);
    T(json_equal(object, again) && !strcmp(got.head, "16-8") &&
          got.mean[1] == image.mean[1] && got.image_width == 8,
      "a spec is read as it was written");
    json_decref(again);
    json_object_del(object, "views");
    T(!nn_spec_get(&got, object, &err) && got.views == 0,
      "fields that older ones lack are 0");
    json_object_set_new(object, "width", json_string("wide"));
    T(nn_spec_get(&got, object, &err) < 0 && strstr(err.msg, "'width'"), "%s",
      err.msg);
    json_object_set_new(object, "width", json_integer(0));
    json_object_del(object, "mean");
    T(nn_spec_get(&got, object, &err) < 0 && strstr(err.msg, "'mean'"), "%s",
      err.msg);
    json_decref(object);
}

/* A checkpoint with a config, as foil-train writes it; `two`: NULL or an
 * encoder of texts. */
static void
write_checkpoint(const char *run, struct nn_net *net, struct nn_net *two)
{
    struct err err;
    char *at = nn_checkpoint_begin(run, 3, &err);
    char *path = mem_format("%s/config.json", at), *line;
    json_t *config = json_pack("{s:o}", "encoder", nn_spec_put(&image));

    if (two)
        json_object_set_new(config, "text", nn_spec_put(&text));
    line = json_line(config);
    if (file_write(path, line, strlen(line), &err) ||
        nn_weights_save(at, (struct nn_weights[]){nn_net_weights(net)}, 3,
                        &err) ||
        (two && nn_weights_save(at, (struct nn_weights[]){nn_net_weights(two)},
                                3, &err)) ||
        nn_checkpoint_commit(run, 3, &err) || nn_checkpoint_link(run, &err))
        abort();
    free(line);
    free(path);
    free(at);
    json_decref(config);
}

static void
an_encoder_is_opened(void)
{
    char *run = mem_format("%s/run", folder), *file;
    struct nn_net *net = net_new(&image);
    struct nn_model model;
    uint8_t images[2 * 8 * 8 * 3];
    float want[2 * 8], got[2 * 8];
    struct err err = {""};

    for (size_t i = 0; i < sizeof images; i++)
        images[i] = (uint8_t)(i * 37);
    nn_net_init(net, 1);
    nn_net_infer(net, &(struct nn_input){.n = 2, .images = images}, NULL, want);
    file_mkdir(run, 0700, &err);
    write_checkpoint(run, net, NULL);
    T(!nn_model_read(&model, run, 0, &err) && !model.net &&
          !nn_model_build(&model, 2, 0, 0, &err),
      "opens %s", err.msg);
    nn_net_infer(model.net, &(struct nn_input){.n = 2, .images = images}, NULL,
                 got);
    T(!memcmp(want, got, sizeof want), "the model gives the same embeddings");
    T(json_object_get(model.config, "encoder"), "its config is returned");
    T(json_equal(
          json_object_get(model.about, "head"),
          json_object_get(json_object_get(model.config, "encoder"), "head")) &&
          json_string_length(json_object_get(model.about, "manifest")) == 32,
      "its description has the head and the digest of its manifest");
    nn_model_release(&model);
    file = mem_format("%s/latest/model.safetensors", run);
    T(!file_write(file, "no", 2, &err) &&
          nn_model_read(&model, run, 0, &err) < 0 &&
          strstr(err.msg, "model.safetensors' has changed in size"),
      "damage is refused: %s", err.msg);
    nn_net_free(net);
    free(file);
    free(run);
}

static void
an_encoder_of_texts_is_opened(void)
{
    static const size_t offsets[] = {0, 2, 5};
    static const int32_t ids[] = {1, 8, 3, 1, 8};
    const struct nn_input input = {.n = 2, .ids = ids, .offsets = offsets};
    char *alone = mem_format("%s/alone", folder);
    char *both = mem_format("%s/both", folder);
    struct nn_net *net = net_new(&image), *two = net_new(&text);
    struct nn_model model;
    float want[2 * 4], got[2 * 4];
    struct err err = {""};

    nn_net_init(two, 1);
    nn_net_infer(two, &input, NULL, want);
    file_mkdir(alone, 0700, &err);
    file_mkdir(both, 0700, &err);
    write_checkpoint(alone, net, NULL);
    write_checkpoint(both, net, two);
    T(!nn_model_read(&model, both, 1, &err) &&
          !nn_model_build(&model, 2, 0, 0, &err),
      "opens %s", err.msg);
    nn_net_infer(model.net, &input, NULL, got);
    T(!memcmp(want, got, sizeof want) && nn_net_context(model.net) == 5 &&
          nn_net_ids(model.net) == 9,
      "an encoder of texts gives the same embeddings");
    nn_model_release(&model);
    T(!nn_model_read(&model, both, 0, &err) &&
          !nn_model_build(&model, 2, 0, 0, &err) &&
          nn_net_kind(model.net) == NN_IMAGES,
      "the encoder of images next to it opens %s", err.msg);
    nn_model_release(&model);
    T(nn_model_read(&model, alone, 1, &err) < 0 &&
          strstr(err.msg, "has no text encoder"),
      "without one: %s", err.msg);
    nn_net_free(net);
    nn_net_free(two);
    free(alone);
    free(both);
}

int
main(void)
{
    struct err err;

    child_folder(folder);
    a_net_survives();
    names_are_torchvisions();
    other_nets_are_refused();
    an_optimiser_survives("sgd");
    an_optimiser_survives("adam");
    moments_of_another_are_refused();
    a_spec_survives();
    an_encoder_is_opened();
    an_encoder_of_texts_is_opened();
    file_remove(folder, &err);
    return t_done();
}
