/* Next states that are drawn exactly (lib/sample/exact.h). */
#include <string.h>

#include "num/vec.h"
#include "sample/exact.h"
#include "t.h"
#include "util/rng.h"
#include "visit.h"

enum { D = 3, IMAGES = 5, MOST = 3, STATES = IMAGES * MOST, COLUMNS = 16 };

static const double beta = 4;

/* Fixed views of images: the softmax of an anchor, and the kernel of its chain,
 * of states A image + view. */
struct world {
    size_t A;
    float view[STATES * D];
    double want[STATES], kernel[STATES][STATES];
};

static void
begin(struct world *world, size_t A, double noise)
{
    struct rng rng;

    *world = (struct world){.A = A};
    rng_init(&rng, 4, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < IMAGES; i++) {
        double base[D];

        for (size_t k = 0; k < D; k++)
            base[k] = rng_normal(&rng);
        for (size_t a = 0; a < A; a++)
            for (size_t k = 0; k < D; k++)
                world->view[(A * i + a) * D + k] =
                    (float)(base[k] + noise * rng_normal(&rng));
    }
    num_unit_rows(IMAGES * A, D, world->view, world->view, NULL);
}

static double
similarity(const struct world *world, size_t x, size_t y)
{
    return num_dot(D, world->view + x * D, world->view + y * D);
}

/* The weights of row 0 of a batch, whose chain stands at a state: view 0 of
 * image 0.  variants [2 b]; all views of the state's image come with it. */
static void
visit(const struct world *world, size_t b, const int64_t *ids,
      const int64_t *variants, uint64_t step, struct sample_state at,
      double weight, double *to)
{
    const struct sample_emc2_settings how = {.proposals = SAMPLE_EXACT,
                                             .seed = 3};
    const size_t n = 2 * b, A = world->A, columns = n + A;
    int64_t extra_ids[MOST], extra_view[MOST];
    float s[6 * COLUMNS], w[6 * COLUMNS];
    struct sample_state state[6];
    struct batch batch = {.step = step,
                          .beta = beta,
                          .v = 2,
                          .b = b,
                          .extra.n = A,
                          .ids = ids,
                          .view_of = variants,
                          .fixed = A,
                          .extra.ids = extra_ids,
                          .extra.view = extra_view};
    size_t column[COLUMNS] = {0};

    for (size_t c = 0; c < n; c++)
        column[c] = A * (size_t)ids[c % b] + (size_t)variants[c];
    for (size_t e = 0; e < A; e++) {
        extra_ids[e] = at.id;
        extra_view[e] = (int64_t)e;
        column[n + e] = A * (size_t)at.id + e;
    }
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < columns; c++)
            s[r * columns + c] = (float)similarity(world, column[r], column[c]);
    forget(n, state);
    state[0] = at;
    move_chains(&how, &batch, s, state, NULL, w);
    for (size_t c = 0; c < columns; c++)
        to[column[c]] += weight * w[c];
}

/* The softmax of view 0 of image 0 over the views of others. */
static void
find_want(struct world *world)
{
    double sum = 0;

    for (size_t x = world->A; x < world->A * IMAGES; x++) {
        world->want[x] = exp(beta * similarity(world, 0, x));
        sum += world->want[x];
    }
    for (size_t x = 0; x < world->A * IMAGES; x++)
        world->want[x] /= sum;
}

/* The largest |p(x) K(x,y) - p(y) K(y,x)|, and how far rows of K are from 1. */
static double
imbalance(const struct world *world, double *sums)
{
    const size_t n = world->A * IMAGES;
    double worst = 0;

    *sums = 0;
    for (size_t x = world->A; x < n; x++) {
        double sum = 0;

        for (size_t y = 0; y < n; y++) {
            worst = fmax(worst, fabs(world->want[x] * world->kernel[x][y] -
                                     world->want[y] * world->kernel[y][x]));
            sum += world->kernel[x][y];
        }
        *sums = fmax(*sums, fabs(sum - 1));
    }
    return worst;
}

/* Two fixed views: the kernel is the mean over all batches with image 0. */
static void
kernel_of_two(struct world *world)
{
    static const int64_t variants[6] = {0, 0, 0, 1, 1, 1};

    for (int64_t x = 2; x < 2 * IMAGES; x++)
        for (int64_t j = 1; j < IMAGES; j++)
            for (int64_t k = j + 1; k < IMAGES; k++)
                visit(world, 3, (int64_t[]){0, j, k}, variants, 0,
                      (struct sample_state){x / 2, x % 2, 0}, 1. / 6,
                      world->kernel[x]);
}

/* The step, from 0, in which row 0 has that second view. */
static uint64_t
step_with(int64_t view, int64_t other)
{
    struct batch at = {.fixed = 3};

    while (sample_exact_second(3, &at, 0, (struct sample_state){1, view, 0})
               .view != other)
        at.step++;
    return at.step;
}

/* Three: over all pairs of different views that each image shows, too, and over
 * which second view a state has. */
static void
visit_three(struct world *world, const int64_t *images, int64_t x)
{
    for (int64_t pairs = 0; pairs < 81; pairs++)
        for (int64_t other = 0; other < 3; other++) {
            const int64_t one = pairs / 9, two = pairs % 9;
            const int64_t variants[] = {0, one / 3, two / 3,
                                        1, one % 3, two % 3};

            if (one / 3 == one % 3 || two / 3 == two % 3 || other == x % 3)
                continue;
            visit(world, 3, images, variants, step_with(x % 3, other),
                  (struct sample_state){x / 3, x % 3, 0}, 1. / (6 * 36 * 2),
                  world->kernel[x]);
        }
}

static void
kernel_of_three(struct world *world)
{
    for (int64_t x = 3; x < 3 * IMAGES; x++)
        for (int64_t j = 1; j < IMAGES; j++)
            for (int64_t k = j + 1; k < IMAGES; k++)
                visit_three(world, (int64_t[]){0, j, k}, x);
}

static void
the_softmax_is_kept(size_t A, double noise)
{
    static struct world world;
    double off, sums;

    begin(&world, A, noise);
    find_want(&world);
    if (A == 2)
        kernel_of_two(&world);
    else
        kernel_of_three(&world);
    off = imbalance(&world, &sums);
    T(off < 1e-7 && sums < 1e-6,
      "%zu views with noise %g: reversible with respect to the softmax, off by "
      "%.1e",
      A, noise, off);
}

/* Two images in epoch 5, with new views; of one from outside the view where a
 * chain stands, accepted in epoch 2, and one of now. */
static const int64_t ids[2] = {7, 8}, far[2] = {9, 9};
static const int64_t far_view[2] = {1, 0}, far_epoch[2] = {2, 5};
static const float s[4 * 6] = {0,   .5f, 0,   -.5f, .2f, .1f, .3f, 0,
                               .1f, 0,   .9f, .4f,  0,   .6f, 0,   -.1f,
                               .3f, .7f, .2f, 0,    .4f, 0,   .5f, .8f};

static const struct batch endless = {.beta = 4, // beta
                                     .v = 2,
                                     .b = 2,
                                     .extra.n = 2,
                                     .epoch = 5,
                                     .ids = ids,
                                     .extra.ids = far,
                                     .extra.view = far_view,
                                     .extra.epoch = far_epoch};

static void
weights_are_a_softmax(void)
{
    const struct sample_emc2_settings how = {.proposals = SAMPLE_EXACT};
    struct sample_state state[4] = {
        {9, 1, 2}, {-1, -1, 0}, {8, 0, 5}, {8, 0, 4}};
    float w[4 * 6];
    double z = exp(4 * .5) + exp(4 * -.5);
    struct sample_moves moves = move_chains(&how, &endless, s, state, NULL, w);

    T_NEAR(w[4], exp(4 * .2) / (z + exp(4 * .2) + exp(4 * .1)), 1e-6,
           "over the batch and two views of where a chain stands");
    T(w[0] == 0 && w[2] == 0, "not over its own image");
    T_NEAR(w[6 + 0], exp(4 * .3) / (exp(4 * .3) + exp(4 * .1)), 1e-6,
           "a chain that has not begun: over the batch");
    T(w[6 + 4] == 0 && w[12 + 4] == 0,
      "what came for other chains is nothing to it");
    T_NEAR(w[12 + 1] + w[12 + 3], 1, 1e-6, "a state within the batch");
    T_NEAR(w[18 + 0] + w[18 + 2], 1, 1e-6, "another view of it is none");
    T(moves.cold == 2 && moves.accepted == moves.moved / 4., "two were cold");
}

static int
is_same(struct sample_state a, struct sample_state b)
{
    return !sample_state_order(&a, &b);
}

/* Counts where the chain of row 0 goes from its extra sample. */
static void
states_are_drawn_by_their_weights(void)
{
    enum { VISITS = 20000 };
    struct sample_state state[4];
    double count[6] = {0}, chi = 0;
    float w[4 * 6];

    for (uint64_t step = 0; step < VISITS; step++) {
        const struct sample_emc2_settings how = {.proposals = SAMPLE_EXACT};
        struct batch at = endless;
        size_t c = 0;

        at.step = step;

        forget(4, state);
        state[0] = (struct sample_state){9, 1, 2};
        move_chains(&how, &at, s, state, NULL, w);
        while (c < 6 && !is_same(sample_step_state(&endless, c), state[0]))
            c++;
        count[c]++;
    }
    for (size_t c = 0; c < 6; c++)
        if (w[c] > 0)
            chi += (count[c] - VISITS * (double)w[c]) *
                   (count[c] - VISITS * (double)w[c]) / VISITS / (double)w[c];
    T(chi < 16.3, "chi-square of 3 degrees, .001: %.1f < 16.3", chi);
}

static void
second_views(void)
{
    const struct sample_state one = {4, 1, 0}, now = {4, 0, 2};
    const struct batch three = {.epoch = 2, .step = 3, .fixed = 3},
                       two = {.epoch = 2, .step = 3, .fixed = 2},
                       none = {.epoch = 2, .step = 3};
    struct sample_state other;
    size_t count[3] = {0};

    for (size_t row = 0; row < 3000; row++)
        count[sample_exact_second(1, &three, row, one).view]++;
    T(!count[1] && count[0] > 1400 && count[2] > 1400,
      "a second view is one of the others, each as often");
    T(sample_exact_second(1, &two, 4, now).view == 1 &&
          sample_exact_second(1, &two, 4, one).view == 0,
      "of two it is the other one");
    T(is_same(sample_exact_second(1, &none, 4, one), now),
      "with endless views one of this epoch");
    other = sample_exact_second(1, &none, 4, now);
    T(other.id == 4 && other.view == 1 && other.epoch == 2,
      "the other one of the two that it has");
}

int
main(void)
{
    the_softmax_is_kept(2, 1);
    the_softmax_is_kept(2, .1);
    the_softmax_is_kept(2, 0);
    the_softmax_is_kept(3, 1);
    the_softmax_is_kept(3, .1);
    weights_are_a_softmax();
    states_are_drawn_by_their_weights();
    second_views();
    return t_done();
}
