#pragma once

#include <stddef.h>
#include <stdint.h>

/* The two parts of t-SNE: attraction and repulsion of points. */

/* p_ij of include/eval/tsne.h: those of row i are pair[start[i]] up to
 * pair[start[i + 1] - 1], by rising column. */
struct affinity {
    size_t *start; /* [n+1] */
    struct affinity_pair {
        uint32_t column;
        float p;
    } * pair;
};

/* eval_affinity_find() computes them, with k neighbours of each row, 1 .. n -
 * 1; release them with eval_affinity_release(). */
void eval_affinity_find(struct affinity *affinity, size_t n, size_t d,
                        const float *x, size_t k, double perplexity);
void eval_affinity_release(struct affinity *affinity);

/* Points of a plane in squares, each cut into four if it has several: groups of
 * far points act as one point at their mean.  A tree of zeros is empty. */
struct quadtree {
    size_t n, room;
    struct quadtree_cell {
        float x, y;     /* mean of its points */
        float mass;     /* number of its points */
        float square;   /* of the side */
        uint32_t after; /* index of the next cell outside of it */
    } * cell;           /* [n] each before its parts */
    uint32_t *order;    /* [points] indices; near points are neighbours */
    uint32_t *quarter;  /* [points] scratch */
    size_t points;      /* size of these arrays */
};

/* eval_quadtree_build() takes n >= 1 points, y [n,2]; n must not change for a
 * tree. */
void eval_quadtree_build(struct quadtree *tree, size_t n, const float *y);
void eval_quadtree_release(struct quadtree *tree);

/*
 * eval_quadtree_repel() handles QUADTREE_GROUP points at once, those from
 * order[first] on, first a multiple of it, or fewer at the end; for each of
 * them, i, it sets sum[i] = sum_j w_j and force[i] = sum_j w_j^2 (y_i - y_j),
 * w_j = 1 / (1 + |y_i - y_j|^2), over all points j, i too.  A square counts as
 * one point if its side is below theta times its distance from each:
 * theta = 0 is exact.
 *   y, force  [n,2];  sum  [n]
 */
enum { QUADTREE_GROUP = 16 };

void eval_quadtree_repel(const struct quadtree *tree, const float *y,
                         size_t first, float theta, float *force, float *sum);
