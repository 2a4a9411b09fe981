#ifndef FOIL_EMBED_CARD_H
#define FOIL_EMBED_CARD_H

#include <stddef.h>

#include "nn/model.h"

/* The sizes behind the name of a transformer, "vit:WxLxP[xH]" and
 * "clip:WxL[xH]". */
struct embed_sizes {
    size_t width, layers, patch, heads;
};

/* embed_sizes_read() reads them: 1, or 0 of any other encoder. */
int embed_sizes_read(const char *arch, struct embed_sizes *sizes);

/* What a model's card tells of. */
struct embed_card {
    const struct nn_model *image, *text; /* NULL: none */
    const char *folder, *licence;
    int timm, open_clip; /* 1: it opens it */
};

/* embed_card() writes the card, in the form of Markdown with a head of YAML
 * that hubs of models read: what the encoder is, the lines that open it, the
 * command that trained it and its results, where its run directory has these.
 * Text to be given to free(). */
char *embed_card(const struct embed_card *card);

#endif
