#include <string.h>

#include "fitting.h"

const struct nn_array *
nn_fitting_array(const struct nn_array *arrays, size_t n, const char *path,
                 const char *name, const char *dtype, const struct nn_tensor *t,
                 struct err *err)
{
    const struct nn_array *a = nn_arrays_find(arrays, n, name);

    if (!a)
        err_set(err, "'%s': tensor '%s' is missing", path, name);
    else if (strcmp(a->dtype, dtype))
        err_set(err, "'%s': tensor '%s' is %s, want %s", path, name, a->dtype,
                dtype);
    else if (a->rank != t->rank ||
             memcmp(a->shape, t->shape, t->rank * sizeof *t->shape))
        err_set(err, "'%s': the shape of tensor '%s' is not the net's", path,
                name);
    else
        return a;
    return NULL;
}
