#include "embed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/safetensors.h"
#include "util/asset.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

enum { FILE_MOST = 1 << 26 }; // bytes of a vocabulary

/* Files that only exist for a pair of image and text encoder. */
enum { PAIR_CONFIG, PAIR_MODEL, PAIR_VOCABULARY, N_OF_PAIRS };
static const char *const of_pairs[N_OF_PAIRS] = {
    "open_clip_config.json", "open_clip_model.safetensors", "vocabulary.txt"};

/* The state of a job. */
struct work {
    const struct embed_options *job;
    struct nn_model image, text; /* text.net NULL: no text encoder */
    const char *timm;            /* timm's name of the encoder; or NULL */
    struct embed_sizes sizes;    /* of a vit */
};

static void
write_text(const struct work *work, const char *name, const char *text)
{
    char *path = mem_format("%s/%s", work->job->export, name);
    struct err err;

    if (file_write(path, text, strlen(text), &err))
        die("%s", err.msg);
    free(path);
}

static void
write_object(const struct work *work, const char *name, json_t *object)
{
    char *text;

    REQUIRE(object);
    text = json_text(object, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    write_text(work, name, text);
    free(text);
    json_decref(object);
}

/* Names in torchvision that differ in timm. */
static const char *const in_timm[][2] = {
    {"conv_proj", "patch_embed.proj"},
    {"class_token", "cls_token"},
    {"encoder.pos_embedding", "pos_embed"},
    {"encoder.layers.encoder_layer_", "blocks."},
    {"encoder.ln", "norm"},
    {".ln_", ".norm"},
    {".self_attention.in_proj_", ".attn.qkv."},
    {".self_attention.out_proj", ".attn.proj"},
    {".mlp.0", ".mlp.fc1"},
    {".mlp.3", ".mlp.fc2"},
};

/* Returns timm's name of a tensor, which the caller frees. */
static char *
name_in_timm(const char *name)
{
    char *text = mem_text(name);

    for (size_t i = 0; i < sizeof in_timm / sizeof *in_timm; i++) {
        char *at = strstr(text, in_timm[i][0]), *more;

        if (!at)
            continue;
        more = mem_format("%.*s%s%s", (int)(at - text), text, in_timm[i][1],
                          at + strlen(in_timm[i][0]));
        free(text);
        text = more;
    }
    return text;
}

/* Tensors to write to a file. */
struct tensors {
    struct nn_array *array;
    size_t n, room;
};

static void
add_tensor(struct tensors *to, const char *name, size_t rank,
           const size_t *shape, const float *data)
{
    mem_grow(&to->array, &to->room, to->n + 1, sizeof *to->array);
    nn_array_init(&to->array[to->n++], name, "F32", rank, shape, data);
}

/* Adds the tensors of a net; with a prefix, under timm's names after the
 * prefix; those of its head only if `head`, their prefix, is not NULL. */
static void
add_tensors(struct tensors *to, const struct nn_model *model,
            const char *prefix, const char *head)
{
    size_t n;
    const struct nn_tensor *t = nn_net_tensors(model->net, &n);

    for (size_t i = 0; i < n; i++) {
        const float *block = t[i].statistic
                                 ? nn_net_statistics(model->net, NULL)
                                 : nn_net_params(model->net, NULL);
        const int of_head = !strncmp(t[i].name, "head.", 5);
        char *known =
            of_head || !prefix ? mem_text(t[i].name) : name_in_timm(t[i].name);
        char *name = mem_format("%s%s",
                                of_head  ? head
                                : prefix ? prefix
                                         : "",
                                known);

        if (!of_head || head)
            add_tensor(to, name, t[i].rank, t[i].shape, block + t[i].offset);
        free(known);
        free(name);
    }
}

static void
write_tensors(const struct work *work, const char *name, struct tensors *from)
{
    char *path = mem_format("%s/%s", work->job->export, name);
    json_t *about =
        json_pack("{s:s s:s}", "format", "pt", "foil", FOIL_VERSION);
    struct err err;

    if (nn_arrays_write(path, from->array, from->n, about, &err))
        die("%s", err.msg);
    json_decref(about);
    nn_arrays_free(from->array, from->n);
    free(path);
}

static json_t *
list_three(const float *x)
{
    return json_pack("[f,f,f]", (double)x[0], (double)x[1], (double)x[2]);
}

/* The arguments of timm's function that makes the encoder. */
static json_t *
list_arguments(const struct work *work)
{
    const struct nn_spec *s = &work->image.spec;
    const struct embed_sizes *v = &work->sizes;

    if (!v->width)
        return json_object();
    return json_pack("{s:[I,I] s:I s:I s:I s:I}", "img_size",
                     (json_int_t)s->height, (json_int_t)s->image_width,
                     "patch_size", (json_int_t)v->patch, "embed_dim",
                     (json_int_t)v->width, "depth", (json_int_t)v->layers,
                     "num_heads", (json_int_t)v->heads);
}

static json_t *
describe_pretrained(const struct work *work)
{
    const struct nn_spec *s = &work->image.spec;
    const char *licence = work->job->licence;

    return json_pack("{s:[I,I,I] s:b s:s s:f s:s s:o s:o s:i s:s s:s s:s}",
                     "input_size", (json_int_t)s->channels,
                     (json_int_t)s->height, (json_int_t)s->image_width,
                     "fixed_input_size", work->sizes.width > 0, "interpolation",
                     "bilinear", "crop_pct", 1.0, "crop_mode", "center", "mean",
                     list_three(s->mean), "std", list_three(s->deviation),
                     "num_classes", 0, "first_conv",
                     work->sizes.width ? "patch_embed.proj" : "conv1",
                     "classifier", work->sizes.width ? "head" : "fc", "license",
                     licence ? licence : "unknown");
}

/* config.json, for hubconf.py, and for timm if it has such an encoder. */
static json_t *
describe_config(const struct work *work)
{
    const struct embed_sizes *v = &work->sizes;
    json_t *ours = nn_spec_put(&work->image.spec);
    json_t *config =
        work->timm ? json_pack("{s:s s:i s:I s:s s:o s:o}", "architecture",
                               work->timm, "num_classes", 0, "num_features",
                               (json_int_t)nn_net_features(work->image.net),
                               "global_pool", v->width ? "token" : "avg",
                               "model_args", list_arguments(work),
                               "pretrained_cfg", describe_pretrained(work))
                   : json_object();

    json_object_del(ours, "head");
    if (v->width)
        json_object_set_new(
            ours, "sizes",
            json_pack("{s:I s:I s:I s:I}", "width", (json_int_t)v->width,
                      "layers", (json_int_t)v->layers, "patch",
                      (json_int_t)v->patch, "heads", (json_int_t)v->heads));
    json_object_set_new(config, "foil", ours);
    return config;
}

/* Finds timm's name: its ResNets have one width, one stem and batch norm. */
static void
find_timm(struct work *work)
{
    const struct nn_spec *s = &work->image.spec;

    if (embed_sizes_read(s->arch, &work->sizes))
        work->timm = "vit_base_patch16_224";
    else if ((!strcmp(s->arch, "resnet18") || !strcmp(s->arch, "resnet34") ||
              !strcmp(s->arch, "resnet50")) &&
             !strcmp(s->stem, "imagenet") && !strcmp(s->norm, "batch") &&
             (!s->width || s->width == 64))
        work->timm = s->arch;
}

/* log(1/tau): learned, or of the option. */
static float
find_scale(const struct work *work)
{
    const json_t *tau =
        json_object_get(json_object_get(work->image.config, "options"), "tau");
    char *path = mem_format("%s/objective.safetensors", work->image.folder);
    struct nn_array *array;
    const struct nn_array *found;
    float scale =
        (float)log(1 / (json_is_number(tau) ? json_number_value(tau) : 0.07));
    struct err err;
    size_t n;

    if (file_exists(path) && !nn_arrays_read(path, &array, &n, NULL, &err)) {
        found = nn_arrays_find(array, n, "logit_scale");
        if (found && !strcmp(found->dtype, "F32"))
            memcpy(&scale, found->data, sizeof scale);
        nn_arrays_free(array, n);
    }
    free(path);
    return scale;
}

static json_t *
describe_pair(const struct work *work)
{
    const struct nn_spec *image = &work->image.spec, *text = &work->text.spec;
    struct embed_sizes sizes;

    embed_sizes_read(text->arch, &sizes);
    return json_pack(
        "{s:{s:I s:b s:{s:s s:b s:s s:s s:o s:[I,I]} s:{s:I s:I s:I s:I s:I}} "
        "s:{s:o s:o s:s s:s}}",
        "model_cfg", "embed_dim", (json_int_t)nn_net_dim(work->text.net),
        "quick_gelu", (int)text->quick_gelu, "vision_cfg", "timm_model_name",
        work->timm, "timm_model_pretrained", 0, "timm_pool",
        work->sizes.width ? "token" : "avg", "timm_proj", "linear",
        "timm_model_kwargs", list_arguments(work), "image_size",
        (json_int_t)image->height, (json_int_t)image->image_width, "text_cfg",
        "context_length", (json_int_t)text->context, "vocab_size",
        (json_int_t)text->vocabulary, "width", (json_int_t)sizes.width, "heads",
        (json_int_t)sizes.heads, "layers", (json_int_t)sizes.layers,
        "preprocess_cfg", "mean", list_three(image->mean), "std",
        list_three(image->deviation), "interpolation", "bilinear",
        "resize_mode", "shortest");
}

static void
copy_vocabulary(const struct work *work)
{
    char *path = mem_format("%s/vocabulary.txt", work->text.folder);
    struct err err;
    size_t len;
    char *text = file_read(path, FILE_MOST, &len, &err);

    if (!text)
        die("%s", err.msg);
    while (len && text[len - 1] == '\n')
        text[--len] = 0; // open_clip would count an empty line as a merge
    write_text(work, of_pairs[PAIR_VOCABULARY], text);
    free(text);
    free(path);
}

/* Writes both encoders for open_clip: 1, or 0 if it has no such encoders. */
static int
write_pair(struct work *work)
{
    struct tensors all = {0};
    const float scale = find_scale(work);

    if (!work->text.net || !work->timm ||
        strncmp(work->text.spec.arch, "clip:", 5))
        return 0;
    write_object(work, of_pairs[PAIR_CONFIG], describe_pair(work));
    add_tensors(&all, &work->image, "visual.trunk.", "visual.");
    add_tensors(&all, &work->text, NULL, "");
    add_tensor(&all, "logit_scale", 0, NULL, &scale);
    write_tensors(work, of_pairs[PAIR_MODEL], &all);
    copy_vocabulary(work);
    return 1;
}

static void
open_models(struct work *work)
{
    const struct embed_options *job = work->job;
    struct err err;

    if (nn_model_read(&work->image, job->checkpoint, 0, &err) ||
        nn_model_build(&work->image, 1, 0, job->average, &err))
        die("%s", err.msg);
    if (nn_net_kind(work->image.net) != NN_IMAGES)
        die("'%s' reads no images: its %s cannot be exported as a folder",
            job->checkpoint, work->image.spec.arch);
    if (!json_is_object(json_object_get(work->image.config, "text")))
        return;
    if (nn_model_read(&work->text, job->checkpoint, 1, &err) ||
        nn_model_build(&work->text, 1, 0, job->average, &err))
        die("%s", err.msg);
}

/* Makes the folder, or reuses that of an earlier export and removes the files
 * that only pairs have.  Refuses a folder with a README.md of another
 * origin. */
static void
prepare_folder(const struct work *work)
{
    const char *folder = work->job->export;
    char *card = mem_format("%s/README.md", folder);
    char *ours = mem_format("%s/hubconf.py", folder);
    struct err err;

    if (file_exists(card) && !file_exists(ours))
        die("'%s' has a README.md that --export did not write: name another "
            "folder",
            folder);
    if (file_mkdir(folder, 0777, &err))
        die("%s", err.msg);
    for (size_t i = 0; i < N_OF_PAIRS; i++) {
        char *path = mem_format("%s/%s", folder, of_pairs[i]);

        if (file_exists(path) && file_remove(path, &err))
            die("%s", err.msg);
        free(path);
    }
    free(card);
    free(ours);
}

void
embed_folder_job(const struct embed_options *job)
{
    struct work work = {.job = job};
    struct tensors tensors = {0};
    char *card;
    int pair;

    open_models(&work);
    find_timm(&work);
    prepare_folder(&work);
    add_tensors(&tensors, &work.image, "", NULL);
    write_tensors(&work, "model.safetensors", &tensors);
    write_object(&work, "config.json", describe_config(&work));
    write_text(&work, "hubconf.py", (const char *)assets[0].bytes);
    pair = write_pair(&work);
    card = embed_card(&(struct embed_card){
        .image = &work.image,
        .text = work.text.net ? &work.text : NULL,
        .folder = job->export,
        .licence = job->licence,
        .timm = work.timm != NULL,
        .open_clip = pair,
    });
    write_text(&work, "README.md", card);
    free(card);
    if (!work.timm)
        log_message("timm has no such encoder: '%s' opens in PyTorch, see its "
                    "README.md",
                    job->export);
    if (work.text.net && !pair)
        log_message(
            "open_clip has no such pair of encoders: --captions --export FILE "
            "writes the text encoder");
    nn_model_release(&work.image);
    if (work.text.net)
        nn_model_release(&work.text);
}
