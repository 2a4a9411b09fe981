/*
 * Next states that are drawn exactly across two views (lib/sample/exact.h): of
 * images and their texts.  The rule is written naively, in double, and shown to
 * leave the softmax as it is; then the code is held to it.
 */
#include <math.h>
#include <string.h>

#include "num/vec.h"
#include "sample/exact.h"
#include "t.h"
#include "util/rng.h"
#include "visit.h"

enum { D = 3, IMAGES = 5, B = 3, MOST = 3, STATES = IMAGES * (1 + MOST) };

static const double beta = 4;

/* Images with K texts each; a state is (1 + K) image + view, of an image view
 * 0, of its text k view 1 + k.  The anchor is a row of image 0. */
struct world {
    size_t K;
    int side; /* of the anchor: 0 the image, 1 its first text */
    float row[STATES][D];
    double want[STATES], kernel[STATES][STATES];
    double off; /* of the code, at most */
};

static size_t
number(const struct world *world, int64_t image, int64_t view)
{
    return (1 + world->K) * (size_t)image + (size_t)view;
}

static double
score(const struct world *world, size_t x, size_t y)
{
    return beta * num_dot(D, world->row[x], world->row[y]);
}

static void
begin(struct world *world, size_t K, int side)
{
    struct rng rng;

    *world = (struct world){.K = K, .side = side};
    rng_init(&rng, 4, RNG_TEST, K, 0, 0);
    for (size_t x = 0; x < IMAGES * (1 + K); x++)
        for (size_t k = 0; k < D; k++)
            world->row[x][k] = (float)rng_normal(&rng);
    num_unit_rows(IMAGES * (1 + K), D, world->row[0], world->row[0], NULL);
}

/* 1 where the chain of the anchor may stand at a state. */
static int
is_met(const struct world *world, size_t x)
{
    const size_t views = 1 + world->K;

    return x >= views && (x % views == 0) == world->side;
}

static void
find_want(struct world *world)
{
    const size_t own = number(world, 0, world->side);
    double sum = 0;

    for (size_t x = 0; x < IMAGES * (1 + world->K); x++)
        sum += world->want[x] =
            is_met(world, x) ? exp(score(world, own, x)) : 0;
    for (size_t x = 0; x < IMAGES * (1 + world->K); x++)
        world->want[x] /= sum;
}

/*
 * The distribution of the next state, naively: the softmax over one row of each
 * other image of the batch, on the other side, and the old state; where the
 * state's image is in the batch it takes the place of what that shows.
 *   ids, text [B]  image 0 first
 *   p [STATES]     out
 */
static void
draw_naively(const struct world *world, const int64_t *ids, const int64_t *text,
             size_t at, double *p)
{
    const size_t own = number(world, 0, world->side);
    size_t T[B], n = 0, inside = 0;
    double sum = 0;

    for (size_t i = 1; i < B; i++) {
        T[n] = number(world, ids[i], world->side ? 0 : 1 + text[i]);
        if (T[n] / (1 + world->K) == at / (1 + world->K)) {
            T[n] = at;
            inside = 1;
        }
        n++;
    }
    if (!inside)
        T[n++] = at;
    memset(p, 0, STATES * sizeof *p);
    for (size_t i = 0; i < n; i++)
        sum += exp(score(world, own, T[i]));
    for (size_t i = 0; i < n; i++)
        p[T[i]] += exp(score(world, own, T[i])) / sum;
}

/* The same by the code; all views of the state's image come along. */
static void
draw_by_code(const struct world *world, const int64_t *ids, const int64_t *text,
             size_t at, double *p)
{
    enum { N = 2 * B, COLUMNS = N + 1 + MOST };
    const struct sample_emc2_settings how = {.proposals = SAMPLE_EXACT_CROSS,
                                             .seed = 3};
    const size_t views = 1 + world->K, columns = N + views;
    int64_t variants[N], extra_ids[1 + MOST], extra_view[1 + MOST];
    float s[N * COLUMNS], w[N * COLUMNS];
    struct sample_state state[N];
    size_t column[COLUMNS] = {0};
    const struct batch batch = {.beta = beta,
                                .v = 2,
                                .b = B,
                                .extra.n = views,
                                .ids = ids,
                                .view_of = variants,
                                .fixed = views,
                                .extra.ids = extra_ids,
                                .extra.view = extra_view};
    const size_t row = world->side ? B : 0;

    for (size_t i = 0; i < B; i++) {
        variants[i] = 0;
        variants[B + i] = 1 + text[i];
    }
    for (size_t c = 0; c < N; c++)
        column[c] = number(world, ids[c % B], variants[c]);
    for (size_t e = 0; e < views; e++) {
        extra_ids[e] = (int64_t)(at / views);
        extra_view[e] = (int64_t)e;
        column[N + e] = number(world, extra_ids[e], extra_view[e]);
    }
    for (size_t r = 0; r < N; r++)
        for (size_t c = 0; c < columns; c++)
            s[r * columns + c] =
                (float)(score(world, column[r], column[c]) / beta);
    forget(N, state);
    state[row] = (struct sample_state){extra_ids[0], (int64_t)(at % views), 0};
    move_chains(&how, &batch, s, state, NULL, w);
    memset(p, 0, STATES * sizeof *p);
    for (size_t c = 0; c < columns; c++)
        p[column[c]] += w[row * columns + c];
}

/* A visit of a batch with images 0, j and k, from all states. */
static void
visit(struct world *world, const int64_t *ids, const int64_t *text,
      double weight)
{
    for (size_t x = 0; x < IMAGES * (1 + world->K); x++) {
        double naive[STATES], code[STATES];

        if (!is_met(world, x))
            continue;
        draw_naively(world, ids, text, x, naive);
        draw_by_code(world, ids, text, x, code);
        for (size_t y = 0; y < STATES; y++) {
            world->kernel[x][y] += weight * naive[y];
            world->off = fmax(world->off, fabs(naive[y] - code[y]));
        }
    }
}

/* The kernel is the mean over all batches with image 0, and all texts that its
 * images show. */
static void
find_kernel(struct world *world)
{
    const int64_t K = (int64_t)world->K, all = K * K;

    for (int64_t j = 1; j < IMAGES; j++)
        for (int64_t k = j + 1; k < IMAGES; k++)
            for (int64_t shown = 0; shown < all; shown++)
                visit(world, (int64_t[B]){0, j, k},
                      (int64_t[B]){0, shown / K, shown % K},
                      1. / (6 * (double)all));
}

static void
the_softmax_is_kept(size_t K, int side)
{
    static struct world world;
    double worst = 0, sums = 0;

    begin(&world, K, side);
    find_want(&world);
    find_kernel(&world);
    for (size_t x = 0; x < IMAGES * (1 + K); x++) {
        double sum = 0;

        for (size_t y = 0; y < IMAGES * (1 + K); y++) {
            worst = fmax(worst, fabs(world.want[x] * world.kernel[x][y] -
                                     world.want[y] * world.kernel[y][x]));
            sum += world.kernel[x][y];
        }
        if (is_met(&world, x))
            sums = fmax(sums, fabs(sum - 1));
    }
    T(worst < 1e-15 && sums < 1e-12,
      "%s, %zu texts: the rule is reversible with respect to the softmax, off "
      "by %.1e",
      side ? "a text" : "an image", K, worst);
    T(world.off < 1e-6, "the code agrees with the rule, off by %.1e",
      world.off);
}

/* A state that nobody brought: the chain is cold, and meets the batch. */
static void
states_without_a_column(void)
{
    enum { N = 2 * 2 };
    static const int64_t ids[2] = {7, 8}, variants[N] = {0, 0, 1, 2};
    static const float s[N * N] = {0};
    const struct batch batch = {.beta = beta,
                                .v = 2,
                                .b = 2,
                                .ids = ids,
                                .view_of = variants,
                                .fixed = 3};
    const struct sample_emc2_settings how = {.proposals = SAMPLE_EXACT_CROSS};
    struct sample_state state[N] = {
        {9, 1, 0}, {-1, -1, 0}, {8, 0, 0}, {7, 0, 0}};
    float w[N * N];
    const struct sample_moves moves =
        move_chains(&how, &batch, s, state, NULL, w);

    T(moves.cold == 2 && w[3] == 1 && w[4 + 2] == 1 && w[8 + 1] == 1 &&
          w[12] == 1,
      "each row has the other image, in the other view");
    T(state[0].id == 8 && state[0].view == 2 && state[2].view == 0,
      "the chain of a row goes to the other image");
}

/* Views of images, drawn anew: a state of an earlier epoch takes the place of
 * what its image shows now, on either side. */
static void
states_of_other_epochs(void)
{
    enum { N = 2 * 2, COLUMNS = N + 2 };
    static const int64_t ids[2] = {7, 8}, far[2] = {8, 8};
    static const int64_t view[2] = {0, 1}, epoch[2] = {2, 2};
    static const float s[N * COLUMNS] = {0};
    const struct batch batch = {.beta = beta,
                                .v = 2,
                                .b = 2,
                                .extra.n = 2,
                                .epoch = 5,
                                .ids = ids,
                                .extra.ids = far,
                                .extra.view = view,
                                .extra.epoch = epoch};
    const struct sample_emc2_settings how = {.proposals = SAMPLE_EXACT_CROSS};
    struct sample_state state[N] = {
        {8, 1, 2}, {-1, -1, 0}, {8, 0, 2}, {-1, -1, 0}};
    float w[N * COLUMNS];

    move_chains(&how, &batch, s, state, NULL, w);
    T(w[N + 1] == 1 && w[3] == 0, "a chain of view 0 stays at its view 1");
    T(w[2 * COLUMNS + N] == 1 && w[2 * COLUMNS + 1] == 0,
      "one of view 1 at its view 0");
}

int
main(void)
{
    for (size_t K = 1; K <= MOST; K++) {
        the_softmax_is_kept(K, 0);
        the_softmax_is_kept(K, 1);
    }
    states_without_a_column();
    states_of_other_epochs();
    return t_done();
}
