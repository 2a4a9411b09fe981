#ifndef EVAL_TSNE_PARTS_H
#define EVAL_TSNE_PARTS_H

#include <stddef.h>
#include <stdint.h>

/* The two parts of t-SNE: what attracts points, and what repels them. */

/* p_ij of include/eval/tsne.h: of row i those from start[i] on, before
 * start[i + 1], by rising column. */
struct affinity {
    size_t *start; /* [n+1] */
    struct affinity_pair {
        uint32_t column;
        float p;
    } * pair;
};

/* eval_affinity_find() computes them, to be given to eval_affinity_release(); k
 * neighbours of each row, 1 .. n - 1. */
void eval_affinity_find(struct affinity *affinity, size_t n, size_t d,
                        const float *x, size_t k, double perplexity);
void eval_affinity_release(struct affinity *affinity);

/*
 * Points of a plane in squares, each cut into four where it has several: groups
 * of far points act as one point at their mean.  A tree of zeros is empty.
 */
struct quadtree {
    size_t n, room;
    struct quadtree_cell {
        float x, y;     /* mean of its points */
        float mass;     /* how many these are */
        float square;   /* of the side */
        uint32_t after; /* the first cell that is not in it */
    } * cell;           /* [n] each before those in it */
    uint32_t *order;    /* of the points: near ones are near in it */
    uint32_t *quarter;  /* scratch */
    size_t points;      /* these arrays have room for */
};

/* eval_quadtree_build() takes n >= 1 points, y [n,2], of one tree always as
 * many. */
void eval_quadtree_build(struct quadtree *tree, size_t n, const float *y);
void eval_quadtree_release(struct quadtree *tree);

/*
 * eval_quadtree_repel() takes QUADTREE_GROUP points at once, those of order
 * from a multiple of it on, or as many as are left; of each of them, i, it sets
 * sum[i] = sum_j w_j and force[i] = sum_j w_j^2 (y_i - y_j), w_j = 1 / (1 +
 * |y_i - y_j|^2), over all points j, i too.  A square counts as one point where
 * its side is below theta times the distance of each of them: theta = 0 is
 * exact.
 *   y, force  [n,2];  sum  [n]
 */
enum { QUADTREE_GROUP = 16 };

void eval_quadtree_repel(const struct quadtree *tree, const float *y,
                         size_t first, float theta, float *force, float *sum);

#endif
