#ifndef FOIL_EMBED_TEXT_JOB_H
#define FOIL_EMBED_TEXT_JOB_H

#include <stddef.h>

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
