#ifndef NN_SIZES_H
#define NN_SIZES_H

#include "encoder.h"

/*
 * The numbers after the name of an encoder, as in "clip:128x2x4": its sizes and
 * its number of heads.
 */
struct nn_sizes {
    size_t of[NN_SIZES];
};

/* nn_sizes_check() returns -1 with the reason for invalid sizes of a spec's
 * arch, or if its images or texts do not fit them. */
int nn_sizes_check(const struct nn_encoder *encoder, const struct nn_spec *spec,
                   struct err *err);

/* nn_sizes_of() returns the sizes of a valid arch. */
struct nn_sizes nn_sizes_of(const struct nn_encoder *encoder, const char *arch);

/* nn_sizes_word() writes the syntax of an arch, "vit:WxLxP[xH]"; returns as
 * snprintf() does. */
int nn_sizes_word(const struct nn_encoder *encoder, char *text, size_t room);

#endif
