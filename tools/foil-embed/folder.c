#include "embed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/safetensors.h"
#include "run/results.h"
#include "run/settings.h"
#include "util/asset.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

enum { FILE_MOST = 1 << 26 }; // bytes of a vocabulary

/* Files that only exist for a pair of image and text encoder. */
enum { PAIR_CONFIG, PAIR_MODEL, PAIR_VOCABULARY, N_OF_PAIRS };
static const char *const of_pairs[N_OF_PAIRS] = {
    "open_clip_config.json", "open_clip_model.safetensors", "vocabulary.txt"};

/* The sizes in the name of a transformer, "vit:WxLxP[xH]" or "clip:WxL[xH]". */
struct sizes {
    size_t width, layers, patch, heads;
};

/* The state of a job. */
struct work {
    const struct embed_options *job;
    struct nn_model image, text; /* text.net NULL: no text encoder */
    const char *timm;            /* timm's name of the encoder; or NULL */
    int pair;                    /* 1: open_clip has both encoders */
    struct sizes sizes;          /* of a vit */
};

/* Reads them: 1, or 0 for another encoder. */
static int
read_sizes(const char *arch, struct sizes *sizes)
{
    unsigned long of[4];
    const int vit = !strncmp(arch, "vit:", 4);
    const int n =
        sscanf(arch, "%*[a-z]:%lux%lux%lux%lu", of, of + 1, of + 2, of + 3);

    *sizes = (struct sizes){0};
    if ((!vit && strncmp(arch, "clip:", 5)) || n < (vit ? 3 : 2))
        return 0;
    *sizes = (struct sizes){.width = of[0], .layers = of[1]};
    sizes->heads = sizes->width < 128 ? 1 : sizes->width / 64;
    if (vit)
        sizes->patch = of[2];
    if (n > (vit ? 3 : 2))
        sizes->heads = of[n - 1];
    return 1;
}

static void
write_text(const struct work *work, const char *name, const char *text)
{
    struct err err;

    or_die(file_write(mem_temp("%s/%s", work->job->export, name), text,
                      strlen(text), &err),
           &err);
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
        const char *name = mem_temp("%s%s",
                                    of_head  ? head
                                    : prefix ? prefix
                                             : "",
                                    known);

        if (!of_head || head)
            add_tensor(to, name, t[i].rank, t[i].shape, block + t[i].offset);
        free(known);
    }
}

static void
write_tensors(const struct work *work, const char *name, struct tensors *from)
{
    json_t *about =
        json_pack("{s:s s:s}", "format", "pt", "foil", FOIL_VERSION);
    struct err err;

    or_die(nn_arrays_write(mem_temp("%s/%s", work->job->export, name),
                           from->array, from->n, about, &err),
           &err);
    json_decref(about);
    nn_arrays_free(from->array, from->n);
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
    const struct sizes *v = &work->sizes;

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
    const struct sizes *v = &work->sizes;
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

/* log(1/tau): learned, or of the option. */
static float
find_scale(const struct work *work)
{
    const json_t *tau =
        json_object_get(json_object_get(work->image.config, "options"), "tau");
    const char *path = mem_temp("%s/objective.safetensors", work->image.folder);
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
    return scale;
}

static json_t *
describe_pair(const struct work *work)
{
    const struct nn_spec *image = &work->image.spec, *text = &work->text.spec;
    struct sizes sizes;

    read_sizes(text->arch, &sizes);
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

/* Writes both encoders for open_clip. */
static void
write_pair(const struct work *work)
{
    struct tensors all = {0};
    const float scale = find_scale(work);
    char *text;
    struct err err;
    size_t len;

    write_object(work, of_pairs[PAIR_CONFIG], describe_pair(work));
    add_tensors(&all, &work->image, "visual.trunk.", "visual.");
    add_tensors(&all, &work->text, NULL, "");
    add_tensor(&all, "logit_scale", 0, NULL, &scale);
    write_tensors(work, of_pairs[PAIR_MODEL], &all);
    text = file_read(mem_temp("%s/vocabulary.txt", work->text.folder),
                     FILE_MOST, &len, &err);
    or_die(!text, &err);
    while (len && text[len - 1] == '\n')
        text[--len] = 0; // open_clip would count an empty line as a merge
    write_text(work, of_pairs[PAIR_VOCABULARY], text);
    free(text);
}

static void
open_models(struct work *work)
{
    const struct embed_options *job = work->job;
    struct err err;

    or_die(nn_model_read(&work->image, job->checkpoint, 0, &err) ||
               nn_model_build(&work->image, 1, 0, job->average, &err),
           &err);
    if (nn_net_kind(work->image.net) != NN_IMAGES ||
        nn_encoder_of_rows(work->image.spec.arch))
        die("'%s' reads no images: its %s cannot be exported as a folder",
            job->checkpoint, work->image.spec.arch);
    if (!json_is_object(json_object_get(work->image.config, "text")))
        return;
    or_die(nn_model_read(&work->text, job->checkpoint, 1, &err) ||
               nn_model_build(&work->text, 1, 0, job->average, &err),
           &err);
}

/* Makes the folder, or reuses that of an earlier export and removes the files
 * that only pairs have.  Refuses a folder with a README.md of another
 * origin. */
static void
prepare_folder(const struct work *work)
{
    const char *folder = work->job->export;
    struct err err;

    if (file_exists(mem_temp("%s/README.md", folder)) &&
        !file_exists(mem_temp("%s/hubconf.py", folder)))
        die("'%s' has a README.md that --export did not write: name another "
            "folder",
            folder);
    or_die(file_mkdir(folder, 0777, &err), &err);
    for (size_t i = 0; i < N_OF_PAIRS; i++) {
        const char *path = mem_temp("%s/%s", folder, of_pairs[i]);

        or_die(file_exists(path) && file_remove(path, &err), &err);
    }
}

static void
put_facts(FILE *to, const struct work *work)
{
    static const char *const option[] = {"objective", "tau",   "optim",
                                         "lr",        "batch", "weight-decay",
                                         "precision", "seed"};
    const struct nn_spec *s = &work->image.spec;
    const json_t *config = work->image.config;
    const json_t *data = json_object_get(config, "dataset");
    const json_t *state = json_object_get(config, "state");

    fprintf(to, "| | |\n|---|---|\n| encoder | %s, stem %s, norm %s |\n",
            s->arch, s->stem, s->norm);
    fprintf(to, "| features | %zu |\n", nn_net_features(work->image.net));
    if (work->text.net)
        fprintf(to, "| encoder of texts | %s, embeddings of %zu |\n",
                work->text.spec.arch, nn_net_dim(work->text.net));
    fprintf(to, "| data set | %lld images, digest %s |\n",
            (long long)json_integer_value(json_object_get(data, "size")),
            json_string_value(json_object_get(data, "digest")));
    fprintf(to, "| steps | %lld, to epoch %lld |\n",
            (long long)json_integer_value(json_object_get(state, "total")),
            (long long)json_integer_value(json_object_get(state, "epoch")));
    for (size_t i = 0; i < sizeof option / sizeof *option; i++) {
        const json_t *value =
            json_object_get(json_object_get(config, "options"), option[i]);
        char *text = value && !json_is_null(value)
                         ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
                                                 JSON_REAL_PRECISION(6))
                         : NULL;

        if (text)
            fprintf(to, "| %s | %s |\n", option[i],
                    json_is_string(value) ? json_string_value(value) : text);
        free(text);
    }
    fprintf(to, "| foil | %s |\n\n", FOIL_VERSION);
}

static void
put_lines(FILE *to, const struct work *work)
{
    const char *at = work->job->export;

    fprintf(to,
            "```python\n# PyTorch alone\nnet = torch.hub.load(\"%s\", "
            "\"encoder\", source=\"local\")\n",
            at);
    if (work->timm)
        fprintf(to,
                "# timm\nnet = timm.create_model(\"local-dir:%s\", "
                "pretrained=True)\n"
                "# transformers, with timm\n"
                "net = transformers.AutoModel.from_pretrained(\"%s\")\n",
                at, at);
    if (work->pair)
        fprintf(
            to,
            "# open_clip; gzip -k vocabulary.txt makes the tokenizer's file\n"
            "net, _, prepare = open_clip.create_model_and_transforms("
            "\"local-dir:%s\")\n"
            "tokens = open_clip.SimpleTokenizer(\"%s/vocabulary.txt.gz\", "
            "context_length=%ld)\n",
            at, at, work->text.spec.context);
    fprintf(to, "```\n\n");
}

/* Writes the command of the run, a line KEY VALUE each.  Of an absolute path,
 * which is only valid for the author, writes the last part. */
static void
put_command(FILE *to, const char *run)
{
    struct settings command = {0};
    struct err ignored;
    char *text;

    if (run_command_read(&command, run, &ignored))
        return;
    for (size_t i = 0; i < command.n; i++)
        if (*command.item[i].value == '/')
            setting_set(&command, command.item[i].name,
                        strrchr(command.item[i].value, '/') + 1);
    text = setting_text(&command);
    fprintf(to, "## Command\n\n`command` of the run has:\n\n```\n%s```\n\n",
            text);
    free(text);
    setting_release(&command);
}

/* Writes the numbers of an object, and of nested objects, as rows of a
 * table. */
static void
put_numbers(FILE *to, const char *before, json_t *object)
{
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        char *name = mem_format("%s%s%s", before, *before ? " " : "", key);

        if (json_is_object(value))
            put_numbers(to, name, value);
        else if (json_is_number(value))
            fprintf(to, "| %s | %.6g |\n", name, json_number_value(value));
        free(name);
    }
}

/* Writes the card as Markdown with a YAML head, as model hubs read it: a
 * description of the encoder, code that opens it, and its training command and
 * results if the run directory has them. */
static void
write_card(const struct work *work)
{
    const struct nn_spec *s = &work->image.spec;
    char *text = NULL, *run = mem_format("%s/..", work->image.folder);
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    struct err ignored;
    json_t *all = run_results_read(run, &ignored);

    REQUIRE(to);
    fprintf(to,
            "---\nlicense: %s\nlibrary_name: %s\npipeline_tag: %s\n"
            "tags:\n- foil\n- contrastive-learning\n---\n\n"
            "# %s, trained by foil\n\n",
            work->job->licence ? work->job->licence : "unknown",
            work->pair   ? "open_clip"
            : work->timm ? "timm"
                         : "pytorch",
            work->pair ? "zero-shot-image-classification"
                       : "image-feature-extraction",
            s->arch);
    put_facts(to, work);
    fprintf(
        to,
        "An image is resized (bilinear, antialiased) so that its short side "
        "fits %zu x %zu,\nand its centre is cropped; pixels x of 0 to 255 "
        "become (x / 255 - mean) / deviation,\nmean %g %g %g, deviation "
        "%g %g %g.\n\n",
        s->height, s->image_width, (double)s->mean[0], (double)s->mean[1],
        (double)s->mean[2], (double)s->deviation[0], (double)s->deviation[1],
        (double)s->deviation[2]);
    put_lines(to, work);
    put_command(to, run);
    // writes the last result
    if (json_array_size(all)) {
        fprintf(to, "## Results\n\n| | |\n|---|---|\n");
        put_numbers(to, "", json_array_get(all, json_array_size(all) - 1));
        fprintf(to, "\n");
    }
    json_decref(all);
    REQUIRE(!fclose(to));
    write_text(work, "README.md", text);
    mem_free(text, run);
}

void
embed_folder_job(const struct embed_options *job)
{
    struct work work = {.job = job};
    const struct nn_spec *s = &work.image.spec;
    struct tensors tensors = {0};

    open_models(&work);
    // of timm's ResNets: one width, one stem and batch norm
    if (read_sizes(s->arch, &work.sizes))
        work.timm = "vit_base_patch16_224";
    else if ((!strcmp(s->arch, "resnet18") || !strcmp(s->arch, "resnet34") ||
              !strcmp(s->arch, "resnet50")) &&
             !strcmp(s->stem, "imagenet") && !strcmp(s->norm, "batch") &&
             (!s->width || s->width == 64))
        work.timm = s->arch;
    prepare_folder(&work);
    add_tensors(&tensors, &work.image, "", NULL);
    write_tensors(&work, "model.safetensors", &tensors);
    write_object(&work, "config.json", describe_config(&work));
    write_text(&work, "hubconf.py", (const char *)assets[0].bytes);
    work.pair =
        work.text.net && work.timm && !strncmp(work.text.spec.arch, "clip:", 5);
    if (work.pair)
        write_pair(&work);
    write_card(&work);
    if (!work.timm)
        log_message("timm has no such encoder: '%s' opens in PyTorch, see its "
                    "README.md",
                    job->export);
    if (work.text.net && !work.pair)
        log_message(
            "open_clip has no such pair of encoders: --captions --export FILE "
            "writes the text encoder");
    nn_model_release(&work.image);
    if (work.text.net)
        nn_model_release(&work.text);
}
