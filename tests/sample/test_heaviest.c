#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "sample/source.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

enum { V = 2, B = 3, R = V * B, EXTRA = 2, OUTSIDE = 4, D = 5, K = 4 };
enum { C = R + EXTRA + OUTSIDE };

static float z[(R + EXTRA) * D], outside[OUTSIDE * D], w[R * C];
static const int64_t ids[B] = {7, 3, 9}, extra_ids[EXTRA] = {1, 5};
static const int64_t extra_view[EXTRA] = {4, -1}, extra_epoch[EXTRA] = {2, 0};
static const int64_t variants[R] = {3, 1, 0, 2, 5, 4};

static struct batch
make_step(int fixed)
{
    struct batch step = {
        .epoch = 6, .v = V, .b = B, .extra.n = EXTRA, .dim = D};

    step.ids = ids;
    step.extra.ids = extra_ids;
    step.extra.view = extra_view;
    step.extra.epoch = extra_epoch;
    step.fixed = fixed ? 6 : 0;
    step.view_of = fixed ? variants : NULL;
    step.z = z;
    step.extra.z = z + R * D;
    return step;
}

/* Few different weights, so that some are equal; row 2 has none. */
static void
fill_arrays(uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < sizeof z / sizeof *z; i++)
        z[i] = (float)rng_normal(&rng);
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        outside[i] = (float)rng_normal(&rng);
    num_unit_rows(R + EXTRA, D, z, z, NULL);
    num_unit_rows(OUTSIDE, D, outside, outside, NULL);
    for (size_t i = 0; i < R * C; i++)
        w[i] = i / C == 2 ? 0 : (float)(rng_u32(&rng) % 4) / 16;
}

/* The column with the i-th largest weight: as many are before it. */
static size_t
find_column(size_t r, size_t i)
{
    for (size_t c = 0; c < C; c++) {
        size_t before = 0;

        for (size_t other = 0; other < C; other++)
            before += w[r * C + other] > w[r * C + c] ||
                      (w[r * C + other] == w[r * C + c] && other < c);
        if (before == i)
            return c;
    }
    abort();
}

static const float *
row_of(size_t c)
{
    return c < R + EXTRA ? z + c * D : outside + (c - R - EXTRA) * D;
}

static int
names_it(const struct heaviest *h, size_t at, size_t c, int fixed)
{
    if (c >= R + EXTRA)
        return h->row[at] == -1 && h->sample[at] == -1 && h->view[at] == -1 &&
               h->epoch[at] == -1;
    if (h->row[at] != (int32_t)c)
        return 0;
    if (c >= R)
        return h->sample[at] == extra_ids[c - R] &&
               h->view[at] == extra_view[c - R] &&
               h->epoch[at] == extra_epoch[c - R];
    return h->sample[at] == ids[c % B] &&
           h->view[at] == (fixed ? variants[c] : (int64_t)(c / B)) &&
           h->epoch[at] == (fixed ? 0 : 6);
}

static int
sums_are_right(const struct heaviest *h, size_t r)
{
    double sum = 0, squares = 0, far = 0;

    for (size_t c = 0; c < C; c++) {
        sum += (double)w[r * C + c];
        squares += pow((double)w[r * C + c], 2);
        far += c < R ? 0 : (double)w[r * C + c];
    }
    return fabs((double)h->outside[r] - far) < 1e-6 &&
           fabs((double)h->effective[r] -
                (squares > 0 ? sum * sum / squares : 0)) < 1e-5;
}

static void
finds_the_heaviest(int fixed)
{
    int32_t row[R * K], view[R * K];
    int64_t sample[R * K], epoch[R * K];
    float weight[R * K], cosine[R * K], far[R], effective[R];
    struct heaviest h = {K,      row,    sample, view,     epoch,
                         weight, cosine, far,    effective};
    const struct batch step = make_step(fixed);
    const struct weights weights = {.rows = R,
                                    .columns = C,
                                    .w = w,
                                    .n_outside = OUTSIDE,
                                    .outside = outside};
    int named = 1, weighed = 1, alike = 1, summed = 1, none = 1;

    sample_heaviest(&step, &weights, &h);
    for (size_t r = 0; r < R; r++) {
        summed &= sums_are_right(&h, r);
        for (size_t i = 0; i < K; i++) {
            const size_t at = r * K + i, c = find_column(r, i);

            if (!(w[r * C + c] > 0)) {
                none &= row[at] == -1 && sample[at] == -1 && weight[at] == 0 &&
                        cosine[at] == 0;
                continue;
            }
            named &= names_it(&h, at, c, fixed);
            weighed &= weight[at] == w[r * C + c];
            alike &= fabs((double)cosine[at] -
                          num_dot(D, z + r * D, row_of(c))) < 1e-6;
        }
    }
    T(named && weighed, "the heaviest, in their order, by name%s",
      fixed ? ", of fixed views" : "");
    T(alike, "with their cosines");
    T(none, "nothing where an anchor has fewer");
    T(summed, "what lies outside, and how many count");
}

int
main(void)
{
    fill_arrays(1);
    finds_the_heaviest(0);
    finds_the_heaviest(1);
    for (uint64_t seed = 2; seed < 20; seed++) {
        fill_arrays(seed);
        finds_the_heaviest(seed % 2 == 1);
    }
    return t_done();
}
