#include <math.h>

#include "num/exp.h"
#include "num/gelu.h"
#include "num/half.h"
#include "util/clones.h"

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

static inline struct gate
gate_quick(float x)
{
    return gate_sigmoid(1.702f * x, 1.702f);
}

/* A loop for each form, so that each is vectorised. */
#define FORWARD(gate_of)                       \
    for (size_t i = 0; i < n; i++) {           \
        const float v = number_at(x, i, bf16); \
        const struct gate g = gate_of(v);      \
                                               \
        number_to(y, i, v *g.f, bf16);         \
    }

#define BACKWARD(gate_of)                                                     \
    for (size_t i = 0; i < n; i++) {                                          \
        const float v = number_at(x, i, bf16);                                \
        const struct gate g = gate_of(v);                                     \
                                                                              \
        number_to(dx, i, number_at(dy, i, bf16) * (g.f + v * g.slope), bf16); \
    }

LANES_INLINE void
forward_of(enum num_gelu form, size_t n, const void *x, void *y, int bf16)
{
    switch (form) {
    case NUM_GELU_ERF:
        FORWARD(gate_erf)
        break;
    case NUM_GELU_TANH:
        FORWARD(gate_tanh)
        break;
    case NUM_GELU_QUICK:
        FORWARD(gate_quick)
        break;
    }
}

static UTIL_CLONES(void, forward_chunk,
                   (enum num_gelu form, size_t n, const void *x, void *y,
                    int bf16),
                   (form, n, x, y, bf16))
{
    NUM_BY_TYPE(bf16, forward_of, form, n, x, y);
}

LANES_INLINE void
backward_of(enum num_gelu form, size_t n, const void *x, const void *dy,
            void *dx, int bf16)
{
    switch (form) {
    case NUM_GELU_ERF:
        BACKWARD(gate_erf)
        break;
    case NUM_GELU_TANH:
        BACKWARD(gate_tanh)
        break;
    case NUM_GELU_QUICK:
        BACKWARD(gate_quick)
        break;
    }
}

static UTIL_CLONES(void, backward_chunk,
                   (enum num_gelu form, size_t n, const void *x, const void *dy,
                    void *dx, int bf16),
                   (form, n, x, dy, dx, bf16))
{
    NUM_BY_TYPE(bf16, backward_of, form, n, x, dy, dx);
}

/* Prefetches the next chunk. */
static void
prefetch_next(size_t n, size_t at, int bf16, const void *x)
{
    if (at + 2 * CHUNK <= n)
        lanes_prefetch(num_half_at(x, at + CHUNK, bf16),
                       num_half_bytes(CHUNK, bf16));
}

void
num_gelu_forward(enum num_gelu form, size_t n, int bf16, const void *x, void *y)
{
#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < n; at += CHUNK) {
        prefetch_next(n, at, bf16, x);
        prefetch_next(n, at, bf16, y);
        forward_chunk(form, num_least(CHUNK, n - at), num_half_at(x, at, bf16),
                      num_half_at(y, at, bf16), bf16);
    }
}

void
num_gelu_backward(enum num_gelu form, size_t n, int bf16, const void *x,
                  const void *dy, void *dx)
{
#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < n; at += CHUNK) {
        prefetch_next(n, at, bf16, x);
        prefetch_next(n, at, bf16, dy);
        backward_chunk(form, num_least(CHUNK, n - at), num_half_at(x, at, bf16),
                       num_half_at(dy, at, bf16), num_half_at(dx, at, bf16),
                       bf16);
    }
}
