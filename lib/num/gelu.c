#include <math.h>

#include "num/exp.h"
#include "num/gelu.h"
#include "num/half.h"

#include "lanes.h"

enum { CHUNK = 256 };

/* F(x) and F'(x). */
struct gate {
    float f, slope;
};

/* erf by Abramowitz and Stegun 1964, 7.1.26: to 1.5e-7. */
static inline struct gate
gate_erf(float x)
{
    const float t = 1 / (1 + 0.3275911f * 0.707106781f * fabsf(x));
    const float bell = num_exp(-0.5f * x * x);
    const float tail =
        0.5f * bell * t *
        (0.254829592f +
         t * (-0.284496736f +
              t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));

    return (struct gate){num_choose(x < 0, tail, 1 - tail),
                         0.398942280f * bell};
}

/* 1 / (1 + e^-a); a' is `slope`. */
static inline struct gate
gate_sigmoid(float a, float slope)
{
    const float f = 1 / (1 + num_exp(-a));

    return (struct gate){f, f * (1 - f) * slope};
}

static inline struct gate
gate_tanh(float x)
{
    const float scale = 1.59576912f, cubic = 0.044715f; // 2 sqrt(2 / pi)

    return gate_sigmoid(scale * (x + cubic * x * x * x),
                        scale * (1 + 3 * cubic * x * x));
}

LANES_INLINE struct gate
gate_of(enum num_gelu form, float x)
{
    switch (form) {
    case NUM_GELU_ERF:
        return gate_erf(x);
    case NUM_GELU_TANH:
        return gate_tanh(x);
    default:
        return gate_sigmoid(1.702f * x, 1.702f);
    }
}

/* y = x F(x), or with dy the gradient.  Each constant `form` has a loop of its
 * own, which is vectorised. */
LANES_INLINE void
loop_of(enum num_gelu form, size_t n, const void *x, const void *dy, void *to,
        int bf16)
{
    for (size_t i = 0; i < n; i++) {
        const float v = number_at(x, i, bf16);
        const struct gate g = gate_of(form, v);

        number_to(to, i,
                  dy ? number_at(dy, i, bf16) * (g.f + v * g.slope) : v * g.f,
                  bf16);
    }
}

LANES_INLINE void
loop_by_form(enum num_gelu form, size_t n, const void *x, const void *dy,
             void *to, int bf16)
{
    switch (form) {
    case NUM_GELU_ERF:
        loop_of(NUM_GELU_ERF, n, x, dy, to, bf16);
        break;
    case NUM_GELU_TANH:
        loop_of(NUM_GELU_TANH, n, x, dy, to, bf16);
        break;
    case NUM_GELU_QUICK:
        loop_of(NUM_GELU_QUICK, n, x, dy, to, bf16);
        break;
    }
}

static NUM_CLONES(run_chunk,
                  (enum num_gelu form, size_t n, const void *x, const void *dy,
                   void *to, int bf16),
                  form, n, x, dy, to)
{
    if (dy)
        loop_by_form(form, n, x, dy, to, bf16);
    else
        loop_by_form(form, n, x, NULL, to, bf16);
}

/* Prefetches the next chunk. */
static void
prefetch_next(size_t n, size_t at, int bf16, const void *x)
{
    if (at + 2 * CHUNK <= n)
        lanes_prefetch(num_half_at(x, at + CHUNK, bf16),
                       num_half_bytes(CHUNK, bf16));
}

static void
run_chunks(enum num_gelu form, size_t n, int bf16, const void *x,
           const void *dy, void *to)
{
#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < n; at += CHUNK) {
        prefetch_next(n, at, bf16, x);
        prefetch_next(n, at, bf16, dy ? dy : to);
        run_chunk(form, num_least(CHUNK, n - at), num_half_at(x, at, bf16),
                  dy ? num_half_at(dy, at, bf16) : NULL,
                  num_half_at(to, at, bf16), bf16);
    }
}

void
num_gelu_forward(enum num_gelu form, size_t n, int bf16, const void *x, void *y)
{
    run_chunks(form, n, bf16, x, NULL, y);
}

void
num_gelu_backward(enum num_gelu form, size_t n, int bf16, const void *x,
                  const void *dy, void *dx)
{
    run_chunks(form, n, bf16, x, dy, dx);
}
