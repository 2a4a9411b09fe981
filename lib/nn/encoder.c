#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/err.h"

#include "encoder.h"

/*
 * Residual networks: name, channels of the first stage, whether blocks are
 * bottlenecks, and the blocks of each stage.  The large ones are torchvision's
 * (a bottleneck has its stride in the 3x3), the small ones those of section 4.2
 * of the paper, for CIFAR.
 */
#define RESNET(word, channels, narrow, ...)                                   \
    {                                                                         \
        .name = (word), .bf16 = 1, .basis = 1, .build = nn_resnet,            \
        .width = (channels), .bottleneck = (narrow), .blocks = {__VA_ARGS__}, \
    }

static const struct nn_encoder encoders[] = {
    RESNET("resnet18", 64, 0, 2, 2, 2, 2),
    RESNET("resnet34", 64, 0, 3, 4, 6, 3),
    RESNET("resnet50", 64, 1, 3, 4, 6, 3),
    RESNET("resnet8", 16, 0, 1, 1, 1),
    RESNET("resnet20", 16, 0, 3, 3, 3),
    {.name = "mlp", .build = nn_mlp},
    {.name = "linear", .basis = 1, .build = nn_linear},
    {.name = "rows", .input = NN_IDS, .basis = 1, .build = nn_rows},
    {.name = "table", .input = NN_IDS, .build = nn_table},
    {.name = "frozen",
     .rows = 1,
     .build = nn_frozen,
     .form = "WxL",
     .required = 1,
     .sizes = 2},
    {.name = "vit",
     .bf16 = 1,
     .build = nn_vit,
     .form = "WxLxP[xH]",
     .required = 1,
     .sizes = 3,
     .heads = 1},
    {.name = "bow",
     .bf16 = 1,
     .input = NN_TOKENS,
     .build = nn_bow,
     .form = "W",
     .required = 1,
     .sizes = 1},
    {.name = "clip",
     .bf16 = 1,
     .input = NN_TOKENS,
     .build = nn_clip,
     .form = "WxL[xH]",
     .required = 1,
     .sizes = 2,
     .heads = 1},
    {.name = "distilbert",
     .bf16 = 1,
     .bare = 1,
     .input = NN_TOKENS,
     .build = nn_distilbert,
     .form = "WxL[xH]",
     .sizes = 2,
     .heads = 1,
     .defaults = {768, 6, 12}},
};

enum { ENCODERS = sizeof encoders / sizeof *encoders, WORDS = 256 };

/* Writes the syntax of an arch, "vit:WxLxP[xH]"; returns as snprintf() does. */
static int
write_form(const struct nn_encoder *encoder, char *text, size_t room)
{
    const char *form = encoder->form;

    if (!form)
        return snprintf(text, room, "%s", encoder->name);
    return snprintf(text, room, encoder->required ? "%s:%s" : "%s[:%s]",
                    encoder->name, form);
}

/* Lists the names of text encoders, or of all others. */
static const char *
list_names(char text[WORDS], int texts, char between)
{
    size_t len = 0;

    for (size_t i = 0; i < ENCODERS; i++) {
        if (!encoders[i].rows && (encoders[i].input == NN_TOKENS) != texts)
            continue;
        if (len)
            text[len++] = between;
        len += (size_t)write_form(&encoders[i], text + len, WORDS - len);
        REQUIRE(len + 1 < WORDS);
    }
    return text;
}

static const struct nn_encoder *
find_encoder(const char *arch)
{
    const size_t len = strcspn(arch, ":");

    for (size_t i = 0; i < ENCODERS; i++)
        if (!strncmp(encoders[i].name, arch, len) && !encoders[i].name[len] &&
            (!arch[len] || encoders[i].form))
            return &encoders[i];
    return NULL;
}

const char nn_arch_program[] = "program";

const struct nn_encoder *
nn_encoder_find(const char *arch, struct err *err)
{
    const struct nn_encoder *encoder = find_encoder(arch);
    char images[WORDS], texts[WORDS];

    if (!encoder && !strcmp(arch, nn_arch_program))
        err_set(err,
                "the encoder is a program of yours with its own tensors: only "
                "that program computes it, and exports it, as by torch.save()");
    else if (!encoder)
        err_set(err, "no encoder '%s': want one of %s; of texts %s", arch,
                list_names(images, 0, ' '), list_names(texts, 1, ' '));
    return encoder;
}

const char *
nn_encoder_names(int texts)
{
    static char list[2][WORDS];

    return list_names(list[!!texts], !!texts, '|');
}

int
nn_encoder_reads(const char *arch, enum nn_input_kind kind)
{
    const struct nn_encoder *encoder = find_encoder(arch);

    return encoder && encoder->input == kind;
}

int
nn_encoder_looks_up(const char *arch)
{
    const struct nn_encoder *encoder = find_encoder(arch);

    return encoder && encoder->input == NN_IDS && encoder->basis;
}

int
nn_encoder_of_rows(const char *arch)
{
    const struct nn_encoder *encoder = find_encoder(arch);

    return encoder && encoder->rows;
}

int
nn_encoder_any_size(const char *arch)
{
    const struct nn_encoder *encoder = find_encoder(arch);

    return encoder && encoder->build == nn_resnet;
}

/* Reads "128x2x4"; returns the count of numbers, 0 if it is invalid or has more
 * than `most`. */
static size_t
read_sizes(const char *text, size_t most, size_t of[NN_SIZES])
{
    size_t n = 0;

    while (n < most) {
        unsigned long value;
        char *end;

        if (!isdigit((unsigned char)*text))
            return 0;
        value = strtoul(text, &end, 10);
        if (value < 1 || value > 8192)
            return 0;
        of[n++] = value;
        if (!*end)
            return n;
        if (*end != 'x')
            return 0;
        text = end + 1;
    }
    return 0;
}

/* Reads the sizes of an arch; -1 if it does not have the encoder's form. */
static int
read_arch(const struct nn_encoder *encoder, const char *arch,
          size_t size[NN_SIZES])
{
    const char *colon = strchr(arch, ':');
    const size_t all = encoder->sizes, most = all + (size_t)encoder->heads;
    size_t n;

    memcpy(size, encoder->defaults, sizeof encoder->defaults);
    if (!colon)
        return encoder->required ? -1 : 0;
    n = read_sizes(colon + 1, most, size);
    if (n < all)
        return -1;
    if (encoder->heads && n == all)
        size[all] = size[0] < 128 ? 1 : size[0] / 64;
    return 0;
}

static int
check_text(const struct nn_spec *spec, struct err *err)
{
    if (spec->vocabulary < 1 || spec->vocabulary > 1 << 24)
        return err_set(err, "a vocabulary of %ld tokens: want 1 to %d",
                       spec->vocabulary, 1 << 24);
    if (spec->context < 1 || spec->context > 8192)
        return err_set(err, "texts of up to %ld tokens: want 1 to 8192",
                       spec->context);
    return 0;
}

int
nn_encoder_check(const struct nn_encoder *encoder, const struct nn_spec *spec,
                 struct err *err)
{
    size_t size[NN_SIZES];
    char want[64];

    if (encoder->input == NN_TOKENS && check_text(spec, err))
        return -1;
    if (!encoder->form)
        return 0;
    if (read_arch(encoder, spec->arch, size)) {
        write_form(encoder, want, sizeof want);
        return err_set(err, "bad encoder '%s': want %s, numbers up to 8192",
                       spec->arch, want);
    }
    if (encoder->heads && size[0] % size[encoder->sizes])
        return err_set(err, "'%s': %zu numbers cannot be shared by %zu heads",
                       spec->arch, size[0], size[encoder->sizes]);
    if (encoder->rows && size[1] > 3)
        return err_set(err, "'%s': want 1 to 3 layers", spec->arch);
    if (encoder->input == NN_IMAGES && !encoder->rows &&
        (spec->height % size[2] || spec->image_width % size[2]))
        return err_set(err,
                       "'%s': images of %zux%zu cannot be cut into patches of "
                       "%zux%zu",
                       spec->arch, spec->height, spec->image_width, size[2],
                       size[2]);
    return 0;
}

size_t
nn_encoder_build(struct nn_graph *graph, const struct nn_encoder *encoder,
                 const struct nn_spec *spec, size_t in)
{
    struct nn_design design = {.encoder = encoder, .spec = spec};
    const int rc = read_arch(encoder, spec->arch, design.size);

    REQUIRE(!rc);
    return encoder->build(graph, &design, in);
}
