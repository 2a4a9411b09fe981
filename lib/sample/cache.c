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

/* Rows of the bank that are looked at together: their scores stay in reach of
 * the processor. */
enum { BLOCK = 512, LANES = 16 };

/* What the rows of a block weigh: sum exp(beta (s - most)); nothing where
 * none of them may be drawn, and sum is 0. */
struct mass {
    float most;
    double sum;
};

/* The softmax of n queries, block by block. */
struct search {
    const struct sample_bank *bank;
    float beta;
    size_t n, blocks;
    const int64_t *own; /* [n] */
    const float *query; /* [n,d] */
    struct mass *mass;  /* [n,blocks] */
    float *s;           /* [n,BLOCK] scores of a block */
};

static size_t
block_length(const struct search *all, size_t block)
{
    const size_t left = all->bank->size - block * BLOCK;

    return left < BLOCK ? left : BLOCK;
}

/* -INFINITY takes a sample out of a block's scores, if it is in there. */
static void
leave_out(size_t block, int64_t id, float *s)
{
    if (id >= 0 && (size_t)id / BLOCK == block)
        s[(size_t)id - block * BLOCK] = -INFINITY;
}

/* Take out rows that are not there. */
static UTIL_CLONES(void, leave_out_unknown,
                   (size_t n, const int64_t *when, float *s), (n, when, s))
{
    for (size_t j = 0; j < n; j++)
        s[j] = when[j] < 0 ? -INFINITY : s[j];
}

static UTIL_CLONES(float, largest_score, (size_t n, const float *s), (n, s))
{
    float lane[LANES], most = -INFINITY;
    size_t j = 0;

    for (size_t i = 0; i < LANES; i++)
        lane[i] = -INFINITY;
    for (; j + LANES <= n; j += LANES)
        for (size_t i = 0; i < LANES; i++)
            lane[i] = s[j + i] > lane[i] ? s[j + i] : lane[i];
    for (; j < n; j++)
        most = s[j] > most ? s[j] : most;
    for (size_t i = 0; i < LANES; i++)
        most = lane[i] > most ? lane[i] : most;
    return most;
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

/* The mass of a block for a query, without `n` of the draws; s [BLOCK] holds
 * scores, and then their exponentials. */
static struct mass
weigh_block(const struct search *all, size_t query, size_t block, size_t n,
            const struct sample_draw *without, float *s)
{
    const size_t length = block_length(all, block);
    struct mass mass;

    if (all->bank->known < all->bank->size)
        leave_out_unknown(length, all->bank->when + block * BLOCK, s);
    leave_out(block, all->own[query], s);
    for (size_t i = 0; i < n; i++)
        leave_out(block, without[i].id, s);
    mass.most = largest_score(length, s);
    if (!(mass.most > -INFINITY))
        return (struct mass){-INFINITY, 0};
    mass.sum = sum_exponentials(length, all->beta, mass.most, s);
    return mass;
}

static void
search_init(struct search *all, double beta, const struct sample_bank *bank,
            size_t n, const int64_t *own, const float *query)
{
    const size_t d = bank->dim;

    REQUIRE(beta >= 0 && isfinite(beta) && n <= 65536);
    *all = (struct search){
        .bank = bank,
        // within what single precision can tell from 0 and from infinity
        .beta = (float)fmin(fmax(beta, 1e-30), 1e30),
        .n = n,
        .blocks = (bank->size + BLOCK - 1) / BLOCK,
        .own = own,
        .query = query,
    };
    all->mass = mem_array(n * all->blocks, sizeof *all->mass);
    all->s = mem_aligned(n * BLOCK, sizeof *all->s);
    for (size_t block = 0; block < all->blocks; block++) {
        const size_t length = block_length(all, block);

        num_gemm_nt(n, length, d, 1, query, bank->rows + block * BLOCK * d, 0,
                    all->s);
        for (size_t q = 0; q < n; q++)
            all->mass[q * all->blocks + block] =
                weigh_block(all, q, block, 0, NULL, all->s + q * length);
    }
}

static void
search_release(struct search *all)
{
    free(all->mass);
    free(all->s);
}

/* What all blocks weigh for a query. */
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

/* log Z; -INFINITY where there is nothing. */
static double
log_z(const struct search *all, size_t query)
{
    const struct mass sum = total_mass(all, query);

    return sum.sum > 0 ? (double)all->beta * sum.most + log(sum.sum)
                       : -INFINITY;
}

/* Where the running sum of n weights passes `share` of their sum. */
static size_t
find_passing(size_t n, const float *weight, double share, double sum)
{
    const float nothing = 1e-37f; // e^-87 is num_exp() of what was left out
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

/* Pick a block, and change *u to what is left of it: uniform within. */
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

/* Weigh a block for one query again, without its first n draws. */
static void
look_again(struct search *all, size_t query, size_t block, size_t n,
           const struct sample_draw *without)
{
    const size_t d = all->bank->dim;

    num_gemm_nt(1, block_length(all, block), d, 1, all->query + query * d,
                all->bank->rows + block * BLOCK * d, 0, all->s);
    all->mass[query * all->blocks + block] =
        weigh_block(all, query, block, n, without, all->s);
}

/* Draw one more for a query, after draw[0..n). */
static struct sample_draw
draw_one(struct search *all, size_t query, double z, struct rng *rng, size_t n,
         const struct sample_draw *draw)
{
    const size_t d = all->bank->dim;
    double u = rng_unit(rng), s;
    size_t block, j;

    if (n) // the block of the last one goes on without it
        look_again(all, query, (size_t)draw[n - 1].id / BLOCK, n, draw);
    if (!(total_mass(all, query).sum > 0))
        return (struct sample_draw){-1, 0};
    block = pick_block(all, query, &u);
    look_again(all, query, block, n, draw);
    j = block * BLOCK +
        find_passing(block_length(all, block), all->s, u,
                     all->mass[query * all->blocks + block].sum);
    s = num_dot(d, all->query + query * d, all->bank->rows + j * d);
    return (struct sample_draw){(int64_t)j, all->beta * s - z};
}

/* Draw k for a query, or none where it is not able to. */
static void
draw_all(struct search *all, size_t query, int able, struct rng *rng, size_t k,
         struct sample_draw *draw)
{
    const double z = log_z(all, query);
    size_t n = 0;

    while (able && n < k) {
        draw[n] = draw_one(all, query, z, rng, n, draw);
        if (draw[n].id < 0)
            break;
        n++;
    }
    for (; n < k; n++)
        draw[n] = (struct sample_draw){-1, 0};
}

/* The samples' own rows of the bank as queries. */
static float *
own_rows(const struct sample_bank *bank, size_t n, const int64_t *own)
{
    const size_t d = bank->dim;
    float *query = mem_aligned(n * d, sizeof *query);

    for (size_t i = 0; i < n; i++)
        memcpy(query + i * d, bank->rows + (size_t)own[i] * d,
               d * sizeof *query);
    return query;
}

void
sample_cache_draw(const struct sample_cache_how *how,
                  const struct sample_bank *bank, size_t n, const int64_t *own,
                  const float *query, size_t k, struct sample_draw *draw)
{
    float *mine = query ? NULL : own_rows(bank, n, own);
    struct search all;

    search_init(&all, how->beta, bank, n, own, query ? query : mine);
    for (size_t q = 0; q < n; q++) {
        struct rng rng;

        rng_init(&rng, how->seed, RNG_CACHE, how->step, how->epoch, q);
        draw_all(&all, q, query || bank->when[own[q]] >= 0, &rng, k,
                 draw + q * k);
    }
    search_release(&all);
    free(mine);
}

struct sample_cache_report
sample_cache_weigh(double beta, double limit, const struct sample_bank *bank,
                   size_t n, const int64_t *own, const float *query,
                   const float *positive, const struct sample_draw *draw,
                   float *scale)
{
    struct sample_cache_report report = {0};
    double squares = 0, number;
    struct search all;

    search_init(&all, beta, bank, n, own, query);
    for (size_t q = 0; q < n; q++) {
        const double z = log_z(&all, q);
        double doubt = 0, importance = 0;

        if (draw[q].id >= 0 && z > -INFINITY) {
            const float *row = bank->rows + (size_t)draw[q].id * bank->dim;
            const double s = num_dot(bank->dim, query + q * bank->dim, row);

            doubt = 1 / (1 + exp(all.beta * (double)positive[q] - z));
            importance = fmin(exp(all.beta * s - z - draw[q].log_q), limit);
        } else {
            report.without++;
        }
        scale[2 * q] = (float)doubt;
        scale[2 * q + 1] = (float)(doubt * importance);
        report.doubt += doubt;
        report.importance += importance;
        squares += importance * importance;
    }
    search_release(&all);
    number = (double)(n - report.without);
    if (squares > 0)
        report.effective =
            report.importance * report.importance / squares / number;
    if (number > 0) {
        report.doubt /= number;
        report.importance /= number;
    }
    return report;
}

/* ---- who is refreshed ------------------------------------------------------
 */

void
sample_refresh_init(struct sample_refresh *refresh, size_t size, double rho,
                    uint64_t seed)
{
    struct rng rng;

    REQUIRE(size >= 1 && rho > 0 && rho <= 1);
    refresh->size = size;
    // 1 / rho may be a hair above the whole number that is meant
    refresh->period = (size_t)ceil(1 / rho - 1e-9);
    refresh->order = mem_array(size, sizeof *refresh->order);
    for (size_t i = 0; i < size; i++)
        refresh->order[i] = (int64_t)i;
    rng_init(&rng, seed, RNG_REFRESH, 0, 0, 0);
    rng_shuffle(&rng, size, refresh->order);
}

void
sample_refresh_release(struct sample_refresh *refresh)
{
    free(refresh->order);
    *refresh = (struct sample_refresh){0};
}

/* Where part `part` of the order begins: part * size / period, without its
 * overflow. */
static size_t
part_begin(const struct sample_refresh *refresh, size_t part)
{
    const size_t whole = refresh->size / refresh->period;
    const size_t rest = refresh->size % refresh->period;

    return whole * part + rest * part / refresh->period;
}

size_t
sample_refresh_next(const struct sample_refresh *refresh, uint64_t step,
                    const int64_t **ids)
{
    const size_t part = (size_t)(step % refresh->period);
    const size_t begin = part_begin(refresh, part);

    *ids = refresh->order + begin;
    return part_begin(refresh, part + 1) - begin;
}
