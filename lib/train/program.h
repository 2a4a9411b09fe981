#pragma once

#include "stage/program.h"
#include "train/process.h"

/* Requests to the program of an encoder, and their answers. */
struct train_program {
    struct stage_program *program;
    char *line; /* for messages */
    char *memory;
    size_t size;    /* of the memory, in bytes */
    size_t pending; /* requests without a taken answer */
    int failed;
    struct err why;
};

/* train_program_send() sends a request and frees it.  It does not wait; the
 * next train_program_request() returns its error. */
void train_program_send(struct train_program *program, char *line);

/* train_program_request() sends a request and waits for its answer and all
 * earlier ones.  It returns 0, or -1 with the first error of these.  The caller
 * frees answer->ok, "" if the answer has no text. */
int train_program_request(struct train_program *program, char *line,
                          struct stage_answer *answer, struct err *err);

/* train_program_fail() makes all later requests fail with that message;
 * returns -1. */
int train_program_fail(struct train_program *program, const struct err *err);

/* train_program_grow() adds that many bytes to the memory and returns their
 * offset, or 0 with an error message.  Not while a request is pending. */
size_t train_program_grow(struct train_program *program, size_t bytes,
                          struct err *err);

/* A number in an answer, from `low` to `high`. */
struct train_number {
    const char *name;
    double low, high; /* INFINITY: a number that is not finite is allowed */
    int whole;
};

/* train_program_number() finds NAME=NUMBER in an answer.  It returns 1, 0 if it
 * is missing, or -1 with an error message if it is no number or out of range;
 * all later requests fail then. */
int train_program_number(struct train_program *program, const char *words,
                         const struct train_number *want, double *number,
                         struct err *err);

/* The tensors that a program has listed. */
struct train_tensors {
    struct nn_tensor *tensor; /* [n], in the program's order, with its names */
    size_t n, room;
    size_t params, statistics; /* numbers of both kinds */
};

void train_tensors_release(struct train_tensors *tensors);

/* train_tensors_take() parses a line "tensor NAME parameter|statistic SHAPE"
 * (stage/program.h); `of` is a struct train_tensors. */
int train_tensors_take(void *of, const char *line, struct err *err);

/*
 * train_tensors_match() compares names, shapes and kinds, but not the order,
 * with those of an encoder of foil's, and the width of an embedding; returns -1
 * with the first difference.
 *   line  the command, for messages
 */
int train_tensors_match(const struct train_tensors *tensors,
                        const struct nn_spec *net, size_t dim, const char *line,
                        struct err *err);
