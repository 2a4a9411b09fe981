#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/npy.h"
#include "num/vec.h"
#include "util/err.h"
#include "util/mem.h"
#include "util/rng.h"

/*
 * bench_growth N U.npy V.npy: features of the two views of N synthetic samples
 * in classes of 100, 128 numbers each, for foil-select --score.
 */
enum { D = 128, CLASS = 100 };

/* Rows i of u and v: the centre of a random class, and noise as long. */
static void
make_row(size_t i, size_t classes, float *u, float *v)
{
    double scale = 1 / sqrt((double)D);
    struct rng rng, class_rng;

    rng_init(&rng, 1, RNG_TEST, i, 0, 0);
    rng_init(&class_rng, 1, RNG_TEST, rng_below(&rng, classes), 1, 0);
    for (size_t k = 0; k < D; k++) {
        double at = rng_normal(&class_rng) + rng_normal(&rng);

        u[k] = (float)(scale * (at + rng_normal(&rng) / 2));
        v[k] = (float)(scale * (at + rng_normal(&rng) / 2));
    }
}

static void
make(size_t n, float *u, float *v)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        make_row(i, n / CLASS + 1, u + i * D, v + i * D);
    num_unit_rows(n, D, u, u, NULL);
    num_unit_rows(n, D, v, v, NULL);
}

static void
write_rows(const char *path, size_t n, float *rows)
{
    const struct data_npy npy = {
        .type = DTYPE_F4, .rank = 2, .shape = {n, D}, .data = rows};
    struct err err;

    if (data_npy_write(path, &npy, &err)) {
        fprintf(stderr, "bench_growth: %s\n", err.msg);
        exit(1);
    }
}

int
main(int argc, char **argv)
{
    const size_t n = argc == 4 ? strtoul(argv[1], NULL, 10) : 0;
    float *u, *v;

    if (!n) {
        fprintf(stderr, "bench_growth: see its source\n");
        return 2;
    }
    u = mem_array(n * D, sizeof *u);
    v = mem_array(n * D, sizeof *v);
    make(n, u, v);
    write_rows(argv[2], n, u);
    write_rows(argv[3], n, v);
    free(u);
    free(v);
    return 0;
}
