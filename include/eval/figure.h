#ifndef EVAL_FIGURE_H
#define EVAL_FIGURE_H

#include <stddef.h>

/* A number that was estimated, and half of its interval of confidence, 95 %. */
struct eval_figure {
    double value, half;
};

/* eval_student() returns the bound that |t| stays below with probability 0.95,
 * of Student's distribution with so many degrees of freedom, >= 1: within 1 %
 * from 3 on. */
double eval_student(size_t degrees);

/* eval_mean() returns the mean of independent x [n], n >= 2, with its
 * interval by Student's t. */
struct eval_figure eval_mean(size_t n, const double *x);

#endif
