#include "planes.h"
#include "lanes.h"
#include "util/clones.h"

/*
 * Each loop is written once, for both types, and compiled for each apart:
 * BOTH_TYPES() calls it with bf16 as a constant.  A body sees a group of 16
 * elements at i, of which the first n count.
 */
#define BOTH_TYPES(call_f32, call_bf16) \
    do {                                \
        if (bf16)                       \
            call_bf16;                  \
        else                            \
            call_f32;                   \
    } while (0)

LANES_INLINE lanes
take(const void *data, size_t i, size_t n, int bf16)
{
    return n < LANES ? lanes_first(data, i, n, bf16)
                     : lanes_load(data, i, bf16);
}

LANES_INLINE void
give(void *data, size_t i, size_t n, lanes x, int bf16)
{
    if (n < LANES)
        lanes_keep(data, i, n, x, bf16);
    else
        lanes_store(data, i, x, bf16);
}

LANES_INLINE lanes
flowing(const struct planes_flow *flow, size_t i, size_t n, int bf16)
{
    lanes g = take(flow->dy, i, n, bf16);

    if (flow->dy2)
        g += take(flow->dy2, i, n, bf16);
    if (flow->y)
        g = lanes_positive(g, take(flow->y, i, n, bf16));
    return g;
}

LANES_INLINE void
measure(size_t size, int bf16, const void *x, const float *centre, float *sum,
        float *square)
{
    lanes c = lanes_load(centre, 0, 0), d, e;
    lanes s0 = {0}, s1 = {0}, q0 = {0}, q1 = {0};
    size_t i = 0;

    for (; i + 2 * LANES <= size; i += 2 * LANES) {
        d = lanes_load(x, i, bf16) - c;
        e = lanes_load(x, i + LANES, bf16) - c;
        s0 += d;
        s1 += e;
        q0 += d * d;
        q1 += e * e;
    }
    for (; i < size; i += LANES) {
        size_t n = size - i < LANES ? size - i : LANES;

        d = take(x, i, n, bf16) - c;
        if (n < LANES)
            d = lanes_cut(d, n);
        s0 += d;
        q0 += d * d;
    }
    lanes_store(sum, 0, s0 + s1, 0);
    lanes_store(square, 0, q0 + q1, 0);
}

UTIL_CLONES void
planes_measure(size_t size, int bf16, const void *x, const float *centre,
               float *sum, float *square)
{
    BOTH_TYPES(measure(size, 0, x, centre, sum, square),
               measure(size, 1, x, centre, sum, square));
}

LANES_INLINE void
apply(size_t size, int bf16, const void *x, const float *scale,
      const float *centre, const float *shift, const void *add, int relu,
      void *y)
{
    lanes a = lanes_load(scale, 0, 0), c = lanes_load(centre, 0, 0);
    lanes b = lanes_load(shift, 0, 0);

    for (size_t i = 0; i < size; i += LANES) {
        size_t n = size - i < LANES ? size - i : LANES;
        lanes out = a * (take(x, i, n, bf16) - c) + b;

        if (add)
            out += take(add, i, n, bf16);
        if (relu)
            out = lanes_positive(out, out);
        give(y, i, n, out, bf16);
    }
}

UTIL_CLONES void
planes_apply(size_t size, int bf16, const void *x, const float *scale,
             const float *centre, const float *shift, const void *add, int relu,
             void *y)
{
    BOTH_TYPES(apply(size, 0, x, scale, centre, shift, add, relu, y),
               apply(size, 1, x, scale, centre, shift, add, relu, y));
}

LANES_INLINE void
back_measure(size_t size, int bf16, struct planes_flow flow, const void *x,
             const float *centre, void *kept, float *sum, float *along)
{
    lanes c = lanes_load(centre, 0, 0), s = {0}, a = {0};

    for (size_t i = 0; i < size; i += LANES) {
        size_t n = size - i < LANES ? size - i : LANES;
        lanes g = flowing(&flow, i, n, bf16);

        if (kept)
            give(kept, i, n, g, bf16);
        s += g;
        a += g * (take(x, i, n, bf16) - c); // g is 0 beyond n
    }
    lanes_store(sum, 0, s, 0);
    lanes_store(along, 0, a, 0);
}

UTIL_CLONES void
planes_back_measure(size_t size, int bf16, struct planes_flow flow,
                    const void *x, const float *centre, void *kept, float *sum,
                    float *along)
{
    BOTH_TYPES(back_measure(size, 0, flow, x, centre, kept, sum, along),
               back_measure(size, 1, flow, x, centre, kept, sum, along));
}

LANES_INLINE void
back(size_t size, int bf16, struct planes_flow flow, const void *x,
     const float *centre, const float *p, const float *q, const float *s,
     void *dx)
{
    lanes c = lanes_load(centre, 0, 0), vp = lanes_load(p, 0, 0);
    lanes vq = lanes_load(q, 0, 0), vs = lanes_load(s, 0, 0);

    for (size_t i = 0; i < size; i += LANES) {
        size_t n = size - i < LANES ? size - i : LANES;
        lanes g = flowing(&flow, i, n, bf16);

        give(dx, i, n, vp * g + vq * (take(x, i, n, bf16) - c) + vs, bf16);
    }
}

UTIL_CLONES void
planes_back(size_t size, int bf16, struct planes_flow flow, const void *x,
            const float *centre, const float *p, const float *q, const float *s,
            void *dx)
{
    BOTH_TYPES(back(size, 0, flow, x, centre, p, q, s, dx),
               back(size, 1, flow, x, centre, p, q, s, dx));
}

LANES_INLINE void
keep_flow(size_t size, int bf16, struct planes_flow flow, void *kept)
{
    for (size_t i = 0; i < size; i += LANES) {
        size_t n = size - i < LANES ? size - i : LANES;

        give(kept, i, n, flowing(&flow, i, n, bf16), bf16);
    }
}

UTIL_CLONES void
planes_flow(size_t size, int bf16, struct planes_flow flow, void *kept)
{
    BOTH_TYPES(keep_flow(size, 0, flow, kept), keep_flow(size, 1, flow, kept));
}

LANES_INLINE void
sum_of(size_t size, int bf16, const void *x, float *sum)
{
    lanes s = {0};

    for (size_t i = 0; i < size; i += LANES) {
        size_t n = size - i < LANES ? size - i : LANES;

        s += take(x, i, n, bf16);
    }
    lanes_store(sum, 0, s, 0);
}

UTIL_CLONES void
planes_sum(size_t size, int bf16, const void *x, float *sum)
{
    BOTH_TYPES(sum_of(size, 0, x, sum), sum_of(size, 1, x, sum));
}

UTIL_CLONES void
planes_fill(size_t size, int bf16, const float *value, void *y)
{
    lanes v = lanes_load(value, 0, 0);

    for (size_t i = 0; i < size; i += LANES)
        give(y, i, size - i < LANES ? size - i : LANES, v, bf16);
}
