#include "quadtree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

enum {
    DEPTH = 40
}; // points that are closer than 2^-40 of the whole share a cell

/* A square: its centre, half of its side, and how often it was cut. */
struct square {
    float x, y, half;
    int depth;
};

/* Sorts points by their quarter of the square; end[q] is behind those of q. */
static void
sort_quarters(struct quadtree *tree, const float *y, uint32_t *order, size_t n,
              const struct square *in, size_t end[4])
{
    size_t to = 0;

    for (unsigned q = 0; q < 4; q++) {
        for (size_t i = 0; i < n; i++) {
            const float *at = y + 2 * (size_t)order[i];

            if ((at[0] >= in->x) + 2U * (at[1] >= in->y) == q)
                tree->quarter[to++] = order[i];
        }
        end[q] = to;
    }
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

/* The square that all points are in. */
static struct square
bound_points(size_t n, const float *y)
{
    float low[2] = {y[0], y[1]}, high[2] = {y[0], y[1]};

    for (size_t i = 0; i < 2 * n; i++) {
        low[i & 1] = fminf(low[i & 1], y[i]);
        high[i & 1] = fmaxf(high[i & 1], y[i]);
    }
    return (struct square){
        .x = (low[0] + high[0]) / 2,
        .y = (low[1] + high[1]) / 2,
        .half = fmaxf(high[0] - low[0], high[1] - low[1]) / 2 * 1.0001F,
    };
}

void
eval_quadtree_build(struct quadtree *tree, size_t n, const float *y)
{
    const struct square whole = bound_points(n, y);

    if (tree->points < n) {
        free(tree->order);
        free(tree->quarter);
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
    free(tree->cell);
    free(tree->order);
    free(tree->quarter);
}

float
eval_quadtree_repel(const struct quadtree *tree, const float at[2], float theta,
                    float force[2])
{
    const struct quadtree_cell *cell = tree->cell, *end = cell + tree->n;
    float x = 0, y = 0, sum = 0;

    while (cell < end) {
        const float dx = at[0] - cell->x, dy = at[1] - cell->y;
        const float far = dx * dx + dy * dy;
        const struct quadtree_cell *after = tree->cell + cell->after;

        if (cell->square < theta * theta * far || after == cell + 1) {
            const float w = 1 / (1 + far), all = cell->mass * w;

            sum += all;
            x += all * w * dx;
            y += all * w * dy;
            cell = after;
        } else {
            cell++;
        }
    }
    force[0] = x;
    force[1] = y;
    return sum;
}
