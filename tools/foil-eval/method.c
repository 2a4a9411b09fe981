#include "instrument.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

struct method_settings method_settings = {.proposals = "",
                                          .strategy = "shuffle",
                                          .batches = "4,8,32,256",
                                          .tau = 0.2};

const struct opt method_opts[] = {
    {"objective", 0, OPT_LIST, &method_settings.objectives, 0, 0,
     "NAME[,PARAM=X]...",
     "objective to measure, repeatable; see foil-train --list"},
    {"tau", 0, OPT_REAL, &method_settings.tau, 1e-4, 1e4, "X",
     "temperature of the objectives"},
    {"proposals", 0, OPT_TEXT, &method_settings.proposals, 0, 0,
     "NAME[,PARAM=X]...", "sampler, for objectives with one"},
    {0},
};
const struct opt batches_opts[] = {
    {"strategy", 0, OPT_TEXT, &method_settings.strategy, 0, 0,
     "NAME[,PARAM=X]...", "how to choose batches, as in foil-select"},
    {"batch", 'b', OPT_TEXT, &method_settings.batches, 0, 0, "B,...",
     "images in a batch"},
    {0},
};

/* Returns the name before the first comma, which the caller frees; *words is
 * the rest. */
static char *
split_name(const char *text, const char **words)
{
    const size_t n = strcspn(text, ",");

    *words = text + n;
    return mem_format("%.*s", (int)n, text);
}

/* Reads the strategy, and its parameters into value [PARAM_MOST]. */
static const struct select_strategy *
read_strategy(double *value)
{
    const struct select_strategy *strategy;
    const char *words;
    char *name = split_name(method_settings.strategy, &words);
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

void
method_read(struct method *method, const char *text)
{
    const char *words;
    char *name = split_name(text, &words);
    struct eval_frozen_settings *how = &method->settings;
    const struct sample_sampler *sampler;
    struct err err;

    *method = (struct method){.name = text};
    how->objective = loss_objective_find(name, &err);
    if (!how->objective)
        opt_misuse("%s", err.msg);
    how->settings = loss_settings_of(how->objective);
    how->settings.value[LOSS_TAU] = method_settings.tau;
    if (param_read_words(how->objective->params, name, words,
                         how->settings.value, &err))
        opt_misuse("%s", err.msg);
    free(name);
    if (how->objective->needs_weights) {
        name = split_name(method_settings.proposals, &words);
        sampler = sample_sampler_find(how->objective->needs_weights,
                                      *name ? name : NULL, &err);
        if (!sampler)
            opt_misuse("%s", err.msg);
        sample_settings_init(&method->sampler, sampler);
        if (sample_settings_read(&method->sampler, words, &err))
            opt_misuse("%s", err.msg);
        free(name);
    }
    how->sampler = &method->sampler;
    how->strategy = read_strategy(how->plan);
    how->seed = (uint64_t)measured_settings.seed;
}

size_t
method_batches(size_t most, size_t batch[LIST_MOST])
{
    const size_t n = read_list("batch", method_settings.batches, 2, LONG_MAX,
                               "from 2 on", batch);

    for (size_t i = 0; i < n; i++)
        if (batch[i] > most)
            die("a batch of %zu of %zu samples: want 2 .. %zu", batch[i], most,
                most);
    return n;
}

void
method_open(struct instrument *in, char **path, int train)
{
    instrument_open(in, path, train);
    if (in->rows.views < 2)
        opt_misuse("needs at least two views of each sample");
}

void
method_replicate(const struct replicas *all)
{
    const struct instrument *first = all->before ? all->before : all->in;
    struct method method = *all->method;
    const int columns = method.settings.objective->columns > 0;
    const size_t epochs = all->warm_up + all->epochs;
    struct eval_frozen *frozen;
    struct eval_batch batch;
    struct progress progress;
    double done = 0;
    struct err err;

    progress_start(&progress, "epochs", 0, (double)(all->n * epochs));
    for (size_t replica = 0; replica < all->n; replica++) {
        frozen = eval_frozen_new(&first->rows, &method.settings, &err);
        if (!frozen)
            die("%s: %s", method.name, err.msg);
        for (size_t epoch = 0; epoch < epochs; epoch++, done++) {
            const size_t steps = eval_frozen_steps(frozen);

            if (epoch == all->warm_up)
                eval_frozen_move(frozen, &all->in->rows);
            for (size_t step = 0; step < steps; step++) {
                or_die(eval_frozen_next(frozen, epoch, step, &batch, &err),
                       &err);
                if (epoch >= all->warm_up)
                    all->measure(all->self, replica, frozen, &batch);
                else if (columns)
                    eval_frozen_gradient(frozen); // updates the columns
                progress_show(&progress,
                              done + (double)(step + 1) / (double)steps, "");
            }
        }
        eval_frozen_free(frozen);
        method.settings.seed++;
    }
    progress_clear(&progress);
}

int
method_has_state(const struct method *method)
{
    return method->settings.objective->columns ||
           method->settings.objective->needs_weights;
}

json_t *
method_protocol(const struct instrument *in, const struct method *method)
{
    json_t *how = instrument_protocol(in);

    json_object_update_new(
        how, json_pack("{s:s s:f s:s}", "objective", method->name, "tau",
                       method->settings.settings.value[LOSS_TAU], "strategy",
                       method_settings.strategy));
    if (method->settings.objective->needs_weights)
        json_object_set_new(
            how, "proposals",
            json_string(*method_settings.proposals
                            ? method_settings.proposals
                            : method->sampler.sampler->proposals));
    return how;
}

json_t *
method_line(const char *measure, const struct method *method)
{
    return json_pack("{s:s s:s s:I}", "measure", measure, "objective",
                     method->name, "batch", (json_int_t)method->settings.batch);
}

void
method_each(struct instrument *in, char **path, int train,
            void (*begin)(void *self, char **path),
            void (*measure)(void *self, const struct method *method),
            void *self)
{
    struct opt_list *objectives = &method_settings.objectives;
    size_t batch[LIST_MOST], batches;
    struct method method;

    if (!objectives->n)
        objectives->item[objectives->n++] = "simclr";
    for (size_t i = 0; i < objectives->n; i++)
        method_read(&method, objectives->item[i]);
    method_open(in, path, train);
    begin(self, path);
    batches = method_batches(in->rows.samples, batch);
    for (size_t i = 0; i < objectives->n; i++) {
        method_read(&method, objectives->item[i]);
        for (size_t k = 0; k < batches; k++) {
            method.settings.batch = batch[k];
            measure(self, &method);
        }
    }
}

static const double least_drawn = 1e-6;

void
curves_add(struct curves *curves, char *name, size_t batch,
           const struct eval_figure figure[CURVES_PANELS])
{
    struct curves_point *point;

    mem_grow(&curves->point, &curves->room, curves->n + 1, sizeof *point);
    point = &curves->point[curves->n++];
    *point = (struct curves_point){.name = name, .batch = batch};
    memcpy(point->figure, figure, sizeof point->figure);
}

/* Whether no point before this one has its name. */
static int
begins_line(const struct curves *curves, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(curves->point[k].name, curves->point[i].name))
            return 0;
    return 1;
}

/* Writes the points of a line, with values above zero on logarithmic axes. */
static void
write_curve(FILE *out, const struct curves *curves, size_t first,
            const struct curves_panel *panel)
{
    fprintf(out, "$p%zu << END\n", first);
    for (size_t i = first; i < curves->n; i++) {
        const struct curves_point *p = &curves->point[i];

        if (strcmp(p->name, curves->point[first].name))
            continue;
        fprintf(out, "%zu", p->batch);
        for (int k = 0; k < CURVES_PANELS; k++) {
            const struct eval_figure f = p->figure[k];
            const double least = panel[k].logarithms ? least_drawn : -INFINITY;

            fprintf(out, " %g %g %g", fmax(f.value, least),
                    fmax(f.value - f.half, least),
                    fmax(f.value + f.half, least));
        }
        fputs("\n", out);
    }
    fputs("END\n", out);
}

static void
write_panel(FILE *out, const struct curves *curves, int which,
            const struct curves_panel *panel)
{
    const int column = 2 + 3 * which;
    size_t hue = 0;

    fprintf(out, "set ylabel \"%s\"\n%s\nplot ", panel->label,
            panel->logarithms ? "set logscale y\nset format y \"10^{%T}\""
                              : "unset logscale y\nset format y \"%g\"");
    for (size_t i = 0; i < curves->n; i++) {
        if (!begins_line(curves, i))
            continue;
        fprintf(out,
                "%s$p%zu using 1:%d:%d:%d with yerrorlines lw 2 pt 7 lc "
                "rgb \"#%s\" title ",
                hue ? ", " : "", i, column, column + 1, column + 2,
                plot_hue(hue));
        plot_text(out, curves->point[i].name);
        hue++;
    }
    fputs("\n", out);
}

void
curves_draw(struct curves *curves,
            const struct curves_panel panel[CURVES_PANELS])
{
    struct plot script;
    FILE *out = common_options.plot ? plot_open(&script) : NULL;
    double low = INFINITY, high = 0;

    for (size_t i = 0; out && i < curves->n; i++) {
        low = fmin(low, (double)curves->point[i].batch);
        high = fmax(high, (double)curves->point[i].batch);
        if (begins_line(curves, i))
            write_curve(out, curves, i, panel);
    }
    if (out) {
        fputs("set terminal pngcairo size 1440,480\n"
              "set multiplot layout 1,3\nset grid\nset logscale x 2\n"
              "set xlabel \"images in a batch\"\n"
              "set key outside top center horizontal noenhanced\n",
              out);
        fprintf(out, "set xrange [%g:%g]\n", low / 1.2, high * 1.2);
        for (int k = 0; k < CURVES_PANELS; k++)
            write_panel(out, curves, k, &panel[k]);
        plot(&script, common_options.plot);
    }
    for (size_t i = 0; i < curves->n; i++)
        free(curves->point[i].name);
    free(curves->point);
}
