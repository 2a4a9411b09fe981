#pragma once

#include "loss/naive_infonce.h"

static inline double
naive_simclr(const struct naive *k, const double *z)
{
    return naive_infonce(k, z) *
           (k->set->reference ? k->set->value[LOSS_TAU] / 0.07 : 1);
}
