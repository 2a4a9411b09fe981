#ifndef NN_FITTING_H
#define NN_FITTING_H

#include "nn/net.h"
#include "nn/safetensors.h"

/*
 * nn_fitting_array() returns the array of a file that holds tensor t under a
 * name, once its type and shape are checked.  NULL on error: it is missing, or
 * the net's is another.
 *   path    of the file, in errors
 *   dtype   that the array has to have, such as "F32"
 */
const struct nn_array *nn_fitting_array(const struct nn_array *arrays, size_t n,
                                        const char *path, const char *name,
                                        const char *dtype,
                                        const struct nn_tensor *t,
                                        struct err *err);

#endif
