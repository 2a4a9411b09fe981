#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/exp.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "util/clones.h"
#include "util/mem.h"
#include "util/rng.h"

#include "cache.h"

/* Rows of the bank that are scored together: their scores stay in the cache of
 * the processor. */
enum { BLOCK = 512, LANES = 16 };

/* The weight of the rows of a block: sum exp(beta (s - most)); sum is 0 if none
 * of them may be drawn. */
struct mass {
    float most;
    double sum;
};

/* The softmax of n queries, block by block. */
struct search {
    const struct sample_bank *bank;
    float beta;
    size_t blocks;
    const int64_t *own; /* [n] */
    const float *query; /* [n,d] */
    struct mass *mass;  /* [n,blocks] */
    float *s;           /* [n,BLOCK] scores of a block */
};

/* Rows in a block. */
static size_t
block_length(const struct search *all, size_t block)
{
    const size_t left = all->bank->size - block * BLOCK;

    return left < BLOCK ? left : BLOCK;
}

/* Excludes rows that were never written. */
static UTIL_CLONES(void, exclude_unwritten,
                   (size_t n, const int64_t *when, float *s), (n, when, s))
{
    for (size_t j = 0; j < n; j++)
        s[j] = when[j] < 0 ? -INFINITY : s[j];
}

/* s becomes exp(beta (s - most)); returns the sum. */
static UTIL_CLONES(double, sum_exponentials,
                   (size_t n, float beta, float most, float *s),
                   (n, beta, most, s))
{
    double lane[LANES] = {0}, sum = 0;
    size_t j = 0;

    for (; j < n; j++)
        s[j] = num_exp(beta * (s[j] - most));
    for (j = 0; j + LANES <= n; j += LANES)
        for (size_t i = 0; i < LANES; i++)
            lane[i] += s[j + i];
    for (; j < n; j++)
        sum += s[j];
    for (size_t i = 0; i < LANES; i++)
        sum += lane[i];
    return sum;
}

/* The mass of a block for a query; s [BLOCK] holds scores, and then their
 * exponentials. */
static struct mass
weigh_block(const struct search *all, size_t query, size_t block, float *s)
{
    const size_t length = block_length(all, block);
    struct mass mass;

    if (all->bank->known < all->bank->size)
        exclude_unwritten(length, all->bank->when + block * BLOCK, s);
    if ((size_t)all->own[query] / BLOCK == block)
        s[(size_t)all->own[query] % BLOCK] = -INFINITY;
    mass.most = num_max(length, s);
    if (!(mass.most > -INFINITY))
        return (struct mass){-INFINITY, 0};
    mass.sum = sum_exponentials(length, all->beta, mass.most, s);
    return mass;
}

static struct search
begin_search(double beta, const struct sample_bank *bank, size_t n,
             const int64_t *own, const float *query, struct arena *scratch)
{
    const size_t d = bank->dim, blocks = (bank->size + BLOCK - 1) / BLOCK;
    const struct search all = {
        .bank = bank,
        // neither 0 nor infinity in single precision
        .beta = (float)fmin(fmax(beta, 1e-30), 1e30),
        .blocks = blocks,
        .own = own,
        .query = query,
        .mass = arena_take(scratch, n * blocks, sizeof *all.mass),
        .s = arena_take(scratch, n * BLOCK, sizeof *all.s),
    };

    REQUIRE(beta >= 0 && isfinite(beta) && n <= 65536);
    for (size_t block = 0; block < blocks; block++) {
        const size_t length = block_length(&all, block);

        num_gemm_nt(n, length, d, 1, query, bank->rows + block * BLOCK * d, 0,
                    all.s);
        for (size_t q = 0; q < n; q++)
            all.mass[q * blocks + block] =
                weigh_block(&all, q, block, all.s + q * length);
    }
    return all;
}

/* The mass of all blocks for a query. */
static struct mass
total_mass(const struct search *all, size_t query)
{
    const struct mass *mass = all->mass + query * all->blocks;
    struct mass sum = {-INFINITY, 0};

    for (size_t i = 0; i < all->blocks; i++)
        sum.most = fmaxf(sum.most, mass[i].most);
    for (size_t i = 0; i < all->blocks; i++)
        if (mass[i].sum > 0)
            sum.sum += mass[i].sum *
                       exp(all->beta * ((double)mass[i].most - sum.most));
    return sum;
}

/* log Z; -INFINITY if no row may be drawn. */
static double
log_z(const struct search *all, size_t query)
{
    const struct mass sum = total_mass(all, query);

    return sum.sum > 0 ? (double)all->beta * sum.most + log(sum.sum)
                       : -INFINITY;
}

/* The index at which the running sum of n weights passes `share` of sum. */
static size_t
find_passing(size_t n, const float *weight, double share, double sum)
{
    const float nothing = 1e-37f; // num_exp() of an excluded row is e^-87
    double run = 0;
    size_t last = 0;

    for (size_t j = 0; j < n; j++) {
        if (!(weight[j] > nothing))
            continue;
        last = j;
        run += weight[j];
        if (run > share * sum)
            break;
    }
    return last;
}

/* Picks a block by *u, and rescales *u to be uniform within the block. */
static size_t
pick_block(const struct search *all, size_t query, double *u)
{
    const struct mass *mass = all->mass + query * all->blocks;
    const struct mass sum = total_mass(all, query);
    double run = 0, share = 0;
    size_t last = 0;

    for (size_t i = 0; i < all->blocks; i++) {
        if (!(mass[i].sum > 0))
            continue;
        share = mass[i].sum *
                exp(all->beta * ((double)mass[i].most - sum.most)) / sum.sum;
        last = i;
        if (run + share > *u)
            break;
        run += share;
    }
    *u = fmin(fmax((*u - run) / share, 0), 1);
    return last;
}

/* Draws a negative for a query. */
static struct sample_draw
draw_one(const struct search *all, size_t query, struct rng *rng)
{
    const struct sample_bank *bank = all->bank;
    const float *own = all->query + query * bank->dim;
    const double z = log_z(all, query);
    double u = rng_unit(rng), s;
    struct mass mass;
    size_t block, j;

    if (!(z > -INFINITY))
        return (struct sample_draw){-1, 0};
    block = pick_block(all, query, &u);
    num_gemm_nt(1, block_length(all, block), bank->dim, 1, own,
                bank->rows + block * BLOCK * bank->dim, 0, all->s);
    mass = weigh_block(all, query, block, all->s);
    j = block * BLOCK +
        find_passing(block_length(all, block), all->s, u, mass.sum);
    s = num_dot(bank->dim, own, bank->rows + j * bank->dim);
    return (struct sample_draw){(int64_t)j, all->beta * s - z};
}

/* Copies the samples' rows of the bank as queries. */
static float *
own_rows(const struct sample_bank *bank, size_t n, const int64_t *own,
         struct arena *scratch)
{
    const size_t d = bank->dim;
    float *query = arena_take(scratch, n * d, sizeof *query);

    for (size_t i = 0; i < n; i++)
        memcpy(query + i * d, bank->rows + (size_t)own[i] * d,
               d * sizeof *query);
    return query;
}

void
sample_cache_draw(const struct sample_cache_settings *how,
                  const struct sample_bank *bank, size_t n, const int64_t *own,
                  struct sample_draw *draw, struct arena *scratch)
{
    const float *query = own_rows(bank, n, own, scratch);
    const struct search all =
        begin_search(how->beta, bank, n, own, query, scratch);

    for (size_t q = 0; q < n; q++) {
        struct rng rng;

        rng_init(&rng, how->seed, RNG_CACHE, how->step, how->epoch, q);
        draw[q] = bank->when[own[q]] >= 0 ? draw_one(&all, q, &rng)
                                          : (struct sample_draw){-1, 0};
    }
}

double
sample_cache_weigh(double beta, double limit, const struct sample_bank *bank,
                   size_t n, const int64_t *own, const float *query,
                   const float *positive, const struct sample_draw *draw,
                   float *scale, struct arena *scratch)
{
    const struct search all = begin_search(beta, bank, n, own, query, scratch);
    double sum = 0;
    size_t draws = 0;

    for (size_t q = 0; q < n; q++) {
        const double z = log_z(&all, q);
        double one_minus_p = 0, importance = 0;

        if (draw[q].id >= 0 && z > -INFINITY) {
            const float *row = bank->rows + (size_t)draw[q].id * bank->dim;
            const double s = num_dot(bank->dim, query + q * bank->dim, row);

            one_minus_p = 1 / (1 + exp(all.beta * (double)positive[q] - z));
            importance = fmin(exp(all.beta * s - z - draw[q].log_q), limit);
            draws++;
        }
        scale[2 * q] = (float)one_minus_p;
        scale[2 * q + 1] = (float)(one_minus_p * importance);
        sum += importance;
    }
    return draws ? sum / (double)draws : 0;
}

/* ---- refresh ------------------------------------------------------------- */

int64_t *
sample_refresh_order(size_t size, uint64_t seed)
{
    int64_t *order = mem_array(size, sizeof *order);
    struct rng rng;

    for (size_t i = 0; i < size; i++)
        order[i] = (int64_t)i;
    rng_init(&rng, seed, RNG_REFRESH, 0, 0, 0);
    rng_shuffle(&rng, size, order);
    return order;
}

size_t
sample_refresh_period(double rho)
{
    REQUIRE(rho > 0 && rho <= 1);
    // by rounding 1 / rho may be slightly above a whole number
    return (size_t)ceil(1 / rho - 1e-9);
}

size_t
sample_refresh_next(size_t size, size_t period, uint64_t step, size_t *from)
{
    const size_t part = (size_t)(step % period), rest = size % period;

    // part * size / period, without its overflow
    *from = size / period * part + rest * part / period;
    return size / period + rest * (part + 1) / period - rest * part / period;
}
