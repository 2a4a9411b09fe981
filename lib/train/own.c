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

const struct loss_objective *
train_find_objective(const char *name, struct err *err)
{
    return strcmp(name, train_own.name) ? loss_objective_find(name, err)
                                        : &train_own;
}
