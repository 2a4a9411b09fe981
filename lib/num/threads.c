#include <cblas.h>
#include <omp.h>

#include "num/threads.h"

int
num_threads(int n)
{
    if (n <= 0)
        n = omp_get_num_procs();
    omp_set_dynamic(0);
    omp_set_num_threads(n);
    openblas_set_num_threads(n);
    return n;
}
