#include <stdio.h>

#include "drawn.h"
#include "util/clock.h"

static const double record_every_s = .25; // seconds

static void
take_arrays(struct train_drawn *d, size_t rows)
{
    struct heaviest *h = &d->drawn.heaviest;
    const size_t n = rows * TRAIN_DRAWN;

    arena_begin(&d->arrays);
    h->k = TRAIN_DRAWN;
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
    const struct train_drawn *d = self;

    return d->negatives.draw(d->negatives.self, step, extras, err);
}

static int
weigh_rows(void *self, const struct batch *step, struct weights *weights,
           int *without_service, struct err *err)
{
    struct train_drawn *d = self;
    const int rc = d->negatives.weigh(d->negatives.self, step, weights,
                                      without_service, err);

    d->known = rc > 0 && d->wanted;
    if (!d->known)
        return rc;
    take_arrays(d, step->v * step->b);
    sample_heaviest(step, weights, &d->drawn.heaviest);
    d->drawn.batch = *step;
    d->drawn.columns = weights->columns;
    snprintf(d->drawn.sampler, sizeof d->drawn.sampler, "%s",
             weights->sampler ? weights->sampler : "");
    return rc;
}

static void
pass_undo(void *self)
{
    const struct train_drawn *d = self;

    if (d->negatives.undo)
        d->negatives.undo(d->negatives.self);
}

struct train_negatives
train_drawn_negatives(struct train_drawn *d, struct train_negatives negatives)
{
    d->negatives = negatives;
    return (struct train_negatives){.self = d,
                                    .draw = negatives.draw ? pass_draw : NULL,
                                    .weigh = weigh_rows,
                                    .undo = pass_undo};
}

void
train_drawn_release(struct train_drawn *d)
{
    arena_release(&d->arrays);
}

void
train_drawn_begin(struct train_drawn *d, int followed)
{
    d->known = 0;
    d->wanted = followed && clock_now() - d->sent_at >= record_every_s;
}

void
train_drawn_send(struct train_drawn *d, struct wire_feed *feed)
{
    if (!d->known)
        return;
    d->known = 0;
    d->sent_at = clock_now();
    wire_feed_drawn(feed, &d->drawn);
}
