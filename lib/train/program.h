#ifndef LIB_TRAIN_PROGRAM_H
#define LIB_TRAIN_PROGRAM_H

#include "stage/program.h"
#include "train/process.h"

/* Requests to the program of an encoder, and their answers. */
struct train_program {
    struct stage_program *program;
    char *line; /* for sentences */
    char *memory;
    size_t size;    /* of the memory, in bytes */
    size_t pending; /* answers that nobody has looked at */
    int failed;
    struct err why;
};

/* train_program_tell() sends a request, which it gives to free(), and does not
 * wait: what becomes of it shows when something is asked. */
void train_program_tell(struct train_program *program, char *line);

/* train_program_ask() sends one and waits until it is done, and all before it:
 * 0, or -1 with the first sentence of all that failed. answer  of this one;
 * answer->ok, which is "" where nothing stands there, is to be freed */
int train_program_ask(struct train_program *program, char *line,
                      struct stage_answer *answer, struct err *err);

/* train_program_fail() makes all fail from now on, with the sentence in err:
 * -1. */
int train_program_fail(struct train_program *program, const struct err *err);

/* train_program_grow() makes room in the memory for so many more bytes and
 * returns where they begin, or 0 with a sentence.  Not while anything is under
 * way. */
size_t train_program_grow(struct train_program *program, size_t bytes,
                          struct err *err);

/* A number of an answer, from `low` to `high`. */
struct train_number {
    const char *name;
    double low, high; /* INFINITY: a number that is not finite is allowed */
    int whole;
};

/* train_program_number() finds NAME=NUMBER among words: 1, 0 where it is not
 * there, or -1 with a sentence where it is none or out of range: all fails
 * then. */
int train_program_number(struct train_program *program, const char *words,
                         const struct train_number *want, double *number,
                         struct err *err);

#endif
