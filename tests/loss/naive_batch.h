#pragma once

/*
 * The batch of a naive objective, and functions that several of them share, in
 * double and from raw rows, for central differences.  Quantities held constant
 * in the gradient (running means, temperatures, SimCo's weights) are computed
 * from z0.
 */
#include "loss/naive.h"
#include "loss/objective.h"
#include "loss/rows.h"

enum { NAIVE_ROWS = 48, NAIVE_WIDTH = 32 };

struct naive {
    size_t b, rows, d;
    const struct loss_objective *objective;
    const struct loss_settings *set;
    const float *weights; /* [2b,rows] */
    const float *scale;   /* [2b,2] */
    const float *state;   /* [b,columns], before the step; with sides [2b,..] */
    const double *z0;     /* [rows,d] */
};

/* The value of a parameter of the objective. */
static inline double
naive_param(const struct naive *k, const char *name)
{
    const struct param *params = k->objective->params;

    return k->set->value[param_find(params, name) - params];
}

typedef double naive_matrix[NAIVE_ROWS][NAIVE_ROWS];

static inline void
naive_scores(const struct naive *k, size_t width, const double *z,
             naive_matrix s)
{
    for (size_t r = 0; r < 2 * k->b; r++)
        for (size_t c = 0; c < k->rows; c++)
            s[r][c] = naive_cosine(width, z + r * k->d, z + c * k->d);
}

static inline int
naive_is_negative(size_t b, size_t r, size_t c, enum loss_mask mask)
{
    const int other = (r < b) != (c < b), kin = c % b == r % b;

    if (c >= 2 * b || c == r)
        return 0;
    return mask == LOSS_BATCH       ? 1
           : mask == LOSS_NEGATIVES ? !kin
           : mask == LOSS_CROSS     ? other
                                    : other && !kin;
}

/* log sum_c exp(beta s_c) */
static inline double
naive_log_sum(size_t b, size_t r, double beta, enum loss_mask mask,
              const double *s)
{
    double sum = 0;

    for (size_t c = 0; c < 2 * b; c++)
        sum += naive_is_negative(b, r, c, mask) ? exp(beta * s[c]) : 0;
    return log(sum);
}
