/* Weights of other programs: names, skipped tensors, types and refusals. */
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "nn/model.h"
#include "nn/pretrained.h"
#include "nn/safetensors.h"
#include "nn/stored.h"
#include "t.h"
#include "util/dtype.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/rng.h"

static char *path;

/* A net of random numbers, drawn by seed. */
static struct nn_net *
net_of(const struct nn_spec *spec, uint64_t seed)
{
    struct nn_net *net = net_new(spec);

    net_fill(net, seed);
    return net;
}

/* A file under construction. */
struct file {
    struct nn_array *array;
    size_t n, room;
};

static void
add(struct file *file, const char *name, const char *dtype, size_t rank,
    const size_t *shape, const void *data)
{
    mem_grow(&file->array, &file->room, file->n + 1, sizeof *file->array);
    nn_array_init(file->array + file->n++, name, dtype, rank, shape, data);
}

/* All tensors of a net but its head, with a prefix to their names. */
static struct file
file_of(struct nn_net *net, const char *before)
{
    struct file file = {.n = 0};
    size_t n;
    const struct nn_tensor *t = nn_net_tensors(net, &n);

    for (size_t i = 0; i < n; i++) {
        const float *block = t[i].statistic ? nn_net_statistics(net, NULL)
                                            : nn_net_params(net, NULL);
        char *name = mem_format("%s%s", before, t[i].name);

        if (strncmp(t[i].name, "head.", 5))
            add(&file, name, "F32", t[i].rank, t[i].shape, block + t[i].offset);
        free(name);
    }
    return file;
}

static struct nn_array *
named(const struct file *file, const char *name)
{
    for (size_t i = 0; i < file->n; i++)
        if (!strcmp(file->array[i].name, name))
            return file->array + i;
    abort();
}

static void
rename_to(const struct file *file, const char *from, const char *to)
{
    struct nn_array *a = named(file, from);

    free(a->name);
    a->name = mem_text(to);
}

/* Writes and releases it. */
static void
write_out(struct file *file)
{
    struct err err;

    if (nn_arrays_write(path, file->array, file->n, NULL, &err))
        abort();
    nn_arrays_free(file->array, file->n);
}

static int
same_but_head(struct nn_net *a, struct nn_net *b)
{
    size_t n;
    const struct nn_tensor *t = nn_net_tensors(a, &n);
    int same = 1;

    for (size_t i = 0; i < n; i++) {
        const float *x = nn_net_params(a, NULL), *y = nn_net_params(b, NULL);

        if (t[i].statistic) {
            x = nn_net_statistics(a, NULL);
            y = nn_net_statistics(b, NULL);
        }
        if (strncmp(t[i].name, "head.", 5))
            same &= !memcmp(x + t[i].offset, y + t[i].offset,
                            t[i].count * sizeof *x);
    }
    return same;
}

/* A file gives a net the weights of `from`; `words` are the skipped tensors. */
static void
loads(struct file *file, const struct nn_spec *spec, struct nn_net *from,
      const char *words, const char *what)
{
    struct nn_net *net = net_of(spec, 2);
    struct err err = {""};
    char *skipped = NULL;

    write_out(file);
    T(!nn_pretrained_load(path, net, &skipped, &err) &&
          same_but_head(net, from),
      "%s %s", what, err.msg);
    T(skipped && !strcmp(skipped, words), "%s: '%s' is skipped", what,
      skipped ? skipped : "?");
    free(skipped);
    nn_net_free(net);
    nn_net_free(from);
}

static void
torchvisions_resnets_load(void)
{
    const size_t shape[] = {1000, 8};
    struct nn_net *from = net_of(&image, 1);
    struct file file = file_of(from, "");
    int64_t count = 7;
    struct nn_net *net = net_of(&image, 2), *head = net_of(&image, 2);
    struct err err = {""};
    char *ours = mem_format("%s/model.safetensors", folder);
    size_t n;
    const struct nn_tensor *t = nn_net_tensors(net, &n);

    add(&file, "bn1.num_batches_tracked", "I64", 0, NULL, &count);
    add(&file, "fc.weight", "F32", 2, shape, NULL);
    add(&file, "fc.bias", "F32", 1, shape, NULL);
    loads(&file, &image, from, "fc. (2)", "a file with a classifier");
    from = net_of(&image, 1);
    T(!nn_weights_save(folder, (struct nn_weights[]){nn_net_weights(from)}, 3,
                       &err) &&
          !nn_pretrained_load(ours, net, NULL, &err) &&
          same_but_head(from, net),
      "foil's own model loads %s", err.msg);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(t[i].name, "head.0.weight"))
            T(!memcmp(nn_net_params(net, NULL) + t[i].offset,
                      nn_net_params(head, NULL) + t[i].offset,
                      t[i].count * sizeof(float)),
              "loading does not change the head");
    free(ours);
    nn_net_free(from);
    nn_net_free(net);
    nn_net_free(head);
}

static void
torchvisions_vits_load(void)
{
    static const char *const renamed[][2] = {
        {"encoder.layers.encoder_layer_0.mlp.0.weight",
         "encoder.layers.encoder_layer_0.mlp.linear_1.weight"},
        {"encoder.layers.encoder_layer_0.mlp.3.bias",
         "encoder.layers.encoder_layer_0.mlp.linear_2.bias"}};
    struct nn_spec vit = image;
    struct nn_net *from;
    struct file file;

    vit.arch = "vit:16x1x4";
    from = net_of(&vit, 1);
    file = file_of(from, "");
    for (size_t i = 0; i < 2; i++)
        rename_to(&file, renamed[i][0], renamed[i][1]);
    add(&file, "heads.head.bias", "F32", 1, (size_t[]){1000}, NULL);
    loads(&file, &vit, from, "heads. (1)", "a ViT by older names");
}

static void
text_towers_load(void)
{
    struct nn_spec bert = text;
    struct nn_net *from = net_of(&text, 1);
    struct file file = file_of(from, "text.");

    add(&file, "visual.conv1.weight", "F32", 1, (size_t[]){3}, NULL);
    add(&file, "visual.proj", "F32", 1, (size_t[]){3}, NULL);
    add(&file, "logit_scale", "F32", 0, NULL, NULL);
    loads(&file, &text, from, "visual. (2), logit_scale (1)",
          "open_clip's tower under 'text.'");
    from = net_of(&text, 1);
    file = file_of(from, "");
    loads(&file, &text, from, "", "open_clip's tower");
    bert.arch = "distilbert:16x1x2";
    from = net_of(&bert, 1);
    file = file_of(from, "distilbert.");
    add(&file, "vocab_projector.bias", "F32", 1, (size_t[]){3}, NULL);
    loads(&file, &bert, from, "vocab_ (1)", "Hugging Face's DistilBERT");
}

static void
more_positions_are_cut(void)
{
    struct nn_spec longer = text;
    struct nn_net *from, *net = net_of(&text, 2);
    size_t n, cut = 0;
    const struct nn_tensor *t = nn_net_tensors(net, &n);
    const struct nn_array *a;
    struct file file;
    struct err err = {""};

    longer.context = 12;
    from = net_of(&longer, 1);
    file = file_of(from, "");
    a = named(&file, "positional_embedding");
    while (strcmp(t[cut].name, "positional_embedding"))
        cut++;
    T(nn_arrays_write(path, file.array, file.n, NULL, &err) == 0 &&
          !nn_pretrained_load(path, net, NULL, &err) &&
          !memcmp(nn_net_params(net, NULL) + t[cut].offset, a->data,
                  t[cut].count * sizeof(float)),
      "of more positions the first are used %s", err.msg);
    nn_arrays_free(file.array, file.n);
    file = file_of(net, "");
    write_out(&file);
    T(nn_pretrained_load(path, from, NULL, &err) &&
          strstr(err.msg, "tensor 'positional_embedding' is [5,16], the "
                          "encoder's is [12,16]"),
      "fewer are refused: %s", err.msg);
    nn_net_free(from);
    nn_net_free(net);
}

/* Token vectors in another type that represents them exactly. */
static void
another_type_loads(const char *dtype)
{
    static const float exact[9 * 16] = {1.5f, -0.25f, 3, 1024};
    struct nn_net *from = net_of(&text, 1);
    struct file file = file_of(from, "");
    struct nn_array *a = named(&file, "token_embedding.weight");
    uint16_t half[9 * 16];
    double wide[9 * 16];
    size_t n;
    const struct nn_tensor *t = nn_net_tensors(from, &n);

    half_round(9 * 16, exact, half);
    for (size_t i = 0; i < 9 * 16; i++) {
        uint32_t bits;

        memcpy(&bits, exact + i, sizeof bits);
        if (!strcmp(dtype, "BF16"))
            half[i] = (uint16_t)(bits >> 16);
        wide[i] = exact[i];
    }
    memcpy(nn_net_params(from, NULL) + t[0].offset, exact, sizeof exact);
    free(a->name);
    free(a->data);
    nn_array_init(a, "token_embedding.weight", dtype, 2, (size_t[]){9, 16},
                  strcmp(dtype, "F64") ? (void *)half : wide);
    loads(&file, &text, from, "", dtype);
}

/* A file in which something is wrong. */
static void
refuses(struct file *file, const char *sentence)
{
    struct nn_net *net = net_of(&text, 2);
    struct err err = {""};

    write_out(file);
    T(nn_pretrained_load(path, net, NULL, &err) < 0 &&
          strstr(err.msg, sentence) && strstr(err.msg, path),
      "%s", err.msg);
    nn_net_free(net);
}

static void
names_are_strict(void)
{
    struct nn_net *from = net_of(&text, 1);
    struct file file = file_of(from, "");

    rename_to(&file, "ln_final.bias", "ln_final.b");
    refuses(&file, "tensor 'ln_final.b' is one too many");
    file = file_of(from, "");
    for (int i = 0; i < 2; i++) { // text_projection, which may be missing
        free(file.array[--file.n].name);
        free(file.array[file.n].data);
    }
    refuses(&file, "tensor 'ln_final.bias' is missing");
    file = file_of(from, "");
    add(&file, "text.ln_final.bias", "F32", 1, (size_t[]){16}, NULL);
    refuses(&file, "tensor 'ln_final.bias' is there twice");
    file = file_of(from, "");
    named(&file, "ln_final.bias")->rank = 2;
    named(&file, "ln_final.bias")->shape[1] = 1;
    refuses(&file, "tensor 'ln_final.bias' is [16,1], the encoder's is [16]");
    file = file_of(from, "");
    ((float *)named(&file, "ln_final.weight")->data)[3] = NAN;
    refuses(&file, "tensor 'ln_final.weight' is not finite");
    file = file_of(from, "");
    memcpy(named(&file, "ln_final.weight")->dtype, "I32", 4);
    refuses(&file, "tensor 'ln_final.weight' is I32, want F32");
    file = file_of(from, "");
    add(&file, "fc.bias", "F32", 1, (size_t[]){3}, NULL);
    refuses(&file, "tensor 'fc.bias' is one too many");
    nn_net_free(from);
}

int
main(void)
{
    struct err err;

    child_folder(folder);
    path = mem_format("%s/other.safetensors", folder);
    torchvisions_resnets_load();
    torchvisions_vits_load();
    text_towers_load();
    more_positions_are_cut();
    another_type_loads("F16");
    another_type_loads("BF16");
    another_type_loads("F64");
    names_are_strict();
    file_remove(folder, &err);
    free(path);
    return t_done();
}
