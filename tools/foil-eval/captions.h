#ifndef FOIL_EVAL_CAPTIONS_H
#define FOIL_EVAL_CAPTIONS_H

#include "eval.h"
#include "eval/retrieve.h"

/* Images and their captions, and who answers whom. */
struct both {
    struct data_features image, text;
    struct eval_answers texts, images; /* of images, of captions */
};

/* pairs_load() reads features of images and of captions, with the ids of both,
 * or ends the process; they may be of different widths. */
void pairs_load(struct both *b, char **path);
void both_release(struct both *b);

/*
 * both_report() prints how images find captions and captions images, by the
 * rule `equal`, where it is known which captions are equal, and by `strict`;
 * `how`, an object, is put into each line and given away.
 */
void both_report(const char *measure, char **path, struct both *b, json_t *how);

/* captions_rank() is the verb retrieve with --captions; the best answers to
 * each query go to a file, unless `answers` is NULL. */
void captions_rank(char **path, const char *answers);

#endif
