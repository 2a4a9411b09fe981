#ifndef EVAL_ANCHORS_H
#define EVAL_ANCHORS_H

#include "eval/views.h"

/*
 * What single anchors meet: the softmax of a row over all its m negatives,
 *
 *     p_c = exp(s_c / tau) / sum over negatives of exp(s / tau),
 *
 * and the temperature at which that is a given distance from the uniform
 * distribution,
 *
 *     KL(p | uniform) = log m - H(p) = rho,
 *
 * which is where the temperatures of iSogCLR come to rest (Qiu et al. 2023,
 * arXiv:2305.11965; lib/algorithms.md 3.4).  KL falls as tau rises, from
 * log(m / k) for k equal largest cosines to 0, so there is one tau or none.
 */
struct eval_anchor {
    double exact;     /* tau of KL = rho; 0: none from 1e-4 on */
    double tau;       /* at which p is taken, and what follows from it */
    double kl;        /* KL(p | uniform), nats */
    double effective; /* e^H(p), 1 .. m: so many negatives that count alike */
    double largest;   /* the largest p */
    double own;       /* sum of p over the own group; 0 without groups */
    double density;   /* mean cosine of the `nearest` nearest negatives */
};

/* eval_softmax_exact() returns the tau of KL = rho of the cosines s [n], of
 * which those that are -INFINITY do not count; rho > 0.  O(n) a step, some ten
 * steps. */
double eval_softmax_exact(size_t n, const float *s, double rho);

/*
 * eval_softmax() takes the softmax of the cosines s [n], as above, and returns
 * KL(p | uniform).
 *   tau  1e-4 .. 1e4
 *   p    [n], or NULL; 0 where s is -INFINITY
 */
double eval_softmax(size_t n, const float *s, double tau, float *p);

enum { EVAL_NEAREST_MAX = 1024 };

struct eval_anchors_how {
    double rho;     /* > 0 */
    size_t nearest; /* 1 .. EVAL_NEAREST_MAX, and at most m */
};

/*
 * eval_anchors() measures some rows.
 *   row  [m] of the rows
 *   tau  [m] the temperature of each; 0: its exact one, or 1e-4 without
 *   out  [m]
 * O(m n (d + 10)) time, as many threads as there are; 4 m n bytes and 4 n for
 * each thread.
 */
void eval_anchors(const struct eval_views *rows,
                  const struct eval_anchors_how *how, size_t m,
                  const size_t *row, const double *tau,
                  struct eval_anchor *out);

#endif
