#pragma once

#include "eval/views.h"

/*
 * Figures of single anchors: the softmax of a row over all its m negatives, of
 * cosines s,
 *
 *     p_c = exp(s_c / tau) / sum over negatives of exp(s / tau),
 *
 * and the temperature at which p is a given distance from the uniform
 * distribution,
 *
 *     KL(p | uniform) = log m - H(p) = rho,
 *
 * to which the temperatures of iSogCLR converge (Qiu et al. 2023,
 * arXiv:2305.11965; lib/algorithms.md 3.4).  KL falls as tau rises, from log(m
 * / k) for k equal largest cosines to 0, so there is one tau or none.  As tau
 * rho = tau KL = mean of s by p - tau log(mean of exp(s / tau)), and by Jensen
 * the last is at least the mean of s, tau <= C / rho, C the largest s less the
 * mean one (their lemma 1, for each anchor).
 */
struct eval_anchor {
    double exact;     /* tau >= 1e-4 with KL = rho; 0: there is none */
    double bound;     /* of exact: (largest - mean cosine) / rho */
    double tau;       /* temperature of p and of the following fields */
    double kl;        /* KL(p | uniform), nats */
    double effective; /* e^H(p), 1 .. m: effective number of negatives */
    double largest;   /* the largest p */
    double density;   /* mean cosine of the `nearest` nearest negatives */
    double own;       /* sum of p over the anchor's group; 0 without groups */
};

/* eval_softmax_exact() returns the tau >= 1e-4 with KL = rho, rho > 0, or 0 if
 * there is none.  Cosines s [n] that are -INFINITY do not count; at least one
 * must count.  O(n) a step, some ten steps. */
double eval_softmax_exact(size_t n, const float *s, double rho);

/*
 * eval_softmax() computes the softmax of the cosines s [n], as above, and
 * returns KL(p | uniform).
 *   tau  1e-4 .. 1e4
 *   p    [n], or NULL; 0 if s is -INFINITY
 */
double eval_softmax(size_t n, const float *s, double tau, float *p);

enum { EVAL_NEAREST_MAX = 1024 };

struct eval_anchors_settings {
    double rho;     /* > 0 */
    size_t nearest; /* 1 .. EVAL_NEAREST_MAX, and at most m */
};

/*
 * eval_anchors() computes the figures of m of the n rows.
 *   row  [m] indices of the rows, < n
 *   tau  [m] the temperature of each; 0: its exact one, or 1e-4 without one
 *   out  [m]
 * O(m n (d + 10)) time, shared among the threads; 4 m n bytes, and 4 n for each
 * thread.
 */
void eval_anchors(const struct eval_views *rows,
                  const struct eval_anchors_settings *how, size_t m,
                  const size_t *row, const double *tau,
                  struct eval_anchor *out);
