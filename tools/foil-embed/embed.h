#ifndef FOIL_EMBED_EMBED_H
#define FOIL_EMBED_EMBED_H

#include <stddef.h>

#include "nn/model.h"

/* The sizes in the name of a transformer, "vit:WxLxP[xH]" or "clip:WxL[xH]". */
struct embed_sizes {
    size_t width, layers, patch, heads;
};

/* embed_sizes_read() reads them: 1, or 0 for another encoder. */
int embed_sizes_read(const char *arch, struct embed_sizes *sizes);

/* The contents of a model card. */
struct embed_card {
    const struct nn_model *image, *text; /* NULL: none */
    const char *folder, *licence;
    int timm, open_clip; /* 1: that library can open the folder */
};

/* embed_card() returns the card as Markdown with a YAML head, as model hubs
 * read it: a description of the encoder, code that opens it, and its training
 * command and results if the run directory has them.  The caller frees it. */
char *embed_card(const struct embed_card *card);

/* Exports an encoder as a folder that other programs open. */
struct embed_folder_job {
    const char *checkpoint, *folder;
    const char *licence; /* for the card; NULL: unknown */
    int average;         /* 1: averaged weights (nn/average.h) */
};

/*
 * embed_folder_job() writes the folder, or ends the tool with a sentence:
 *
 *     model.safetensors   the image encoder, with timm's names of tensors
 *     config.json         for timm, if timm has such an encoder, and "foil"
 *     hubconf.py          opens the encoder in PyTorch
 *     README.md           the model card open_clip_config.json,
 *                         open_clip_model.safetensors, vocabulary.txt with a
 *                         text encoder, if open_clip has both encoders
 */
void embed_folder_job(const struct embed_folder_job *job);

/* Which images to embed, and how. */
struct embed_image_job {
    const char *checkpoint; /* NULL: no encoder, see `descriptor` */
    int descriptor;         /* 1: eval/descriptor.h; 0: pixels / 255 */
    const char *data, *output;
    const char *projector; /* folder for TensorBoard; NULL: none */
    const char *recipe;    /* of augmented views; NULL: plain images */
    int head;              /* 1: embeddings; 0: the encoder's features */
    int untrained;         /* 1: initial weights */
    int average;           /* 1: averaged weights (nn/average.h) */
    int skip;              /* 1: leave out bad images */
    long part, parts;      /* embed part `part` of `parts`, from 1 */
    long size, seed, view, batch, threads, max_pixels; /* size 0: as trained */
};

/* embed_image_job() runs the job; ends the tool on error. */
void embed_image_job(const struct embed_image_job *job);

/* Which texts to embed: of `data`, `lines` or `classes`. */
struct embed_text_job {
    const char *checkpoint; /* NULL: no encoder; features are tokens */
    const char *vocabulary; /* of these tokens, without encoder */
    const char *output;
    const char *data;      /* a data set: all its captions, with sample ids */
    const char *lines;     /* a file: each line, numbered from 0 */
    const char *classes;   /* a file: a class name a line, perhaps with a tab
                              and other words for it.  Each class gets a row
                              of unit length: the mean of the unit-length
                              embeddings of its words, or else its name, in
                              each template */
    const char *templates; /* a file: a template a line, in which {} is the
                              name; NULL: "{}" and "a photo of a {}." */
    size_t batch;          /* texts at a time */
    int head;              /* 1: embeddings; 0: before the projection */
    int average;           /* 1: averaged weights (nn/average.h) */
};

/* embed_text_job() runs the job; ends the tool on error. */
void embed_text_job(const struct embed_text_job *job);

#endif
