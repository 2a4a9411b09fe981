#include <stdlib.h>

#include "num/gemm.h"
#include "util/mem.h"

#include "objectives.h"

enum { STRIPE = 64 }; // rows of S at a time

void
loss_by_stripes(const struct loss_batch *batch, const struct loss_stripes *all,
                const float *v, float *dv, struct loss_share *share)
{
    const size_t d = batch->dim, width = all->to - all->from;
    float *s = mem_unset(STRIPE * width, sizeof *s);

    for (size_t top = 0; top < all->anchors; top += STRIPE) {
        const size_t left = all->anchors - top;
        const size_t m = left < STRIPE ? left : STRIPE;

        num_gemm_nt(m, width, d, 1, v + top * d, v + all->from * d, 0, s);
#pragma omp parallel for schedule(static) if (m * width >= LOSS_FOR_THREADS)
        for (size_t i = 0; i < m; i++)
            all->weigh(all->self, top + i, s + i * width);
        for (size_t i = 0; i < m && batch->group; i++)
            loss_share_add(share, batch, top + i, all->from, all->to, 1,
                           s + i * width);
        num_gemm_nn(m, d, width, 1, s, v + all->from * d, 1, dv + top * d);
        num_gemm_tn(width, d, m, 1, s, v + top * d, 1, dv + all->from * d);
    }
    free(s);
}
