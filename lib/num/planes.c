#include "util/clones.h"

#include "lanes.h"
#include "planes.h"

/*
 * Each loop is written once, for both types, and compiled for each apart:
 * BOTH_TYPES() calls it with bf16 as a constant.  A body sees the
 * pair of elements from i on, of which the first n count.
 */
#define BOTH_TYPES(call_f32, call_bf16) \
    do {                                \
        if (bf16)                       \
            call_bf16;                  \
        else                            \
            call_f32;                   \
    } while (0)

LANES_INLINE size_t
rest_of(size_t size, size_t i)
{
    return size - i < PAIR ? size - i : PAIR;
}

LANES_INLINE struct pair
take(const void *data, size_t i, size_t n, int bf16)
{
    return n < PAIR ? pair_first(data, i, n, bf16) : pair_load(data, i, bf16);
}

LANES_INLINE void
give(void *data, size_t i, size_t n, struct pair x, int bf16)
{
    if (n < PAIR)
        pair_keep(data, i, n, x, bf16);
    else
        pair_store(data, i, x, bf16);
}

/* dy + dy2 at i. */
LANES_INLINE struct pair
arriving(const struct num_planes_flow *flow, size_t i, size_t n, int bf16)
{
    struct pair g = take(flow->dy, i, n, bf16), more;

    if (!flow->dy2)
        return g;
    more = take(flow->dy2, i, n, bf16);
    for (int k = 0; k < 2; k++)
        g.v[k] += more.v[k];
    return g;
}

/* g where y is positive. */
LANES_INLINE struct pair
where_positive(struct pair g, struct pair y)
{
    for (int k = 0; k < 2; k++)
        g.v[k] = lanes_positive(g.v[k], y.v[k]);
    return g;
}

/* The linear map that made the output, where it is to be made again. */
struct remade {
    struct pair scale, shift;
};

LANES_INLINE struct remade
remade_of(const struct num_planes_flow *flow, int bf16)
{
    struct remade r = {{{{0}, {0}}}, {{{0}, {0}}}};

    if (flow->scale) {
        r.scale = pair_of(flow->scale, bf16);
        r.shift = pair_of(flow->shift, bf16);
    }
    return r;
}

/* g at i, with d = x - centre there. */
LANES_INLINE struct pair
flowing(const struct num_planes_flow *flow, const struct remade *r,
        struct pair d, size_t i, size_t n, int bf16)
{
    struct pair g = arriving(flow, i, n, bf16);

    if (flow->scale) {
        for (int k = 0; k < 2; k++)
            d.v[k] = r->scale.v[k] * d.v[k] + r->shift.v[k];
        return where_positive(g, d);
    }
    return flow->y ? where_positive(g, take(flow->y, i, n, bf16)) : g;
}

LANES_INLINE void
measure(size_t size, int bf16, const void *x, const float *centre, float *sum,
        float *square)
{
    struct pair c = pair_of(centre, bf16);
    struct pair s = {{{0}, {0}}}, q = {{{0}, {0}}};

    for (size_t i = 0; i < size; i += PAIR) {
        size_t n = rest_of(size, i);
        struct pair d = take(x, i, n, bf16);

        for (int k = 0; k < 2; k++)
            d.v[k] -= c.v[k];
        if (n < PAIR)
            d = pair_cut(d, n, bf16);
        for (int k = 0; k < 2; k++) {
            s.v[k] += d.v[k];
            q.v[k] += d.v[k] * d.v[k];
        }
    }
    pair_fold(s, sum, bf16);
    pair_fold(q, square, bf16);
}

UTIL_CLONES(void, num_planes_measure,
            (size_t size, int bf16, const void *x, const float *centre,
             float *sum, float *square),
            (size, bf16, x, centre, sum, square))
{
    BOTH_TYPES(measure(size, 0, x, centre, sum, square),
               measure(size, 1, x, centre, sum, square));
}

LANES_INLINE void
apply(size_t size, int bf16, const void *x, const float *scale,
      const float *centre, const float *shift, const void *add, int relu,
      void *y)
{
    struct pair a = pair_of(scale, bf16), c = pair_of(centre, bf16);
    struct pair b = pair_of(shift, bf16), more = {{{0}, {0}}};

    for (size_t i = 0; i < size; i += PAIR) {
        size_t n = rest_of(size, i);
        struct pair out = take(x, i, n, bf16);

        if (add)
            more = take(add, i, n, bf16);
        for (int k = 0; k < 2; k++) {
            out.v[k] = a.v[k] * (out.v[k] - c.v[k]) + b.v[k] + more.v[k];
            if (relu)
                out.v[k] = lanes_positive(out.v[k], out.v[k]);
        }
        give(y, i, n, out, bf16);
    }
}

UTIL_CLONES(void, num_planes_apply,
            (size_t size, int bf16, const void *x, const float *scale,
             const float *centre, const float *shift, const void *add, int relu,
             void *y),
            (size, bf16, x, scale, centre, shift, add, relu, y))
{
    BOTH_TYPES(apply(size, 0, x, scale, centre, shift, add, relu, y),
               apply(size, 1, x, scale, centre, shift, add, relu, y));
}

LANES_INLINE void
back_measure(size_t size, int bf16, struct num_planes_flow flow, const void *x,
             const float *centre, void *kept, float *sum, float *along)
{
    struct pair c = pair_of(centre, bf16);
    struct pair s = {{{0}, {0}}}, a = {{{0}, {0}}};
    struct remade r = remade_of(&flow, bf16);

    for (size_t i = 0; i < size; i += PAIR) {
        size_t n = rest_of(size, i);
        struct pair d = take(x, i, n, bf16), g;

        for (int k = 0; k < 2; k++)
            d.v[k] -= c.v[k];
        g = flowing(&flow, &r, d, i, n, bf16);
        if (kept)
            give(kept, i, n, g, bf16);
        for (int k = 0; k < 2; k++) {
            s.v[k] += g.v[k];
            a.v[k] += g.v[k] * d.v[k]; // g is 0 beyond n
        }
    }
    pair_fold(s, sum, bf16);
    pair_fold(a, along, bf16);
}

UTIL_CLONES(void, num_planes_back_measure,
            (size_t size, int bf16, struct num_planes_flow flow, const void *x,
             const float *centre, void *kept, float *sum, float *along),
            (size, bf16, flow, x, centre, kept, sum, along))
{
    BOTH_TYPES(back_measure(size, 0, flow, x, centre, kept, sum, along),
               back_measure(size, 1, flow, x, centre, kept, sum, along));
}

LANES_INLINE void
back(size_t size, int bf16, struct num_planes_flow flow, const void *x,
     const float *centre, const float *p, const float *q, const float *s,
     void *dx)
{
    struct pair c = pair_of(centre, bf16), vp = pair_of(p, bf16);
    struct pair vq = pair_of(q, bf16), vs = pair_of(s, bf16);
    struct remade r = remade_of(&flow, bf16);

    for (size_t i = 0; i < size; i += PAIR) {
        size_t n = rest_of(size, i);
        struct pair d = take(x, i, n, bf16), g;

        for (int k = 0; k < 2; k++)
            d.v[k] -= c.v[k];
        g = flowing(&flow, &r, d, i, n, bf16);
        for (int k = 0; k < 2; k++)
            d.v[k] = vp.v[k] * g.v[k] + vq.v[k] * d.v[k] + vs.v[k];
        give(dx, i, n, d, bf16);
    }
}

UTIL_CLONES(void, num_planes_back,
            (size_t size, int bf16, struct num_planes_flow flow, const void *x,
             const float *centre, const float *p, const float *q,
             const float *s, void *dx),
            (size, bf16, flow, x, centre, p, q, s, dx))
{
    BOTH_TYPES(back(size, 0, flow, x, centre, p, q, s, dx),
               back(size, 1, flow, x, centre, p, q, s, dx));
}

LANES_INLINE void
keep_flow(size_t size, int bf16, struct num_planes_flow flow, void *kept)
{
    for (size_t i = 0; i < size; i += PAIR) {
        size_t n = rest_of(size, i);
        struct pair g = arriving(&flow, i, n, bf16);

        if (flow.y)
            g = where_positive(g, take(flow.y, i, n, bf16));
        give(kept, i, n, g, bf16);
    }
}

UTIL_CLONES(void, num_planes_flow,
            (size_t size, int bf16, struct num_planes_flow flow, void *kept),
            (size, bf16, flow, kept))
{
    BOTH_TYPES(keep_flow(size, 0, flow, kept), keep_flow(size, 1, flow, kept));
}

LANES_INLINE void
sum_of(size_t size, int bf16, const void *x, float *sum)
{
    struct pair s = {{{0}, {0}}};

    for (size_t i = 0; i < size; i += PAIR) {
        struct pair more = take(x, i, rest_of(size, i), bf16);

        for (int k = 0; k < 2; k++)
            s.v[k] += more.v[k];
    }
    pair_fold(s, sum, bf16);
}

UTIL_CLONES(void, num_planes_sum,
            (size_t size, int bf16, const void *x, float *sum),
            (size, bf16, x, sum))
{
    BOTH_TYPES(sum_of(size, 0, x, sum), sum_of(size, 1, x, sum));
}

LANES_INLINE void
fill(size_t size, int bf16, const float *value, void *y)
{
    struct pair v = pair_of(value, bf16);

    for (size_t i = 0; i < size; i += PAIR)
        give(y, i, rest_of(size, i), v, bf16);
}

UTIL_CLONES(void, num_planes_fill,
            (size_t size, int bf16, const float *value, void *y),
            (size, bf16, value, y))
{
    BOTH_TYPES(fill(size, 0, value, y), fill(size, 1, value, y));
}
