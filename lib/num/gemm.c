#include <dnnl.h>

#include "num/gemm.h"
#include "util/err.h"

static void
sgemm(char ta, char tb, size_t m, size_t n, size_t k, float alpha,
      const float *a, size_t lda, const float *b, size_t ldb, float beta,
      float *c)
{
    dnnl_status_t status = dnnl_sgemm(
        ta, tb, (dnnl_dim_t)m, (dnnl_dim_t)n, (dnnl_dim_t)k, alpha, a,
        (dnnl_dim_t)lda, b, (dnnl_dim_t)ldb, beta, c, (dnnl_dim_t)n);

    REQUIRE(status == dnnl_success);
}

void
num_gemm_nn(size_t m, size_t n, size_t k, float alpha, const float *a,
            const float *b, float beta, float *c)
{
    sgemm('N', 'N', m, n, k, alpha, a, k, b, n, beta, c);
}

void
num_gemm_nt(size_t m, size_t n, size_t k, float alpha, const float *a,
            const float *b, float beta, float *c)
{
    sgemm('N', 'T', m, n, k, alpha, a, k, b, k, beta, c);
}

void
num_gemm_tn(size_t m, size_t n, size_t k, float alpha, const float *a,
            const float *b, float beta, float *c)
{
    sgemm('T', 'N', m, n, k, alpha, a, m, b, n, beta, c);
}
