#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/schedule.h"

static const double pi = 3.14159265358979323846;

/* What follows the name: nothing, an optional number, a number, a list. */
enum wants { NOTHING, MAYBE, NUMBER, LIST };

static const struct {
    const char *name;
    enum wants wants;
    double most; /* of the number, which is above 0 */
} kinds[] = {
    [NN_SCHEDULE_CONSTANT] = {"constant", NOTHING, 0},
    [NN_SCHEDULE_COSINE] = {"cosine", MAYBE, 1e9},
    [NN_SCHEDULE_QUARTER] = {"quarter", MAYBE, 1e9},
    [NN_SCHEDULE_LINEAR] = {"linear", MAYBE, 1e9},
    [NN_SCHEDULE_WAVE] = {"wave", NUMBER, 1e9},
    [NN_SCHEDULE_EXP] = {"exp", NUMBER, 1},
    [NN_SCHEDULE_STEP] = {"step", LIST, 1e9},
};

/* Reads ascending numbers, separated by commas; returns their count, 0 for an
 * invalid list. */
static size_t
parse_numbers(const char *text, double most, double out[NN_MAX_DROPS])
{
    double last = 0;

    for (size_t n = 0; n < NN_MAX_DROPS; n++) {
        char *end;

        out[n] = strtod(text, &end);
        if (end == text || !(out[n] > last && out[n] <= most))
            return 0;
        last = out[n];
        if (!*end)
            return n + 1;
        if (*end != ',')
            return 0;
        text = end + 1;
    }
    return 0;
}

/* Whether the text is a schedule of that kind. */
static int
parse_schedule(const char *text, size_t kind, struct nn_schedule *schedule)
{
    const size_t len = strlen(kinds[kind].name);
    const enum wants wants = kinds[kind].wants;

    if (strncmp(text, kinds[kind].name, len))
        return 0;
    schedule->kind = (enum nn_schedule_kind)kind;
    schedule->number = 0;
    schedule->drops = 0;
    if (!text[len])
        return wants == NOTHING || wants == MAYBE;
    if (text[len] != ':' || wants == NOTHING)
        return 0;
    schedule->drops =
        parse_numbers(text + len + 1, kinds[kind].most, schedule->drop);
    schedule->number = schedule->drop[0];
    return schedule->drops == 1 || (schedule->drops && wants == LIST);
}

int
nn_schedule_parse(const char *text, struct nn_schedule *schedule,
                  struct err *err)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (parse_schedule(text, i, schedule))
            return 0;
    return err_set(err,
                   "schedule '%s': want constant, cosine, quarter or linear "
                   "(or cosine:EPOCHS), wave:EPOCHS, exp:FACTOR, or step: and "
                   "up to %d ascending epochs, as in step:60,80",
                   text, NN_MAX_DROPS);
}

double
nn_schedule_at(const struct nn_schedule *schedule, double epoch)
{
    const double w = schedule->warmup, since = epoch - w;
    const double way = schedule->base - schedule->end;
    double span = schedule->number, x, value = schedule->base;

    if (epoch < w)
        return schedule->base * epoch / w;
    if (!span)
        span = schedule->epochs - w;
    x = span > 0 ? fmin(1, since / span) : 0;
    switch (schedule->kind) {
    case NN_SCHEDULE_CONSTANT:
        break;
    case NN_SCHEDULE_COSINE:
        return schedule->end + way * (1 + cos(pi * x)) / 2;
    case NN_SCHEDULE_QUARTER:
        return schedule->end + way * cos(pi * x / 2);
    case NN_SCHEDULE_LINEAR:
        return schedule->end + way * (1 - x);
    case NN_SCHEDULE_WAVE:
        return schedule->end + way * (1 + cos(2 * pi * since / span)) / 2;
    case NN_SCHEDULE_EXP:
        return schedule->end + way * pow(schedule->number, floor(since));
    case NN_SCHEDULE_STEP:
        for (size_t i = 0; i < schedule->drops; i++)
            value *= epoch >= schedule->drop[i] ? 0.1 : 1;
    }
    return value;
}
