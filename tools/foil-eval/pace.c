#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "nn/checkpoint.h"
#include "pace.h"
#include "run/settings.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

/* Processor seconds that the first evaluation is expected to cost at least. */
static const double first_s = 2;

/* The processor seconds of this process and its children that have ended. */
static double
cpu_seconds(void)
{
    struct rusage children;

    getrusage(RUSAGE_CHILDREN, &children);
    return clock_cpu() +
           (double)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) +
           1e-6 *
               (double)(children.ru_utime.tv_usec + children.ru_stime.tv_usec);
}

/* The number of epochs done, with a fraction; 0 without a config. */
static double
count_epochs(const json_t *config)
{
    const json_t *state = json_object_get(config, "state");
    const double steps = json_number_value(json_object_get(state, "steps"));

    return json_number_value(json_object_get(state, "epoch")) +
           json_number_value(json_object_get(state, "step")) / fmax(1, steps);
}

/* The same of the newest checkpoint. */
static double
count_newest(const char *run)
{
    struct err ignored;
    json_t *config = run_config_newest(run, &ignored);
    const double epochs = count_epochs(config);

    json_decref(config);
    return epochs;
}

void
pace_open(struct pace *pace)
{
    struct settings stored = {0};
    struct err ignored;
    const char *every, *from;

    setting_read(&stored, mem_temp("%s/compare/pace", pace->run), &ignored);
    every = setting_get(&stored, "every");
    from = setting_get(&stored, "from");
    if (every && from && atol(every) > 0) {
        pace->every = atol(every);
        pace->from = atol(from);
        pace->fixed = 1;
    }
    pace->epochs = count_newest(pace->run);
    pace->started = clock_now();
    setting_release(&stored);
}

long
pace_epoch(const struct pace *pace, long step)
{
    struct err ignored;
    json_t *config = nn_checkpoint_config(
        mem_temp("%s/step-%08ld", pace->run, step), &ignored);
    const double epochs = run_config_done(config) ? 0 : count_epochs(config);

    json_decref(config);
    return fmod(epochs, 1) > 0 ? 0 : (long)epochs;
}

int
pace_is_due(const struct pace *pace, long epoch)
{
    return epoch > 0 && epoch >= pace->from && epoch % pace->every == 0 &&
           (pace->fixed || ((double)epoch > pace->epochs &&
                            pace->share * 1e-3 * (double)pace->cpu >= first_s));
}

void
pace_begin(struct pace *pace)
{
    pace->before.trainer = 1e-3 * (double)pace->cpu;
    pace->before.own = cpu_seconds();
    pace->before.clock = clock_now();
}

/* Returns the least multiple of `every` that is at least x. */
static long
round_up(double x, long every)
{
    return (long)ceil(fmin(x, 1e9) / (double)every) * every;
}

void
pace_end(struct pace *pace, long epoch, double prepared)
{
    const double cost = cpu_seconds() - pace->before.own;
    const double done =
        fmax((double)epoch, count_newest(pace->run)) - pace->epochs;
    // per trained epoch: processor seconds for evaluations, and its duration
    const double allowed =
        fmax(1e-9, pace->share * pace->before.trainer - pace->before.own) /
        done;
    const double duration = (pace->before.clock - pace->started) / done;
    const double least = fmax((cost - prepared) / allowed,
                              (clock_now() - pace->before.clock) / duration);
    const double next = pace->epochs + (2 * cost - prepared) / allowed;
    char *text;
    struct err err;

    if (pace->fixed)
        return;
    pace->every = round_up(least, pace->every);
    pace->from = round_up(fmax(next, (double)epoch + 1), pace->every);
    pace->fixed = 1;
    text = mem_format("every %ld\nfrom %ld\n", pace->every, pace->from);
    or_die(file_write(mem_temp("%s/compare/pace", pace->run), text,
                      strlen(text), &err),
           &err);
    free(text);
}
