#include <stdio.h>
#include <unistd.h>

#include "train.h"
#include "train/native.h"
#include "util/clock.h"

/* From here on a run is told what it takes: bytes, seconds. */
static const double much = 1e9, hour = 3600;

/* Bytes of a process that has no net yet. */
static const double base = 50e6;

/* Rows that are timed at once; and for how long, in seconds, where a single
 * pass says that the run has to be told. */
enum { PROBE = 32 };
static const double probe = 1;

/* What an encoder holds here: the net; derived weights; moments. */
static double
memory_of(const struct train_encoder *encoder)
{
    const struct train_native *native = train_native(encoder);
    size_t moments = 0;

    if (!native)
        return 0;
    if (native->optim)
        moments = nn_optim_moments(native->optim).n;
    return (double)nn_net_memory(native->net) +
           (double)encoder->parameters * sizeof(float) * (double)(1 + moments);
}

/* Rows of a step through the net of images. */
static double
rows_of(const struct wire_batch *b)
{
    return (double)(b->batch.v * b->batch.b + b->batch.extra.n);
}

/* Batches that wait or are under way, and the similarities of all rows. */
static double
bytes_needed(const struct train *t, const struct wire_batch *b)
{
    const double rows = rows_of(b);

    return base + memory_of(&t->encoder) + memory_of(&t->text_encoder) +
           (double)t->options->window * (double)wire_msg_bytes(b->msg) +
           3 * rows * rows * sizeof(float);
}

/*
 * Seconds of a step: forward of some rows of the batch, again and again for so
 * long, at least once, and twice as much back, times the rows of a rank.  0
 * where that cannot be seen.  A length of 0 comes first.
 */
static double
seconds_of_step(const struct train *t, const struct wire_batch *b,
                double length)
{
    const struct train_encoder *encoder = &t->encoder;
    const struct train_native *native = train_native(encoder);
    const size_t n = b->batch.b < PROBE ? b->batch.b : PROBE;
    const size_t ranks = t->ranks ? t->ranks->size : 1;
    struct nn_input input = {.images = b->batch.pixels};
    double start, taken = 0, times = 0, passes;

    if (!native || encoder->kind != NN_IMAGES || t->options->text)
        return 0;
    input.n = n < native->rows ? n : native->rows;
    passes = native->rows * ranks < encoder->rows && !t->options->whole ? 4 : 3;
    if (length <= 0) // the first pass of all is slow
        nn_net_infer(native->net, &input, NULL, NULL);
    start = clock_now();
    do {
        nn_net_infer(native->net, &input, NULL, NULL);
        taken = clock_now() - start;
        times++;
    } while (taken < length);
    return passes * taken / times * rows_of(b) / (double)(input.n * ranks);
}

/* Says so where the machine has less. */
static void
compare_memory(double bytes, char text[128])
{
    const double there =
        (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);

    *text = 0;
    if (there > 0 && bytes > there)
        snprintf(text, 128,
                 ", more than the %.1f GB of this machine: --micro-batch, or a "
                 "smaller batch, needs less",
                 there * 1e-9);
}

void
train_cost_print(const struct train *t, const struct wire_batch *b,
                 double steps)
{
    const double bytes = bytes_needed(t, b);
    double step = seconds_of_step(t, b, 0);
    char time[96] = "", span[24], short_of[128];

    if (bytes < much && step * steps < hour)
        return;
    step = seconds_of_step(t, b, probe);
    compare_memory(bytes, short_of);
    clock_span(step * steps, span);
    if (step > 0)
        snprintf(time, sizeof time, "; %.2g s a step, %s in all", step, span);
    log_message("takes about %.1f GB of memory%s%s", bytes * 1e-9, short_of,
                time);
}
