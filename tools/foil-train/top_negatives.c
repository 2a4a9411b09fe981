#include <stdio.h>

#include "train.h"
#include "util/clock.h"

static const double record_every_s = .25; // seconds

static void
take_arrays(struct train_top_negatives *d, size_t rows)
{
    struct heaviest *h = &d->message.heaviest;
    const size_t n = rows * TRAIN_TOP_NEGATIVES;

    arena_begin(&d->arrays);
    h->k = TRAIN_TOP_NEGATIVES;
    h->row = arena_take(&d->arrays, n, sizeof *h->row);
    h->sample = arena_take(&d->arrays, n, sizeof *h->sample);
    h->view = arena_take(&d->arrays, n, sizeof *h->view);
    h->epoch = arena_take(&d->arrays, n, sizeof *h->epoch);
    h->w = arena_take(&d->arrays, n, sizeof *h->w);
    h->cosine = arena_take(&d->arrays, n, sizeof *h->cosine);
    h->outside = arena_take(&d->arrays, rows, sizeof *h->outside);
    h->effective = arena_take(&d->arrays, rows, sizeof *h->effective);
}

void
train_top_negatives_begin(struct train_top_negatives *d, int followed)
{
    d->known = 0;
    d->wanted = followed && clock_now() - d->sent_at >= record_every_s;
}

void
train_top_negatives_take(void *train, const struct batch *step,
                         const struct weights *weights)
{
    struct train *t = train;
    struct train_top_negatives *d = &t->top_negatives;

    if (!d->wanted)
        return;
    d->known = 1;
    take_arrays(d, step->v * step->b);
    sample_heaviest(step, weights, &d->message.heaviest);
    d->message.batch = *step;
    d->message.columns = weights->columns;
    snprintf(d->message.sampler, sizeof d->message.sampler, "%s",
             weights->sampler ? weights->sampler : "");
}

void
train_top_negatives_send(struct train_top_negatives *d, struct wire_feed *feed)
{
    if (!d->known)
        return;
    d->known = 0;
    d->sent_at = clock_now();
    wire_feed_top_negatives(feed, &d->message);
}
