#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t.h"
#include "util/clones.h"
#include "util/err.h"
#include "util/isa.h"

/* Returns the address of an instruction in the clone that runs. */
static UTIL_CLONES(size_t, place, (size_t n, float *x), (n, x))
{
    size_t here = 0;

#ifdef UTIL_CLONED
    __asm__ volatile("lea 0f(%%rip), %0\n0:" : "=r"(here));
#endif
    for (size_t i = 0; i < n; i++)
        x[i] = x[i] * 1.5f + (float)i;
    return here;
}

static UTIL_CLONES(double, sum, (size_t n, const float *x), (n, x))
{
    double lane[16] = {0}, all = 0;

    for (size_t i = 0; i + 16 <= n; i += 16)
        for (size_t j = 0; j < 16; j++)
            lane[j] += (double)x[i + j] * x[i + j];
    for (size_t j = 0; j < 16; j++)
        all += lane[j];
    return all;
}

enum { N = 1000 };

static void
fill(float *x)
{
    for (size_t i = 0; i < N; i++)
        x[i] = (float)(i % 37) / 7 - 1;
}

#ifdef UTIL_CLONED
/* Returns 1 if `at` is in the function at `of`; the others are elsewhere. */
static int
inside(size_t at, size_t (*of)(size_t, float *))
{
    size_t (*const all[])(size_t, float *) = {place_v1, place_v3, place_v4};
    const size_t start = (size_t)of;

    if (at < start)
        return 0;
    for (size_t i = 0; i < 3; i++)
        if ((size_t)all[i] > start && (size_t)all[i] <= at)
            return 0;
    return 1;
}

static void
test_clones(void)
{
    size_t (*const clone[])(size_t, float *) = {place_v1, place_v3, place_v4};
    double (*const other[])(size_t, const float *) = {sum_v1, sum_v3, sum_v4};
    float x[N], y[N];

    fill(x);
    T(inside(place(N, x), clone[util_isa()]), "the clone of the level runs");
    for (int i = 0; i <= (int)util_isa(); i++) {
        fill(y);
        T(inside(clone[i](N, y), clone[i]), "a clone is itself");
        T(!memcmp(x, y, sizeof x), "a clone has the bits of the others");
        T(other[i](N, x) == sum(N, x), "a clone has the sum of the others");
    }
}
#else
static void
test_clones(void)
{
    float x[N];

    fill(x);
    T(!place(N, x) && sum(N, x) > 0, "there is only the plain function");
}
#endif

/* Runs a program with two variables and compares its output. */
static int
prints(const char *self, const char *own, const char *dnn, const char *want)
{
    char command[512], line[256] = "";
    FILE *pipe;

    snprintf(command, sizeof command,
             "env -u FOIL_ISA -u ONEDNN_MAX_CPU_ISA %s%s %s%s '%s' name",
             *own ? "FOIL_ISA=" : "", own, *dnn ? "ONEDNN_MAX_CPU_ISA=" : "",
             dnn, self);
    pipe = popen(command, "r");
    if (!pipe)
        return 0;
    if (!fgets(line, sizeof line, pipe))
        *line = 0;
    line[strcspn(line, "\n")] = 0;
    if (strcmp(line, want))
        printf("# '%s', want '%s'\n", line, want);
    return pclose(pipe) == 0 && !strcmp(line, want);
}

static void
test_binding(const char *self)
{
    const enum util_isa most = util_isa_most();
    const char *all = util_isa_name(most);
    const char *v3 = util_isa_name(most < UTIL_ISA_V3 ? most : UTIL_ISA_V3);
    char refusal[128];

    T(prints(self, "", "", all),
      "without variables it is the processor's level");
    T(prints(self, "x86-64", "", "x86-64"), "FOIL_ISA lowers it");
    T(prints(self, all, "", all), "at each level");
    T(prints(self, "avx2", "",
             "FOIL_ISA is 'avx2': want x86-64, x86-64-v3 or x86-64-v4"),
      "an unknown name is refused");
    T(prints(self, "", "AVX2", v3), "oneDNN's variable lowers it, too");
    T(prints(self, "", "sse41", "x86-64"), "in lower case");
    T(prints(self, "", "avx512_core", all),
      "oneDNN's variable at the highest level changes nothing");
    T(prints(self, v3, "AVX", "x86-64"), "the lower of the two counts");
    snprintf(refusal, sizeof refusal,
             "FOIL_ISA is 'x86-64-v4', and this processor has %s", all);
    T(prints(self, "x86-64-v4", "", most == UTIL_ISA_V4 ? all : refusal),
      "a level above the processor's is refused");
}

int
main(int argc, char **argv)
{
    struct err err;

    if (argc > 1) {
        puts(util_isa_check(&err) ? err.msg : util_isa_name(util_isa()));
        return 0;
    }
    test_clones();
    if (t_emulated())
        T_SKIP("variables", "an emulator starts no other program");
    else
        test_binding(argv[0]);
    return t_done();
}
