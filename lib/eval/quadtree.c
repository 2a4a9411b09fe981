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

static unsigned
find_quarter(const struct square *in, const float *at)
{
    return (at[0] >= in->x) + 2U * (at[1] >= in->y);
}

/* Sorts points by their quarter of the square; end[q] is behind those of q. */
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

/* Near points, each with what repels it. */
struct group {
    float x[QUADTREE_GROUP], y[QUADTREE_GROUP];
    float force[2][QUADTREE_GROUP], sum[QUADTREE_GROUP];
};

/* The last group is filled up with its first point. */
static void
gather_group(struct group *group, const float *y, const uint32_t *order,
             size_t n)
{
    *group = (struct group){0};
    for (size_t i = 0; i < QUADTREE_GROUP; i++) {
        group->x[i] = y[2 * (size_t)order[i < n ? i : 0]];
        group->y[i] = y[2 * (size_t)order[i < n ? i : 0] + 1];
    }
}

/* Whether a point of the group is so near to a cell that its parts count. */
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
    struct group group;

    gather_group(&group, y, order, n);
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
