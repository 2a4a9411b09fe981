#include <stdlib.h>
#include <string.h>

#include "nn/average.h"
#include "nn/safetensors.h"
#include "util/file.h"
#include "util/mem.h"

void
nn_average_init(struct nn_average *average, struct nn_net *net)
{
    size_t count;

    nn_net_params(net, &count);
    *average =
        (struct nn_average){.mean = mem_array(count, sizeof *average->mean)};
}

void
nn_average_release(struct nn_average *average)
{
    free(average->mean);
    *average = (struct nn_average){0};
}

void
nn_average_add(struct nn_average *average, struct nn_net *net)
{
    size_t count;
    const float *p = nn_net_params(net, &count);
    const double share = 1 / (double)++average->steps;
    double *mean = average->mean;

#pragma omp parallel for schedule(static) if (count > 100000)
    for (size_t i = 0; i < count; i++)
        mean[i] += share * (p[i] - mean[i]);
}

static char *
average_path(const char *folder, int texts)
{
    return mem_format("%s/%saverage.safetensors", folder, texts ? "text-" : "");
}

int
nn_average_save(const char *folder, const struct nn_weights *blocks,
                const struct nn_average *average, struct err *err)
{
    const int64_t steps = average->steps;
    const struct nn_tensor *t = blocks->tensor;
    size_t n = blocks->n, used = 0;
    struct nn_array *array;
    char *path;
    int rc;

    if (!steps)
        return 0;
    path = average_path(folder, blocks->texts);
    array = mem_array(n + 1, sizeof *array);
    nn_array_init(array + used++, "steps", "I64", 0, NULL, &steps);
    for (size_t i = 0; i < n; i++)
        if (!t[i].statistic)
            nn_array_init(array + used++, t[i].name, "F64", t[i].rank,
                          t[i].shape, average->mean + t[i].offset);
    rc = nn_arrays_write(path, array, used, NULL, err);
    nn_arrays_free(array, used);
    free(path);
    return rc;
}

/* Checks all arrays and copies them; -1 with the name of an invalid one. */
static int
take_tensors(const struct nn_array *array, size_t n_arrays, const char *path,
             const struct nn_weights *blocks, struct nn_average *average,
             struct err *err)
{
    const struct nn_tensor *t = blocks->tensor;
    size_t used = 1;
    const struct nn_array *a =
        nn_arrays_need(array, n_arrays, path, "steps", "I64", 0, NULL, err);
    int64_t steps;

    if (!a)
        return -1;
    memcpy(&steps, a->data, sizeof steps);
    if (steps < 1)
        return err_set(err, "'%s': steps is %jd, want at least 1", path,
                       (intmax_t)steps);
    average->steps = (long)steps;
    for (size_t i = 0; i < blocks->n; i++) {
        if (t[i].statistic)
            continue;
        a = nn_arrays_need(array, n_arrays, path, t[i].name, "F64", t[i].rank,
                           t[i].shape, err);
        if (!a)
            return -1;
        memcpy(average->mean + t[i].offset, a->data, a->bytes);
        used++;
    }
    return used == n_arrays ? 0
                            : err_set(err, "'%s': %zu tensors, the net has %zu",
                                      path, n_arrays - 1, used - 1);
}

int
nn_average_load(const char *folder, const struct nn_weights *blocks,
                struct nn_average *average, struct err *err)
{
    char *path = average_path(folder, blocks->texts);
    struct nn_array *array = NULL;
    size_t n = 0;
    int rc = 0;

    average->steps = 0;
    if (!file_exists(path))
        goto out;
    rc = nn_arrays_read(path, &array, &n, NULL, err);
    if (!rc)
        rc = take_tensors(array, n, path, blocks, average, err);
    nn_arrays_free(array, n);

out:
    free(path);
    return rc;
}

int
nn_average_use(struct nn_model *model, const struct nn_weights *blocks,
               struct err *err)
{
    const char *folder = model->folder;
    struct nn_average average = {0};
    size_t count = 0;
    int rc;

    for (size_t i = 0; i < blocks->n; i++)
        count += blocks->tensor[i].statistic ? 0 : blocks->tensor[i].count;
    average.mean = mem_array(count, sizeof *average.mean);
    rc = nn_average_load(folder, blocks, &average, err);
    if (!rc && !average.steps)
        rc = err_set(err,
                     "'%s' has no mean of weights: foil-train --average makes "
                     "one, in the last part of a run",
                     folder);
    for (size_t i = 0; i < count && !rc; i++)
        blocks->params[i] = (float)average.mean[i];
    if (!rc)
        json_object_set_new(model->about, "average",
                            json_integer(average.steps));
    nn_average_release(&average);
    return rc;
}
