#include <Random123/philox.h>
#include <math.h>
#include <string.h>

#include "util/clones.h"
#include "util/err.h"
#include "util/rng.h"

/* Counters that Philox computes at a time. */
enum { WIDE = 32 };

/* splitmix64's finaliser: spreads seed and use over the 64 bits of the key */
static uint64_t
mix_bits(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

void
rng_init(struct rng *rng, uint64_t seed, enum rng_use use, uint64_t a,
         uint64_t b, uint64_t c)
{
    uint64_t key = mix_bits(mix_bits(seed) + (uint64_t)use);

    REQUIRE(a >> 48 == 0 && b >> 32 == 0 && c >> 16 == 0);
    *rng = (struct rng){
        .key = {(uint32_t)key, (uint32_t)(key >> 32)},
        .ctr = {0, (uint32_t)a, (uint32_t)b, (uint32_t)(c << 16 | a >> 32)},
    };
}

static void
refill_numbers(struct rng *rng)
{
    philox4x32_ctr_t ctr;
    philox4x32_key_t key;

    memcpy(ctr.v, rng->ctr, sizeof rng->ctr);
    memcpy(key.v, rng->key, sizeof rng->key);
    ctr = philox4x32(ctr, key);
    memcpy(rng->out, ctr.v, sizeof rng->out);
    rng->left = 4;
    rng->ctr[0]++;
    REQUIRE(rng->ctr[0]); // 2^34 numbers of one stream are a bug
}

uint32_t
rng_u32(struct rng *rng)
{
    if (!rng->left)
        refill_numbers(rng);
    return rng->out[4 - rng->left--];
}

/*
 * Salmon et al. 2011, figure 2: ten rounds of counters ctr[0] .. ctr[0] + WIDE
 * - 1, out [WIDE,4].  A word lies in 64 bits, with an unused upper half, so
 * that a product needs no rearrangement. 0.55 ns a number; 3.2 with Random123's
 * function, which the compiler does not vectorise.
 */
static UTIL_CLONES(void, philox_wide,
                   (const uint32_t *key, const uint32_t *ctr, uint32_t *out),
                   (key, ctr, out))
{
    uint64_t x[4][WIDE];
    uint32_t k0 = key[0], k1 = key[1];

    for (uint32_t i = 0; i < WIDE; i++) {
        x[0][i] = ctr[0] + i;
        x[1][i] = ctr[1];
        x[2][i] = ctr[2];
        x[3][i] = ctr[3];
    }
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < WIDE; i++) {
            const uint64_t a = (x[0][i] & UINT32_MAX) * 0xd2511f53u;
            const uint64_t b = (x[2][i] & UINT32_MAX) * 0xcd9e8d57u;

            x[0][i] = (b >> 32) ^ x[1][i] ^ k0;
            x[1][i] = b;
            x[2][i] = (a >> 32) ^ x[3][i] ^ k1;
            x[3][i] = a;
        }
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    for (int i = 0; i < WIDE; i++)
        for (int j = 0; j < 4; j++)
            out[4 * i + j] = (uint32_t)x[j][i];
}

void
rng_many(struct rng *rng, size_t n, uint32_t *x)
{
    uint32_t out[4 * WIDE];

    for (; n > 0 && rng->left; n--)
        *x++ = rng_u32(rng);
    while (n > 0) {
        const size_t take = n < 4 * WIDE ? n : 4 * WIDE;
        const size_t counters = (take + 3) / 4;

        philox_wide(rng->key, rng->ctr, out);
        REQUIRE(rng->ctr[0] < UINT32_MAX - WIDE);
        rng->ctr[0] += (uint32_t)counters;
        memcpy(x, out, take * sizeof *x);
        x += take;
        n -= take;
        // what is left of the last one comes next
        memcpy(rng->out, out + 4 * (counters - 1), sizeof rng->out);
        rng->left = (uint32_t)(4 * counters - take);
    }
}

uint64_t
rng_u64(struct rng *rng)
{
    uint64_t low = rng_u32(rng);

    return low | (uint64_t)rng_u32(rng) << 32;
}

double
rng_unit(struct rng *rng)
{
    return (double)(rng_u64(rng) >> 11) * 0x1p-53;
}

double
rng_range(struct rng *rng, double low, double high)
{
    return low + (high - low) * rng_unit(rng);
}

uint64_t
rng_below(struct rng *rng, uint64_t n)
{
    uint64_t x, limit;

    REQUIRE(n >= 1);
    limit = -n % n; // 2^64 mod n: values below it would bias x % n
    do
        x = rng_u64(rng);
    while (x < limit);
    return x % n;
}

double
rng_normal(struct rng *rng)
{
    double r = sqrt(-2 * log(1 - rng_unit(rng)));

    return r * cos(2 * 3.14159265358979323846 * rng_unit(rng));
}

void
rng_shuffle(struct rng *rng, size_t n, int64_t *x)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = rng_below(rng, i);
        int64_t swap = x[i - 1];

        x[i - 1] = x[j];
        x[j] = swap;
    }
}
