#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loss/global.h"
#include "loss/rows.h"
#include "num/vec.h"
#include "util/err.h"
#include "util/mem.h"

#include "tiles.h"

static struct loss_tiles
tiles_of(const struct loss_global *set, float *work)
{
    const size_t n = set->images * set->views;

    return (struct loss_tiles){.b = set->images,
                               .v = set->views,
                               .d = set->d,
                               .cross = set->cross,
                               .rows = work,
                               .stored = work ? work + n * (set->d + 1) : NULL};
}

size_t
loss_global_size(const struct loss_global *set)
{
    const struct loss_tiles tiles = tiles_of(set, NULL);

    return set->images * set->views * (set->d + 1) + loss_tiles_size(&tiles);
}

/* Returns the loss of row r with its partners, before the mean over pairs, and
 * sets the weights of its negatives and of its partners, own [v]. */
static double
weigh_row(const struct loss_global *set, size_t r, const double *score,
          struct loss_part *part, double *own)
{
    const size_t v = set->views, view = r / set->images;
    const double pairs = (double)(set->images * v) * (double)(v - 1);
    struct loss_partial sum = {-INFINITY, 0, 0};
    double total = 0, share = 0;

    for (size_t w = 0; w < v; w++)
        if (!set->cross || w != view)
            loss_partial_add(&sum, set->beta, &part[w].sum);
    for (size_t w = 0; w < v; w++) {
        const double lead =
            log(sum.sum) + set->beta * (sum.max - score[w]); // of negatives
        const double slope = set->inside ? 1 / (1 + exp(-lead)) : 1;

        if (w == view)
            continue;
        total += set->inside ? loss_log_add(lead, 0) : lead;
        share += slope / pairs;
        own[w] = -set->beta * slope / pairs;
    }
    for (size_t w = 0; w < v; w++)
        part[w].weight =
            (float)(set->beta * share *
                    exp(set->beta * (part[w].sum.max - sum.max)) / sum.sum);
    return total / pairs;
}

double
loss_global(const struct loss_global *set, const float *z, float *dz,
            float *work)
{
    const size_t v = set->views, n = set->images * v;
    struct loss_tiles t = tiles_of(set, work);
    double *beta = mem_array(n, sizeof *beta), *score, value = 0;
    double *own = mem_array(n * v, sizeof *own);
    float *length = work + n * set->d;

    REQUIRE(set->images >= 2 && v >= 2 && set->beta > 0);
    num_unit_rows(n, set->d, z, work, length);
    for (size_t r = 0; r < n; r++)
        beta[r] = set->beta;
    loss_tiles_add(&t, beta);
    score = loss_tiles_sums(&t);
    for (size_t r = 0; r < n; r++)
        value += weigh_row(set, r, score + r * v, t.softmax[0].part + r * v,
                           own + r * v);
    if (dz) {
        t.softmax[0].has_weight = 1;
        memset(dz, 0, n * set->d * sizeof *dz);
        loss_tiles_gradient(&t, own, dz);
        num_unit_rows_back(n, set->d, work, length, dz, dz);
    }
    loss_tiles_release(&t);
    mem_free(beta, score, own);
    return value;
}
