#pragma once

#include <math.h>

#include "num/winograd.h"
#include "num/winograd_isa.h"
#include "util/clock.h"

/* The most that multiply-adds of one thread reach in f32, in GFLOP/s, by the
 * widest instructions that may be used (num_winograd_isa()); 0: not known. */
#ifdef __x86_64__
#define PEAK_ONE(r, i) "vfmadd231ps %%" r "15, %%" r "14, %%" r #i "\n"
#define PEAK_LOOP(r)                                                      \
    __asm__ volatile(                                                     \
        PEAK_ONE(r, 0) PEAK_ONE(r, 1) PEAK_ONE(r, 2) PEAK_ONE(r, 3)       \
            PEAK_ONE(r, 4) PEAK_ONE(r, 5) PEAK_ONE(r, 6) PEAK_ONE(r, 7)   \
                PEAK_ONE(r, 8) PEAK_ONE(r, 9) PEAK_ONE(r, 10)             \
                    PEAK_ONE(r, 11)::                                     \
                        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", \
                          "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11")
enum { PEAK_EACH = 12, PEAK_ROUNDS = 100000 };

static inline double
peak(void)
{
    const struct winograd_isa *isa = num_winograd_isa(0);
    const double flop = 2. * PEAK_EACH * PEAK_ROUNDS * (double)isa->lanes;
    double best = HUGE_VAL;

    if (isa == num_winograd_isa(WINOGRAD_ISAS - 1))
        return 0;
    // what others leave there may be denormal, and slow
    __asm__ volatile("vzeroall" ::
                         : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
                           "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                           "xmm14", "xmm15");
    for (int k = 0; k < 20; k++) {
        double start = clock_cpu();

        if (isa->lanes == 16)
            for (int i = 0; i < PEAK_ROUNDS; i++)
                PEAK_LOOP("zmm");
        else
            for (int i = 0; i < PEAK_ROUNDS; i++)
                PEAK_LOOP("ymm");
        best = fmin(best, clock_cpu() - start);
    }
    return flop / best * 1e-9;
}
#else
static inline double
peak(void)
{
    return 0;
}
#endif
