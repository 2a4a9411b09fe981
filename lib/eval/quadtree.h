#ifndef EVAL_QUADTREE_H
#define EVAL_QUADTREE_H

#include <stddef.h>
#include <stdint.h>

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

/* eval_quadtree_build() takes n >= 1 points, y [n,2]. */
void eval_quadtree_build(struct quadtree *tree, size_t n, const float *y);
void eval_quadtree_release(struct quadtree *tree);

/*
 * eval_quadtree_repel() returns sum_j w_j and sets force to sum_j w_j^2 (at -
 * y_j), w_j = 1 / (1 + |at - y_j|^2), over all points; a group counts as one
 * where its side is below theta times the distance: theta = 0 is exact.
 */
float eval_quadtree_repel(const struct quadtree *tree, const float at[2],
                          float theta, float force[2]);

#endif
