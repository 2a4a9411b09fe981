#include <string.h>

#include "train/own.h"

static const struct param params[] = {LOSS_PARAM_TAU(0.5), {0}};

const struct loss_objective train_own = {
    .name = "own",
    .summary = "that of the encoder's program",
    .params = params,
    .head = "none",
    .by_encoder = 1,
};

const struct loss_objective train_own_weighed = {
    .name = "own-weighed",
    .summary = "that of the encoder's program, of weighed negatives",
    .params = params,
    .head = "none",
    .needs_weights = "emc2",
    .draws_inside = 1,
    .by_encoder = 1,
};

const struct loss_objective *
train_find_objective(const char *name, struct err *err)
{
    return !strcmp(name, train_own.name) ? &train_own
           : !strcmp(name, train_own_weighed.name)
               ? &train_own_weighed
               : loss_objective_find(name, err);
}
