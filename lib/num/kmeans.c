#include <math.h>
#include <string.h>

#include "num/kmeans.h"
#include "num/vec.h"
#include "util/clones.h"
#include "util/err.h"
#include "util/mem.h"

#include "helpers.h"
#include "products.h"

/* STRIP points, a multiple of PRODUCTS_COLUMNS, are compared at a time. */
enum { ROUNDS = 300, STRIP = 256, LANES = 32 };
static const double still = 1e-4; // as in the header

/* From this many numbers on, threads are used. */
enum { MANY = 1 << 16 };

/* Distances are computed from products, |x|^2 + |c|^2 - 2 x.c, by a matrix
 * product; the points are centred to limit the cancellation. */
struct kmeans {
    size_t n, d, k, tries;
    size_t line;        /* n, and on to a multiple of PRODUCTS_COLUMNS */
    float *x, *columns; /* [n,d] points around their mean, and [d,line] */
    float *mean;        /* [d] */
    float *norm;        /* [n] |x_i|^2 */
    double variance;    /* of all dimensions together */
    float *product;     /* [max(k, tries), line] */
    float *near;        /* [n] squared distance from the nearest centre */
    double *group;      /* [n / LANES] sums of so many of them */
    uint32_t *label;    /* [n] the nearest centre */
    float *centre;      /* [k,d] */
    float *half;        /* [k] |c|^2 / 2 */
    float *candidate;   /* [tries,d] */
    double *sum;        /* [k,d] */
    size_t *count;      /* [k] points of each centre */
};

static UTIL_CLONES(void, add_to_doubles,
                   (size_t n, const float *x, double *sum), (n, x, sum))
{
    for (size_t i = 0; i < n; i++)
        sum[i] += x[i];
}

/* Copies the points, centred, as rows and as columns. */
static void
centre_points(struct kmeans *m, const float *x)
{
    const size_t n = m->n, d = m->d;
    double all = 0;

    memset(m->sum, 0, d * sizeof *m->sum);
    for (size_t i = 0; i < n; i++)
        add_to_doubles(d, x + i * d, m->sum);
    for (size_t j = 0; j < d; j++)
        m->mean[j] = (float)(m->sum[j] / (double)n);
    for (size_t i = 0; i < n; i++) {
        float *row = m->x + i * d;

        for (size_t j = 0; j < d; j++)
            row[j] = x[i * d + j] - m->mean[j];
        m->norm[i] = (float)num_dot(d, row, row);
        all += m->norm[i];
    }
    m->variance = all / (double)n;
    for (size_t from = 0; from < n; from += PRODUCTS_COLUMNS)
        for (size_t j = 0; j < d; j++)
            for (size_t i = from; i < n && i < from + PRODUCTS_COLUMNS; i++)
                m->columns[j * m->line + i] = m->x[i * d + j];
}

static void
init_kmeans(struct kmeans *m, const float *x)
{
    const size_t n = m->n, d = m->d, k = m->k;

    m->tries = 2 + (size_t)log((double)k);
    m->line = num_round_up(n, PRODUCTS_COLUMNS);
    m->x = mem_unset(n * d, sizeof *m->x);
    m->columns = mem_aligned(d * m->line, sizeof *m->columns);
    m->mean = mem_array(d, sizeof *m->mean);
    m->norm = mem_array(n, sizeof *m->norm);
    m->product =
        mem_unset((k > m->tries ? k : m->tries) * m->line, sizeof *m->product);
    m->group = mem_array(n / LANES, sizeof *m->group);
    m->near = mem_array(n, sizeof *m->near);
    m->label = mem_array(n, sizeof *m->label);
    m->centre = mem_aligned(k * d, sizeof *m->centre);
    m->half = mem_array(k, sizeof *m->half);
    m->candidate = mem_aligned(m->tries * d, sizeof *m->candidate);
    m->sum = mem_array(k * d, sizeof *m->sum);
    m->count = mem_array(k, sizeof *m->count);
    centre_points(m, x);
}

/* The distances with another centre c: replaces the products x_i.c by the
 * distances, and returns their sum. */
static UTIL_CLONES(double, distances_with_another,
                   (size_t n, const float *near, const float *norm, float own,
                    float *product),
                   (n, near, norm, own, product))
{
    float part[LANES] = {0};
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        float x = norm[i] + own - 2 * product[i];

        x = x > 0 ? x : 0;
        product[i] = x < near[i] ? x : near[i];
    }
    for (size_t i = 0; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            part[j] += product[i + j];
    for (size_t i = n / LANES * LANES; i < n; i++)
        sum += product[i];
    for (size_t j = 0; j < LANES; j++)
        sum += part[j];
    return sum;
}

static UTIL_CLONES(void, sum_groups, (size_t n, const float *x, double *group),
                   (n, x, group))
{
    for (size_t g = 0; g < n / LANES; g++) {
        double part[LANES / 4] = {0}, sum = 0;

        for (size_t i = 0; i < LANES; i += LANES / 4)
            for (size_t j = 0; j < LANES / 4; j++)
                part[j] += x[g * LANES + i + j];
        for (size_t j = 0; j < LANES / 4; j++)
            sum += part[j];
        group[g] = sum;
    }
}

/* Draws a point with probability proportional to its distance. */
static size_t
draw_point(const struct kmeans *m, double sum, struct rng *rng)
{
    const size_t last = m->n - 1, groups = m->n / LANES;
    double left = rng_unit(rng) * sum;
    size_t g = 0, i;

    while (g < groups && left >= m->group[g])
        left -= m->group[g++];
    i = g * LANES < last ? g * LANES : last;
    while (i < last && (left -= m->near[i]) >= 0)
        i++;
    return i;
}

/* Computes products of rows [count,d] with a strip of points. */
static void
multiply_points(const struct kmeans *m, size_t count, const float *row,
                size_t from)
{
    const size_t left = m->line - from;
    const struct products_rows product = {.a = row,
                                          .row = m->d,
                                          .step = 1,
                                          .b = m->columns + from,
                                          .ldb = m->line,
                                          .c = m->product + from,
                                          .ldc = m->line,
                                          .rows = count,
                                          .n = left < STRIP ? left : STRIP,
                                          .depth = m->d};

    num_products()->rows(&product);
}

/* Adds centre c, the best of some draws; `sum` is the sum of the distances
 * before, the result that after. */
static double
add_centre(struct kmeans *m, size_t c, double sum, struct rng *rng)
{
    const size_t n = m->n, d = m->d, tries = c ? m->tries : 1;
    double least = INFINITY;
    size_t best = 0;

    for (size_t t = 0; t < tries; t++) {
        const size_t i = c ? draw_point(m, sum, rng) : rng_below(rng, n);

        memcpy(m->candidate + t * d, m->x + i * d, d * sizeof *m->x);
    }
#pragma omp parallel for schedule(static) if (n * d >= MANY)
    for (size_t from = 0; from < n; from += STRIP)
        multiply_points(m, tries, m->candidate, from);
    for (size_t t = 0; t < tries; t++) {
        const float *own = m->candidate + t * d;
        const double with = distances_with_another(n, m->near, m->norm,
                                                   (float)num_dot(d, own, own),
                                                   m->product + t * m->line);

        if (with < least) {
            least = with;
            best = t;
        }
    }
    memcpy(m->centre + c * d, m->candidate + best * d, d * sizeof *m->centre);
    memcpy(m->near, m->product + best * m->line, n * sizeof *m->near);
    sum_groups(n, m->near, m->group);
    return least;
}

/* The nearest of k centres to each of n <= STRIP points, and the squared
 * distance.
 *   half [k] |c|^2 / 2;  product [k,n], in lines of so many */
static UTIL_CLONES(void, nearest_centres,
                   (size_t n, size_t k, size_t line, const float *half,
                    const float *product, const float *norm, float *near,
                    uint32_t *label),
                   (n, k, line, half, product, norm, near, label))
{
    float least[STRIP];
    uint32_t nearest[STRIP] = {0};

    for (size_t i = 0; i < n; i++)
        least[i] = half[0] - product[i];
    for (size_t c = 1; c < k; c++) {
        const float *row = product + c * line, own = half[c];

        for (size_t i = 0; i < n; i++) {
            const float x = own - row[i];

            nearest[i] = x < least[i] ? (uint32_t)c : nearest[i];
            least[i] = x < least[i] ? x : least[i];
        }
    }
    for (size_t i = 0; i < n; i++) {
        const float x = norm[i] + 2 * least[i];

        near[i] = x > 0 ? x : 0;
        label[i] = nearest[i];
    }
}

/* Assigns points to their nearest centres. */
static void
assign_points(struct kmeans *m)
{
    const size_t n = m->n, d = m->d, k = m->k;

    for (size_t c = 0; c < k; c++) {
        const float *at = m->centre + c * d;

        m->half[c] = (float)(num_dot(d, at, at) / 2);
    }
#pragma omp parallel for schedule(static) if (n * d >= MANY)
    for (size_t from = 0; from < n; from += STRIP) {
        multiply_points(m, k, m->centre, from);
        nearest_centres(n - from < STRIP ? n - from : STRIP, k, m->line,
                        m->half, m->product + from, m->norm + from,
                        m->near + from, m->label + from);
    }
}

/* Gives an empty centre c the farthest point of a centre with several. */
static void
fill_centre(struct kmeans *m, size_t c)
{
    const size_t d = m->d;
    size_t far = m->n;

    for (size_t i = 0; i < m->n; i++)
        if (m->count[m->label[i]] > 1 &&
            (far == m->n || m->near[i] > m->near[far]))
            far = i;
    m->count[m->label[far]]--;
    m->count[c] = 1;
    for (size_t j = 0; j < d; j++) {
        m->sum[m->label[far] * d + j] -= m->x[far * d + j];
        m->sum[c * d + j] = m->x[far * d + j];
    }
    m->label[far] = (uint32_t)c;
}

/* Moves centres to the mean of their points; returns the sum of squared moves.
 */
static double
move_centres(struct kmeans *m)
{
    const size_t d = m->d, k = m->k;
    double moved = 0;

    memset(m->sum, 0, k * d * sizeof *m->sum);
    memset(m->count, 0, k * sizeof *m->count);
    for (size_t i = 0; i < m->n; i++) {
        m->count[m->label[i]]++;
        add_to_doubles(d, m->x + i * d, m->sum + m->label[i] * d);
    }
    for (size_t c = 0; c < k; c++)
        if (!m->count[c])
            fill_centre(m, c);
    for (size_t c = 0; c < k; c++)
        for (size_t j = 0; j < d; j++) {
            float *at = m->centre + c * d + j, old = *at;

            *at = (float)(m->sum[c * d + j] / (double)m->count[c]);
            moved += pow((double)*at - old, 2);
        }
    return moved;
}

double
num_kmeans(size_t n, size_t d, size_t k, const float *x, struct rng *rng,
           float *centre, uint32_t *label)
{
    struct kmeans m = {.n = n, .d = d, .k = k};
    double enough, before = INFINITY, sum = 0;

    REQUIRE(k >= 1 && k <= n && d >= 1);
    init_kmeans(&m, x);
    for (size_t i = 0; i < n; i++)
        m.near[i] = INFINITY;
    for (size_t c = 0; c < k; c++)
        before = add_centre(&m, c, before, rng);
    enough = still * m.variance / (double)d;
    for (int t = 0; t < ROUNDS; t++) {
        assign_points(&m);
        if (move_centres(&m) <= enough)
            break;
    }
    assign_points(&m);
    for (size_t i = 0; i < n; i++)
        sum += m.near[i];
    for (size_t c = 0; c < k; c++)
        for (size_t j = 0; j < d; j++)
            centre[c * d + j] = m.centre[c * d + j] + m.mean[j];
    if (label)
        memcpy(label, m.label, n * sizeof *label);
    mem_free(m.x, m.columns, m.mean, m.norm, m.product, m.near, m.group,
             m.label, m.centre, m.half, m.candidate, m.sum, m.count);
    return sum;
}
