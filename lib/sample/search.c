#include <math.h>
#include <string.h>

#include "num/exp.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "util/clones.h"
#include "util/err.h"

#include "search.h"

/* Rows of the bank that are scored together: their scores stay in the cache of
 * the processor. */
enum { BLOCK = 512, LANES = 16 };

static size_t
block_length(const struct sample_search *all, size_t block)
{
    const size_t left = all->bank->size * all->bank->views - block * BLOCK;

    return left < BLOCK ? left : BLOCK;
}

/* Excludes rows that were never written. */
static UTIL_CLONES(void, exclude_unwritten,
                   (size_t n, const int64_t *when, float *s), (n, when, s))
{
    for (size_t j = 0; j < n; j++)
        s[j] = when[j] < 0 ? -INFINITY : s[j];
}

/* Excludes the rows of a kind; the first is row `at` of its sample. */
static void
exclude_kind(size_t n, size_t views, size_t at, int second, float *s)
{
    for (size_t j = 0; j < n; j++, at = at + 1 < views ? at + 1 : 0)
        if ((at > 0) == second)
            s[j] = -INFINITY;
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
static struct sample_mass
weigh_block(const struct sample_search *all, size_t query, size_t block,
            float *s)
{
    const size_t length = block_length(all, block);
    const size_t views = all->bank->views;
    const size_t place = (size_t)all->own[query] % views;
    const size_t own = (size_t)all->own[query] - place;
    struct sample_mass mass;

    if (all->bank->known < all->bank->size * views)
        exclude_unwritten(length, all->bank->when + block * BLOCK, s);
    for (size_t row = own; row < own + views; row++)
        if (row / BLOCK == block)
            s[row % BLOCK] = -INFINITY;
    if (all->cross)
        exclude_kind(length, views, block * BLOCK % views, place > 0, s);
    mass.most = num_max(length, s);
    if (!(mass.most > -INFINITY))
        return (struct sample_mass){-INFINITY, 0};
    mass.sum = sum_exponentials(length, all->beta, mass.most, s);
    return mass;
}

struct sample_search
sample_search(double beta, const struct sample_bank *bank, int cross, size_t n,
              const int64_t *own, const float *query, struct arena *scratch)
{
    const size_t d = bank->dim;
    const size_t blocks = (bank->size * bank->views + BLOCK - 1) / BLOCK;
    const struct sample_search all = {
        .bank = bank,
        .cross = cross,
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
static struct sample_mass
total_mass(const struct sample_search *all, size_t query)
{
    const struct sample_mass *mass = all->mass + query * all->blocks;
    struct sample_mass sum = {-INFINITY, 0};

    for (size_t i = 0; i < all->blocks; i++)
        sum.most = fmaxf(sum.most, mass[i].most);
    for (size_t i = 0; i < all->blocks; i++)
        if (mass[i].sum > 0)
            sum.sum += mass[i].sum *
                       exp(all->beta * ((double)mass[i].most - sum.most));
    return sum;
}

double
sample_search_log_z(const struct sample_search *all, size_t query)
{
    const struct sample_mass sum = total_mass(all, query);

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
pick_block(const struct sample_search *all, size_t query, double *u)
{
    const struct sample_mass *mass = all->mass + query * all->blocks;
    const struct sample_mass sum = total_mass(all, query);
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

struct sample_draw
sample_search_draw(const struct sample_search *all, size_t query,
                   struct rng *rng)
{
    const struct sample_bank *bank = all->bank;
    const float *own = all->query + query * bank->dim;
    const double z = sample_search_log_z(all, query);
    double u = rng_unit(rng), s;
    struct sample_mass mass;
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

float *
sample_search_rows(const struct sample_bank *bank, size_t n, const int64_t *row,
                   struct arena *to)
{
    const size_t d = bank->dim;
    float *rows = arena_take(to, n * d, sizeof *rows);

    for (size_t i = 0; i < n; i++)
        memcpy(rows + i * d, bank->rows + (size_t)row[i] * d, d * sizeof *rows);
    return rows;
}
