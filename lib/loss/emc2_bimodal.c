#include "emc2_bimodal.h"
#include "emc2.h"

static const struct param params[] = {LOSS_PARAM_TAU(0.07), {0}};

const struct loss_objective loss_emc2_bimodal = {
    .name = "emc2_bimodal",
    .summary = "emc2 across the views, a chain for each side",
    .params = params,
    .head = "512-128",
    .needs_weights = "emc2_bimodal",
    .cross_weights_only = 1,
    .draws_inside = 1,
    .run = loss_emc2_run,
};
