#include <dnnl.h>

#include "num/gemm.h"
#include "util/err.h"

#include "gemm_small.h"

static void
call_sgemm(char ta, char tb, size_t m, size_t n, size_t k, float alpha,
           const float *x, size_t lda, const float *y, size_t ldb, float beta,
           float *c)
{
    const int a = ta == 'T', b = tb == 'T';
    const struct num_gemm small = {.m = m,
                                   .n = n,
                                   .k = k,
                                   .alpha = alpha,
                                   .beta = beta,
                                   .a = x,
                                   .b = y,
                                   .a_row = a ? 1 : lda,
                                   .a_step = a ? lda : 1,
                                   .b_row = b ? 1 : ldb,
                                   .b_step = b ? ldb : 1,
                                   .c = c,
                                   .c_row = n,
                                   .c_step = 1};
    dnnl_status_t status;

    if (num_gemm_small(&small))
        return;
    status = dnnl_sgemm(ta, tb, (dnnl_dim_t)m, (dnnl_dim_t)n, (dnnl_dim_t)k,
                        alpha, x, (dnnl_dim_t)lda, y, (dnnl_dim_t)ldb, beta, c,
                        (dnnl_dim_t)n);

    REQUIRE(status == dnnl_success);
}

void
num_gemm_nn(size_t m, size_t n, size_t k, float alpha, const float *a,
            const float *b, float beta, float *c)
{
    call_sgemm('N', 'N', m, n, k, alpha, a, k, b, n, beta, c);
}

void
num_gemm_nt(size_t m, size_t n, size_t k, float alpha, const float *a,
            const float *b, float beta, float *c)
{
    call_sgemm('N', 'T', m, n, k, alpha, a, k, b, k, beta, c);
}

void
num_gemm_tn(size_t m, size_t n, size_t k, float alpha, const float *a,
            const float *b, float beta, float *c)
{
    call_sgemm('T', 'N', m, n, k, alpha, a, m, b, n, beta, c);
}
