#ifndef FOIL_EVAL_TABLES_H
#define FOIL_EVAL_TABLES_H

#include "data/set.h"
#include "nn/model.h"

/* What a checkpoint keeps of each sample, read once. */
struct tables {
    const char *folder;
    struct nn_array *array;
    size_t n;
};

/* tables_open() reads those of a checkpoint, or the process ends. */
void tables_open(struct tables *tables, const char *folder);
void tables_release(struct tables *tables);

/* tables_find() returns the column of that name, [n] or [n,each], lent; NULL
 * where there is none. */
const float *tables_find(const struct tables *tables, const char *name,
                         size_t n, size_t *each);

/* tables_check() ends the process where the data are not what the checkpoint
 * was trained on. */
void tables_check(const struct nn_model *model, const struct data_set *set,
                  const char *path);

#endif
