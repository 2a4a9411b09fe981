#ifndef FOIL_EVAL_TOLD_H
#define FOIL_EVAL_TOLD_H

#include <stddef.h>

#include "data/set.h"
#include "util/json.h"

/*
 * told_captions() tells which captions have the smallest and the largest of n
 * numbers, and whether captions that occur often have larger ones.
 *   item [n]    whose each is: caption item % each of sample item / each
 *   number [n]
 * An object, to be given to json_decref().
 */
json_t *told_captions(const struct data_set *set, size_t n, const size_t *item,
                      size_t each, const double *number);

#endif
