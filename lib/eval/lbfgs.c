#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/logistic.h"
#include "num/vec.h"
#include "util/mem.h"

enum { PAIRS = 10, TRIES = 30 };

/* A point with its value and gradient. */
struct point {
    double *w, *g, f;
};

/* The last steps s and their changes y of the gradient; a ring. */
struct memory {
    double *s[PAIRS], *y[PAIRS], rho[PAIRS];
    size_t count; /* of pairs so far */
};

static void
add_scaled(size_t n, double alpha, const double *x, double *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] += alpha * x[i];
}

static double
largest_magnitude(size_t n, const double *x)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* direction = -H g by the two-loop recursion (algorithm 7.4). */
static void
compute_direction(size_t n, const struct memory *memory, const double *g,
                  double *direction)
{
    size_t count = memory->count, n_pairs = count < PAIRS ? count : PAIRS;
    double alpha[PAIRS];

    for (size_t i = 0; i < n; i++)
        direction[i] = -g[i];
    for (size_t j = 1; j <= n_pairs; j++) {
        size_t at = (count - j) % PAIRS;

        alpha[at] =
            memory->rho[at] * num_dot_doubles(n, memory->s[at], direction);
        add_scaled(n, -alpha[at], memory->y[at], direction);
    }
    if (n_pairs) {
        size_t at = (count - 1) % PAIRS;
        double scale = 1 / (memory->rho[at] *
                            num_dot_doubles(n, memory->y[at], memory->y[at]));

        for (size_t i = 0; i < n; i++)
            direction[i] *= scale;
    }
    for (size_t j = n_pairs; j >= 1; j--) {
        size_t at = (count - j) % PAIRS;
        double beta =
            memory->rho[at] * num_dot_doubles(n, memory->y[at], direction);

        add_scaled(n, alpha[at] - beta, memory->s[at], direction);
    }
}

/* Adds the pair of a step, unless its curvature is lost in rounding. */
static void
add_pair(size_t n, struct memory *memory, const struct point *from,
         const struct point *to)
{
    size_t at = memory->count % PAIRS;
    double curvature;

    for (size_t i = 0; i < n; i++) {
        memory->s[at][i] = to->w[i] - from->w[i];
        memory->y[at][i] = to->g[i] - from->g[i];
    }
    curvature = num_dot_doubles(n, memory->s[at], memory->y[at]);
    if (curvature <= 1e-14 * num_dot_doubles(n, memory->y[at], memory->y[at]))
        return;
    memory->rho[at] = 1 / curvature;
    memory->count++;
}

/*
 * Searches the direction, first at `length` times it, for a point with
 * sufficient decrease and a smaller slope.  Returns 1 if it found one.
 */
static int
search_line(size_t n, eval_function *f, void *self, const struct point *from,
            const double *direction, double length, struct point *to)
{
    const double slope = num_dot_doubles(n, from->g, direction);
    double low = 0, high = INFINITY;

    if (!(slope < 0))
        return 0;
    for (int tries = 0; tries < TRIES; tries++) {
        memcpy(to->w, from->w, n * sizeof *to->w);
        add_scaled(n, length, direction, to->w);
        to->f = f(self, to->w, to->g);
        if (!(to->f <= from->f + 1e-4 * length * slope))
            high = length;
        else if (num_dot_doubles(n, to->g, direction) < 0.9 * slope)
            low = length;
        else
            return 1;
        length = isinf(high) ? 2 * low : (low + high) / 2;
    }
    return to->f < from->f;
}

size_t
eval_lbfgs(size_t n, eval_function *f, void *self, size_t most,
           double tolerance, double *w, double *loss)
{
    double *block = mem_array((2 * PAIRS + 4) * n, sizeof *block);
    double *direction = block + 3 * n;
    struct point here = {w, block, 0}, next = {block + n, block + 2 * n, 0};
    struct memory memory = {.count = 0};
    size_t iterations = 0;

    for (size_t j = 0; j < PAIRS; j++) {
        memory.s[j] = block + (4 + 2 * j) * n;
        memory.y[j] = memory.s[j] + n;
    }
    here.f = f(self, here.w, here.g);
    while (iterations < most && largest_magnitude(n, here.g) > tolerance) {
        double first = 1, before = here.f;

        compute_direction(n, &memory, here.g, direction);
        if (!memory.count)
            first = fmin(1, 1 / sqrt(num_dot_doubles(n, here.g, here.g)));
        if (!search_line(n, f, self, &here, direction, first, &next))
            break;
        iterations++;
        add_pair(n, &memory, &here, &next);
        memcpy(here.w, next.w, n * sizeof *here.w);
        memcpy(here.g, next.g, n * sizeof *here.g);
        here.f = next.f;
        if (before - here.f <= 1e-10 * fmax(1, fabs(before)))
            break;
    }
    if (loss)
        *loss = here.f;
    free(block);
    return iterations;
}
