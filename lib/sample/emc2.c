#include <math.h>
#include <string.h>

#include "sample/emc2.h"
#include "util/err.h"
#include "util/rng.h"

enum { NONE = -1 };

/* A chain during a visit: the column it sits on, and its score beta s. */
struct chain {
    long at;
    double score;
    size_t accepted;
};

/* The column of a state of row r: NONE where its image is not in the batch. */
static long
column_of(size_t v, size_t b, const int64_t *ids, size_t r,
          struct sample_state state)
{
    if (state.id < 0)
        return NONE;
    REQUIRE(state.view >= 0 && (size_t)state.view < v);
    for (size_t i = 0; i < b; i++)
        if (ids[i] == state.id && i != r % b)
            return (long)((size_t)state.view * b + i);
    return NONE;
}

/* List the columns of all images but the one of row r; returns R. */
static size_t
others(size_t n, size_t b, size_t r, size_t *order)
{
    size_t count = 0;

    for (size_t c = 0; c < n; c++)
        if (c % b != r % b)
            order[count++] = c;
    return count;
}

/*
 * Propose each column of order [R] once, in random order, and count in w where
 * the chain sits from proposal `burn` on.
 *
 * accept iff U < exp(l' - l), and -log U is Exp(1): iff l' + Exp(1) > l.
 */
static void
scan(size_t R, const float *s, double beta, size_t burn, struct rng *rng,
     size_t *order, struct chain *chain, float *w)
{
    for (size_t k = 0; k < R; k++) {
        size_t pick = k + rng_below(rng, R - k), c = order[pick];
        double score = beta * s[c], luck = -log(1 - rng_unit(rng));

        order[pick] = order[k];
        if (score + luck > chain->score || chain->at == NONE) {
            chain->at = (long)c;
            chain->score = score;
            chain->accepted++;
        }
        if (k >= burn)
            w[chain->at]++;
    }
}

struct sample_moves
sample_emc2(size_t v, size_t b, const int64_t *ids, const float *s, double beta,
            size_t burn, uint64_t seed, uint64_t epoch, uint64_t step,
            struct sample_state *state, float *w, size_t *order)
{
    struct sample_moves moves = {0};
    size_t n = v * b, R = v * (b - 1), accepted = 0;

    REQUIRE(v >= 1 && b >= 2 && n <= 65536 && burn < R);
    REQUIRE(beta >= 0 && isfinite(beta));
    memset(w, 0, n * n * sizeof *w);
    for (size_t r = 0; r < n; r++) {
        long from = column_of(v, b, ids, r, state[r]);
        struct chain chain = {.at = from};
        struct rng rng;

        if (from != NONE)
            chain.score = beta * s[r * n + (size_t)from];
        rng_init(&rng, seed, RNG_NEGATIVES, step, epoch, r);
        others(n, b, r, order);
        scan(R, s + r * n, beta, burn, &rng, order, &chain, w + r * n);
        for (size_t c = 0; c < n; c++)
            w[r * n + c] /= (float)(R - burn);

        state[r].id = ids[(size_t)chain.at % b];
        state[r].view = chain.at / (long)b;
        accepted += chain.accepted;
        moves.moved += chain.at != from;
    }
    moves.accepted = (double)accepted / ((double)n * (double)R);
    return moves;
}

size_t
sample_emc2_burn(size_t v, size_t b)
{
    return v * (b - 1) / 2;
}
