/* A chain and its proposals, all of them given: by plain_scan(), which defines
 * what sample_emc2() does by bits. */
#include <string.h>

#include "sample/plain_scan.h"
#include "t.h"
#include "util/rng.h"
#include "visit.h"

/*
 * A run of a reference implementation of our own: three images, two views, d =
 * 4, beta 5, burn-in 2; one chain an image, its score stale; two visits of the
 * same batch, their uniforms drawn view by view, column by column, row by row.
 */
enum { B = 3, N = 2 * B, D = 4, BURN = 2 };

struct visit {
    int count[N][N];
    int outside[N];
    double score[B];
    int state[B];
};

static uint64_t lcg_state;

static double
lcg(void)
{
    lcg_state = (1103515245 * lcg_state + 12345) % (1u << 31);
    return (double)lcg_state / (1u << 31);
}

/* x[N][D]: rows of unit length, view 1 half of another draw. */
static void
rows(double x[N][D])
{
    double first[B][D];

    lcg_state = 31;
    for (int i = 0; i < B * D; i++)
        first[i / D][i % D] = lcg() - 0.5;
    lcg_state = 32;
    for (int i = 0; i < B * D; i++)
        x[B + i / D][i % D] = 0.5 * first[i / D][i % D] + 0.5 * (lcg() - 0.5);
    memcpy(x, first, sizeof first);
    for (int r = 0; r < N; r++) {
        double square = 0;

        for (int k = 0; k < D; k++)
            square += x[r][k] * x[r][k];
        for (int k = 0; k < D; k++)
            x[r][k] /= sqrt(square);
    }
}

static void
scores(double score[N][N])
{
    double x[N][D];

    rows(x);
    memset(score, 0, N * sizeof *score);
    for (int r = 0; r < N; r++)
        for (int c = 0; c < N; c++)
            for (int k = 0; k < D; k++)
                score[r][c] += 5 * x[r][k] * x[c][k];
}

/* luck[r][c] of a visit; `every`: drawn for columns of the own image too. */
static void
draw(int every, double luck[N][N])
{
    for (int view = 0; view < 2; view++)
        for (int c = 0; c < N; c++)
            for (int r = view * B; r < view * B + B; r++)
                if (every || c % B != r % B)
                    luck[r][c] = -log(lcg());
}

/* What is not recorded: `repo` columns up to BURN, `clean` BURN proposals. */
static size_t
burnt(int repo, int r)
{
    size_t n = 0;

    for (int c = 0; c <= BURN; c++)
        n += c % B != r % B;
    return repo ? n : BURN;
}

static void
row(int repo, int r, const double *score, const double *lucky,
    struct plain_chain *chain, struct visit *out)
{
    const size_t burn = burnt(repo, r);
    uint32_t column[N], count[N] = {0};
    double luck[N];
    size_t length = 0;

    for (uint32_t c = 0; c < N; c++)
        if ((int)c % B != r % B) {
            column[length] = c;
            luck[length++] = lucky[c];
        }
    plain_scan(burn, column, luck, score, chain, NULL);
    out->outside[r] = (int)plain_scan(length - burn, column + burn, luck + burn,
                                      score, chain, count);
    for (int c = 0; c < N; c++)
        out->count[r][c] = (int)count[c];
}

/* One visit; score and state go on from the last. */
static void
visit(int repo, double score[N][N], struct visit *out)
{
    double luck[N][N];

    draw(repo, luck);
    for (int i = 0; i < B; i++) {
        struct plain_chain chain = {PLAIN_OUTSIDE, out->score[i], 0};

        for (int r = i; r < N; r += B)
            row(repo, r, score[r], luck[r], &chain, out);
        out->score[i] = chain.score;
        if (chain.at != PLAIN_OUTSIDE)
            out->state[i] = (int)chain.at % B;
    }
}

/* counts as the reference has them: a digit a column, rows one after the other.
 */
static int
counts_are(const struct visit *got, const char *counts, const int outside[N])
{
    int same = 1;

    for (int r = 0; r < N; r++) {
        same &= got->outside[r] == outside[r];
        for (int c = 0; c < N; c++)
            same &= got->count[r][c] == counts[r * N + c] - '0';
    }
    return same;
}

static int
scores_are(const struct visit *got, double a, double b, double c)
{
    return fabs(exp(got->score[0]) - a) < 6e-5 &&
           fabs(exp(got->score[1]) - b) < 6e-5 &&
           fabs(exp(got->score[2]) - c) < 6e-5;
}

static void
the_reference(void)
{
    static const struct visit begin = {
        .score = {-INFINITY, -INFINITY, -INFINITY}, .state = {-1, -1, -1}};
    struct visit v = begin;
    double score[N][N];

    scores(score);
    lcg_state = 7;
    visit(1, score, &v);
    T(counts_are(&v, "010001001001000110001001001001010010", (int[N]){0}),
      "repo, visit 1: counts");
    T(scores_are(&v, .1659, 7.6019, 7.6019), "repo, visit 1: scores");
    T(v.state[0] == 2 && v.state[1] == 2 && v.state[2] == 1,
      "repo, visit 1: states");
    visit(1, score, &v);
    T(counts_are(&v, "000020000001000010001001000002010010",
                 (int[N]){0, 1, 1, 0, 0, 0}),
      "repo, visit 2: counts, steps outside");

    v = begin;
    lcg_state = 7;
    visit(0, score, &v);
    T(counts_are(&v, "000020001001000110000011001001010010", (int[N]){0}),
      "clean, visit 1: counts");
    visit(0, score, &v);
    T(counts_are(&v, "020000000000000010002000000001010010",
                 (int[N]){0, 2, 1, 0, 1, 0}),
      "clean, visit 2: counts, steps outside");
    T(scores_are(&v, .7139, 7.6019, 7.6019), "clean, visit 2: scores");
}

/* Columns proposed evenly and independently leave exp(score) unchanged. */
static void
even_proposals_are_exact(void)
{
    static const double target[] = {.5, .2, .1, .1, .05, .05};
    enum { STATES = 6, APART = 64, DRAWS = 40000 };
    double score[STATES], luck[APART], chi = 0;
    struct plain_chain chain = {PLAIN_OUTSIDE, -INFINITY, 0};
    uint32_t column[APART], count[STATES] = {0};
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (int c = 0; c < STATES; c++)
        score[c] = log(target[c]);
    for (int t = 0; t < DRAWS; t++) {
        for (int k = 0; k < APART; k++) {
            column[k] = (uint32_t)rng_below(&rng, STATES);
            luck[k] = -log(1 - rng_unit(&rng));
        }
        // the distribution of a state 64 proposals on: (5/6)^64 from
        // independent
        plain_scan(APART - 1, column, luck, score, &chain, NULL);
        plain_scan(1, column + APART - 1, luck + APART - 1, score, &chain,
                   count);
    }
    for (int c = 0; c < STATES; c++) {
        const double want = target[c] * DRAWS;

        chi += (count[c] - want) * (count[c] - want) / want;
    }
    T(chi < 20.5, "chi-square of 5 degrees, alpha .001: %.1f < 20.5", chi);
}

/* Two states of distribution .8, .2, proposed in turn: A for certain after A,
 * with probability .75 after B (lib/algorithms.md 4.1). */
static void
a_fixed_order_is_not(void)
{
    const double score[2] = {log(.8), log(.2)};
    const uint32_t column[2] = {0, 1};
    struct plain_chain chain = {PLAIN_OUTSIDE, -INFINITY, 0};
    uint32_t first[2] = {0}, second[2] = {0};
    enum { TURNS = 40000 };
    struct rng rng;

    rng_init(&rng, 2, RNG_TEST, 0, 0, 0);
    for (int t = 0; t < TURNS; t++) {
        const double luck[2] = {-log(1 - rng_unit(&rng)),
                                -log(1 - rng_unit(&rng))};

        plain_scan(1, column, luck, score, &chain, first);
        plain_scan(1, column + 1, luck + 1, score, &chain, second);
    }
    T(first[0] == TURNS, "after A was proposed: at A");
    T(fabs(second[0] / (double)TURNS - .75) < 4 * sqrt(.75 * .25 / TURNS),
      "after B: .75 within four deviations, alpha 6e-5: %.4f",
      second[0] / (double)TURNS);
}

static void
edges(void)
{
    const double score[3] = {0, 5, -5}, none[3] = {0};
    const uint32_t column[3] = {2, 0, 1};
    struct plain_chain chain = {PLAIN_OUTSIDE, -INFINITY, 0};
    uint32_t count[3] = {0};

    T(plain_scan(0, column, none, score, &chain, count) == 0 &&
          chain.at == PLAIN_OUTSIDE,
      "nothing proposed: nothing happens");
    T(plain_scan(1, column, none, score, &chain, count) == 0 && chain.at == 2 &&
          count[2] == 1 && chain.accepted == 1,
      "the first proposal is taken, whatever its score");
    chain = (struct plain_chain){PLAIN_OUTSIDE, 6, 0};
    T(plain_scan(3, column, none, score, &chain, count) == 3 &&
          chain.at == PLAIN_OUTSIDE && !chain.accepted && count[2] == 1,
      "a chain that stays outside is recorded there");
    chain.score = 5;
    T(plain_scan(3, column, none, score, &chain, count) == 3 && !chain.accepted,
      "U = 1 never takes an equal");
}

/* A visit's luck, -log U, by the bits that it draws. */
enum { IMAGES = 32, ROWS = 2 * IMAGES, LENGTH = 2 * (IMAGES - 1) };

static void
draw_luck(uint64_t seed, uint64_t step, double luck[ROWS][LENGTH])
{
    uint32_t bits[LENGTH];
    struct rng rng;

    for (size_t row = 0; row < ROWS; row++) {
        rng_init(&rng, seed, RNG_NEGATIVES, step, 0, row);
        rng_many(&rng, LENGTH, bits);
        for (int k = 0; k < LENGTH; k++)
            luck[row][k] = -log((bits[k] + 0.5) * 0x1p-32);
    }
}

/* A chain moves by the first bits of U where these decide: as by -log U. */
static void
bits_decide_as_logarithms_do(double beta, float size)
{
    enum { VISITS = 60 };
    static float s[ROWS][ROWS], w[2][ROWS][ROWS];
    float score[2][ROWS] = {{0}};
    static double luck[ROWS][LENGTH];
    struct sample_state state[2][ROWS];
    int64_t ids[IMAGES];
    struct rng rng;
    int same = 0;

    rng_init(&rng, 3, RNG_TEST, 0, 0, 0);
    for (int i = 0; i < IMAGES; i++)
        ids[i] = i;
    for (int i = 0; i < 2 * ROWS; i++)
        state[i / ROWS][i % ROWS] = (struct sample_state){-1, -1, 0};
    for (uint64_t step = 0; step < VISITS; step++) {
        const struct batch batch = {
            .step = step, .beta = beta, .v = 2, .b = IMAGES, .ids = ids};
        const struct sample_emc2_settings how = {.proposals = SAMPLE_ALL4,
                                                 .scores = SAMPLE_STALE,
                                                 .burn = step % 3,
                                                 .seed = 5};

        for (int i = 0; i < ROWS * ROWS; i++)
            s[i / ROWS][i % ROWS] = size * (float)rng_normal(&rng);
        move_chains(&how, &batch, *s, state[0], score[0], *w[0]);
        draw_luck(how.seed, step, luck);
        plain_visit(&how, &batch, *s, *luck, state[1], score[1], *w[1]);
        same += !memcmp(w[0], w[1], sizeof w[0]) &&
                !memcmp(score[0], score[1], sizeof score[0]) &&
                !memcmp(state[0], state[1], sizeof state[0]);
    }
    T(same == VISITS,
      "beta %g, scores of %g: bits decide as logarithms do in %d of %d visits",
      beta, beta * size, same, VISITS);
}

int
main(void)
{
    the_reference();
    even_proposals_are_exact();
    a_fixed_order_is_not();
    edges();
    bits_decide_as_logarithms_do(14, 0.1F);
    bits_decide_as_logarithms_do(1e-3, 0.1F); // nearly all are accepted
    bits_decide_as_logarithms_do(1e4, 1);
    bits_decide_as_logarithms_do(14, 5e37F); // beta s is beyond floats
    bits_decide_as_logarithms_do(1e29, 1e30F);
    bits_decide_as_logarithms_do(1e300, 1e-38F); // so is beta
    return t_done();
}
