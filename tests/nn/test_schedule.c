#include <string.h>

#include "nn/schedule.h"
#include "t.h"

static void
cosine_with_warmup(void)
{
    struct nn_schedule s = {.base = 0.8, .warmup = 10, .epochs = 100};
    struct err err;

    T(!nn_schedule_parse("cosine", &s, &err), "cosine");
    T_NEAR(nn_schedule_rate(&s, 0), 0, 0, "warm-up starts from exactly 0");
    T_NEAR(nn_schedule_rate(&s, 5), 0.4, 1e-12, "half way through warm-up");
    T_NEAR(nn_schedule_rate(&s, 10), 0.8, 1e-12, "the base behind it");
    T_NEAR(nn_schedule_rate(&s, 50), 0.8 * 0.5868240888334652, 1e-12,
           "E/2: (1 + cos 80 degrees) / 2");
    T_NEAR(nn_schedule_rate(&s, 55), 0.4, 1e-12, "half of what is left: half");
    T_NEAR(nn_schedule_rate(&s, 100), 0, 1e-12, "0 at the end");
    T_NEAR(nn_schedule_rate(&s, 7.25), 0.58, 1e-12, "it moves each iteration");
}

static void
warmup_that_fills_the_run(void)
{
    struct nn_schedule s = {.base = 1e-3, .warmup = 10, .epochs = 10};
    struct err err;

    T(!nn_schedule_parse("cosine", &s, &err), "warm-up alone");
    T_NEAR(nn_schedule_rate(&s, 9), 9e-4, 1e-12, "rises until the end");
    T_NEAR(nn_schedule_rate(&s, 10), 1e-3, 1e-12, "and ends at the base");
}

static void
constant_and_steps(void)
{
    struct nn_schedule s = {.base = 2, .epochs = 100};
    struct err err;

    T(!nn_schedule_parse("constant", &s, &err), "constant");
    T_NEAR(nn_schedule_rate(&s, 0), 2, 0, "no warm-up: the base at once");
    T_NEAR(nn_schedule_rate(&s, 100), 2, 0, "and for ever");
    T(!nn_schedule_parse("step:60,80.5", &s, &err), "step");
    T_NEAR(nn_schedule_rate(&s, 59.99), 2, 0, "before the first drop");
    T_NEAR(nn_schedule_rate(&s, 60), 0.2, 1e-12, "from the first on");
    T_NEAR(nn_schedule_rate(&s, 90), 0.02, 1e-12, "behind the second");
}

static void
nonsense_is_refused(void)
{
    static const char *const bad[] = {
        "",           "cosin",
        "step",       "step:",
        "step:x",     "step:60,",
        "step:80,60", "step:1;2",
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
    nonsense_is_refused();
    return t_done();
}
