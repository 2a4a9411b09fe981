#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/anchors.h"
#include "eval/chains.h"
#include "instrument.h"
#include "sample/ess.h"
#include "util/mem.h"

enum { LAGS = 20 };

static long visits = 100, warm_up = 20, replicas = 4, most = 32;

static const struct opt chains_own[] = {
    {"visits", 0, OPT_WHOLE, &visits, 8, 1e6, "N",
     "epochs to measure; each visits every chain once"},
    {"warmup", 0, OPT_WHOLE, &warm_up, 0, 1e6, "N",
     "epochs before the measurement"},
    {"replicas", 0, OPT_WHOLE, &replicas, 2, 1000, "N",
     "independent runs of all chains"},
    {"anchors", 0, OPT_WHOLE, &most, 1, 1e6, "N",
     "chains to measure, drawn by the seed"},
    {0},
};
verb_opts chains_opts = {method_opts, batches_opts, chains_own, plot_opts,
                         INSTRUMENT_GROUPS};

/* Measures of a chain. */
enum { INDEPENDENT, RHAT, DISTANCE, NOISE, LEAN, MEASURES };
static const char *const names[MEASURES] = {"independent", "rhat", "distance",
                                            "noise", "cosine_bias"};

/* Records of the measured chains. */
struct watch {
    const struct instrument *in;
    const struct method *method;
    size_t m;        /* chains */
    size_t *row;     /* [m] the row of each chain */
    size_t *at;      /* [n] the chain of each row; m: none */
    double *x;       /* [m,replicas,visits] cosine of the state */
    size_t *times;   /* [m,replicas] visits so far */
    float *weight;   /* [m,n] sum of the recorded weights */
    double accepted; /* sum over steps */
    size_t steps;
    double *of[MEASURES]; /* [m] each */
    double lagged[LAGS];  /* mean autocorrelation of all chains */
};

static void
watch_init(struct watch *w, const struct instrument *in,
           const struct method *method)
{
    const size_t n = eval_views_count(&in->rows);
    const size_t chains = 2 * in->rows.samples;
    const size_t m = (size_t)most < chains ? (size_t)most : chains;
    int64_t *order = shuffled_rows(n, measured_settings.seed);

    *w = (struct watch){.in = in, .method = method, .m = m};
    w->row = mem_array(m, sizeof *w->row);
    w->at = mem_array(n, sizeof *w->at);
    w->x = mem_array(m * (size_t)(replicas * visits), sizeof *w->x);
    w->times = mem_array(m * (size_t)replicas, sizeof *w->times);
    w->weight = mem_array(m * n, sizeof *w->weight);
    for (size_t k = 0; k < MEASURES; k++)
        w->of[k] = mem_array(m, sizeof *w->of[k]);
    for (size_t r = 0; r < n; r++)
        w->at[r] = m;
    for (size_t i = 0; i < m; i++) {
        w->row[i] = (size_t)order[i];
        w->at[order[i]] = i;
    }
    free(order);
}

/* Records a step of a chain: its state and its weights. */
static void
watch_chain(struct watch *w, size_t replica, const struct eval_batch *batch,
            size_t r)
{
    const struct sample_state state = batch->state[r];
    const struct eval_views *rows = &w->in->rows;
    const size_t n = eval_views_count(rows), i = w->at[batch->row[r]];
    const size_t chain = i * (size_t)replicas + replica, d = rows->d;
    const size_t view = state.view < 0 ? 0 : (size_t)state.view;
    const float *anchor = rows->v + batch->row[r] * d;
    const float *weight = batch->weights.w + r * batch->columns;
    const float *other;
    double cosine = 0;

    if (i == w->m || w->times[chain] == (size_t)visits || state.id < 0)
        return;
    other = rows->v + (view * rows->samples + (size_t)state.id) * d;
    for (size_t k = 0; k < d; k++)
        cosine += (double)anchor[k] * (double)other[k];
    w->x[chain * (size_t)visits + w->times[chain]++] = cosine;
    for (size_t c = 0; c < batch->rows; c++)
        w->weight[i * n + batch->row[c]] += weight[c];
}

static void
watch_step(void *self, size_t replica, struct eval_frozen *frozen,
           const struct eval_batch *batch)
{
    struct watch *w = self;

    (void)frozen;
    if (!batch->state)
        die("the sampler of %s has no chains", w->method->name);
    w->accepted += batch->weights.accepted;
    w->steps++;
    for (size_t r = 0; r < 2 * batch->b; r++)
        watch_chain(w, replica, batch, r);
}

static void
measure_chain(struct watch *w, size_t i)
{
    const struct eval_views *rows = &w->in->rows;
    const size_t n = eval_views_count(rows), states = (size_t)visits;
    const double *x = w->x + i * (size_t)replicas * states;
    const double tau = w->method->settings.settings.value[LOSS_TAU];
    float *s = mem_array(n, sizeof *s), *p = mem_array(n, sizeof *p);
    double all = 0;
    const float *weight = w->weight + i * n;
    double exact = 0, square = 0, sum = 0, got = 0;

    eval_views_cosines(rows, 1, &w->row[i], s);
    eval_softmax(n, s, tau, p);
    for (size_t r = 0; r < (size_t)replicas; r++)
        all += sample_ess(states, x + r * states);
    w->of[INDEPENDENT][i] = all / (double)(replicas * visits);
    w->of[RHAT][i] = eval_chains_rhat((size_t)replicas, states, x);
    w->of[DISTANCE][i] = eval_chains_distance(n, p, w->weight + i * n);
    w->of[NOISE][i] = eval_chains_noise(n, p, all);
    // the mean cosine by the recorded weights, less that by p, in standard
    // deviations of p
    for (size_t c = 0; c < n; c++) {
        if (s[c] < -2)
            continue;
        exact += (double)p[c] * (double)s[c];
        square += (double)p[c] * (double)s[c] * (double)s[c];
        got += (double)weight[c] * (double)s[c];
        sum += (double)weight[c];
    }
    square = sqrt(fmax(0, square - exact * exact));
    w->of[LEAN][i] = square > 0 ? (got / sum - exact) / square : 0;
    for (size_t lag = 0; lag < LAGS && lag < states; lag++)
        w->lagged[lag] +=
            eval_chains_lagged((size_t)replicas, states, x, lag) / (double)w->m;
    mem_free(p, s);
}

static void
draw_chains(const struct watch *w)
{
    struct plot script;
    FILE *out = plot_open(&script);

    fputs("# lag, autocorrelation\n$lags << END\n", out);
    for (size_t lag = 0; lag < LAGS; lag++)
        fprintf(out, "%zu %g\n", lag, w->lagged[lag]);
    fputs("END\n# noise, distance, share of independent visits, R-hat\n"
          "$chains << END\n",
          out);
    for (size_t i = 0; i < w->m; i++)
        fprintf(out, "%g %g %g %g\n", w->of[NOISE][i], w->of[DISTANCE][i],
                w->of[INDEPENDENT][i], w->of[RHAT][i]);
    fputs("END\nset terminal pngcairo size 1440,480\n"
          "set multiplot layout 1,3\nset grid\nunset key\n"
          "set xlabel \"visits between\"\nset ylabel \"autocorrelation\"\n"
          "plot $lags with linespoints pt 7 lw 2, 0 lc rgb \"#999999\"\n"
          "set xlabel \"distance of independent draws\"\n"
          "set xtics font \",10\"\n"
          "set ylabel \"distance to the softmax\"\n"
          "set key outside top center horizontal\n"
          "plot $chains using 1:2 with points pt 7 title \"chains\", x lc rgb "
          "\"#999999\" title \"draws, one a visit\"\nunset key\n"
          "set xtics font \"\"\n"
          "set xlabel \"share of visits that count as independent\"\n"
          "set ylabel \"R-hat\"\n"
          "plot $chains using 3:4 with points pt 7\n",
          out);
    plot(&script, common_options.plot);
}

static void
report_chains(struct watch *w)
{
    json_t *how = method_protocol(w->in, w->method), *lags = json_array();
    json_t *line;

    for (size_t chain = 0; chain < w->m * (size_t)replicas; chain++)
        if (w->times[chain] < (size_t)visits)
            die("a chain of sample %jd was visited %zu times in %ld epochs: "
                "the plan leaves samples out, or chains without a state",
                (intmax_t)w->in->id[w->row[chain / (size_t)replicas] %
                                    w->in->rows.samples],
                w->times[chain], visits);
    for (size_t i = 0; i < w->m; i++)
        measure_chain(w, i);
    for (size_t lag = 0; lag < LAGS; lag++)
        json_array_append_new(lags, json_real(w->lagged[lag]));
    line = method_line("chains", w->method);
    json_object_set_new(line, "accepted",
                        json_real(w->accepted / (double)w->steps));
    for (size_t k = 0; k < MEASURES; k++)
        json_object_set_new(line, names[k], spread(w->m, w->of[k]));
    json_object_set_new(line, "autocorrelation", lags);
    json_object_update_new(
        how, json_pack("{s:I s:I s:I s:I}", "chains", (json_int_t)w->m,
                       "visits", (json_int_t)visits, "warmup",
                       (json_int_t)warm_up, "replicas", (json_int_t)replicas));
    print(line, how);
    if (common_options.plot)
        draw_chains(w);
}

void
run_chains(char **path)
{
    size_t batch[LIST_MOST], batches;
    const struct opt_list *objectives = &method_settings.objectives;
    const char *objective = objectives->n ? objectives->item[0] : "emc2";
    struct instrument in;
    struct method method;
    struct watch w;

    method_read(&method, objective);
    if (!method.settings.objective->needs_weights)
        opt_misuse("%s has no chains: only emc2 and emc2_bimodal have",
                   objective);
    if (objectives->n > 1)
        opt_misuse("give one --objective");
    method_open(&in, path, 0);
    if (in.rows.views != 2)
        die("chains are measured on two views of each sample");
    batches = method_batches(in.rows.samples, batch);
    if (common_options.plot && batches > 1)
        opt_misuse("--plot draws one size of batches: choose it with --batch");
    for (size_t k = 0; k < batches; k++) {
        method.settings.batch = batch[k];
        watch_init(&w, &in, &method);
        method_replicate(&(struct replicas){.in = &in,
                                            .method = &method,
                                            .n = (size_t)replicas,
                                            .warm_up = (size_t)warm_up,
                                            .epochs = (size_t)visits,
                                            .measure = watch_step,
                                            .self = &w});
        report_chains(&w);
        mem_free(w.row, w.at, w.x, w.times, w.weight);
        for (size_t i = 0; i < MEASURES; i++)
            free(w.of[i]);
    }
    instrument_release(&in);
}
