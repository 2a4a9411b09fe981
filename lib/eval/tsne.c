#include "eval/tsne.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/knn.h"
#include "eval/pca.h"
#include "num/vec.h"
#include "tsne_parts.h"
#include "util/err.h"
#include "util/mem.h"
#include "util/rng.h"

enum {
    HALVINGS = 100, // of the bracket of b
    DEPTH = 40      // points closer than 2^-40 of the square share a cell
};

/* Computes p(j|i) of the neighbours for b; returns the entropy. */
static double
weigh_near(size_t k, const double *square, double b, double *p)
{
    double sum = 1, mean = 0;

    p[0] = 1;
    for (size_t j = 1; j < k; j++) {
        const double further = square[j] - square[0];

        p[j] = exp(-b * further);
        sum += p[j];
        mean += b * further * p[j];
    }
    for (size_t j = 0; j < k; j++)
        p[j] /= sum;
    return mean / sum + log(sum);
}

/* Replaces the rising squared distances by p(j|i) of the perplexity.  If no
 * b has that perplexity, as for equal distances, the nearest one is used. */
static void
choose_width(size_t k, double *square, double perplexity, double *p)
{
    double low = 0, high = INFINITY,
           b = 1 / (square[k / 3] - square[0] + 1e-12);

    for (int i = 0; i < HALVINGS; i++) {
        const double gap = weigh_near(k, square, b, p) - log(perplexity);

        if (fabs(gap) < 1e-9)
            break;
        if (gap > 0)
            low = b;
        else
            high = b;
        b = isinf(high) ? 2 * b : (low + high) / 2;
    }
    for (size_t j = 0; j < k; j++)
        square[j] = p[j];
}

static int
compare_columns(const void *a, const void *b)
{
    const struct affinity_pair *one = a, *other = b;

    return (one->column > other->column) - (one->column < other->column);
}

void
eval_affinity_find(struct affinity *affinity, size_t n, size_t d,
                   const float *x, size_t k, double perplexity)
{
    uint32_t *ids = mem_array(n * k, sizeof *ids);
    double *square = mem_array(n * k, sizeof *square);
    double *p = mem_array(k, sizeof *p);
    struct eval_knn *knn = eval_knn_new(n, d, x, EVAL_EUCLIDEAN);
    size_t *end = mem_array(n, sizeof *end);
    size_t to = 0, first = 0;

    eval_knn_find(knn, n, x, k, 0, ids, square);
    eval_knn_free(knn);
    for (size_t i = 0; i < n * k; i++)
        square[i] = -square[i];
    for (size_t i = 0; i < n; i++)
        choose_width(k, square + i * k, perplexity, p);
    affinity->start = mem_array(n + 1, sizeof *affinity->start);
    // adds each pair to the rows of both points
    for (size_t i = 0; i < n * k; i++)
        affinity->start[ids[i] + 1]++;
    for (size_t i = 0; i < n; i++) {
        affinity->start[i + 1] += affinity->start[i] + k;
        end[i] = affinity->start[i];
    }
    affinity->pair = mem_array(affinity->start[n], sizeof *affinity->pair);
    for (size_t i = 0; i < n * k; i++) {
        const uint32_t row = (uint32_t)(i / k);
        const float half = (float)(square[i] / (2 * (double)n));

        affinity->pair[end[row]++] = (struct affinity_pair){ids[i], half};
        affinity->pair[end[ids[i]]++] = (struct affinity_pair){row, half};
    }
    // merges equal columns of a row
    for (size_t i = 0; i < n; i++) {
        const size_t last = affinity->start[i + 1], begin = to;
        struct affinity_pair *pair = affinity->pair;

        qsort(pair + first, last - first, sizeof *pair, compare_columns);
        affinity->start[i] = to;
        for (; first < last; first++)
            if (to > begin && pair[to - 1].column == pair[first].column)
                pair[to - 1].p += pair[first].p;
            else
                pair[to++] = pair[first];
    }
    affinity->start[n] = to;
    mem_free(end, p, square, ids);
}

void
eval_affinity_release(struct affinity *affinity)
{
    mem_free(affinity->start, affinity->pair);
}

/* A square: its centre, half of its side, and its depth in the tree. */
struct square {
    float x, y, half;
    int depth;
};

static unsigned
find_quarter(const struct square *in, const float *at)
{
    return (at[0] >= in->x) + 2U * (at[1] >= in->y);
}

/* Sorts points by their quarter of the square; end[q] is after those of q. */
static void
sort_quarters(struct quadtree *tree, const float *y, uint32_t *order, size_t n,
              const struct square *in, size_t end[4])
{
    size_t count[4] = {0};

    for (size_t i = 0; i < n; i++)
        count[find_quarter(in, y + 2 * (size_t)order[i])]++;
    for (size_t q = 0, first = 0; q < 4; first += count[q++])
        end[q] = first;
    for (size_t i = 0; i < n; i++)
        tree->quarter[end[find_quarter(in, y + 2 * (size_t)order[i])]++] =
            order[i];
    memcpy(order, tree->quarter, n * sizeof *order);
}

static void
add_cell(struct quadtree *tree, const float *y, uint32_t *order, size_t n,
         const struct square *in)
{
    const size_t at = tree->n++;
    double sum[2] = {0};
    size_t end[4], first = 0;

    mem_grow(&tree->cell, &tree->room, tree->n, sizeof *tree->cell);
    for (size_t i = 0; i < n; i++) {
        sum[0] += y[2 * (size_t)order[i]];
        sum[1] += y[2 * (size_t)order[i] + 1];
    }
    tree->cell[at] = (struct quadtree_cell){
        (float)(sum[0] / (double)n), (float)(sum[1] / (double)n), (float)n,
        4 * in->half * in->half, 0};
    if (n > 1 && in->depth < DEPTH) {
        sort_quarters(tree, y, order, n, in, end);
        for (unsigned q = 0; q < 4; first = end[q++]) {
            const float step = in->half / 2;
            const struct square part = {in->x + (q & 1 ? step : -step),
                                        in->y + (q & 2 ? step : -step), step,
                                        in->depth + 1};

            if (end[q] > first)
                add_cell(tree, y, order + first, end[q] - first, &part);
        }
    }
    tree->cell[at].after = (uint32_t)tree->n;
}

void
eval_quadtree_build(struct quadtree *tree, size_t n, const float *y)
{
    float low[2] = {y[0], y[1]}, high[2] = {y[0], y[1]};
    struct square whole = {.depth = 0};

    for (size_t i = 0; i < 2 * n; i++) {
        low[i & 1] = fminf(low[i & 1], y[i]);
        high[i & 1] = fmaxf(high[i & 1], y[i]);
    }
    whole.x = (low[0] + high[0]) / 2;
    whole.y = (low[1] + high[1]) / 2;
    whole.half = fmaxf(high[0] - low[0], high[1] - low[1]) / 2 * 1.0001F;
    if (tree->points < n) {
        mem_free(tree->order, tree->quarter);
        tree->order = mem_array(n, sizeof *tree->order);
        tree->quarter = mem_array(n, sizeof *tree->quarter);
        tree->points = n;
        for (size_t i = 0; i < n; i++)
            tree->order[i] = (uint32_t)i;
    }
    tree->n = 0;
    add_cell(tree, y, tree->order, n, &whole);
}

void
eval_quadtree_release(struct quadtree *tree)
{
    mem_free(tree->cell, tree->order, tree->quarter);
}

/* Near points, with the repulsion of each. */
struct group {
    float x[QUADTREE_GROUP], y[QUADTREE_GROUP];
    float force[2][QUADTREE_GROUP], sum[QUADTREE_GROUP];
};

/* Returns 1 if a cell is so near to a point of the group that it must be
 * split. */
static int
is_near(const struct group *group, const struct quadtree_cell *cell,
        float square)
{
    const struct quadtree_cell c = *cell;
    int near = 0;

    for (size_t i = 0; i < QUADTREE_GROUP; i++) {
        const float dx = group->x[i] - c.x, dy = group->y[i] - c.y;

        near |= c.square >= square * (dx * dx + dy * dy);
    }
    return near;
}

static void
repel_group(struct group *group, const struct quadtree_cell *cell)
{
    const struct quadtree_cell c = *cell;

    for (size_t i = 0; i < QUADTREE_GROUP; i++) {
        const float dx = group->x[i] - c.x, dy = group->y[i] - c.y;
        const float w = 1 / (1 + dx * dx + dy * dy), all = c.mass * w;

        group->sum[i] += all;
        group->force[0][i] += all * w * dx;
        group->force[1][i] += all * w * dy;
    }
}

void
eval_quadtree_repel(const struct quadtree *tree, const float *y, size_t first,
                    float theta, float *force, float *sum)
{
    const struct quadtree_cell *cell = tree->cell, *end = cell + tree->n;
    const uint32_t *order = tree->order + first;
    const size_t left = (size_t)tree->cell->mass - first;
    const size_t n = left < QUADTREE_GROUP ? left : QUADTREE_GROUP;
    struct group group = {.sum = {0}};

    for (size_t i = 0; i < QUADTREE_GROUP; i++) { // padded with the first
        group.x[i] = y[2 * (size_t)order[i < n ? i : 0]];
        group.y[i] = y[2 * (size_t)order[i < n ? i : 0] + 1];
    }
    while (cell < end) {
        const struct quadtree_cell *after = tree->cell + cell->after;

        if (after > cell + 1 && is_near(&group, cell, theta * theta)) {
            cell++;
        } else {
            repel_group(&group, cell);
            cell = after;
        }
    }
    for (size_t i = 0; i < n; i++) {
        force[2 * (size_t)order[i]] = group.force[0][i];
        force[2 * (size_t)order[i] + 1] = group.force[1][i];
        sum[order[i]] = group.sum[i];
    }
}

static const float theta = 0.5F;

struct eval_tsne {
    size_t n, step;
    struct affinity affinity;
    struct quadtree tree;
    float *y, *velocity, *gain; /* [n,2] */
    float *attract, *repel;     /* [n,2] the two parts of the gradient */
    float *z;                   /* [n] their shares of Z */
};

static void
subtract_mean(size_t n, float *y)
{
    double mean[2] = {0};

    for (size_t i = 0; i < 2 * n; i++)
        mean[i & 1] += y[i] / (double)n;
    for (size_t i = 0; i < 2 * n; i++)
        y[i] -= (float)mean[i & 1];
}

struct eval_tsne *
eval_tsne_new(size_t n, size_t d, const float *x, double perplexity,
              const float *start)
{
    struct eval_tsne *map = mem_array(1, sizeof *map);
    const size_t k = (size_t)(3 * perplexity), axes = d < 2 ? d : 2;
    float *basis;
    double square = 0, scale;
    struct rng rng;

    REQUIRE(perplexity >= 1 && k < n);
    map->n = n;
    eval_affinity_find(&map->affinity, n, d, x, k, perplexity);
    map->y = mem_array(2 * n, sizeof *map->y);
    map->velocity = mem_array(2 * n, sizeof *map->velocity);
    map->gain = mem_array(2 * n, sizeof *map->gain);
    map->attract = mem_array(2 * n, sizeof *map->attract);
    map->repel = mem_array(2 * n, sizeof *map->repel);
    map->z = mem_array(n, sizeof *map->z);
    for (size_t i = 0; i < 2 * n; i++)
        map->gain[i] = 1;
    if (start) {
        memcpy(map->y, start, 2 * n * sizeof *start);
    } else { // the first two principal components
        basis = mem_array((axes + 1) * d, sizeof *basis);
        eval_pca(n, d, x, axes, basis);
        for (size_t i = 0; i < n; i++)
            for (size_t a = 0; a < axes; a++)
                map->y[2 * i + a] = (float)num_dot(d, basis + a * d, x + i * d);
        free(basis);
    }
    // scales the points so close that they can pass each other, and adds noise
    // so that no two are equal
    subtract_mean(n, map->y);
    for (size_t i = 0; i < 2 * n; i++)
        square += (double)map->y[i] * map->y[i] / (2 * (double)n);
    scale = square > 0 ? 1e-4 / sqrt(square) : 0;
    rng_init(&rng, 0, RNG_EVAL, 0, 0, 0);
    for (size_t i = 0; i < 2 * n; i++)
        map->y[i] = (float)(map->y[i] * scale + 1e-6 * rng_normal(&rng));
    subtract_mean(n, map->y);
    return map;
}

void
eval_tsne_free(struct eval_tsne *map)
{
    eval_affinity_release(&map->affinity);
    eval_quadtree_release(&map->tree);
    mem_free(map->y, map->velocity, map->gain, map->attract, map->repel, map->z,
             map);
}

/* Fills in repel, and returns Z, summed in a fixed order. */
static double
repel_points(struct eval_tsne *map)
{
    double sum = 0;

    eval_quadtree_build(&map->tree, map->n, map->y);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < map->n; i += QUADTREE_GROUP)
        eval_quadtree_repel(&map->tree, map->y, i, theta, map->repel, map->z);
    for (size_t i = 0; i < map->n; i++)
        sum += map->z[i] - 1; // w of a point and itself
    return sum;
}

static void
attract_points(struct eval_tsne *map)
{
    const struct affinity *a = &map->affinity;
    const float *y = map->y;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < map->n; i++) {
        float force[2] = {0};

        for (size_t j = a->start[i]; j < a->start[i + 1]; j++) {
            const float *other = y + 2 * (size_t)a->pair[j].column;
            const float dx = y[2 * i] - other[0], dy = y[2 * i + 1] - other[1];
            const float pull = a->pair[j].p / (1 + dx * dx + dy * dy);

            force[0] += pull * dx;
            force[1] += pull * dy;
        }
        map->attract[2 * i] = force[0];
        map->attract[2 * i + 1] = force[1];
    }
}

void
eval_tsne_step(struct eval_tsne *map)
{
    const int early = map->step++ < EVAL_TSNE_EARLY;
    const float more = early ? 12 : 1, momentum = early ? 0.5F : 0.8F;
    const float n = (float)map->n,
                rate = early ? n / 48 : fmaxf(n / 12, fminf(n / 4, 50));
    const float z = (float)repel_points(map);

    attract_points(map);
    for (size_t i = 0; i < 2 * map->n; i++) {
        const float slope = 4 * (more * map->attract[i] - map->repel[i] / z);
        float *gain = &map->gain[i], *velocity = &map->velocity[i];

        *gain = (slope > 0) != (*velocity > 0) ? *gain + 0.2F
                                               : fmaxf(0.01F, *gain * 0.8F);
        *velocity = momentum * *velocity - rate * *gain * slope;
        map->y[i] += *velocity;
    }
    subtract_mean(map->n, map->y);
}

const float *
eval_tsne_points(const struct eval_tsne *map)
{
    return map->y;
}

double
eval_tsne_divergence(struct eval_tsne *map)
{
    const struct affinity *a = &map->affinity;
    const double z = repel_points(map);
    double sum = 0;

    for (size_t i = 0; i < map->n; i++)
        for (size_t j = a->start[i]; j < a->start[i + 1]; j++) {
            const float *one = map->y + 2 * i;
            const float *other = map->y + 2 * (size_t)a->pair[j].column;
            const double dx = one[0] - other[0], dy = one[1] - other[1];
            const double p = a->pair[j].p;

            sum += p > 0 ? p * log(p * z * (1 + dx * dx + dy * dy)) : 0;
        }
    return sum;
}

void
eval_tsne_turn(size_t n, const float *onto, float *y)
{
    double mean[2] = {0}, to[2] = {0}, c[2][2] = {{0}}, turn, flip, sign, angle;

    for (size_t i = 0; i < 2 * n; i++) {
        mean[i & 1] += y[i] / (double)n;
        to[i & 1] += onto[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 4; k++)
            c[k / 2][k % 2] += (onto[2 * i + k / 2] - to[k / 2]) *
                               (y[2 * i + k % 2] - mean[k % 2]);
    turn = hypot(c[0][0] + c[1][1], c[1][0] - c[0][1]);
    flip = hypot(c[0][0] - c[1][1], c[1][0] + c[0][1]);
    sign = flip > turn ? -1 : 1;
    angle = atan2(c[1][0] - sign * c[0][1], c[0][0] + sign * c[1][1]);
    for (size_t i = 0; i < n; i++) {
        const double p = y[2 * i] - mean[0],
                     q = sign * (y[2 * i + 1] - mean[1]);

        y[2 * i] = (float)(mean[0] + cos(angle) * p - sin(angle) * q);
        y[2 * i + 1] = (float)(mean[1] + sin(angle) * p + cos(angle) * q);
    }
}
