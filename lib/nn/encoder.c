#include <stdio.h>
#include <string.h>

#include "util/err.h"

#include "encoder.h"

/*
 * Residual networks: the large ones are torchvision's (a bottleneck has its
 * stride in the 3x3), the small ones those of section 4.2 of the paper, for
 * CIFAR.
 */
static const struct nn_encoder encoders[] = {
    {.name = "resnet18",
     .bf16 = 1,
     .build = nn_resnet,
     .width = 64,
     .stages = 4,
     .blocks = {2, 2, 2, 2}},
    {.name = "resnet34",
     .bf16 = 1,
     .build = nn_resnet,
     .width = 64,
     .stages = 4,
     .blocks = {3, 4, 6, 3}},
    {.name = "resnet50",
     .bf16 = 1,
     .build = nn_resnet,
     .width = 64,
     .stages = 4,
     .blocks = {3, 4, 6, 3},
     .bottleneck = 1},
    {.name = "resnet8",
     .bf16 = 1,
     .build = nn_resnet,
     .width = 16,
     .stages = 3,
     .blocks = {1, 1, 1}},
    {.name = "resnet20",
     .bf16 = 1,
     .build = nn_resnet,
     .width = 16,
     .stages = 3,
     .blocks = {3, 3, 3}},
    {.name = "mlp", .build = nn_mlp},
    {.name = "linear", .basis = 1, .build = nn_linear},
    {.name = "rows", .input = NN_IDS, .basis = 1, .build = nn_rows},
    {.name = "table", .input = NN_IDS, .build = nn_table},
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

/* Lists the names of text encoders, or of all others. */
static const char *
list_names(char text[WORDS], int texts, char between)
{
    size_t len = 0;

    for (size_t i = 0; i < ENCODERS; i++) {
        if ((encoders[i].input == NN_TOKENS) != texts)
            continue;
        if (len)
            text[len++] = between;
        len += (size_t)nn_sizes_word(&encoders[i], text + len, WORDS - len);
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
                "that program computes it, and exports it, as by "
                "torch.save()");
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
