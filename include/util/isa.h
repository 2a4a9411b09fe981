#ifndef UTIL_ISA_H
#define UTIL_ISA_H

struct err;

/*
 * The instruction set that all of foil keeps to: the most that this processor
 * has of the levels of the x86-64 ABI, or less where the environment says so.
 *
 *     FOIL_ISA=x86-64        what every x86-64 has: SSE2
 *     FOIL_ISA=x86-64-v3     AVX2, FMA, BMI, F16C, LZCNT, MOVBE: Haswell, Zen
 *     FOIL_ISA=x86-64-v4     AVX-512 F, BW, CD, DQ and VL: Skylake-X, Zen 4
 *
 * Loops compiled several times (util/clones.h), loops for one set alone and
 * oneDNN (lib/num/dnn.c) all ask here, so that a program bound to a level does
 * what it would do on a processor of that level.  ONEDNN_MAX_CPU_ISA, with
 * which oneDNN is bound, binds the rest of foil, too.  OpenBLAS alone reads a
 * variable of its own, OPENBLAS_CORETYPE, when it is loaded.
 *
 * It is found once, before main().  On other processors it is UTIL_ISA_PLAIN.
 */
enum util_isa { UTIL_ISA_PLAIN, UTIL_ISA_V3, UTIL_ISA_V4, UTIL_ISAS };

/* util_isa() returns the level in force. */
enum util_isa util_isa(void);

/* util_isa_most() returns the highest level that the processor has, whatever
 * the environment says. */
enum util_isa util_isa_most(void);

/* util_isa_name() returns a level's name, "x86-64-v3". */
const char *util_isa_name(enum util_isa isa);

/* util_isa_check() returns -1 where FOIL_ISA names no level, or one that this
 * processor lacks, else 0.  All other functions ignore such a FOIL_ISA. */
int util_isa_check(struct err *err);

#endif
