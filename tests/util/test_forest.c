#include <stdlib.h>

#include "t.h"
#include "util/forest.h"
#include "util/rng.h"

enum { N = 60, PAIRS = 40 };

/* Labels of components, computed naively. */
static void
unite_labels(size_t *label, size_t a, size_t b)
{
    const size_t from = label[a] < label[b] ? label[b] : label[a];
    const size_t to = label[a] < label[b] ? label[a] : label[b];

    for (size_t i = 0; i < N; i++)
        if (label[i] == from)
            label[i] = to;
}

int
main(void)
{
    size_t *up = forest_new(N), label[N], roots = 0, wrong = 0, seen = 0;
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < N; i++) {
        label[i] = i;
        roots += forest_root(up, i) != i;
    }
    T(!roots, "at first each thing is a tree");
    for (size_t k = 0; k < PAIRS; k++) {
        const size_t a = rng_below(&rng, N), b = rng_below(&rng, N);
        const int apart = label[a] != label[b];

        unite_labels(label, a, b);
        wrong += forest_unite(up, a, b) != apart;
        for (size_t i = 0; i < N; i++)
            seen += forest_root(up, i) != label[i];
    }
    T(!seen, "the root is the first of its group");
    T(!wrong, "forest_unite() returns whether the trees were different");
    free(up);
    return t_done();
}
