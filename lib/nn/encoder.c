#include <stdio.h>
#include <string.h>

#include "util/err.h"

#include "encoder.h"

/*
 * Residual networks: the large ones as torchvision builds and names them (a
 * bottleneck has its stride in the 3x3), the small ones as section 4.2 of their
 * paper has them for CIFAR.
 */
static const struct nn_encoder encoders[] = {
    {"resnet18", NN_IMAGES, 0, 1, nn_resnet, 64, 4, {2, 2, 2, 2}, 0},
    {"resnet34", NN_IMAGES, 0, 1, nn_resnet, 64, 4, {3, 4, 6, 3}, 0},
    {"resnet50", NN_IMAGES, 0, 1, nn_resnet, 64, 4, {3, 4, 6, 3}, 1},
    {"resnet8", NN_IMAGES, 0, 1, nn_resnet, 16, 3, {1, 1, 1}, 0},
    {"resnet20", NN_IMAGES, 0, 1, nn_resnet, 16, 3, {3, 3, 3}, 0},
    {.name = "mlp", .input = NN_IMAGES, .build = nn_mlp},
    {.name = "linear", .input = NN_IMAGES, .basis = 1, .build = nn_linear},
    {.name = "table", .input = NN_IDS, .build = nn_table},
};

enum { ENCODERS = sizeof encoders / sizeof *encoders };

static const char *
names(char *text, size_t room, char between)
{
    size_t len = 0;

    for (size_t i = 0; i < ENCODERS; i++)
        len += (size_t)snprintf(text + len, room - len, "%.*s%s", i > 0,
                                &between, encoders[i].name);
    return text;
}

const struct nn_encoder *
nn_encoder_find(const char *name, struct err *err)
{
    char list[256];

    for (size_t i = 0; i < ENCODERS; i++)
        if (!strcmp(encoders[i].name, name))
            return &encoders[i];
    err_set(err, "no encoder '%s': want one of %s", name,
            names(list, sizeof list, ' '));
    return NULL;
}

const char *
nn_encoder_words(void)
{
    static char words[256];

    return names(words, sizeof words, '|');
}

int
nn_encoder_reads_ids(const char *name)
{
    struct err none;
    const struct nn_encoder *encoder = nn_encoder_find(name, &none);

    return encoder && encoder->input == NN_IDS;
}
