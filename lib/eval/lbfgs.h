#ifndef EVAL_LBFGS_H
#define EVAL_LBFGS_H

#include <stddef.h>

/* A function to minimise: returns f(w) and writes its gradient, w, g [n]. */
typedef double eval_function(void *self, const double *w, double *g);

/*
 * eval_lbfgs() minimises a smooth function with the limited-memory BFGS method
 * (Nocedal and Wright 2006, algorithm 7.5, ten pairs) and a bisection for the
 * weak Wolfe conditions (Lewis and Overton 2013, algorithm 2.6).
 *   w          [n]  the starting point; on return the best point seen
 *   most            the most iterations
 *   tolerance       stop when no |df/dw_i| is larger
 *   loss            f at the result; may be NULL
 * It also stops after a step that gains less than 1e-10 max(1, |f|).  Returns
 * the number of iterations.  Deterministic. 24 n doubles of memory.
 */
size_t eval_lbfgs(size_t n, eval_function *f, void *self, size_t most,
                  double tolerance, double *w, double *loss);

#endif
