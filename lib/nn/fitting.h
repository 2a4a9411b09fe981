#ifndef NN_FITTING_H
#define NN_FITTING_H

#include "nn/net.h"
#include "nn/safetensors.h"

/*
 * nn_fitting_array() returns the array of that name, or NULL with an error if
 * it is missing or does not have this dtype and the shape of tensor t.
 *   path    of the file, for errors
 *   dtype   such as "F32"
 */
const struct nn_array *nn_fitting_array(const struct nn_array *arrays, size_t n,
                                        const char *path, const char *name,
                                        const char *dtype,
                                        const struct nn_tensor *t,
                                        struct err *err);

#endif
