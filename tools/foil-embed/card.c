#include "embed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/results.h"
#include "run/settings.h"
#include "util/mem.h"
#include "util/opt.h"

int
embed_sizes_read(const char *arch, struct embed_sizes *sizes)
{
    unsigned long of[4];
    const int vit = !strncmp(arch, "vit:", 4);
    const int n =
        sscanf(arch, "%*[a-z]:%lux%lux%lux%lu", of, of + 1, of + 2, of + 3);

    *sizes = (struct embed_sizes){0};
    if ((!vit && strncmp(arch, "clip:", 5)) || n < (vit ? 3 : 2))
        return 0;
    *sizes = (struct embed_sizes){.width = of[0], .layers = of[1]};
    sizes->heads = sizes->width < 128 ? 1 : sizes->width / 64;
    if (vit)
        sizes->patch = of[2];
    if (n > (vit ? 3 : 2))
        sizes->heads = of[n - 1];
    return 1;
}

static void
put_head(FILE *to, const struct embed_card *card)
{
    const char *library = card->open_clip ? "open_clip"
                          : card->timm    ? "timm"
                                          : "pytorch";

    fprintf(to,
            "---\nlicense: %s\nlibrary_name: %s\npipeline_tag: %s\n"
            "tags:\n- foil\n- contrastive-learning\n---\n\n",
            card->licence ? card->licence : "unknown", library,
            card->open_clip ? "zero-shot-image-classification"
                            : "image-feature-extraction");
}

static void
put_option(FILE *to, const json_t *config, const char *name)
{
    const json_t *value =
        json_object_get(json_object_get(config, "options"), name);
    char *text = value && !json_is_null(value)
                     ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
                                             JSON_REAL_PRECISION(6))
                     : NULL;

    if (text)
        fprintf(to, "| %s | %s |\n", name,
                json_is_string(value) ? json_string_value(value) : text);
    free(text);
}

static void
put_facts(FILE *to, const struct embed_card *card)
{
    static const char *const option[] = {"objective", "tau",   "optim",
                                         "lr",        "batch", "weight-decay",
                                         "precision", "seed"};
    const struct nn_spec *s = &card->image->spec;
    const json_t *config = card->image->config;
    const json_t *data = json_object_get(config, "dataset");
    const json_t *state = json_object_get(config, "state");

    fprintf(to, "| | |\n|---|---|\n| encoder | %s, stem %s, norm %s |\n",
            s->arch, s->stem, s->norm);
    fprintf(to, "| features | %zu |\n", nn_net_features(card->image->net));
    if (card->text)
        fprintf(to, "| encoder of texts | %s, embeddings of %zu |\n",
                card->text->spec.arch, nn_net_dim(card->text->net));
    fprintf(to, "| data set | %lld images, digest %s |\n",
            (long long)json_integer_value(json_object_get(data, "size")),
            json_string_value(json_object_get(data, "digest")));
    fprintf(to, "| steps | %lld, to epoch %lld |\n",
            (long long)json_integer_value(json_object_get(state, "total")),
            (long long)json_integer_value(json_object_get(state, "epoch")));
    for (size_t i = 0; i < sizeof option / sizeof *option; i++)
        put_option(to, config, option[i]);
    fprintf(to, "| foil | %s |\n\n", FOIL_VERSION);
}

static void
put_input(FILE *to, const struct nn_spec *s)
{
    fprintf(
        to,
        "An image is resized (bilinear, antialiased) so that its short side "
        "fits %zu x %zu,\nand its centre is cropped; pixels x of 0 to 255 "
        "become (x / 255 - mean) / deviation,\nmean %g %g %g, deviation "
        "%g %g %g.\n\n",
        s->height, s->image_width, (double)s->mean[0], (double)s->mean[1],
        (double)s->mean[2], (double)s->deviation[0], (double)s->deviation[1],
        (double)s->deviation[2]);
}

static void
put_lines(FILE *to, const struct embed_card *card)
{
    const char *at = card->folder;

    fprintf(to,
            "```python\n# PyTorch alone\nnet = torch.hub.load(\"%s\", "
            "\"encoder\", source=\"local\")\n",
            at);
    if (card->timm)
        fprintf(to,
                "# timm\nnet = timm.create_model(\"local-dir:%s\", "
                "pretrained=True)\n"
                "# transformers, with timm\n"
                "net = transformers.AutoModel.from_pretrained(\"%s\")\n",
                at, at);
    if (card->open_clip)
        fprintf(
            to,
            "# open_clip; gzip -k vocabulary.txt makes the tokenizer's file\n"
            "net, _, prepare = open_clip.create_model_and_transforms("
            "\"local-dir:%s\")\n"
            "tokens = open_clip.SimpleTokenizer(\"%s/vocabulary.txt.gz\", "
            "context_length=%ld)\n",
            at, at, card->text->spec.context);
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

/* Writes the last result. */
static void
put_results(FILE *to, const char *run)
{
    struct err ignored;
    json_t *all = run_results_read(run, &ignored);

    if (json_array_size(all)) {
        fprintf(to, "## Results\n\n| | |\n|---|---|\n");
        put_numbers(to, "", json_array_get(all, json_array_size(all) - 1));
        fprintf(to, "\n");
    }
    json_decref(all);
}

char *
embed_card(const struct embed_card *card)
{
    char *text = NULL, *run = mem_format("%s/..", card->image->folder);
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);

    REQUIRE(to);
    put_head(to, card);
    fprintf(to, "# %s, trained by foil\n\n", card->image->spec.arch);
    put_facts(to, card);
    put_input(to, &card->image->spec);
    put_lines(to, card);
    put_command(to, run);
    put_results(to, run);
    REQUIRE(!fclose(to));
    free(run);
    return text;
}
