#ifndef UTIL_CLONES_H
#define UTIL_CLONES_H

/*
 * UTIL_CLONES before a function compiles it three times, for plain x86-64, AVX2
 * and AVX-512, and the loader picks one: plain C in hot loops becomes wide
 * without -march.  Floating-point contraction stays off (-std=c11), so the
 * clones give the same bits.  Left out where it is not understood (clang) or
 * in the way of instrumentation.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    defined(__OPTIMIZE__)
#define UTIL_CLONES \
    __attribute__(( \
        target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define UTIL_CLONES
#endif

#endif
