#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

#include "util/clones.h"
#include "util/err.h"
#include "util/isa.h"
#include "util/mem.h"

enum util_isa util_isa_bound;

static const char *const names[UTIL_ISAS] = {"x86-64", "x86-64-v3",
                                             "x86-64-v4"};

enum util_isa
util_isa(void)
{
    return util_isa_bound;
}

const char *
util_isa_name(enum util_isa isa)
{
    return names[isa];
}

#ifdef __x86_64__
#include <cpuid.h>

/* The features of v3 for which __builtin_cpu_supports() of clang 14 has no
 * names. */
static int
has_rest_of_v3(void)
{
    enum { MOVBE = 1 << 22, F16C = 1 << 29, LZCNT = 1 << 5 };
    unsigned a, b, c, more, d;

    return __get_cpuid(1, &a, &b, &c, &d) &&
           __get_cpuid(0x80000001, &a, &b, &more, &d) && c & MOVBE &&
           c & F16C && more & LZCNT;
}

enum util_isa
util_isa_most(void)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
        !has_rest_of_v3())
        return UTIL_ISA_PLAIN;
    if (!__builtin_cpu_supports("avx512f") ||
        !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512cd") ||
        !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return UTIL_ISA_V3;
    return UTIL_ISA_V4;
}
#else
enum util_isa
util_isa_most(void)
{
    return UTIL_ISA_PLAIN;
}
#endif

/* The level of a name, or UTIL_ISAS. */
static enum util_isa
level_of(const char *name)
{
    for (int i = 0; i < UTIL_ISAS; i++)
        if (!strcmp(name, names[i]))
            return (enum util_isa)i;
    return UTIL_ISAS;
}

/* Returns the level of a value of ONEDNN_MAX_CPU_ISA below AVX512_CORE, in
 * upper or lower case. */
static enum util_isa
level_of_dnn(const char *name)
{
    static const struct {
        const char *name;
        enum util_isa isa;
    } below[] = {{"SSE41", UTIL_ISA_PLAIN},
                 {"AVX", UTIL_ISA_PLAIN},
                 {"AVX2", UTIL_ISA_V3},
                 {"AVX2_VNNI", UTIL_ISA_V3},
                 {"AVX2_VNNI_2", UTIL_ISA_V3}};

    for (size_t i = 0; i < sizeof below / sizeof *below; i++)
        if (!strcasecmp(name, below[i].name))
            return below[i].isa;
    return UTIL_ISAS;
}

/* Runs before other constructors, which may call util_isa(). */
__attribute__((constructor(101))) static void
bind_isa(void)
{
    const char *own = getenv("FOIL_ISA"), *dnn = getenv("ONEDNN_MAX_CPU_ISA");
    const enum util_isa limit[] = {own ? level_of(own) : UTIL_ISAS,
                                   dnn ? level_of_dnn(dnn) : UTIL_ISAS};

    util_isa_bound = util_isa_most();
    for (int i = 0; i < 2; i++)
        if (limit[i] < util_isa_bound)
            util_isa_bound = limit[i];
}

int
util_isa_check(struct err *err)
{
    const char *own = getenv("FOIL_ISA");
    const enum util_isa most = util_isa_most();

    if (!own)
        return 0;
    if (level_of(own) == UTIL_ISAS)
        return err_set(
            err, "FOIL_ISA is '%s': want x86-64, x86-64-v3 or x86-64-v4", own);
    if (level_of(own) > most)
        return err_set(err, "FOIL_ISA is '%s', and this processor has %s", own,
                       names[most]);
    return 0;
}

char *
util_processor(void)
{
    const int bound = util_isa() < util_isa_most();
    struct utsname name;
    char line[512], model[256] = "";
    FILE *file = fopen("/proc/cpuinfo", "r");

    uname(&name);
    while (file && !model[0] && fgets(line, sizeof line, file))
        sscanf(line, "model name : %255[^\n]", model);
    if (file)
        fclose(file);
    return mem_format("%s %s%s%s", name.machine, model, bound ? " as " : "",
                      bound ? util_isa_name(util_isa()) : "");
}
