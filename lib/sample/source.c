#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "samplers.h"

/* ---- settings ------------------------------------------------------------ */

void
sample_settings_init(struct sample_settings *how,
                     const struct sample_sampler *sampler)
{
    *how = (struct sample_settings){.sampler = sampler};
    param_defaults(sampler->params, how->value);
}

double
sample_settings_value(const struct sample_settings *how, const char *name)
{
    const struct param *params = how->sampler->params;
    const struct param *own = param_find(params, name);

    return own ? how->value[own - params] : 0;
}

void
sample_settings_set(struct sample_settings *how, const char *name, double value)
{
    double *at = param_at(how->sampler->params, how->value, name);

    if (at)
        *at = value;
}

int
sample_settings_read(struct sample_settings *how, const char *list,
                     struct err *err)
{
    const struct sample_sampler *sampler = how->sampler;
    char *name = mem_format("%s %s", sampler->method, sampler->proposals);
    const int rc =
        param_read_words(sampler->params, name, list, how->value, err);

    free(name);
    return rc;
}

/* ---- a source ------------------------------------------------------------ */

/* What a sampler remembers for a data set of `size` samples. */
static struct sample_memory_form
memory_form_of(const struct sample_settings *how, size_t size)
{
    struct sample_memory_form form = {0};

    if (how->sampler->tables)
        how->sampler->tables(how, &form);
    form.size = size;
    form.most = how->most ? how->most : SAMPLE_STORE_MOST;
    return form;
}

void
sample_source_init(struct sample_source *source,
                   const struct sample_settings *how, size_t size)
{
    const struct sample_memory_form form = memory_form_of(how, size);

    *source = (struct sample_source){.settings = *how};
    sample_source_name(how, source->name);
    sample_memory_init(&source->memory, &form, 0);
    if (how->sampler->init)
        how->sampler->init(source);
}

void
sample_source_release(struct sample_source *source)
{
    if (source->settings.sampler && source->settings.sampler->release)
        source->settings.sampler->release(source);
    sample_memory_release(&source->memory);
    sample_bank_release(&source->ahead);
    arena_release(&source->drawn);
    arena_release(&source->weighed);
    *source = (struct sample_source){0};
}

void
sample_source_name(const struct sample_settings *how,
                   char name[SAMPLER_NAME_MAX])
{
    const struct sample_memory_form form = memory_form_of(how, 0);
    const char *suffix = form.scores                   ? " stale"
                         : form.chains && form.horizon ? " bank"
                                                       : "";

    snprintf(name, SAMPLER_NAME_MAX, "%s%s", how->sampler->name, suffix);
}

/* w of a batch is at most 1 GiB, the limit of a message part. */
enum { ROWS_MAX = 16384, WEIGHTS_MAX = 1 << 28 };

/* Refuses tables that would not fit into a store. */
static int
check_size(const struct sample_source *source, const struct batch *step,
           size_t views, struct err *err)
{
    const double size = (double)source->memory.form.size;
    const double chains =
        source->memory.form.chains ? size * (double)sample_step_views(step) : 0;
    const double rows = source->memory.form.horizon ? size * (double)views : 0;

    if (chains * 16 + rows * 4 * ((double)step->dim + 6) <=
        (double)source->memory.form.most)
        return 0;
    return err_set(err,
                   "chains of %.0f views and a bank of %.0f rows of %zu "
                   "numbers are more than the %zu GiB that a trainer stores: "
                   "raise --max-state of trainer and sampler",
                   chains, rows, step->dim, source->memory.form.most >> 30);
}

/* Refuses a step that no sampler could weigh: it is too large, or its features
 * do not fit the bank. */
static int
check_source_step(const struct sample_source *source, const struct batch *step,
                  struct err *err)
{
    const struct sample_bank *bank = &source->memory.bank;
    const size_t views = sample_memory_views(&source->memory, step);
    const size_t v = step->v, b = step->b, n = v * b;

    if (b < 2 || b > ROWS_MAX / v ||
        n * ((source->memory.form.recalls ? 2 * n : n) + step->extra.n) >
            WEIGHTS_MAX)
        return err_set(err,
                       "%zu views of %zu images and %zu more: want 2 images or "
                       "more and %d rows at most",
                       v, b, step->extra.n, ROWS_MAX);
    if (bank->rows && bank->dim != step->dim)
        return err_set(err, "features of %zu numbers where the bank has %zu",
                       step->dim, bank->dim);
    if (bank->rows && bank->views != views)
        return err_set(err,
                       "a bank of %zu rows of a sample where the bank so far "
                       "has %zu",
                       views, bank->views);
    return check_size(source, step, views, err);
}

int
sample_settings_fit(const struct sample_settings *how, size_t size,
                    size_t fixed, size_t dim, struct err *err)
{
    const struct sample_source source = {
        .settings = *how, .memory.form = memory_form_of(how, size)};
    const struct batch step = {.v = 2, .fixed = (int64_t)fixed, .dim = dim};

    return check_size(&source, &step,
                      sample_memory_views(&source.memory, &step), err);
}

void
sample_source_begin(struct sample_source *source, int64_t total)
{
    const struct sample_memory_form form = source->memory.form;

    sample_memory_release(&source->memory);
    sample_memory_init(&source->memory, &form, total);
    sample_bank_release(&source->ahead);
}

int
sample_source_load(struct sample_source *source,
                   const struct sample_store *store, int64_t total,
                   struct err *err)
{
    const char *name = source->name;

    if (store->n && strcmp(store->sampler, name))
        return err_set(err,
                       "the state is of sampler '%s', and this is '%s': "
                       "start it with the options that it had",
                       store->sampler, name);
    if (sample_memory_load(&source->memory, store, total, err))
        return -1;
    sample_bank_release(&source->ahead);
    return 0;
}

double
sample_source_beta(const struct sample_source *source, int64_t number)
{
    const struct sample_memory *memory = &source->memory;

    return sample_memory_beta(memory, number - (int64_t)memory->form.horizon);
}

int
sample_source_banks(const struct sample_source *source)
{
    return source->memory.form.horizon && !source->memory.form.recalls;
}

int
sample_source_waits(const struct sample_source *source)
{
    const struct sample_sampler *sampler = source->settings.sampler;

    return sampler->waits && sampler->waits(&source->settings);
}

/* Advances the copy of the bank to a step, which may be later than the next to
 * weigh.  Drops it if the number of views differs: sample_source_weigh() will
 * refuse the step. */
static void
look_ahead(struct sample_source *source, size_t views, int64_t then)
{
    const struct sample_bank *from = &source->memory.bank;
    struct sample_bank *ahead = &source->ahead;

    if (!from->rows || from->views != views) {
        sample_bank_release(ahead);
        return;
    }
    if (!ahead->rows)
        sample_bank_copy(ahead, from);
    sample_bank_advance(ahead, then);
}

struct batch_extra
sample_source_draw(struct sample_source *source, const struct batch *step,
                   int64_t number)
{
    const struct sample_memory *memory = &source->memory;
    struct batch_extra extras = {0};

    arena_begin(&source->drawn);
    // the captions of a batch are not known yet
    look_ahead(source,
               memory->bank.rows && memory->form.slots && !step->fixed
                   ? memory->bank.views
                   : sample_memory_views(memory, step),
               number - (int64_t)memory->form.horizon);
    if (source->settings.sampler->draw)
        source->settings.sampler->draw(source, step, number, &extras);
    return extras;
}

/* Adds the step to the memory, and to the copy of the bank. */
static void
remember_step(struct sample_source *source, const struct batch *step,
              struct weights *weights)
{
    struct sample_memory *memory = &source->memory;
    const struct sample_bank *bank = &memory->bank;
    struct sample_staleness stale;

    if (source->ahead.rows)
        sample_memory_push(&source->ahead, memory->total, step,
                           memory->form.chains);
    stale = sample_memory_step(memory, step, source->state, source->score,
                               &source->weighed);
    weights->sampler = source->name;
    weights->n_tables = sample_memory_rows(memory, source->tables);
    weights->tables = source->tables;
    if (!memory->form.horizon)
        return;
    values_add(&weights->values, "bank_filled",
               (double)bank->known / (double)(bank->size * bank->views));
    values_add(&weights->values, "staleness", stale.mean);
    values_add(&weights->values, "age", stale.age);
}

int
sample_source_weigh(struct sample_source *source, const struct batch *step,
                    struct weights *weights, struct err *err)
{
    const struct sample_sampler *sampler = source->settings.sampler;

    if (check_source_step(source, step, err) ||
        (sampler->check_step && sampler->check_step(source, step, err)))
        return -1;
    arena_begin(&source->weighed);
    source->state = NULL;
    source->score = NULL;
    *weights = (struct weights){.rows = step->v * step->b, .dim = step->dim};
    values_copy(&weights->values, step->extra.values, step->extra.n_values);
    sampler->weigh(source, step, weights);
    remember_step(source, step, weights);
    return 0;
}

float *
sample_begin_weights(const struct batch *step, struct weights *weights,
                     float **scale, struct arena *to)
{
    const size_t n = step->v * step->b, columns = n + step->extra.n;
    float *w = arena_take(to, n * columns, sizeof *w);

    *scale = arena_take(to, 2 * n, sizeof **scale);
    for (size_t i = 0; i < 2 * n; i++)
        (*scale)[i] = 1;
    weights->columns = columns;
    weights->w = w;
    weights->s = sample_step_compare(step, to);
    weights->scale = *scale;
    weights->accepted = 1;
    return w;
}
