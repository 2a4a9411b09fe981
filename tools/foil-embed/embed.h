#ifndef FOIL_EMBED_EMBED_H
#define FOIL_EMBED_EMBED_H

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

/* An encoder as a folder that other programs open. */
struct embed_folder_job {
    const char *checkpoint, *folder;
    const char *licence; /* for the card; NULL: unknown */
    int average;         /* 1: with the mean of weights (nn/average.h) */
};

/*
 * embed_folder_job() makes it, or ends the tool with a sentence:
 *
 *     model.safetensors   the encoder of images, named as timm names it
 *     config.json         timm's, where timm has such an encoder, and "foil"
 *     hubconf.py          opens it in PyTorch
 *     README.md           the model's card
 *     open_clip_config.json, open_clip_model.safetensors, vocabulary.txt
 *                         of an encoder of texts, too, where open_clip has both
 */
void embed_folder_job(const struct embed_folder_job *job);

/* Which images are to be embedded, and how. */
struct embed_image_job {
    const char *checkpoint; /* NULL: no encoder */
    int descriptor;         /* then 1: eval/descriptor.h; 0: pixels / 255 */
    const char *data, *output;
    const char *projector; /* folder, of TensorBoard; NULL: none */
    const char *recipe;    /* of augmented views; NULL: plain ones */
    int head;              /* 1: embeddings; 0: the encoder's features */
    int untrained;         /* 1: with initial weights */
    int average;           /* 1: with the mean of weights (nn/average.h) */
    int skip;              /* 1: bad images are left out */
    long part, parts; /* the images are cut into parts, 1 <= part <= parts */
    long size, seed, view, batch, threads, max_pixels; /* size 0: as trained */
};

/* embed_image_job() does it; it ends the tool where that fails. */
void embed_image_job(const struct embed_image_job *job);

/* What is to be embedded: one of three. */
struct embed_text_job {
    const char *checkpoint; /* NULL: no encoder, but which tokens a text has */
    const char *vocabulary; /* whose tokens, then */
    const char *output;
    const char *data;      /* a data set: all of its captions, with the ids of
                              their samples */
    const char *lines;     /* a file: each line, numbered from 0 */
    const char *classes;   /* a file of names of classes, each with a tab and
                              other words for it where it has them: a row for
                              each, the mean of the unit-length embeddings of its
                              words or else its name in each template, of unit
                              length */
    const char *templates; /* a file: a template a line, in which {} is the
                              name; NULL: "{}" and "a photo of a {}." */
    size_t batch;          /* texts at a time */
    int head;              /* 1: embeddings; 0: what is before the projection */
    int average;           /* 1: with the mean of weights (nn/average.h) */
};

/* embed_text_job() does it; it ends the tool where that fails. */
void embed_text_job(const struct embed_text_job *job);

#endif
