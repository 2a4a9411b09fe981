#pragma once

/* A bank of rows on the circle: sample 0 points right, and sample j has the
 * cosine[j] with it. */
#include "sample/bank.h"
#include "t.h"

static inline void
circle_init(struct sample_bank *bank, size_t size, const double *cosine)
{
    sample_bank_init(bank, size, 1, 2);
    for (size_t j = 0; j < size; j++) {
        const int64_t id = (int64_t)j;
        const float row[2] = {(float)cosine[j],
                              (float)sqrt(1 - cosine[j] * cosine[j])};

        sample_bank_push(
            bank, 0, id,
            (struct sample_row_view){(int32_t)j % 2, (int32_t)j + 3}, row);
    }
    sample_bank_advance(bank, 0);
}

/* Make a sample one that never came. */
static inline void
circle_forget(struct sample_bank *bank, size_t id)
{
    bank->when[id] = -1;
    bank->rows[2 * id] = bank->rows[2 * id + 1] = 0;
    bank->known--;
}

/* Pearson's statistic of counts against a distribution that sums to 1. */
static inline double
chi_square(size_t n, const double *count, const double *target)
{
    double sum = 0, chi = 0;

    for (size_t j = 0; j < n; j++)
        sum += count[j];
    for (size_t j = 0; j < n; j++)
        if (target[j] > 0)
            chi += (count[j] - sum * target[j]) * (count[j] - sum * target[j]) /
                   (sum * target[j]);
    return chi;
}

/* The softmax of beta cosine over [1,size), 0 where `without`. */
static inline void
softmax(size_t size, double beta, const double *cosine, size_t without,
        double *target)
{
    double sum = 0;

    for (size_t j = 0; j < size; j++) {
        target[j] = j == 0 || j == without ? 0 : exp(beta * cosine[j]);
        sum += target[j];
    }
    for (size_t j = 0; j < size; j++)
        target[j] /= sum;
}
