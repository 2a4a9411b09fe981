#pragma once

#include <math.h>

#include "num/tokens.h"

/* y and dy/dx of num/tokens.h, of one number, in double. */

static const double pi = 3.14159265358979323846;

/* F(x) and F'(x). */
static inline double
gate_at(enum num_gelu form, double x, double *slope)
{
    double u, du, f;

    if (form == NUM_GELU_ERF) {
        *slope = exp(-x * x / 2) / sqrt(2 * pi);
        return (1 + erf(x / sqrt(2))) / 2;
    }
    if (form == NUM_GELU_QUICK) {
        f = 1 / (1 + exp(-1.702 * x));
        *slope = 1.702 * f * (1 - f);
        return f;
    }
    u = sqrt(2 / pi) * (x + 0.044715 * x * x * x);
    du = sqrt(2 / pi) * (1 + 3 * 0.044715 * x * x);
    *slope = (1 - tanh(u) * tanh(u)) * du / 2;
    return (1 + tanh(u)) / 2;
}

static inline double
plain_gelu(enum num_gelu form, double x)
{
    double slope;

    return x * gate_at(form, x, &slope);
}

static inline double
plain_gelu_slope(enum num_gelu form, double x)
{
    double slope, f = gate_at(form, x, &slope);

    return f + x * slope;
}
