#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/knn.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "util/clones.h"
#include "util/err.h"
#include "util/mem.h"

// a tile of scores is 2 MB: the best of those tried, with one thread or two
enum { QUERIES = 1024, TILE = 512, GROUP = 16 };

/*
 * Products <q, r> become something that ranks references as s does for one
 * query: times scale, minus shift.  Cosine: |q| s.  Euclidean: (s + |q|^2) / 2.
 */
struct eval_knn {
    size_t n, d;
    const float *ref;
    enum eval_metric metric;
    float *scale, *shift; /* [n] */
    double *square;       /* [n] |r|^2 */
    double longest;       /* largest |r| scale */
};

/* A reference that may be among the nearest, with its f32 rank. */
struct candidate {
    float rank;
    uint32_t id;
};

/* What is known about one query: candidates in no order, among them the best
 * `room` of all references but itself. */
struct nearest {
    struct candidate *best; /* [2 room + GROUP] */
    size_t count, room;
    size_t self;     /* the reference that it is, or EVAL_NO_SELF */
    float threshold; /* no reference of a higher rank is missing */
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
    *knn = (struct eval_knn){n, d, ref, metric, NULL, NULL, NULL, 0};
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
    free(knn->scale);
    free(knn->shift);
    free(knn->square);
    free(knn);
}

/* s of a query, of squared length qq, and one reference, as the header says. */
static double
exact(const struct eval_knn *knn, const float *query, double qq, uint32_t id)
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

/*
 * The most by which rounding can move a rank in f32: gamma_d |q| |r| for the
 * product in any order of summation (Higham 2002, 3.1), and a few more for
 * what is done to it.
 */
static double
rounding(const struct eval_knn *knn, double qq)
{
    double product = sqrt(qq) * knn->longest;

    if (knn->metric == EVAL_EUCLIDEAN)
        product += knn->longest * knn->longest;
    return ldexp((double)knn->d + 8, -24) * product;
}

static float
rank(const struct eval_knn *knn, float dot, size_t id)
{
    return dot * knn->scale[id] - knn->shift[id];
}

/* Writes to hit[] which groups hold a rank above the threshold. */
UTIL_CLONES static size_t
scan(size_t groups, const float *dot, const float *scale, const float *shift,
     float threshold, uint32_t *hit)
{
    size_t hits = 0;

    for (size_t g = 0; g < groups; g++) {
        int above = 0;

        for (size_t j = g * GROUP; j < (g + 1) * GROUP; j++)
            above |= dot[j] * scale[j] - shift[j] > threshold;
        hit[hits] = (uint32_t)g;
        hits += above != 0;
    }
    return hits;
}

/* Brings the k best of n candidates to the front, the k-th to its place (Hoare
 * 1961, algorithm 65). */
static void
find(struct candidate *c, size_t n, size_t k)
{
    const ptrdiff_t want = (ptrdiff_t)k - 1;
    ptrdiff_t low = 0, high = (ptrdiff_t)n - 1;

    while (low < high) {
        const float middle = c[want].rank;
        ptrdiff_t i = low, j = high;

        while (i <= j) {
            while (c[i].rank > middle)
                i++;
            while (middle > c[j].rank)
                j--;
            if (i <= j) {
                const struct candidate other = c[i];

                c[i++] = c[j];
                c[j--] = other;
            }
        }
        // none up to j is below the middle, none from i on above it
        if (j < want)
            low = i;
        if (want < i)
            high = j;
    }
}

/* Adds those of a group that are above the threshold, without a branch to
 * mispredict.  Where that leaves no room for another group, the worse half
 * goes, so that a candidate costs O(1) whatever k is. */
static void
keep(const struct eval_knn *knn, size_t first, size_t n, const float *dot,
     struct nearest *near)
{
    for (size_t j = 0; j < n; j++) {
        const size_t id = first + j;
        const float r = rank(knn, dot[j], id);

        near->best[near->count] = (struct candidate){r, (uint32_t)id};
        near->count += (r > near->threshold) & (id != near->self);
    }
    if (near->count < 2 * near->room)
        return;
    find(near->best, near->count, near->room);
    near->count = near->room;
    near->threshold = near->best[near->room - 1].rank;
}

/* Looks through the products of one query with references first .. first+n. */
static void
look(const struct eval_knn *knn, size_t first, size_t n, const float *dot,
     struct nearest *near)
{
    uint32_t hit[TILE / GROUP + 1];
    size_t groups = n / GROUP;
    size_t hits = scan(groups, dot, knn->scale + first, knn->shift + first,
                       near->threshold, hit);

    hit[hits++] = (uint32_t)groups; // what is left over, below one group
    for (size_t h = 0; h < hits; h++) {
        const size_t from = hit[h] * (size_t)GROUP;

        keep(knn, first + from, n - from < GROUP ? n - from : GROUP, dot + from,
             near);
    }
}

/* Nearest first, then the lower id. */
static int
compare(const void *a, const void *b)
{
    const struct neighbour *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* The k best of all references in double: the definition, O(n d). */
static void
search(const struct eval_knn *knn, const float *query, double qq, size_t k,
       size_t self, struct neighbour *best)
{
    size_t count = 0;

    for (size_t id = 0; id < knn->n; id++) {
        struct neighbour new = {0, (uint32_t)id};
        size_t at = count;

        if (id == self)
            continue;
        new.score = exact(knn, query, qq, new.id);
        if (count < k)
            count++;
        else if (compare(&new, &best[--at]) > 0)
            continue;
        for (; at && compare(&new, &best[at - 1]) < 0; at--)
            best[at] = best[at - 1];
        best[at] = new;
    }
}

/*
 * Ranks the candidates of a query in double.  Those that rounding may have
 * put behind the k-th are within twice its bound; where some of them may not be
 * among the candidates, everything is searched.
 */
static void
settle(const struct eval_knn *knn, const float *query, size_t k,
       const struct nearest *near, struct neighbour *best)
{
    double qq = num_dot(knn->d, query, query), limit;
    size_t count = 0;

    REQUIRE(near->count >= k); // else some products are not finite
    find(near->best, near->count, k);
    limit = near->best[k - 1].rank - 2 * rounding(knn, qq);
    if (near->threshold >= limit) {
        search(knn, query, qq, k, near->self, best);
        return;
    }
    for (size_t i = 0; i < near->count; i++) {
        uint32_t id = near->best[i].id;

        if (near->best[i].rank >= limit)
            best[count++] = (struct neighbour){exact(knn, query, qq, id), id};
    }
    qsort(best, count, sizeof *best, compare);
}

void
eval_knn_find(const struct eval_knn *knn, size_t m, const float *query,
              size_t k, size_t self, uint32_t *ids, double *score)
{
    size_t room = k + k / 8 + 4, most = 2 * room + GROUP, d = knn->d;
    struct candidate *candidates =
        mem_array(QUERIES * most, sizeof *candidates);
    struct neighbour *best = mem_array(most, sizeof *best);
    struct nearest near[QUERIES];
    float *dot = mem_aligned(QUERIES * TILE, sizeof *dot);

    REQUIRE(k >= 1 && k <= knn->n - (self != EVAL_NO_SELF));
    for (size_t start = 0; start < m; start += QUERIES) {
        size_t rows = m - start < QUERIES ? m - start : QUERIES;

        for (size_t i = 0; i < rows; i++)
            near[i] = (struct nearest){
                candidates + i * most, 0, room,
                self == EVAL_NO_SELF ? self : self + start + i, -INFINITY};
        for (size_t first = 0; first < knn->n; first += TILE) {
            size_t n = knn->n - first < TILE ? knn->n - first : TILE;

            num_gemm_nt(rows, n, d, 1, query + start * d, knn->ref + first * d,
                        0, dot);
            for (size_t i = 0; i < rows; i++)
                look(knn, first, n, dot + i * n, &near[i]);
        }
        for (size_t i = 0; i < rows; i++) {
            settle(knn, query + (start + i) * d, k, &near[i], best);
            for (size_t j = 0; j < k; j++) {
                ids[(start + i) * k + j] = best[j].id;
                if (score)
                    score[(start + i) * k + j] = best[j].score;
            }
        }
    }
    free(dot);
    free(best);
    free(candidates);
}
