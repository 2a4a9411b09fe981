#ifndef FOIL_TAP_CHECK_H
#define FOIL_TAP_CHECK_H

#include "actor.h"

/* The roles of the conformance checks, a file each: each plays the other side
 * of a stage at that endpoint. */
void check_select(struct check *check, const char *endpoint, const char *none);
void check_augment(struct check *check, const char *plan, const char *batch);
void check_train(struct check *check, const char *endpoint, const char *none);
void check_negatives(struct check *check, const char *endpoint,
                     const char *none);

#endif
