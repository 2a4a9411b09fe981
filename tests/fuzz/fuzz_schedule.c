/* --schedule and its like: refused, or a finite number at every epoch. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "nn/schedule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* The first byte picks a name, the rest goes behind it. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char *const names[] = {"",        "constant", "cosine",
                                        "cosine:", "quarter:", "linear:",
                                        "wave:",   "exp:",     "step:"};
    struct nn_schedule schedule = {
        .base = 0.5, .end = 0.125, .warmup = 2, .epochs = 10};
    char text[128];
    struct err err = {""};
    const size_t n = sizeof names / sizeof *names, pick = len ? data[0] % n : 0;
    const int rest = len > 100 ? 100 : len ? (int)len - 1 : 0;

    snprintf(text, sizeof text, "%s%.*s", names[pick], rest,
             len ? (const char *)data + 1 : "");
    if (nn_schedule_parse(text, &schedule, &err)) {
        REQUIRE(*err.msg);
        return 0;
    }
    for (double epoch = 0; epoch <= 10; epoch += 0.25)
        REQUIRE(isfinite(nn_schedule_at(&schedule, epoch)));
    return 0;
}
