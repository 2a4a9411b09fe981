#include <string.h>

#include "t.h"
#include "util/rng.h"
#include "visit.h"

/* Random scores of v views of b images. */
static void
random_scores(uint64_t seed, size_t n, float *s)
{
    struct rng rng;

    rng_init(&rng, seed, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < n * n; i++)
        s[i] = (float)rng_range(&rng, -1, 1);
}

static const int64_t ids[] = {10, 11, 12, 13, 14};

enum { V = 2, IMAGES = 5, ROWS = V * IMAGES, PROPOSALS = V * (IMAGES - 1) };

struct visit {
    struct sample_state state[ROWS];
    float w[ROWS * ROWS];
    struct sample_moves moves;
};

static void
visit(const int64_t *images, const float *s, double beta, size_t burn,
      uint64_t step, struct visit *visit)
{
    visit->moves = visit_once(V, IMAGES, images, s, beta, burn, 3, step,
                              visit->state, visit->w);
}

static void
what_always_holds(void)
{
    float s[ROWS * ROWS];
    struct visit a;
    int sums = 1, own = 1, whole = 1, states = 1;

    random_scores(1, ROWS, s);
    forget(ROWS, a.state);
    for (uint64_t step = 0; step < 200; step++) {
        size_t burn = step % PROPOSALS;

        visit(ids, s, 5, burn, step, &a);
        for (size_t r = 0; r < ROWS; r++) {
            double sum = 0;

            for (size_t c = 0; c < ROWS; c++) {
                double count = a.w[r * ROWS + c] * (double)(PROPOSALS - burn);

                sum += a.w[r * ROWS + c];
                whole &= fabs(count - rint(count)) < 1e-5;
                own &= c % IMAGES != r % IMAGES || a.w[r * ROWS + c] == 0;
            }
            sums &= fabs(sum - 1) < 1e-6;
            states &= a.state[r].id >= ids[0] &&
                      a.state[r].id < ids[0] + IMAGES && a.state[r].view >= 0 &&
                      a.state[r].view < V && a.state[r].id != ids[r % IMAGES];
        }
    }
    T(sums, "every row sums to 1: R - P records, none lost");
    T(whole, "each weight is a count over R - P");
    T(own, "the own image is no negative");
    T(states, "a state is a row of another image");
}

static void
edges(void)
{
    float s[ROWS * ROWS], zero[ROWS * ROWS] = {0}, two[16], w[16];
    struct sample_state state[4];
    struct visit a;
    size_t hits = 0;

    random_scores(2, ROWS, s);

    // nothing is harder than anything else: every proposal is accepted
    forget(ROWS, a.state);
    visit(ids, zero, 5, 0, 0, &a);
    T(a.moves.accepted == 1 && a.moves.moved == ROWS, "equal scores: all move");

    // beta without bound: the last state is the hardest of all
    forget(ROWS, a.state);
    visit(ids, s, 1e30, PROPOSALS - 1, 0, &a);
    for (size_t r = 0; r < ROWS; r++) {
        size_t best = (r + 1) % IMAGES;

        for (size_t c = 0; c < ROWS; c++)
            if (c % IMAGES != r % IMAGES &&
                s[r * ROWS + c] > s[r * ROWS + best])
                best = c;
        hits += a.w[r * ROWS + best] == 1;
    }
    T(hits == ROWS, "beta 1e30: the hardest negative, no overflow");
    visit(ids, s, 1e30, PROPOSALS - 1, 1, &a);
    T(a.moves.moved == 0, "a chain at the hardest negative stays there");

    // one proposal alone: the first is accepted whatever its score
    two[0 * 2 + 1] = two[1 * 2 + 0] = -1e30f;
    forget(2, state);
    visit_once(1, 2, ids, two, 100, 0, 1, 0, state, w);
    T(w[1] == 1 && w[2] == 1 && w[0] == 0 && w[3] == 0,
      "two images: the first proposal is accepted");
    memset(two, 0, sizeof two);
    forget(4, state);
    visit_once(2, 2, ids, two, 100, 1, 1, 0, state, w);
    T(w[1] + w[3] == 1 && w[0] == 0 && w[2] == 0, "two images, two views");
}

/* A state that is in the batch is found wherever it stands there; one that is
 * not is none. */
static void
states_follow_their_image(void)
{
    static const int64_t moved[IMAGES] = {14, 12, 11, 10, 13};
    static const int64_t others[IMAGES] = {20, 21, 22, 23, 10};
    float s[ROWS * ROWS] = {0}, up[ROWS * ROWS] = {0};
    struct visit a;
    int stay = 1;

    // all of view 0 of image 12 is by far the hardest
    for (size_t r = 0; r < ROWS; r++) {
        s[r * ROWS + 2] = 1;
        up[r * ROWS + 1] = 1;
    }
    forget(ROWS, a.state);
    visit(ids, s, 1e6, 0, 0, &a);
    for (size_t r = 0; r < ROWS; r++)
        stay &= r % IMAGES == 2 || (a.state[r].id == 12 && !a.state[r].view);
    T(stay, "all chains end at the hardest row");

    // in a batch of another order they are there from the first record on
    for (size_t r = 0; r < ROWS; r++)
        a.state[r] = moved[r % IMAGES] == 12 ? (struct sample_state){-1, -1, 0}
                                             : (struct sample_state){12, 0, 0};
    visit(moved, up, 1e6, 0, 1, &a);
    for (size_t r = 0; r < ROWS; r++)
        stay &= r % IMAGES == 1 || a.w[r * ROWS + 1] == 1;
    T(stay, "in a batch of another order chains go on from the hardest row");

    for (size_t r = 0; r < ROWS; r++)
        a.state[r] = (struct sample_state){12, 0, 0};
    visit(others, up, 1e6, 0, 2, &a);
    T(a.moves.moved == ROWS, "a state that is not in the batch is none");
}

/* The substitute of a bad sample may be in the batch already. */
static void
an_image_may_come_twice(void)
{
    static const int64_t twice[IMAGES] = {10, 11, 10, 13, 14};
    float s[ROWS * ROWS];
    struct visit a;
    int others = 1;

    random_scores(5, ROWS, s);
    forget(ROWS, a.state);
    for (uint64_t step = 0; step < 50; step++) {
        visit(twice, s, 50, 4, step, &a);
        for (size_t r = 0; r < ROWS; r++)
            for (size_t view = 0; view < V; view++)
                others &= a.w[r * ROWS + view * IMAGES + r % IMAGES] == 0;
    }
    T(others, "it counts as two images");
}

/* Naming the images anew, or drawing again with the same key, changes
 * nothing; another key does. */
static void
a_function_of_its_key(void)
{
    static const int64_t names[IMAGES] = {3, 1, 4, 15, 9};
    float s[ROWS * ROWS];
    struct visit a, b, c;

    random_scores(3, ROWS, s);
    forget(ROWS, a.state);
    b = c = a;
    visit(ids, s, 3, 2, 7, &a);
    visit(names, s, 3, 2, 7, &b);
    visit(ids, s, 3, 2, 8, &c);
    T(!memcmp(a.w, b.w, sizeof a.w), "the same key, the same weights");
    T(memcmp(a.w, c.w, sizeof a.w), "another step, other weights");

    memset(s, 0, sizeof s);
    visit(ids, s, 3, 2, 7, &a);
    T(memcmp(a.w, a.w + (size_t)IMAGES * ROWS, ROWS * sizeof *a.w),
      "the two views of an image draw for themselves");
}

/* Permuting the images permutes the distribution of w (not each draw of it). */
static void
symmetric_in_law(void)
{
    static const int64_t perm[IMAGES] = {2, 0, 4, 1, 3};
    static double mean[2][ROWS * ROWS];
    float s[ROWS * ROWS], p[ROWS * ROWS];
    enum { VISITS = 3000 };
    double worst = 0;

    random_scores(4, ROWS, s);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c < ROWS; c++)
            p[r * ROWS + c] =
                s[(r / IMAGES * IMAGES + (size_t)perm[r % IMAGES]) * ROWS +
                  c / IMAGES * IMAGES + (size_t)perm[c % IMAGES]];
    for (uint64_t step = 0; step < VISITS; step++)
        for (int side = 0; side < 2; side++) {
            struct visit a;

            forget(ROWS, a.state);
            visit(ids, side ? p : s, 3, 3, step, &a);
            for (size_t i = 0; i < ROWS * ROWS; i++)
                mean[side][i] += a.w[i] / VISITS;
        }
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c < ROWS; c++) {
            size_t row = r / IMAGES * IMAGES + (size_t)perm[r % IMAGES];
            size_t col = c / IMAGES * IMAGES + (size_t)perm[c % IMAGES];

            worst = fmax(
                worst, fabs(mean[1][r * ROWS + c] - mean[0][row * ROWS + col]));
        }
    // standard deviation of a difference: at most sqrt(2 / 4 / 3000) = .013
    T(worst < 0.055, "permuted images, permuted distribution: off by %.3f",
      worst);
}

int
main(void)
{
    what_always_holds();
    edges();
    states_follow_their_image();
    an_image_may_come_twice();
    a_function_of_its_key();
    symmetric_in_law();
    return t_done();
}
