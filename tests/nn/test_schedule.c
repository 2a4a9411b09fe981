#include <string.h>

#include "nn/schedule.h"
#include "t.h"

static void
cosine_with_warmup(void)
{
    struct nn_schedule s = {.base = 0.8, .warmup = 10, .epochs = 100};
    struct err err;

    T(!nn_schedule_parse("cosine", &s, &err), "cosine");
    T_NEAR(nn_schedule_at(&s, 0), 0, 0, "warm-up starts from exactly 0");
    T_NEAR(nn_schedule_at(&s, 5), 0.4, 1e-12, "half way through warm-up");
    T_NEAR(nn_schedule_at(&s, 10), 0.8, 1e-12, "the base after it");
    T_NEAR(nn_schedule_at(&s, 50), 0.8 * 0.5868240888334652, 1e-12,
           "E/2: (1 + cos 80 degrees) / 2");
    T_NEAR(nn_schedule_at(&s, 55), 0.4, 1e-12, "half of the rest: half");
    T_NEAR(nn_schedule_at(&s, 100), 0, 1e-12, "0 at the end");
    T_NEAR(nn_schedule_at(&s, 7.25), 0.58, 1e-12, "it changes each iteration");
}

static void
warmup_that_fills_the_run(void)
{
    struct nn_schedule s = {.base = 1e-3, .warmup = 10, .epochs = 10};
    struct err err;

    T(!nn_schedule_parse("cosine", &s, &err), "warm-up alone");
    T_NEAR(nn_schedule_at(&s, 9), 9e-4, 1e-12, "rises until the end");
    T_NEAR(nn_schedule_at(&s, 10), 1e-3, 1e-12, "warm-up ends at the base");
}

static void
constant_and_steps(void)
{
    struct nn_schedule s = {.base = 2, .epochs = 100};
    struct err err;

    T(!nn_schedule_parse("constant", &s, &err), "constant");
    T_NEAR(nn_schedule_at(&s, 0), 2, 0, "no warm-up: the base at once");
    T_NEAR(nn_schedule_at(&s, 100), 2, 0, "constant: the base at the end");
    T(!nn_schedule_parse("step:60,80.5", &s, &err), "step");
    T_NEAR(nn_schedule_at(&s, 59.99), 2, 0, "before the first drop");
    T_NEAR(nn_schedule_at(&s, 60), 0.2, 1e-12, "from the first on");
    T_NEAR(nn_schedule_at(&s, 90), 0.02, 1e-12, "after the second");
}

static double
at(const char *text, double epoch)
{
    struct nn_schedule s = {.base = 0.5, .end = 0.1, .epochs = 100};
    struct err err;

    T(!nn_schedule_parse(text, &s, &err), "%s", text);
    return nn_schedule_at(&s, epoch);
}

/* From 0.5 to 0.1: lib/algorithms.md 6. */
static void
numbers_reach_their_end(void)
{
    T_NEAR(at("cosine", 50), 0.3, 1e-12, "half way");
    T_NEAR(at("cosine", 100), 0.1, 1e-12, "it is at its end in the last epoch");
    T_NEAR(at("cosine:20", 10), 0.3, 1e-12, "half way of its span");
    T_NEAR(at("cosine:20", 70), 0.1, 1e-12, "it stays there");
    T_NEAR(at("linear", 25), 0.4, 1e-12, "a quarter of the way");
    T_NEAR(at("linear:10", 10.5), 0.1, 1e-12, "after its span");
    T_NEAR(at("quarter", 0), 0.5, 1e-12, "begins at its base");
    T_NEAR(at("quarter", 100.0 / 3), 0.1 + 0.4 * sqrt(0.75), 1e-12,
           "cos 30 degrees");
    T_NEAR(at("quarter", 100), 0.1, 1e-12,
           "it is at its end in the last epoch");
    T_NEAR(at("wave:8", 4), 0.1, 1e-12, "half a period: at the end");
    T_NEAR(at("wave:8", 6), 0.3, 1e-12, "on its way back");
    T_NEAR(at("wave:8", 16), 0.5, 1e-12, "two periods: back");
    T_NEAR(at("exp:0.5", 0.9), 0.5, 1e-12, "the first epoch");
    T_NEAR(at("exp:0.5", 2), 0.2, 1e-12, "a quarter remains after two");
    T_NEAR(at("constant", 70), 0.5, 0, "an end is of no effect");
    T_NEAR(at("step:10", 70), 0.05, 1e-12, "an end is of no effect on steps");
}

static void
invalid_values_are_refused(void)
{
    static const char *const bad[] = {
        "",           "cosin",
        "step",       "step:",
        "step:x",     "step:60,",
        "step:80,60", "step:1;2",
        "cosine:",    "cosine:0",
        "cosine:1,2", "constant:1",
        "wave",       "wave:-1",
        "exp",        "exp:1.5",
        "linear:x",   "exponent:1",
        "step:nan",   "step:0",
        "step:inf",   "step:1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"};
    struct nn_schedule s;
    struct err err;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        T(nn_schedule_parse(bad[i], &s, &err) < 0 && strstr(err.msg, "want"),
          "'%s' is refused", bad[i]);
}

int
main(void)
{
    cosine_with_warmup();
    warmup_that_fills_the_run();
    constant_and_steps();
    numbers_reach_their_end();
    invalid_values_are_refused();
    return t_done();
}
