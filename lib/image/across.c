#include <string.h>

#include "util/clones.h"

#include "scratch.h"

#ifdef UTIL_CLONED
#include <immintrin.h>

/* Weights of two pixels as pairs of words, k = 256 high + low, for the
 * instruction that multiplies pairs and adds the products. */
struct weight_pair {
    int32_t high, low;
};

/* Pixels computed at once. */
enum { SOME = 4 };

/* The computation of a line: for each pixel, in the order of writing, where it
 * reads and its weights. */
struct plan {
    size_t n, pairs;
    const uint32_t *from;           /* [n] offset from the first pixel, bytes */
    const struct weight_pair *pair; /* [n,pairs] */
};

static void
fill_plan(const struct image_across *job, size_t pairs,
          struct weight_pair *pair, uint32_t *from)
{
    const struct image_axis *axis = job->axis;
    const size_t n = axis->n;

    for (size_t at = 0; at < n; at++) {
        const struct image_tap *tap = axis->tap + (job->flip ? n - 1 - at : at);

        from[at] = (uint32_t)(3 * (tap->start - axis->tap[0].start));
        for (size_t t = 0; t < 2 * pairs; t += 2) {
            const int32_t *k = axis->weight + tap->k + t;
            const int32_t a = t < tap->n ? k[0] : 0;
            const int32_t b = t + 1 < tap->n ? k[1] : 0;

            *pair++ = (struct weight_pair){(b >> 8) * 65536 + (a >> 8),
                                           (b & 255) * 65536 + (a & 255)};
        }
    }
}

#define AVX2 __attribute__((target("avx2")))
#define INLINE __attribute__((always_inline)) static inline

/* Returns sum + x by, of pairs of words. */
AVX2 INLINE __m256i
add_products(__m256i sum, __m256i x, __m256i by)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16(x, by));
}

/* A pixel of each of two lines, as three whole numbers in each half: 256 high +
 * low. */
struct sums {
    __m256i high, low;
};

AVX2 INLINE void
add_pair(struct sums *sums, const struct weight_pair *pair, const uint8_t *a,
         const uint8_t *b)
{
    const __m256i words = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1));
    const __m128i x = _mm_loadl_epi64((const void *)a);
    const __m128i y = _mm_loadl_epi64((const void *)b);
    const __m256i both = _mm256_shuffle_epi8(_mm256_set_m128i(y, x), words);

    sums->high = add_products(sums->high, both, _mm256_set1_epi32(pair->high));
    sums->low = add_products(sums->low, both, _mm256_set1_epi32(pair->low));
}

AVX2 INLINE __m256i
sum_pixel(size_t pairs, const struct weight_pair *pair, const uint8_t *a,
          const uint8_t *b)
{
    struct sums sums = {_mm256_setzero_si256(), _mm256_set1_epi32(1 << 21)};

    for (size_t p = 0; p < pairs; p++)
        add_pair(&sums, pair + p, a + 6 * p, b + 6 * p);
    return _mm256_srai_epi32(
        _mm256_add_epi32(sums.low, _mm256_slli_epi32(sums.high, 8)), 22);
}

/* Returns SOME pixels of both lines, in the first twelve bytes of each half. */
AVX2 INLINE __m256i
mix_some(const struct plan *plan, size_t pairs, size_t at, const uint8_t *a,
         const uint8_t *b)
{
    const __m256i squeeze = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    const struct weight_pair *pair = plan->pair + at * pairs;
    __m256i x[SOME];

    for (size_t i = 0; i < SOME; i++)
        x[i] = sum_pixel(pairs, pair + i * pairs, a + plan->from[at + i],
                         b + plan->from[at + i]);
    return _mm256_shuffle_epi8(
        _mm256_packus_epi16(_mm256_packs_epi32(x[0], x[1]),
                            _mm256_packs_epi32(x[2], x[3])),
        squeeze);
}

/* Computes two lines.  A store writes four bytes too many, which later stores
 * overwrite; at the end of a line exact stores are used.  The last pixels may
 * be computed twice. */
AVX2 INLINE void
mix_two_lines(struct plan plan, size_t pairs, const uint8_t *const in[2],
              uint8_t *const out[2])
{
    const uint8_t *a = in[0], *b = in[1];
    uint8_t *to_a = out[0], *to_b = out[1];
    const size_t last = plan.n - SOME;

    for (size_t at = 0; at < plan.n; at += SOME) {
        const size_t i = at < last ? at : last;
        const __m256i x = mix_some(&plan, pairs, i, a, b);
        const __m128i pixel[2] = {_mm256_castsi256_si128(x),
                                  _mm256_extracti128_si256(x, 1)};

        if (i + SOME + 2 <= plan.n) {
            _mm_storeu_si128((void *)(to_a + 3 * i), pixel[0]);
            _mm_storeu_si128((void *)(to_b + 3 * i), pixel[1]);
        } else {
            memcpy(to_a + 3 * i, &pixel[0], 3 * SOME);
            memcpy(to_b + 3 * i, &pixel[1], 3 * SOME);
        }
    }
}

/* Calls with a constant number of pairs, so that the compiler unrolls the
 * loop. */
AVX2 static void
mix_pairs(const struct plan *plan, const uint8_t *const in[2],
          uint8_t *const out[2])
{
    if (plan->pairs == 1)
        mix_two_lines(*plan, 1, in, out);
    else if (plan->pairs == 2)
        mix_two_lines(*plan, 2, in, out);
    else if (plan->pairs == 3)
        mix_two_lines(*plan, 3, in, out);
    else
        mix_two_lines(*plan, plan->pairs, in, out);
}

/* Computes all lines.  Bytes read after the end of a line have no weight, but
 * must be readable: the last lines are read from a copy. */
static void
mix_wide(const struct image_across *job, struct image_scratch **scratch)
{
    const size_t n = job->axis->n;
    size_t pairs = 0, room;
    struct weight_pair *pair;
    uint32_t *from;
    uint8_t *copy;

    // equal for all pixels: branches on a changing number are mispredicted
    for (size_t i = 0; i < n; i++)
        if ((job->axis->tap[i].n + 1) / 2 > pairs)
            pairs = (job->axis->tap[i].n + 1) / 2;
    room = 3 * job->width + 6 * pairs + 8;
    copy = image_scratch_bytes(scratch, IMAGE_ENDS, 2 * room);
    pair = (void *)image_scratch_bytes(
        scratch, IMAGE_PAIRS, n * (pairs * sizeof *pair + sizeof *from));
    from = (void *)(pair + n * pairs);
    const struct plan plan = {n, pairs, from, pair};

    fill_plan(job, pairs, pair, from);
    for (size_t y = 0; y < job->height; y += 2) {
        const size_t next = y + 1 < job->height ? y + 1 : y;
        const uint8_t *in[2] = {job->in + y * job->stride,
                                job->in + next * job->stride};
        uint8_t *const out[2] = {job->out + 3 * n * y, job->out + 3 * n * next};

        if (next * job->stride + room > job->bytes) {
            in[0] = memcpy(copy, in[0], 3 * job->width);
            in[1] = memcpy(copy + room, in[1], 3 * job->width);
        }
        mix_pairs(&plan, in, out);
    }
}

#endif

void
image_across(const struct image_across *job, struct image_scratch **scratch)
{
    const struct image_axis *axis = job->axis;
    uint8_t *out = job->out;

#ifdef UTIL_CLONED
    if (util_isa() >= UTIL_ISA_V3 && axis->n >= SOME &&
        job->width <= UINT32_MAX / 3) {
        mix_wide(job, scratch);
        return;
    }
#endif
    (void)scratch;
    for (size_t y = 0; y < job->height; y++)
        for (size_t at = 0; at < axis->n; at++) {
            const struct image_tap *tap =
                axis->tap + (job->flip ? axis->n - 1 - at : at);
            const uint8_t *in =
                job->in + y * job->stride + 3 * (tap->start - axis->tap->start);

            for (size_t c = 0; c < 3; c++) {
                int32_t sum = 1 << 21;

                for (size_t t = 0; t < tap->n; t++)
                    sum += axis->weight[tap->k + t] * in[3 * t + c];
                sum >>= 22;
                *out++ = (uint8_t)(sum < 255 ? sum : 255);
            }
        }
}
