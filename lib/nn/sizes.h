#ifndef NN_SIZES_H
#define NN_SIZES_H

#include "encoder.h"

/*
 * The numbers behind the name of an encoder, as in "clip:128x2x4": its sizes
 * and the number of its heads.
 */
struct nn_sizes {
    size_t of[NN_SIZES];
};

/* nn_sizes_judge() says what is wrong with those of a spec's arch, or with its
 * images or texts for them. */
int nn_sizes_judge(const struct nn_encoder *encoder, const struct nn_spec *spec,
                   struct err *err);

/* nn_sizes_of() returns them, checked. */
struct nn_sizes nn_sizes_of(const struct nn_encoder *encoder, const char *arch);

/* nn_sizes_word() writes how an arch is given, "vit:WxLxP[xH]", as snprintf()
 * would. */
int nn_sizes_word(const struct nn_encoder *encoder, char *text, size_t room);

#endif
