#pragma once

#include <stddef.h>

#include "nn/model.h"
#include "train/encoder.h"

/* The command line, see tools/foil-embed.1. */
struct embed_options {
    const char *checkpoint; /* NULL: no encoder; features are tokens, pixels
                               / 255 or, with `descriptor`, eval/descriptor.h */
    const char *data;       /* NULL: texts are of `lines` or `classes` */
    const char *output, *projector;
    const char *export, *licence, *onnx;
    const char *recipe;  /* of augmented views; NULL: plain images */
    const char *lines;   /* a file: each line, numbered from 0 */
    const char *classes; /* a file: a class name a line, perhaps with a tab and
                            other words for it; each class gets a row */
    const char *templates; /* a file: a template a line, in which {} is the
                              name; NULL: "{}" and "a photo of a {}." */
    const char *vocabulary, *shard;
    const char *encoder; /* a command; NULL: that of the checkpoint, if any */
    double limit;        /* seconds for an answer of that program */
    int head; /* 1: embeddings; 0: features before the head or projection */
    int skip; /* 1: leave out bad images */
    int raw, descriptor, untrained, captions, dry;
    int average;      /* 1: averaged weights (nn/average.h) */
    long part, parts; /* of --shard, from 1 */
    long size, seed, view, batch, threads, max_pixels;
};

/* The encoder of a checkpoint, as a net, or in a program of the user's. */
struct embed_encoder {
    struct nn_model model; /* its net is NULL with a program */
    const char *command;   /* NULL: no program */
    struct train_program *program;
    struct train_encoder encoder; /* of the program */
    int head;                     /* 1: its rows are embeddings; a program may
                                     compute no features */
};

/* embed_encoder_open() opens the encoder of images, or of texts, for batches of
 * job->batch rows. embed_encoder_infer() encodes n rows to x [n,width].  Both
 * end the tool with a message on error. */
void embed_encoder_open(struct embed_encoder *encoder,
                        const struct embed_options *job, int texts);
void embed_encoder_close(struct embed_encoder *encoder);
size_t embed_encoder_width(const struct embed_encoder *encoder);
void embed_encoder_infer(struct embed_encoder *encoder,
                         const struct nn_input *input, float *x);

/* These run a job, or end the tool with a message: embed_folder_job() exports
 * an encoder as a folder (foil-embed(1), --export DIR/), the others write
 * features of images or of texts. */
void embed_folder_job(const struct embed_options *options);
void embed_image_job(const struct embed_options *options);
void embed_text_job(const struct embed_options *options);
