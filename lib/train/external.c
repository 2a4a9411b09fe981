#include <string.h>

#include "train/external.h"

static const struct param params[] = {LOSS_PARAM_TAU(0.5), {0}};

const struct loss_objective train_external = {
    .name = "external",
    .summary = "that of the encoder's program",
    .params = params,
    .head = "none",
    .by_encoder = 1,
};

const struct loss_objective train_external_weighed = {
    .name = "external-weighed",
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
    return !strcmp(name, train_external.name) ? &train_external
           : !strcmp(name, train_external_weighed.name)
               ? &train_external_weighed
               : loss_objective_find(name, err);
}
