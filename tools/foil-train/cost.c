#include <stdio.h>
#include <unistd.h>

#include "train.h"
#include "train/native.h"
#include "util/clock.h"

/* The cost is printed above these: bytes, seconds. */
static const double much = 1e9, hour = 3600;

/* Bytes of a process without a net. */
static const double base = 50e6;

/* Rows of a timed pass; seconds of timing if a first pass shows that the cost
 * must be printed. */
enum { PROBE = 32 };
static const double probe = 1;

/* Bytes of an encoder in this process: net, derived weights, moments. */
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

/* Rows of a step in the image encoder. */
static double
rows_of(const struct wire_batch *b)
{
    return (double)((b->batch.v + b->batch.small.v) * b->batch.b +
                    b->batch.extra.n);
}

/*
 * Seconds of a step, from forward passes of some rows of the batch, repeated
 * for `length` seconds, at least once, scaled to the rows of a rank; backward
 * takes twice as long.  Returns 0 if it cannot be measured.  Call it with
 * length 0 first.
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
    if (length <= 0) // the very first pass is slow
        nn_net_infer(native->net, &input, NULL, NULL);
    start = clock_now();
    do {
        nn_net_infer(native->net, &input, NULL, NULL);
        taken = clock_now() - start;
        times++;
    } while (taken < length);
    return passes * taken / times * rows_of(b) / (double)(input.n * ranks);
}

void
train_cost_print(const struct train *t, const struct wire_batch *b,
                 double steps)
{
    const double rows = rows_of(b);
    const double sizes =
        t->objective->needs_weights ? 3 * rows : 4 * (double)t->learner.dim;
    // encoders, waiting batches and the loss
    const double bytes =
        base + memory_of(&t->encoder) + memory_of(&t->text_encoder) +
        (double)t->options->window * (double)wire_msg_bytes(b->msg) +
        rows * sizes * sizeof(float);
    const double there =
        (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double step = seconds_of_step(t, b, 0);
    char time[96] = "", span[24], short_of[128] = "";

    if (bytes < much && step * steps < hour)
        return;
    step = seconds_of_step(t, b, probe);
    if (there > 0 && bytes > there)
        snprintf(short_of, sizeof short_of,
                 ", more than the %.1f GB of this machine: --micro-batch, or a "
                 "smaller batch, needs less",
                 there * 1e-9);
    clock_span(step * steps, span);
    if (step > 0)
        snprintf(time, sizeof time, "; %.2g s a step, %s in all", step, span);
    log_message("takes about %.1f GB of memory%s%s", bytes * 1e-9, short_of,
                time);
}
