#include "tables.h"

#include <stdlib.h>
#include <string.h>

#include "nn/safetensors.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/opt.h"

void
tables_open(struct tables *tables, const char *folder)
{
    char *path;
    struct err err;

    tables->folder = folder;
    path = mem_format("%s/samples.safetensors", tables->folder);
    if (nn_arrays_read(path, &tables->array, &tables->n, NULL, &err))
        die("%s", err.msg);
    free(path);
}

void
tables_release(struct tables *tables)
{
    nn_arrays_free(tables->array, tables->n);
}

const float *
tables_find(const struct tables *tables, const char *name, size_t n,
            size_t *each)
{
    const struct nn_array *a = nn_arrays_find(tables->array, tables->n, name);

    *each = a && a->rank == 2 ? a->shape[1] : 1;
    if (!a || strcmp(a->dtype, "F32") || a->rank < 1 || a->rank > 2 || !*each)
        return NULL;
    if (a->shape[0] != n)
        die("'%s/samples.safetensors' is about %zu samples, the data set has "
            "%zu",
            tables->folder, a->shape[0], n);
    return a->data;
}

void
tables_check(const struct nn_model *model, const struct data_set *set,
             const char *path)
{
    const json_t *data = json_object_get(model->config, "dataset");
    const struct digest digest = data_digest(set);
    const char *trained;
    char hex[DIGEST_HEX];
    struct err err;

    if (json_get_text(data, "digest", &trained, &err))
        die("%s", err.msg);
    if (strcmp(trained, digest_hex(&digest, hex)))
        die("'%s' is not what the encoder was trained on: its digest is %s, "
            "not %s",
            path, hex, trained);
}
