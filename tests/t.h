#pragma once

/*
 * A test is a program that prints TAP and exits non-zero if a check failed.
 *
 *     int main(void)
 *     {
 *         T(2 + 2 == 4, "sums");
 *         T_NEAR(sqrt(4), 2, 1e-12, "roots");
 *         return t_done();
 *     }
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int t_count, t_failed;

/* T() evaluates its condition once. */
#define T(cond, ...) t_check(!!(cond), #cond, __VA_ARGS__)

/* T_NEAR(): off by at most tol, relative to want where |want| > 1. */
#define T_NEAR(got, want, tol, ...)                                      \
    do {                                                                 \
        double got_ = (got), want_ = (want);                             \
        double off_ = fabs(got_ - want_) / fmax(1, fabs(want_));         \
        char why_[96];                                                   \
        snprintf(why_, sizeof why_, "got %.9g, want %.9g", got_, want_); \
        t_check(off_ <= (tol), why_, __VA_ARGS__);                       \
    } while (0)

/* T_SKIP(): a check that cannot be made here, and why. */
#define T_SKIP(what, why) printf("ok %d - %s # SKIP %s\n", ++t_count, what, why)

/* t_emulated(): an emulator runs this, for another machine, and starts no other
 * program; what is large takes long. */
static inline int
t_emulated(void)
{
    return getenv("EMULATOR") != NULL;
}

#define t_check(good, why, ...)                               \
    do {                                                      \
        int good_ = (good);                                   \
        t_failed += !good_;                                   \
        printf("%sok %d - ", good_ ? "" : "not ", ++t_count); \
        printf(__VA_ARGS__);                                  \
        printf("\n");                                         \
        if (!good_)                                           \
            printf("# %s:%d: %s\n", __FILE__, __LINE__, why); \
    } while (0)

static inline int
t_done(void)
{
    printf("1..%d\n", t_count);
    fflush(stdout);
    return t_failed != 0;
}
