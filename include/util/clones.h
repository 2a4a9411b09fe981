#pragma once

#include "util/isa.h"

/*
 * UTIL_CLONES as a function's head compiles it three times, for plain x86-64,
 * AVX2 and AVX-512, and calls the one for util_isa(): the compiler vectorises
 * plain C without -march.
 *
 *     static UTIL_CLONES(double, sum, (size_t n, const float *x), (n, x))
 *     {
 *         ...
 *     }
 *
 * defines sum(), which calls sum_v4(), sum_v3() or sum_v1(): a profile shows
 * these names, and a test may call them.  The return type must have a
 * UTIL_RETURN_ below.  Floating-point contraction stays off (-std=c11), so the
 * clones give the same bits.  The level is a hidden variable of libfoil: a call
 * costs a load and a jump.  Only the plain function is compiled with -march,
 * without optimisation, or with a sanitizer.
 */
extern enum util_isa util_isa_bound __attribute__((visibility("hidden")));

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UTIL_CLONES_OFF
#endif
#endif

#if defined(__x86_64__) && !defined(__SSE3__) && defined(__OPTIMIZE__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&    \
    !defined(UTIL_CLONES_OFF)
#define UTIL_CLONES(type, name, params, args)                             \
    type name params;                                                     \
    __attribute__((always_inline)) static inline type name##_body params; \
    UTIL_CLONE(type, name, params, args, v4, target("arch=x86-64-v4"))    \
    UTIL_CLONE(type, name, params, args, v3, target("arch=x86-64-v3"))    \
    UTIL_CLONE(type, name, params, args, v1, noinline)                    \
    type name params                                                      \
    {                                                                     \
        switch (util_isa_bound) {                                         \
        case UTIL_ISA_V4:                                                 \
            UTIL_RETURN_##type name##_v4 args;                            \
            break;                                                        \
        case UTIL_ISA_V3:                                                 \
            UTIL_RETURN_##type name##_v3 args;                            \
            break;                                                        \
        default:                                                          \
            UTIL_RETURN_##type name##_v1 args;                            \
        }                                                                 \
    }                                                                     \
    static inline type name##_body params
#define UTIL_CLONE(type, name, params, args, level, how)             \
    __attribute__((noinline, how)) static type name##_##level params \
    {                                                                \
        UTIL_RETURN_##type name##_body args;                         \
    }
#define UTIL_RETURN_void
#define UTIL_RETURN_int return
#define UTIL_RETURN_float return
#define UTIL_RETURN_double return
#define UTIL_RETURN_size_t return
#define UTIL_RETURN_uint64_t return
#define UTIL_CLONED
#else
#define UTIL_CLONES(type, name, params, args) type name params
#endif
