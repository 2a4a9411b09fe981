#ifndef LIB_TRAIN_PROCESS_H
#define LIB_TRAIN_PROCESS_H

#include "nn/net.h"

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

/* The layout of a batch in the memory: foil-encoder(5). */
struct train_slot {
    enum nn_input_kind kind;
    size_t rows, image, context; /* largest number; of an image; tokens */
};

size_t train_slot_bytes(const struct train_slot *slot);
void train_slot_put(const struct train_slot *slot, const struct nn_input *input,
                    char *to);

#endif
