#ifndef LIB_TRAIN_PROCESS_H
#define LIB_TRAIN_PROCESS_H

#include "nn/net.h"

/* The tensors that a program says it has. */
struct train_tensors {
    struct nn_tensor *tensor; /* [n], in its order; names are its own */
    size_t n, room;
    size_t params, statistics; /* numbers of both kinds */
};

void train_tensors_release(struct train_tensors *tensors);

/* train_tensors_take() takes a line "tensor NAME parameter|statistic SHAPE"
 * (stage/program.h); `of` are the tensors. */
int train_tensors_take(void *of, const char *line, struct err *err);

/*
 * train_tensors_match() puts the tensors' order aside and compares names,
 * shapes and kinds with those of an encoder of ours, and the width of an
 * embedding; -1 names the first that differs.
 *   line  the command, for the sentence
 */
int train_tensors_match(const struct train_tensors *tensors,
                        const struct nn_spec *net, size_t dim, const char *line,
                        struct err *err);

/* What a batch looks like in the memory: foil-encoder(5). */
struct train_slot {
    enum nn_input_kind kind;
    size_t rows, image, context; /* at most; numbers of an image; tokens */
};

size_t train_slot_bytes(const struct train_slot *slot);
void train_slot_put(const struct train_slot *slot, const struct nn_input *input,
                    char *to);

#endif
