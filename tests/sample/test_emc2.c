#include <string.h>

#include "sample/emc2.h"
#include "t.h"
#include "util/rng.h"

/* One view, seven images: each row's chain walks over six columns with the law
 * of algorithms.md 3.7 as its target, laid out from the column behind its own.
 */
enum { B = 7, R = B - 1 };

static const double target[R] = {.5, .2, .1, .1, .05, .05};
static const int64_t ids[B] = {10, 11, 12, 13, 14, 15, 16};

static void
scores(float s[B * B])
{
    for (int r = 0; r < B; r++) {
        s[r * B + r] = 1e6f; // must not be looked at
        for (int j = 0; j < R; j++)
            s[r * B + (r + 1 + j) % B] = (float)log(target[j]);
    }
}

static void
forget(size_t n, struct sample_state *state)
{
    for (size_t i = 0; i < n; i++)
        state[i] = (struct sample_state){-1, -1};
}

/*
 * By the book: the law of the states recorded in a visit, and of the last one,
 * by going through all 6! orders of proposals.  from [R+1]: the law of the
 * state before, its last entry for a cold chain.
 */
struct book {
    double recorded[R], last[R];
};

static void
propose(const int order[R], int burn, const double from[R + 1],
        struct book *book)
{
    double p[R + 1];

    memcpy(p, from, sizeof p);
    for (int k = 0; k < R; k++) {
        int to = order[k];

        for (int at = 0; at <= R; at++) {
            double move = at == R ? 1 : fmin(1, target[to] / target[at]);

            if (at == to)
                continue;
            p[to] += move * p[at];
            p[at] -= move * p[at];
        }
        for (int i = 0; k >= burn && i < R; i++)
            book->recorded[i] += p[i] / (R - burn) / 720;
    }
    for (int i = 0; i < R; i++)
        book->last[i] += p[i] / 720;
}

static void
all_orders(int k, int order[R], int burn, const double from[R + 1],
           struct book *book)
{
    if (k == R)
        propose(order, burn, from, book);
    for (int i = k; i < R; i++) {
        int keep = order[i];

        order[i] = order[k];
        order[k] = keep;
        all_orders(k + 1, order, burn, from, book);
        order[k] = order[i];
        order[i] = keep;
    }
}

static struct book
by_the_book(int burn, const double from[R + 1])
{
    struct book book = {{0}, {0}};
    int order[R] = {0, 1, 2, 3, 4, 5};

    all_orders(0, order, burn, from, &book);
    return book;
}

/* A visit of `row` chains with fresh scores. */
static struct sample_moves
visit_once(size_t v, size_t b, const int64_t *images, const float *s,
           double beta, size_t burn, uint64_t seed, uint64_t step,
           struct sample_state *state, float *w)
{
    const struct sample_emc2_how how = {
        .beta = beta, .burn = burn, .seed = seed, .step = step};
    const struct sample_batch batch = {.v = v, .b = b, .ids = images, .s = s};

    return sample_emc2(&how, &batch, state, NULL, w);
}

/* The sampler's own law: the mean of w over visits; chi gets the statistic of
 * the last states, which are independent when chains start cold. */
static void
simulate(int visits, size_t burn, int cold, double mean[R], double last[R])
{
    struct sample_state state[B];
    float s[B * B], w[B * B];

    scores(s);
    forget(B, state);
    memset(mean, 0, R * sizeof *mean);
    memset(last, 0, R * sizeof *last);
    for (int t = 0; t < visits; t++) {
        if (cold)
            forget(B, state);
        visit_once(1, B, ids, s, 1, burn, 1, (uint64_t)t, state, w);
        for (int r = 0; r < B; r++) {
            last[(state[r].id - ids[0] - r - 1 + B) % B]++;
            for (int j = 0; j < R; j++)
                mean[j] += w[r * B + (r + 1 + j) % B] / visits / B;
        }
    }
}

static void
cold_chains_have_the_exact_law(void)
{
    static const double printed[3][R] = {
        {.421, .203, .118, .118, .070, .070},
        {.552, .193, .086, .086, .041, .041},
        {.608, .164, .077, .077, .037, .037},
    };
    static const double cold[R + 1] = {[R] = 1};
    static const int burn[3] = {0, 3, 5};
    enum { VISITS = 4000 };

    for (int i = 0; i < 3; i++) {
        struct book book = by_the_book(burn[i], cold);
        double mean[R], last[R], chi = 0, worst = 0;

        for (int j = 0; j < R; j++)
            worst = fmax(worst, fabs(book.recorded[j] - printed[i][j]));
        T(worst < 6e-4, "burn-in %d: the book agrees with 3.7", burn[i]);

        simulate(VISITS, (size_t)burn[i], 1, mean, last);
        worst = 0;
        for (int j = 0; j < R; j++) {
            double p = book.recorded[j], q = book.last[j] * VISITS * B;

            // w is in [0,1], so p (1 - p) bounds its variance
            worst = fmax(worst,
                         fabs(mean[j] - p) / sqrt(p * (1 - p) / (VISITS * B)));
            chi += (last[j] - q) * (last[j] - q) / q;
        }
        T(worst < 4.2, "burn-in %d: w within 4.2 deviations (2e-4): %.2f",
          burn[i], worst);
        T(chi < 20.5, "last states, chi-square of 5 degrees, .001: %.1f < 20.5",
          chi);
    }
}

/* Chains that go on have the law that their visits leave unchanged. */
static void
warm_chains_have_theirs(void)
{
    double from[R + 1] = {1}, mean[R], last[R], worst = 0;
    struct book book = {{0}, {0}};

    for (int i = 0; i < 20; i++) {
        book = by_the_book(3, from);
        memcpy(from, book.last, sizeof book.last);
    }
    simulate(4000, 3, 0, mean, last);
    for (int j = 0; j < R; j++)
        worst = fmax(worst, fabs(mean[j] - book.recorded[j]));
    T(worst < 0.012, "within four deviations: off by %.4f", worst);
}

/* Random scores of v views of b images. */
static void
random_scores(uint64_t seed, size_t n, float *s)
{
    struct rng rng;

    rng_init(&rng, seed, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < n * n; i++)
        s[i] = (float)rng_range(&rng, -1, 1);
}

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
    T(a.moves.moved == 0, "and there it stays");

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
        a.state[r] = moved[r % IMAGES] == 12 ? (struct sample_state){-1, -1}
                                             : (struct sample_state){12, 0};
    visit(moved, up, 1e6, 0, 1, &a);
    for (size_t r = 0; r < ROWS; r++)
        stay &= r % IMAGES == 1 || a.w[r * ROWS + 1] == 1;
    T(stay, "and go on from there when the batch is another");

    for (size_t r = 0; r < ROWS; r++)
        a.state[r] = (struct sample_state){12, 0};
    visit(others, up, 1e6, 0, 2, &a);
    T(a.moves.moved == ROWS, "a state that is not in the batch is none");
}

/* A sample that stands in for a bad one may be in the batch already. */
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

/* Permuting the images permutes the law of w (not each draw of it). */
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
    T(worst < 0.055, "permuted images, permuted law: off by %.3f", worst);
}

int
main(void)
{
    cold_chains_have_the_exact_law();
    warm_chains_have_theirs();
    what_always_holds();
    edges();
    states_follow_their_image();
    an_image_may_come_twice();
    a_function_of_its_key();
    symmetric_in_law();
    return t_done();
}
