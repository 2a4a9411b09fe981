#include "method.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

struct method_how method_how = {.proposals = "",
                                .strategy = "shuffle",
                                .batches = "4,8,32,256",
                                .tau = 0.2};

/* The name before the first comma, and the rest in *words; to be given to
 * free(). */
static char *
split_name(const char *text, const char **words)
{
    const size_t n = strcspn(text, ",");

    *words = text + n;
    return mem_format("%.*s", (int)n, text);
}

const struct select_strategy *
method_strategy(double *value)
{
    const struct select_strategy *strategy;
    const char *words;
    char *name = split_name(method_how.strategy, &words);
    struct err err;
    int rc = -1;

    strategy = select_strategy_find(name, &err);
    if (strategy) {
        param_defaults(strategy->params, value);
        rc = param_read_words(strategy->params, name, words, value, &err);
    }
    if (rc)
        opt_misuse("%s", err.msg);
    free(name);
    return strategy;
}

/* The sampler that an objective takes its weights from. */
static void
read_sampler(struct method *method)
{
    const struct loss_objective *objective = method->how.objective;
    const struct sample_sampler *sampler;
    const char *words;
    char *name = split_name(method_how.proposals, &words);
    struct err err;

    sampler = sample_sampler_find(objective->wants_weights, *name ? name : NULL,
                                  &err);
    if (!sampler)
        opt_misuse("%s", err.msg);
    sample_how_init(&method->sampler, sampler);
    if (sample_how_read(&method->sampler, words, &err))
        opt_misuse("%s", err.msg);
    free(name);
    method->how.sampler = &method->sampler;
}

void
method_read(struct method *method, const char *text)
{
    const char *words;
    char *name = split_name(text, &words);
    struct eval_frozen_how *how = &method->how;
    struct err err;

    *method = (struct method){.name = text};
    how->objective = loss_objective_find(name, &err);
    if (!how->objective)
        opt_misuse("%s", err.msg);
    how->settings = loss_settings_of(how->objective);
    how->settings.value[LOSS_TAU] = method_how.tau;
    if (param_read_words(how->objective->params, name, words,
                         how->settings.value, &err))
        opt_misuse("%s", err.msg);
    if (how->objective->wants_weights)
        read_sampler(method);
    how->strategy = method_strategy(how->plan);
    how->seed = (uint64_t)measured_how.seed;
    free(name);
}

const char *
method_objective(size_t i)
{
    const struct opt_list *list = &method_how.objectives;

    if (!list->n)
        return i ? NULL : "simclr";
    return i < list->n ? list->item[i] : NULL;
}

size_t
method_batches(size_t most, size_t batch[METHOD_MOST])
{
    const char *at = method_how.batches;
    size_t n = 0;

    do {
        char *end;
        long b;

        errno = 0;
        b = strtol(at, &end, 10);
        if (n == METHOD_MOST || end == at || (*end && *end != ',') || errno ||
            b < 2)
            opt_misuse("option '--batch': '%s' is no list of at most %d "
                       "numbers from 2 on with commas between",
                       method_how.batches, METHOD_MOST);
        if ((size_t)b > most)
            die("a batch of %ld of %zu samples: want 2 .. %zu", b, most, most);
        batch[n++] = (size_t)b;
        at = end + (*end == ',');
    } while (*at);
    return n;
}

void
method_open(struct instrument *in, char **path, int train)
{
    instrument_open(in, path, train);
    if (in->rows.views < 2)
        opt_misuse("wants two views or more of each sample");
}

struct eval_frozen *
method_new(const struct instrument *in, const struct method *method)
{
    struct eval_frozen *frozen;
    struct err err;

    frozen = eval_frozen_new(&in->rows, in->z, &method->how, &err);
    if (!frozen)
        die("%s: %s", method->name, err.msg);
    return frozen;
}

void
method_next(struct eval_frozen *frozen, size_t epoch, size_t step,
            struct eval_batch *batch)
{
    struct err err;

    if (eval_frozen_next(frozen, epoch, step, batch, &err))
        die("%s", err.msg);
}

int
method_remembers(const struct method *method)
{
    return method->how.objective->columns || method->how.sampler;
}

void
method_says(json_t *how, const struct method *method)
{
    json_object_update_new(how, json_pack("{s:s s:f s:s}", "objective",
                                          method->name, "tau",
                                          method->how.settings.value[LOSS_TAU],
                                          "strategy", method_how.strategy));
    if (method->how.sampler)
        json_object_set_new(
            how, "proposals",
            json_string(*method_how.proposals
                            ? method_how.proposals
                            : method->sampler.sampler->proposals));
}
