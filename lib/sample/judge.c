#include "judge.h"

/* w of a batch is at most 1 GiB, as a part of a message is. */
enum { ROWS_MAX = 16384, WEIGHTS_MAX = 1 << 28 };

int
sample_is_banked(const struct sample_how *how)
{
    return !how->cache && how->elsewhere == SAMPLE_BANKED;
}

static size_t
length(const struct sample_how *how, const struct sample_step *step)
{
    return sample_emc2_length(how->proposals, step->v, step->b);
}

size_t
sample_burn(const struct sample_how *how, const struct sample_step *step)
{
    return how->burn < 0 ? length(how, step) / 2 : (size_t)how->burn;
}

static int
judge_chains(const struct sample_source *source, const struct sample_step *step,
             struct err *err)
{
    const struct sample_how *how = &source->how;
    const struct sample_chains *chains = &source->memory.chains;
    const size_t views = sample_step_views(step);

    if (chains->state && views != chains->views)
        return err_set(err, "%zu views where the chains are for %zu", views,
                       chains->views);
    if (step->fixed && how->proposals == SAMPLE_ALL4)
        return err_set(err, "all4 has one chain for each image: it is not for "
                            "fixed views");
    if (how->elsewhere == SAMPLE_BROUGHT_TEXTS && !step->fixed)
        return err_set(err, "captions come along with captions: these are "
                            "views");
    if (sample_is_banked(how) && step->extra)
        return err_set(err,
                       "%zu samples came along: states that are not in the "
                       "batch are scored by the bank",
                       step->extra);
    if (how->proposals == SAMPLE_CROSS && step->v != 2)
        return err_set(err, "chains across the views want 2 views, not %zu",
                       step->v);
    if (how->proposals == SAMPLE_EXACT)
        return step->v == 2
                   ? 0
                   : err_set(err, "%zu views: an exact draw wants 2", step->v);
    if (sample_burn(how, step) >= length(how, step))
        return err_set(err,
                       "a burn-in of %zu leaves nothing to record: a batch of "
                       "%zu images makes %zu proposals",
                       sample_burn(how, step), step->b, length(how, step));
    return 0;
}

static int
judge_bank(const struct sample_source *source, const struct sample_step *step,
           struct err *err)
{
    const struct sample_bank *bank = &source->memory.bank;
    const size_t views = sample_memory_views(&source->memory, step);

    if (!source->memory.form.horizon)
        return 0;
    if (bank->rows && bank->dim != step->dim)
        return err_set(err, "features of %zu numbers where the bank has %zu",
                       step->dim, bank->dim);
    if (bank->rows && bank->views != views)
        return err_set(err,
                       "a bank of %zu rows of a sample where the bank so far "
                       "has %zu",
                       views, bank->views);
    return 0;
}

/* What is kept has to fit into a store. */
static int
judge_size(const struct sample_source *source, const struct sample_step *step,
           struct err *err)
{
    const struct sample_how *how = &source->how;
    const double size = (double)source->memory.form.size;
    const double chains =
        how->cache ? 0 : size * (double)sample_step_views(step);
    const double rows =
        source->memory.form.horizon
            ? size * (double)sample_memory_views(&source->memory, step)
            : 0;

    if (chains * 16 + rows * 4 * ((double)step->dim + 6) <=
        (double)source->memory.form.most)
        return 0;
    return err_set(err,
                   "chains of %.0f views and a bank of %.0f rows of %zu "
                   "numbers are more than the %zu GiB that a trainer keeps: "
                   "--max-state of both",
                   chains, rows, step->dim, source->memory.form.most >> 30);
}

int
sample_judge(const struct sample_source *source, const struct sample_step *step,
             struct err *err)
{
    const size_t v = step->v, b = step->b, n = v * b;

    if (b < 2 || b > ROWS_MAX / v ||
        n * ((sample_is_banked(&source->how) ? 2 * n : n) + step->extra) >
            WEIGHTS_MAX)
        return err_set(err,
                       "%zu views of %zu images and %zu more: want 2 images or "
                       "more and %d rows at most",
                       v, b, step->extra, ROWS_MAX);
    if (source->how.cache && v != 2)
        return err_set(err, "%zu views: the cache wants 2", v);
    if (judge_bank(source, step, err) || judge_size(source, step, err))
        return -1;
    return source->how.cache ? 0 : judge_chains(source, step, err);
}
