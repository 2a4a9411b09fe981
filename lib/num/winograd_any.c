#define ISA num_winograd_any
#define NAME "any"
#define WIDE 8
#define ROWS 6
#ifndef HELD
#define HELD 1
#endif
#define FMA(a, b, c) ((a) * (b) + (c))
#define WIDEN(x) __builtin_convertvector(x, words)
#define NARROW(x) __builtin_convertvector(x, halves)
#include "winograd_loops.h"
