#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/schedule.h"

static const double pi = 3.14159265358979323846;

int
nn_schedule_parse(const char *text, struct nn_schedule *schedule,
                  struct err *err)
{
    const char *at = text + strlen("step:");

    schedule->drops = 0;
    if (!strcmp(text, "constant")) {
        schedule->kind = NN_CONSTANT;
        return 0;
    }
    if (!strcmp(text, "cosine")) {
        schedule->kind = NN_COSINE;
        return 0;
    }
    if (strncmp(text, "step:", strlen("step:")))
        goto refuse;
    schedule->kind = NN_STEP;
    while (schedule->drops < NN_MAX_DROPS) {
        double last = schedule->drops ? schedule->drop[schedule->drops - 1] : 0;
        char *end;
        double epoch = strtod(at, &end);

        if (end == at || !isfinite(epoch) || epoch <= last)
            break;
        schedule->drop[schedule->drops++] = epoch;
        if (!*end)
            return 0;
        if (*end != ',')
            break;
        at = end + 1;
    }
refuse:
    return err_set(err,
                   "schedule '%s': want constant, cosine, or step: and up to "
                   "%d rising epochs, as in step:60,80",
                   text, NN_MAX_DROPS);
}

double
nn_schedule_rate(const struct nn_schedule *schedule, double epoch)
{
    const double w = schedule->warmup, span = schedule->epochs - w;
    double f = 1;

    if (epoch < w)
        return schedule->base * epoch / w;
    if (schedule->kind == NN_COSINE && span > 0)
        f = (1 + cos(pi * fmin(1, (epoch - w) / span))) / 2;
    for (size_t i = 0; i < schedule->drops; i++)
        if (epoch >= schedule->drop[i])
            f *= 0.1;
    return schedule->base * f;
}
