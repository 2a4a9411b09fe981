#ifndef NUM_PLANES_H
#define NUM_PLANES_H

#include <stddef.h>

/*
 * The loops of num/norm.c over one plane: the `size` elements of one image in
 * one group of channels, which lie in a row.  Arrays of 16 hold one number for
 * each lane (lanes.h).  Maps are f32, or bfloat16 with bf16 = 1.
 */

/* planes_measure() returns sum d and sum d^2 by lane, d = x - centre. */
void planes_measure(size_t size, int bf16, const void *x, const float *centre,
                    float *sum, float *square);

/* planes_apply() is y = scale (x - centre) + shift + add, clipped below at 0
 * with relu; add may be NULL. */
void planes_apply(size_t size, int bf16, const void *x, const float *scale,
                  const float *centre, const float *shift, const void *add,
                  int relu, void *y);

/*
 * What flows back into a plane: g = dy + dy2 where the plane's output was
 * positive, else 0.  dy2 may be NULL.  The output is y; or, where nothing was
 * added to it, it is scale (x - centre) + shift again, which costs less than
 * reading it; or all of it counts, when both are NULL.
 */
struct planes_flow {
    const void *dy, *dy2, *y;
    const float *scale, *shift;
};

/* planes_back_measure() returns sum g and sum g (x - centre) by lane, and g
 * itself in `kept`, where that is not NULL. */
void planes_back_measure(size_t size, int bf16, struct planes_flow flow,
                         const void *x, const float *centre, void *kept,
                         float *sum, float *along);

/* planes_back() is dx = p g + q (x - centre) + s. */
void planes_back(size_t size, int bf16, struct planes_flow flow, const void *x,
                 const float *centre, const float *p, const float *q,
                 const float *s, void *dx);

/* planes_flow() is kept = g, without scale. */
void planes_flow(size_t size, int bf16, struct planes_flow flow, void *kept);

/* planes_sum() returns sum x by lane; planes_fill() is y = value. */
void planes_sum(size_t size, int bf16, const void *x, float *sum);
void planes_fill(size_t size, int bf16, const float *value, void *y);

#endif
