#pragma once

#include "util/isa.h"

/*
 * The Makefile compiles lib/num/x_loops.c once for each instruction set, with
 * its name as LEVEL (any, avx2, avx512) and the floats of a register as
 * LANES_WIDE (4, 8, 16).  Each defines LEVEL_OF(num_x), a struct of functions.
 *
 * LEVELS(num_x) in x.h declares these structs and two functions: num_x_isa
 * returns the struct of an instruction set, or of the next lower one available,
 * and num_x that of util_isa().
 */
#define LEVEL_JOIN(name, level) name##_##level
#define LEVEL_EXPAND(name, level) LEVEL_JOIN(name, level)
#define LEVEL_OF(name) LEVEL_EXPAND(name, LEVEL)
#define LEVEL_QUOTE(level) #level
#define LEVEL_QUOTED(level) LEVEL_QUOTE(level)
#define LEVEL_TEXT LEVEL_QUOTED(LEVEL)

#ifdef __x86_64__
#define LEVELS_DECLARE(type, name) \
    extern const struct type name##_avx512, name##_avx2, name##_any
#define LEVELS_FIND(name, isa)               \
    ((isa) >= UTIL_ISA_V4   ? &name##_avx512 \
     : (isa) >= UTIL_ISA_V3 ? &name##_avx2   \
                            : &name##_any)
#else
#define LEVELS_DECLARE(type, name) extern const struct type name##_any
#define LEVELS_FIND(name, isa) ((void)(isa), &name##_any)
#endif

#define LEVELS(name)                                               \
    LEVELS_DECLARE(name, name);                                    \
    static inline const struct name *name##_isa(enum util_isa isa) \
    {                                                              \
        return LEVELS_FIND(name, isa);                             \
    }                                                              \
    static inline const struct name *name(void)                    \
    {                                                              \
        return name##_isa(util_isa());                             \
    }
