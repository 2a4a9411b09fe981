#ifndef IMAGE_WIDE_H
#define IMAGE_WIDE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Operations on 64 bytes, for processors that can look up 64 bytes in a table
 * of 256 (AVX-512 VBMI).  IMAGE_WIDE marks a function that uses them; call it
 * only if image_wide_ok() returns 1.  Neither is defined on other
 * architectures.
 */
#ifdef __x86_64__
#include <immintrin.h>

#include "util/isa.h"

#define IMAGE_WIDE __attribute__((target("avx512f,avx512bw,avx512vbmi")))
#define IMAGE_WIDE_INLINE \
    IMAGE_WIDE __attribute__((always_inline)) static inline

static inline int
image_wide_ok(void)
{
    return util_isa() == UTIL_ISA_V4 && __builtin_cpu_supports("avx512vbmi");
}

/* wide_first() returns the mask of the first n of 64, or of all. */
IMAGE_WIDE_INLINE __mmask64
wide_first(size_t n)
{
    return n < 64 ? (1ULL << n) - 1 : ~0ULL;
}

/* wide_look_up() returns table[x] for each byte. */
IMAGE_WIDE_INLINE __m512i
wide_look_up(__m512i x, const uint8_t table[256])
{
    const __m512i low = _mm512_permutex2var_epi8(
        _mm512_loadu_si512(table), x, _mm512_loadu_si512(table + 64));
    const __m512i high = _mm512_permutex2var_epi8(
        _mm512_loadu_si512(table + 128), x, _mm512_loadu_si512(table + 192));

    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), low, high);
}

/* 64 bytes as two halves of 32 words: the first 8 of each 16, and the last
 * 8. */
struct wide_words {
    __m512i low, high;
};

/* wide_words() makes words from their low and high bytes, wide_bytes() bytes
 * from words, clipped. */
IMAGE_WIDE_INLINE struct wide_words
wide_words(__m512i low, __m512i high)
{
    return (struct wide_words){_mm512_unpacklo_epi8(low, high),
                               _mm512_unpackhi_epi8(low, high)};
}

IMAGE_WIDE_INLINE __m512i
wide_bytes(__m512i low, __m512i high)
{
    return _mm512_packus_epi16(low, high);
}

#endif

#endif
