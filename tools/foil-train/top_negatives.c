#include <stdio.h>

#include "top_negatives.h"
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

static int
pass_draw(void *self, const struct batch *step, struct batch_extra *extras,
          struct err *err)
{
    const struct train_top_negatives *d = self;

    return d->negatives.draw(d->negatives.self, step, extras, err);
}

static int
weigh_rows(void *self, const struct batch *step, struct weights *weights,
           int *without_service, struct err *err)
{
    struct train_top_negatives *d = self;
    const int rc = d->negatives.weigh(d->negatives.self, step, weights,
                                      without_service, err);

    d->known = rc > 0 && d->wanted;
    if (!d->known)
        return rc;
    take_arrays(d, step->v * step->b);
    sample_heaviest(step, weights, &d->message.heaviest);
    d->message.batch = *step;
    d->message.columns = weights->columns;
    snprintf(d->message.sampler, sizeof d->message.sampler, "%s",
             weights->sampler ? weights->sampler : "");
    return rc;
}

static void
pass_undo(void *self)
{
    const struct train_top_negatives *d = self;

    if (d->negatives.undo)
        d->negatives.undo(d->negatives.self);
}

struct train_negatives
train_top_negatives_wrap(struct train_top_negatives *d,
                         struct train_negatives negatives)
{
    d->negatives = negatives;
    return (struct train_negatives){.self = d,
                                    .draw = negatives.draw ? pass_draw : NULL,
                                    .weigh = weigh_rows,
                                    .undo = pass_undo};
}

void
train_top_negatives_release(struct train_top_negatives *d)
{
    arena_release(&d->arrays);
}

void
train_top_negatives_begin(struct train_top_negatives *d, int followed)
{
    d->known = 0;
    d->wanted = followed && clock_now() - d->sent_at >= record_every_s;
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
