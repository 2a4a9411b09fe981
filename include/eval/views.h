#ifndef EVAL_VIEWS_H
#define EVAL_VIEWS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Rows of a whole data set that do not change: what eval/anchors.h and
 * eval/frozen.h work on.
 *
 * Row r is view r / samples of sample r mod samples, n = samples x views rows
 * of unit length.  The negatives of a row are the rows of all other samples;
 * with `cross` those of them that are of another view, as where view 0 is an
 * image and view 1 a caption.
 */
struct eval_views {
    size_t samples, views, d; /* >= 2, >= 1, >= 1 */
    int cross;                /* wants views >= 2 */
    const float *v;           /* [n,d] */
    const int64_t *group;     /* [samples] equal numbers >= 0 belong together,
                                 such as those of a class; -1: alone; or NULL */
};

/* eval_views_count() returns n; eval_views_negatives() how many of them are
 * negatives of a row. */
size_t eval_views_count(const struct eval_views *rows);
size_t eval_views_negatives(const struct eval_views *rows);

/* eval_views_kin() returns 1 where two rows are of samples of one group. */
int eval_views_kin(const struct eval_views *rows, size_t r, size_t c);

/*
 * eval_views_compare() writes the cosines of m rows with all n rows, and
 * -INFINITY for rows that are no negatives.
 *   row   [m] which rows, < n
 *   work  [m,d] scratch
 *   s     [m,n] out
 * O(m n d) time.
 */
void eval_views_compare(const struct eval_views *rows, size_t m,
                        const size_t *row, float *work, float *s);

/*
 * eval_views_nearest() finds the k largest of the cosines s [n], the largest
 * first, of equal ones that of the lower index; -INFINITY does not count.
 *   near  [k] out: their indices; k >= 1
 * Returns how many it found, at most k.
 * O(n) time where k is small.
 */
size_t eval_views_nearest(size_t n, const float *s, size_t k, size_t *near);

#endif
