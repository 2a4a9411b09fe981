/* The loops of planes.h for one instruction set (level.h). */
#include "num/half.h"

#include "lanes.h"
#include "planes.h"

/* A line is 32 elements, each with its own partial sum, so that all instruction
 * sets give the same bits; numbers by lane repeat after 16. */
enum {
    LINE = 32,
    AHEAD = 1024, /* elements to prefetch ahead */
    PAIRS = LINE / PAIR,
    TERMS = PAIR < LANES ? LANES / PAIR : 1
};

struct line {
    struct pair p[PAIRS];
};

struct term {
    struct pair p[TERMS];
};

/* The operands of a loop, as in planes.h, and its sums. */
struct sweep {
    const void *x, *add;
    struct num_planes_flow flow;
    void *to;
    int relu;
    struct term centre, scale, shift, p, q, s;
    struct line sum, product;
};

/* A step processes pair p of a line, elements at .. at + n - 1; n is PAIR
 * except for the last.  Each loop is written once and compiled for both types:
 * bf16 is a constant. */
typedef void loop_step(struct sweep *sweep, size_t p, size_t at, size_t n,
                       int bf16);

/* Prefetches a line of all operands. */
LANES_INLINE void
prefetch_line(const struct sweep *w, size_t at, int bf16)
{
    const void *all[] = {w->x, w->add, w->flow.dy, w->flow.dy2, w->flow.y};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            lanes_prefetch(num_half_at(all[i], at, bf16),
                           num_half_bytes(LINE, bf16));
}

LANES_INLINE void
each_pair(size_t size, loop_step *step, struct sweep *sweep, int bf16)
{
    size_t at = 0;

    for (; at + LINE <= size; at += LINE) {
        if (at + AHEAD + LINE <= size)
            prefetch_line(sweep, at + AHEAD, bf16);
        for (size_t p = 0; p < PAIRS; p++)
            step(sweep, p, at + p * PAIR, PAIR, bf16);
    }
    for (size_t p = 0; p < PAIRS; p++, at += PAIR)
        if (at < size)
            step(sweep, p, at, num_least(PAIR, size - at), bf16);
}

/* Reads the first n elements of a pair, the others as zero. */
LANES_INLINE struct pair
read_pair(const void *data, size_t i, size_t n, int bf16)
{
    float all[PAIR] = {0};

    if (n == PAIR)
        return pair_load(data, i, bf16);
    memcpy(all, num_half_at(data, i, bf16), num_half_bytes(n, bf16));
    return pair_load(all, 0, bf16);
}

/* Writes only the first n. */
LANES_INLINE void
write_pair(void *data, size_t i, size_t n, struct pair x, int bf16)
{
    float all[PAIR];

    if (n == PAIR) {
        pair_store(data, i, x, bf16);
        return;
    }
    pair_store(all, 0, x, bf16);
    memcpy(num_half_at(data, i, bf16), all, num_half_bytes(n, bf16));
}

/* a + b, a - b, a b, and a b + c. */
LANES_INLINE struct pair
add_pairs(struct pair a, struct pair b)
{
    return (struct pair){{a.v[0] + b.v[0], a.v[1] + b.v[1]}};
}

LANES_INLINE struct pair
subtract_pairs(struct pair a, struct pair b)
{
    return (struct pair){{a.v[0] - b.v[0], a.v[1] - b.v[1]}};
}

LANES_INLINE struct pair
multiply_pairs(struct pair a, struct pair b)
{
    return (struct pair){{a.v[0] * b.v[0], a.v[1] * b.v[1]}};
}

LANES_INLINE struct pair
multiply_add_pairs(struct pair a, struct pair b, struct pair c)
{
    return (struct pair){{a.v[0] * b.v[0] + c.v[0], a.v[1] * b.v[1] + c.v[1]}};
}

/* x where y is positive, else 0. */
LANES_INLINE struct pair
where_positive(struct pair x, struct pair y)
{
    return (struct pair){
        {lanes_positive(x.v[0], y.v[0]), lanes_positive(x.v[1], y.v[1])}};
}

/* 16 numbers, in the order of a line. */
LANES_INLINE struct term
term_of(const float *x, int bf16)
{
    struct term term;

    for (size_t p = 0; p < TERMS; p++) {
        const size_t at = p * PAIR;
        const struct pair plain = {
            {lanes_at(x + at), lanes_at(x + (at + LANES_WIDE) % LANES)}};

        term.p[p] = bf16 ? pair_parted(plain) : plain;
    }
    return term;
}

/* Adds up the sums of each of 16 lanes: every block of a map divides 16, so a
 * lane belongs to one channel. */
LANES_INLINE void
fold_lanes(const struct line *line, float *sum, int bf16)
{
    lanes v[2 * PAIRS];

    for (size_t p = 0; p < PAIRS; p++) {
        const struct pair x = line->p[p], plain = bf16 ? pair_joined(x) : x;

        v[2 * p] = plain.v[0];
        v[2 * p + 1] = plain.v[1];
    }
    for (size_t i = 0; i < PAIRS; i++) {
        const lanes both = v[i] + v[i + PAIRS];

        memcpy(sum + i * LANES_WIDE, &both, sizeof both);
    }
}

/* x - centre. */
LANES_INLINE struct pair
centred_pair(const struct sweep *w, size_t p, size_t at, size_t n, int bf16)
{
    return subtract_pairs(read_pair(w->x, at, n, bf16), w->centre.p[p % TERMS]);
}

/* g; d is x - centre. */
LANES_INLINE struct pair
flowing_pair(const struct sweep *w, struct pair d, size_t p, size_t at,
             size_t n, int bf16)
{
    const struct num_planes_flow *flow = &w->flow;
    struct pair g = read_pair(flow->dy, at, n, bf16);

    if (flow->dy2)
        g = add_pairs(g, read_pair(flow->dy2, at, n, bf16));
    if (flow->scale)
        return where_positive(g, multiply_add_pairs(w->scale.p[p % TERMS], d,
                                                    w->shift.p[p % TERMS]));
    return flow->y ? where_positive(g, read_pair(flow->y, at, n, bf16)) : g;
}

LANES_INLINE void
measure_pair(struct sweep *w, size_t p, size_t at, size_t n, int bf16)
{
    struct pair d = centred_pair(w, p, at, n, bf16);

    if (n < PAIR)
        d = pair_cut(d, n, bf16);
    w->sum.p[p] = add_pairs(w->sum.p[p], d);
    w->product.p[p] = multiply_add_pairs(d, d, w->product.p[p]);
}

static void
planes_measure(size_t size, int bf16, const void *x, const float *centre,
               float *sum, float *square)
{
    struct sweep w = {.x = x, .centre = term_of(centre, bf16)};

    NUM_BY_TYPE(bf16, each_pair, size, measure_pair, &w);
    fold_lanes(&w.sum, sum, bf16);
    fold_lanes(&w.product, square, bf16);
}

LANES_INLINE void
apply_pair(struct sweep *w, size_t p, size_t at, size_t n, int bf16)
{
    struct pair y = multiply_add_pairs(w->scale.p[p % TERMS],
                                       centred_pair(w, p, at, n, bf16),
                                       w->shift.p[p % TERMS]);

    if (w->add)
        y = add_pairs(y, read_pair(w->add, at, n, bf16));
    write_pair(w->to, at, n, w->relu ? where_positive(y, y) : y, bf16);
}

static void
planes_apply(size_t size, int bf16, const void *x, const float *scale,
             const float *centre, const float *shift, const void *add, int relu,
             void *y)
{
    struct sweep w = {.x = x, .add = add, .to = y, .relu = relu};

    w.centre = term_of(centre, bf16);
    w.scale = term_of(scale, bf16);
    w.shift = term_of(shift, bf16);
    NUM_BY_TYPE(bf16, each_pair, size, apply_pair, &w);
}

LANES_INLINE struct sweep
sweep_of_flow(struct num_planes_flow flow, const void *x, const float *centre,
              void *to, int bf16)
{
    struct sweep w = {.x = x, .flow = flow, .to = to};

    w.centre = term_of(centre, bf16);
    if (flow.scale) {
        w.scale = term_of(flow.scale, bf16);
        w.shift = term_of(flow.shift, bf16);
    }
    return w;
}

LANES_INLINE void
back_measure_pair(struct sweep *w, size_t p, size_t at, size_t n, int bf16)
{
    const struct pair d = centred_pair(w, p, at, n, bf16);
    const struct pair g = flowing_pair(w, d, p, at, n, bf16); // 0 beyond n

    if (w->to)
        write_pair(w->to, at, n, g, bf16);
    w->sum.p[p] = add_pairs(w->sum.p[p], g);
    w->product.p[p] = multiply_add_pairs(g, d, w->product.p[p]);
}

static void
planes_back_measure(size_t size, int bf16, struct num_planes_flow flow,
                    const void *x, const float *centre, void *out, float *sum,
                    float *along)
{
    struct sweep w = sweep_of_flow(flow, x, centre, out, bf16);

    NUM_BY_TYPE(bf16, each_pair, size, back_measure_pair, &w);
    fold_lanes(&w.sum, sum, bf16);
    fold_lanes(&w.product, along, bf16);
}

LANES_INLINE void
back_pair(struct sweep *w, size_t p, size_t at, size_t n, int bf16)
{
    const struct pair d = centred_pair(w, p, at, n, bf16);
    const struct pair g = flowing_pair(w, d, p, at, n, bf16);
    const size_t t = p % TERMS;

    write_pair(w->to, at, n,
               add_pairs(add_pairs(multiply_pairs(w->p.p[t], g),
                                   multiply_pairs(w->q.p[t], d)),
                         w->s.p[t]),
               bf16);
}

static void
planes_back(size_t size, int bf16, struct num_planes_flow flow, const void *x,
            const float *centre, const float *p, const float *q, const float *s,
            void *dx)
{
    struct sweep w = sweep_of_flow(flow, x, centre, dx, bf16);

    w.p = term_of(p, bf16);
    w.q = term_of(q, bf16);
    w.s = term_of(s, bf16);
    NUM_BY_TYPE(bf16, each_pair, size, back_pair, &w);
}

LANES_INLINE void
flow_pair(struct sweep *w, size_t p, size_t at, size_t n, int bf16)
{
    write_pair(w->to, at, n,
               flowing_pair(w, (struct pair){{{0}, {0}}}, p, at, n, bf16),
               bf16);
}

static void
planes_flow(size_t size, int bf16, struct num_planes_flow flow, void *out)
{
    struct sweep w = {.flow = flow, .to = out};

    w.flow.scale = NULL;
    NUM_BY_TYPE(bf16, each_pair, size, flow_pair, &w);
}

LANES_INLINE void
sum_pair(struct sweep *w, size_t p, size_t at, size_t n, int bf16)
{
    w->sum.p[p] = add_pairs(w->sum.p[p], read_pair(w->x, at, n, bf16));
}

static void
planes_sum(size_t size, int bf16, const void *x, float *sum)
{
    struct sweep w = {.x = x};

    NUM_BY_TYPE(bf16, each_pair, size, sum_pair, &w);
    fold_lanes(&w.sum, sum, bf16);
}

LANES_INLINE void
fill_pair(struct sweep *w, size_t p, size_t at, size_t n, int bf16)
{
    write_pair(w->to, at, n, w->p.p[p % TERMS], bf16);
}

static void
planes_fill(size_t size, int bf16, const float *value, void *y)
{
    struct sweep w = {.to = y, .p = term_of(value, bf16)};

    NUM_BY_TYPE(bf16, each_pair, size, fill_pair, &w);
}

const struct num_planes LEVEL_OF(num_planes) = {
    .measure = planes_measure,
    .apply = planes_apply,
    .back_measure = planes_back_measure,
    .back = planes_back,
    .flow = planes_flow,
    .sum = planes_sum,
    .fill = planes_fill,
};
