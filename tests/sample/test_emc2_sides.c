/*
 * One visit of chains across two views: either side is the other's twin, and
 * both are what a naive visit is.
 */
#include <math.h>
#include <stdlib.h>

#include "t.h"
#include "util/rng.h"
#include "visit.h"

enum { B_MAX = 7 };

static const double beta = 5;

/*
 * A visit by algorithm 1 of Yau and others, naively: the rows of the other side
 * in random order, each accepted with probability min(1, e^(beta (s' - s))),
 * the state recorded after each.  It knows of its row what its key and its
 * scores say, so a side is like the other.
 *   s  [b] scores of the other side; own is never proposed
 *   w  [b]
 */
static void
visit_naively(size_t b, size_t own, size_t key, double at, const double *s,
              double *w)
{
    size_t order[B_MAX], n = 0, where = B_MAX;
    struct rng rng;

    rng_init(&rng, 3, RNG_NEGATIVES, 7, 0, key);
    for (size_t c = 0; c < b; c++) {
        w[c] = 0;
        if (c != own)
            order[n++] = c;
    }
    for (size_t k = 0; k < n; k++) {
        const size_t pick =
            k + (size_t)((uint64_t)rng_u32(&rng) * (n - k) >> 32);
        const size_t next = order[pick];
        const double u = (rng_u32(&rng) + 0.5) * 0x1p-32;

        order[pick] = order[k];
        order[k] = next;
        if (u < exp(beta * (s[next] - at))) {
            where = next;
            at = s[next];
        }
        if (where < b)
            w[where] += 1 / (double)n;
    }
}

/* Rows and columns of S change places, and keys with them: so do the weights of
 * both sides. */
static void
sides_are_alike(void)
{
    enum { B = 7, N = 2 * B };
    static const int64_t ids[B] = {4, 0, 3, 1, 2, 6, 5};
    double s[B][B], mine[B], want[B], off = 0;
    struct rng rng;

    rng_init(&rng, 11, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < B * B; i++)
        s[i / B][i % B] = rng_range(&rng, -1, 1);
    for (int swapped = 0; swapped < 2; swapped++) {
        struct sample_state state[N];
        float all[N * N] = {0}, w[N * N];
        const struct batch batch = {
            .step = 7, .beta = beta, .v = 2, .b = B, .ids = ids};
        const struct sample_emc2_settings how = {
            .proposals = SAMPLE_CROSS, .scores = SAMPLE_RESET, .seed = 3};

        for (size_t r = 0; r < N; r++)
            state[r] = (struct sample_state){-1, -1, 0};
        for (size_t i = 0; i < B; i++)
            for (size_t c = 0; c < B; c++) {
                const float x = (float)(swapped ? s[c][i] : s[i][c]);

                all[i * N + B + c] = all[(B + c) * N + i] = x;
            }
        move_chains(&how, &batch, all, state, NULL, w);
        for (size_t r = 0; r < N; r++) {
            const size_t i = r % B, rows = (r < B) == !swapped;

            for (size_t c = 0; c < B; c++)
                mine[c] = (float)(rows ? s[i][c] : s[c][i]);
            visit_naively(B, i, r, -INFINITY, mine, want);
            for (size_t c = 0; c < B; c++)
                off = fmax(off, fabs(want[c] - w[r * N + (r < B ? B : 0) + c]));
        }
    }
    T(off < 1e-6, "either side is what naive visits are, off by %.1e", off);
}

/* Each other member of the batch is proposed once, on the other side. */
static void
proposes_the_other_side_once(void)
{
    enum { B = 5, N = 2 * B };
    static const int64_t ids[B] = {4, 0, 3, 1, 2};
    struct sample_state state[N];
    float s[N * N] = {0}, w[N * N];
    const struct batch batch = {.beta = 1, .v = 2, .b = B, .ids = ids};
    const struct sample_emc2_settings how = {.proposals = SAMPLE_CROSS,
                                             .scores = SAMPLE_FRESH};
    size_t wrong = 0;

    // equal scores: every proposal is accepted, and recorded once
    for (size_t r = 0; r < N; r++)
        state[r] = (struct sample_state){-1, -1, 0};
    move_chains(&how, &batch, s, state, NULL, w);
    for (size_t r = 0; r < N; r++)
        for (size_t c = 0; c < N; c++) {
            const int meets = r / B != c / B && r % B != c % B;

            wrong += w[r * N + c] != (meets ? 0.25f : 0);
        }
    T(!wrong, "each other image once, %zu weights differ", wrong);
    T(sample_emc2_length(SAMPLE_CROSS, 2, B) == B - 1, "b - 1 proposals");
}

int
main(void)
{
    proposes_the_other_side_once();
    sides_are_alike();
    return t_done();
}
