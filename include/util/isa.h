#pragma once

struct err;

/*
 * The instruction set that all of foil uses: the highest level of the x86-64
 * ABI that this processor has, or a lower one that the environment sets.
 *
 *     FOIL_ISA=x86-64        SSE2, on every x86-64
 *     FOIL_ISA=x86-64-v3     AVX2, FMA, BMI, F16C, LZCNT, MOVBE: Haswell, Zen
 *     FOIL_ISA=x86-64-v4     AVX-512 F, BW, CD, DQ and VL: Skylake-X, Zen 4
 *
 * Loops compiled several times (util/clones.h), loops for one set alone and
 * oneDNN (lib/num/dnn.c) all use this level, so that a program limited to a
 * level computes what it would compute on a processor of that level.
 * ONEDNN_MAX_CPU_ISA limits not only oneDNN but all of foil.  Only OpenBLAS
 * reads its own variable, OPENBLAS_CORETYPE, when it is loaded.
 *
 * The level is set once, before main().  On other processors it is
 * UTIL_ISA_PLAIN.
 */
enum util_isa { UTIL_ISA_PLAIN, UTIL_ISA_V3, UTIL_ISA_V4, UTIL_ISAS };

/* util_isa() returns the level in force. */
enum util_isa util_isa(void);

/* util_isa_most() returns the highest level of the processor, regardless of the
 * environment. */
enum util_isa util_isa_most(void);

/* util_isa_name() returns a level's name, "x86-64-v3". */
const char *util_isa_name(enum util_isa isa);

/* util_isa_check() returns -1 if FOIL_ISA names no level, or one that this
 * processor lacks, else 0.  All other functions ignore such a FOIL_ISA. */
int util_isa_check(struct err *err);

/* util_processor() returns machine and model of the processor, and the
 * instruction set that foil is limited to if the processor has more: another
 * one may round differently.  The caller frees the text. */
char *util_processor(void);
