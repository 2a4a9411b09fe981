#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Fixed rows of a whole data set, for eval/anchors.h and eval/frozen.h.
 *
 * Row r is view r / samples of sample r mod samples, n = samples x views rows
 * of unit length.  The negatives of a row are the rows of all other samples;
 * with `cross` only those of another view, as for images as view 0 and captions
 * as view 1.
 */
struct eval_views {
    size_t samples, views, d; /* >= 2, >= 1, >= 1 */
    int cross;                /* needs views >= 2 */
    const float *v;           /* [n,d] of unit length */
    const float *z;           /* [n,d] before that, for eval/frozen.h */
    const int64_t *group;     /* [samples] equal numbers >= 0 belong together,
                                 such as those of a class; -1: alone; or NULL */
};

/* eval_views_count() returns n; eval_views_negatives() the number of negatives
 * of a row. */
size_t eval_views_count(const struct eval_views *rows);
size_t eval_views_negatives(const struct eval_views *rows);

/* eval_views_same_group() returns 1 if two rows are of samples of one group. */
int eval_views_same_group(const struct eval_views *rows, size_t r, size_t c);

/*
 * eval_views_cosines() writes the cosines of m rows with all n rows, and
 * -INFINITY for rows that are not negatives.
 *   row  [m] indices of the rows, < n
 *   s    [m,n] out
 * O(m n d) time.
 */
void eval_views_cosines(const struct eval_views *rows, size_t m,
                        const size_t *row, float *s);

/*
 * eval_views_nearest() finds the k largest of the cosines s [n], the largest
 * first, of equal ones the lower index first; -INFINITY does not count.
 *   near  [k] out: their indices; k >= 1
 * Returns the number found, at most k.  O(n) time for small k.
 */
size_t eval_views_nearest(size_t n, const float *s, size_t k, size_t *near);
