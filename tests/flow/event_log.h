#pragma once

/*
 * Shared by simulations: a log of events, and chance.  To be included after
 * struct world, which has `trace`, `now`, `wrong` and `rng`.
 */
__attribute__((format(printf, 2, 3))) static void
log_event(struct world *w, const char *format, ...)
{
    va_list args;

    if (!w->trace)
        return;
    va_start(args, format);
    printf("# %9.4f ", w->now);
    vprintf(format, args);
    printf("\n");
    va_end(args);
}

/* Only the first error counts. */
__attribute__((format(printf, 2, 3))) static void
fail(struct world *w, const char *format, ...)
{
    va_list args;

    if (*w->wrong)
        return;
    va_start(args, format);
    vsnprintf(w->wrong, sizeof w->wrong, format, args);
    va_end(args);
    log_event(w, "WRONG: %s", w->wrong);
}

static double
some(struct world *w, double most)
{
    return most * rng_u32(&w->rng) * 0x1p-32;
}

static int
dice(struct world *w, unsigned n)
{
    return (int)(((uint64_t)rng_u32(&w->rng) * n) >> 32);
}
