#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/knn.h"
#include "num/gemm.h"
#include "num/narrow.h"
#include "num/vec.h"
#include "util/clones.h"
#include "util/err.h"
#include "util/mem.h"

// a tile of scores is 2 MB: the fastest in trials, with one thread or two;
// half of it for a large k, so that candidates stay in the cache
enum { QUERIES = 2048, TILE = 256, LARGE_K = 50, GROUP = 8 };

// rows to prefetch; bytes of a cache line
enum { AHEAD = 4, LINE = 64 };

/*
 * For k above 1 / SHARE_OF_ALL of the references, products are in f32: scaled
 * ones (num_scaled) would leave too many candidates.  If they leave more than 1
 * / SHARE_OF_BLOCK of a block's queries without an answer, later blocks use
 * f32, too; so the first block has only FIRST queries.
 */
enum { SHARE_OF_ALL = 128, SHARE_OF_BLOCK = 8, FIRST = 64 };

/* For one query, <q, r> scale - shift orders the references as the score s
 * (eval/knn.h) does.  Cosine: |q| s.  Euclidean: (s + |q|^2) / 2. */
struct eval_knn {
    size_t n, d;
    const float *ref;
    enum eval_metric metric;
    float *scale, *shift;            /* [n] */
    double *square;                  /* [n] |r|^2 */
    double longest;                  /* largest |r| scale */
    const struct num_narrow *method; /* method of products; NULL: f32 */
    double residual;                 /* its bound for all references */
};

/* State of one query: candidates in no order, each an id and its f32 rank; they
 * include the best `room` of all references except the query itself. */
struct nearest {
    int32_t *key; /* [2 room + GROUP] ranks, by key_of_rank() */
    uint32_t *id;
    size_t count, room;
    size_t self;     /* index of the query as a reference, or EVAL_NO_SELF */
    float threshold; /* all references of a higher rank are candidates */
};

/* A reference with its s in double. */
struct neighbour {
    double score;
    uint32_t id;
};

struct eval_knn *
eval_knn_new(size_t n, size_t d, const float *ref, enum eval_metric metric)
{
    struct eval_knn *knn = mem_array(1, sizeof *knn);

    REQUIRE(n >= 1 && n <= UINT32_MAX && d >= 1);
    *knn = (struct eval_knn){
        .n = n, .d = d, .ref = ref, .metric = metric, .method = num_narrow()};
    if (knn->method)
        knn->residual = knn->method->residual(n, d, ref);
    knn->scale = mem_array(n, sizeof *knn->scale);
    knn->shift = mem_array(n, sizeof *knn->shift);
    knn->square = mem_array(n, sizeof *knn->square);
    for (size_t j = 0; j < n; j++) {
        double square = num_dot(d, ref + j * d, ref + j * d);
        double length = sqrt(square);

        knn->square[j] = square;
        if (metric == EVAL_EUCLIDEAN) {
            knn->scale[j] = 1;
            knn->shift[j] = (float)(square / 2);
        } else if (length > 0) {
            knn->scale[j] = (float)(1 / length);
        }
        knn->longest = fmax(knn->longest, length * knn->scale[j]);
    }
    return knn;
}

void
eval_knn_free(struct eval_knn *knn)
{
    if (!knn)
        return;
    mem_free(knn->scale, knn->shift, knn->square, knn);
}

/* Returns s of a query, of squared length qq, and one reference. */
static double
exact_score(const struct eval_knn *knn, const float *query, double qq,
            uint32_t id)
{
    const float *ref = knn->ref + id * knn->d;
    double rr = knn->square[id], apart = 0;

    if (knn->metric == EVAL_COSINE)
        return qq > 0 && rr > 0 ? num_dot(knn->d, query, ref) / sqrt(qq * rr)
                                : 0;
    for (size_t i = 0; i < knn->d; i++)
        apart += ((double)query[i] - ref[i]) * ((double)query[i] - ref[i]);
    return -apart;
}

/* Writes 1 for each rank above the threshold, else 0. */
static UTIL_CLONES(void, mark_above,
                   (size_t n, const float *restrict dot,
                    const float *restrict scale, const float *restrict shift,
                    float threshold, uint8_t *restrict above),
                   (n, dot, scale, shift, threshold, above))
{
    for (size_t i = 0; i < n; i++)
        above[i] = dot[i] * scale[i] - shift[i] > threshold;
}

/* Returns a whole number that grows with the rank. */
static int32_t
key_of_rank(float rank)
{
    int32_t bits;

    memcpy(&bits, &rank, sizeof bits);
    return bits ^ (-(bits < 0) & INT32_MAX);
}

static float
rank_of(int32_t key)
{
    const int32_t bits = key ^ (-(key < 0) & INT32_MAX);
    float rank;

    memcpy(&rank, &bits, sizeof rank);
    return rank;
}

static UTIL_CLONES(size_t, count_above,
                   (size_t n, const int32_t *keys, int32_t bound),
                   (n, keys, bound))
{
    uint32_t above = 0;

    for (size_t i = 0; i < n; i++)
        above += keys[i] > bound;
    return above;
}

static UTIL_CLONES(void, limits_of_keys,
                   (size_t n, const int32_t *keys, int32_t *least,
                    int32_t *most),
                   (n, keys, least, most))
{
    int32_t low = INT32_MAX, high = INT32_MIN;

    for (size_t i = 0; i < n; i++) {
        low = keys[i] < low ? keys[i] : low;
        high = keys[i] > high ? keys[i] : high;
    }
    *least = low;
    *most = high;
}

/* Finds by bisection a bound that k to `most` of n keys reach; if there is
 * none, returns the k-th largest key.  Counting is vectorised and cheaper than
 * moving keys: to move 2 room keys costs about ten counts. */
static int32_t
find_bound(size_t n, const int32_t *keys, size_t k, size_t most)
{
    int32_t low, high;
    size_t count = n; // at least low; fewer than k are above high

    limits_of_keys(n, keys, &low, &high);
    while (low < high && count > most) {
        const int32_t middle = (int32_t)(low + ((int64_t)high - low) / 2);
        const size_t above = count_above(n, keys, middle);

        if (above < k) {
            high = middle;
        } else {
            low = middle + 1;
            count = above;
        }
    }
    return low;
}

/* Keeps the best candidates, at least `room` and not many more. */
static void
cut_candidates(struct nearest *near)
{
    const size_t most = near->room + near->room / 8 + 3;
    const int32_t bound = find_bound(near->count, near->key, near->room, most);
    size_t equal = most - count_above(near->count, near->key, bound);
    size_t count = 0;

    for (size_t i = 0; i < near->count; i++) {
        const int32_t k = near->key[i];
        const size_t is_equal = k == bound && equal;

        near->key[count] = k;
        near->id[count] = near->id[i];
        count += (k > bound) | is_equal;
        equal -= is_equal;
    }
    near->count = count;
    near->threshold = fmaxf(near->threshold, rank_of(bound));
}

/* Adds the marked references of a group.  If the next group would not fit, the
 * worse half is dropped: a candidate costs O(1) for any k. */
static void
add_marked(const struct eval_knn *knn, size_t first, uint64_t above,
           const float *dot, struct nearest *near)
{
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        above = __builtin_bswap64(above);
    for (; above; above &= above - 1) {
        const size_t j = (size_t)__builtin_ctzll(above) / 8;
        const size_t id = first + j;

        near->key[near->count] =
            key_of_rank(dot[j] * knn->scale[id] - knn->shift[id]);
        near->id[near->count] = (uint32_t)id;
        near->count += id != near->self;
    }
    if (near->count >= 2 * near->room)
        cut_candidates(near);
}

/* Scans the products of one query with references first .. first+n. */
static void
scan_products(const struct eval_knn *knn, size_t first, size_t n,
              const float *dot, struct nearest *near)
{
    const size_t groups = (n + GROUP - 1) / GROUP;
    uint64_t above[TILE / GROUP];
    uint32_t hit[TILE / GROUP];
    size_t hits = 0;

    above[groups - 1] = 0; // zeros after the last mark
    mark_above(n, dot, knn->scale + first, knn->shift + first, near->threshold,
               (uint8_t *)above);
    for (size_t g = 0; g < groups; g++) {
        hit[hits] = (uint32_t)g;
        hits += above[g] != 0;
    }
    for (size_t h = 0; h < hits; h++) {
        const size_t from = hit[h] * (size_t)GROUP;

        add_marked(knn, first + from, above[hit[h]], dot + from, near);
    }
}

/* Orders by distance, then by id. */
static int
compare_neighbours(const void *a, const void *b)
{
    const struct neighbour *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Finds the k best of all references in double: the definition, O(n d). */
static void
search_exactly(const struct eval_knn *knn, const float *query, double qq,
               size_t k, size_t self, struct neighbour *best)
{
    size_t count = 0;

    for (size_t id = 0; id < knn->n; id++) {
        struct neighbour new = {0, (uint32_t)id};
        size_t at = count;

        if (id == self)
            continue;
        new.score = exact_score(knn, query, qq, new.id);
        if (count < k)
            count++;
        else if (compare_neighbours(&new, &best[--at]) > 0)
            continue;
        for (; at && compare_neighbours(&new, &best[at - 1]) < 0; at--)
            best[at] = best[at - 1];
        best[at] = new;
    }
}

/* Computation of products of queries and a tile of references. */
struct knn_products {
    const struct num_narrow *method; /* NULL: in f32 */
    uint32_t *rows, *panels;
    float *dot;      /* [QUERIES,TILE] */
    double residual; /* of queries plus references */
};

/*
 * Sorts the candidates of a query by s in double.  A reference that rounding
 * put behind the k-th is at most twice the rounding bound behind it: gamma_d
 * |q| |r| for an f32 product in any order of summation (Higham 2002, 3.1), or
 * the bound of the method, and 8 units of 2^-24 for the later operations.
 * Returns 0 if some of these may not be among the candidates.
 */
static int
sort_candidates(const struct eval_knn *knn, const struct knn_products *p,
                const float *query, double qq, size_t k,
                const struct nearest *near, struct neighbour *best)
{
    const double product = p->method ? p->method->error(knn->d) + p->residual
                                     : ldexp((double)knn->d, -24);
    double length = sqrt(qq) * knn->longest, limit;
    size_t count = 0;

    REQUIRE(near->count >= k); // fails if products are not finite
    if (knn->metric == EVAL_EUCLIDEAN)
        length += knn->longest * knn->longest;
    limit = rank_of(find_bound(near->count, near->key, k, k)) -
            2 * ((product + ldexp(8, -24)) * length);
    if (near->threshold >= limit)
        return 0;
    for (size_t i = 0; i < near->count; i++)
        if (rank_of(near->key[i]) >= limit)
            best[count++].id = near->id[i];
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) { // rarely in the cache
            const float *row = knn->ref + best[i + AHEAD].id * knn->d;

            for (size_t j = 0; j < knn->d; j += LINE / sizeof *row)
                __builtin_prefetch(row + j);
        }
        best[i].score = exact_score(knn, query, qq, best[i].id);
    }
    qsort(best, count, sizeof *best, compare_neighbours);
    return 1;
}

/* A search for the k nearest of each query. */
struct search {
    const struct eval_knn *knn;
    const float *query; /* [m,d] */
    size_t k, room, self;
    uint32_t *ids; /* [m,k] */
    double *score; /* [m,k], or NULL */
    struct knn_products products;
    int32_t *keys;        /* [QUERIES, 2 room + GROUP] */
    uint32_t *ids_found;  /* [QUERIES, 2 room + GROUP] */
    struct nearest *near; /* [QUERIES] */
    float *rows;          /* [QUERIES,d] of open queries */
    size_t *open;         /* [QUERIES] queries without an answer so far */
    uint8_t *answered;    /* [QUERIES] 1: by the latest answer_queries() */
};

static void
prepare_search(struct search *s)
{
    const struct eval_knn *knn = s->knn;
    const size_t most = 2 * s->room + GROUP;
    const int many = knn->method == &num_scaled && s->k > knn->n / SHARE_OF_ALL;
    struct knn_products *p = &s->products;

    p->method = many ? NULL : knn->method;
    p->dot = mem_aligned(QUERIES * TILE, sizeof *p->dot);
    if (p->method) {
        p->rows =
            mem_aligned(p->method->words(QUERIES, knn->d), sizeof *p->rows);
        p->panels =
            mem_aligned(p->method->words(TILE, knn->d), sizeof *p->panels);
    }
    s->keys = mem_array(QUERIES * most, sizeof *s->keys);
    s->ids_found = mem_array(QUERIES * most, sizeof *s->ids_found);
    s->near = mem_array(QUERIES, sizeof *s->near);
    s->rows = mem_aligned(QUERIES * knn->d, sizeof *s->rows);
    s->open = mem_array(QUERIES, sizeof *s->open);
    s->answered = mem_array(QUERIES, sizeof *s->answered);
}

/* Returns the index of a query as a reference. */
static size_t
self_of_query(const struct search *s, size_t query)
{
    return s->self == EVAL_NO_SELF ? s->self : s->self + query;
}

/* Finds candidates of the first m open queries. */
static void
find_candidates(struct search *s, size_t m)
{
    const struct eval_knn *knn = s->knn;
    const size_t most = 2 * s->room + GROUP, d = knn->d;
    struct knn_products *p = &s->products;

    for (size_t i = 0; i < m; i++) {
        memcpy(s->rows + i * d, s->query + s->open[i] * d, d * sizeof *s->rows);
        s->near[i] = (struct nearest){.key = s->keys + i * most,
                                      .id = s->ids_found + i * most,
                                      .room = s->room,
                                      .self = self_of_query(s, s->open[i]),
                                      .threshold = -INFINITY};
    }
    if (p->method) {
        p->method->rows(m, d, s->rows, p->rows);
        p->residual = p->method->residual(m, d, s->rows) + knn->residual;
    }
    for (size_t first = 0; first < knn->n; first += TILE) {
        const size_t n = knn->n - first < TILE ? knn->n - first : TILE;

        if (p->method) {
            p->method->panels(n, d, knn->ref + first * d, p->panels);
            p->method->product(m, n, d, p->rows, p->panels, p->dot);
        } else {
            num_gemm_nt(m, n, d, 1, s->rows, knn->ref + first * d, 0, p->dot);
        }
#pragma omp parallel for schedule(static)
        for (size_t i = 0; i < m; i++)
            scan_products(knn, first, n, p->dot + i * n, &s->near[i]);
    }
}

/* Answers query s->open[i] from its candidates, if they suffice, or from all
 * references; returns 1 if it did. */
static int
answer_query(const struct search *s, size_t i, int exactly,
             struct neighbour *best)
{
    const size_t at = s->open[i], d = s->knn->d, k = s->k;
    const float *query = s->query + at * d;
    const double qq = num_dot(d, query, query);

    if (exactly)
        search_exactly(s->knn, query, qq, k, self_of_query(s, at), best);
    else if (!sort_candidates(s->knn, &s->products, query, qq, k, &s->near[i],
                              best))
        return 0;
    for (size_t j = 0; j < k; j++) {
        s->ids[at * k + j] = best[j].id;
        if (s->score)
            s->score[at * k + j] = best[j].score;
    }
    return 1;
}

/* Answers the first m open queries; returns the number that stay open. */
static size_t
answer_queries(struct search *s, size_t m, int exactly)
{
    size_t left = 0;

#pragma omp parallel
    {
        struct neighbour *best = mem_array(2 * s->room + GROUP, sizeof *best);

#pragma omp for schedule(dynamic, 8)
        for (size_t i = 0; i < m; i++)
            s->answered[i] = (uint8_t)answer_query(s, i, exactly, best);
        free(best);
    }
    for (size_t i = 0; i < m; i++) {
        s->open[left] = s->open[i];
        left += !s->answered[i];
    }
    return left;
}

/* Answers m queries from `start` on: queries that stay open after faster
 * products are repeated in f32, and those that stay open then, in double. */
static void
search_block(struct search *s, size_t start, size_t m)
{
    const struct num_narrow *by = s->products.method;
    size_t left;

    for (size_t i = 0; i < m; i++)
        s->open[i] = start + i;
    find_candidates(s, m);
    left = answer_queries(s, m, 0);
    if (left && by) {
        const int many = left > m / SHARE_OF_BLOCK;

        s->products.method = NULL;
        find_candidates(s, left);
        left = answer_queries(s, left, 0);
        s->products.method = many ? NULL : by;
    }
    answer_queries(s, left, 1);
}

void
eval_knn_find(const struct eval_knn *knn, size_t m, const float *query,
              size_t k, size_t self, uint32_t *ids, double *score)
{
    struct search s = {.knn = knn,
                       .query = query,
                       .k = k,
                       .room = k + k / 8 + 4,
                       .self = self,
                       .ids = ids,
                       .score = score};
    size_t size;

    REQUIRE(k >= 1 && k <= knn->n - (self != EVAL_NO_SELF));
    prepare_search(&s);
    for (size_t start = 0; start < m; start += size) {
        size = k > LARGE_K ? QUERIES / 2 : QUERIES;
        if (!start && m > size && s.products.method == &num_scaled)
            size = FIRST;
        size = m - start < size ? m - start : size;
        search_block(&s, start, size);
    }
    mem_free(s.products.dot, s.products.rows, s.products.panels, s.keys,
             s.ids_found, s.near, s.rows, s.open, s.answered);
}

size_t
eval_vote(size_t k, const uint32_t *ids, const double *score,
          const int64_t *labels, size_t classes, double temperature,
          double *votes)
{
    size_t chosen = 0;

    memset(votes, 0, classes * sizeof *votes);
    for (size_t j = 0; j < k; j++)
        votes[labels[ids[j]]] +=
            temperature > 0 ? exp((score[j] - score[0]) / temperature) : 1;
    for (size_t c = 1; c < classes; c++)
        if (votes[c] > votes[chosen])
            chosen = c;
    return chosen;
}
