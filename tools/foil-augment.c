/*
 * foil-augment turns the ids of plan items into decoded, augmented views: it
 * asks a selector for items and brings batches to a trainer.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/gather.h"
#include "data/png.h"
#include "data/pool.h"
#include "data/sheet.h"
#include "foil-augment/augment.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/priority.h"
#include "util/progress.h"
#include "util/stop.h"
#include "wire/batch.h"
#include "wire/client.h"
#include "wire/reject.h"

enum {
    NAMED_BAD = 10,     /* so many bad samples are named on stderr */
    PATIENCE = 10,      /* seconds between two times that we say so */
    BATCH_MAX = 1 << 30 /* bytes of a batch */
};

static const struct augment_options *options;

/* A batch that is made and could not be sent yet. */
struct ready {
    struct wire_place at;
    struct wire_msg *msg;
};

struct augmenter {
    struct data_set *set;
    struct data_pool *pool;
    uint64_t seed; /* of the views: ours, mixed with the data set's digest */

    struct wire *wire;
    struct wire_client *plan, *batches;
    struct progress progress;
    long made;
    size_t bad; /* samples that turned out bad so far */
    int over;
    struct ready *ready; /* [n_ready] */
    size_t n_ready, ready_room;
    struct data_gather gather;
    int64_t *variant; /* [views,b] which of the fixed views, drawn by us */
    size_t variant_room;
};

static void
open_data(struct augmenter *a)
{
    const struct data_pool_how how = {
        .policy = options->policy,
        .max_pixels = (size_t)options->max_pixels,
        .keep_bytes = (size_t)options->cache << 20,
    };
    struct digest digest;
    struct err err;

    a->set = data_open(options->data, &err);
    if (!a->set)
        die("%s", err.msg);
    if (data_stale(a->set, &err)) // a file that has gone is a bad sample
        say("%s", err.msg);
    digest = data_digest(a->set);
    a->seed = (uint64_t)options->seed ^ digest_word(&digest);
    a->pool = data_pool_new(a->set, &how);
}

static void
draw_sheet(struct augmenter *a)
{
    const struct data_sheet sheet = {(size_t)options->rows,
                                     (size_t)options->columns,
                                     (size_t)options->views, a->seed};
    size_t width, height;
    uint8_t *pixel;
    struct err err;

    data_sheet_size(&sheet, &options->recipe, &width, &height);
    if (width > UINT16_MAX || height > UINT16_MAX)
        opt_misuse("the sheet would have %zu x %zu pixels", width, height);
    pixel = mem_array(width * height, 3);
    data_sheet_draw(&sheet, &options->recipe, data_size(a->set), a->pool,
                    pixel);
    if (data_png_write(options->sheet, pixel, width, height, &err))
        die("%s", err.msg);
    free(pixel);
}

static size_t
bytes_of(const struct wire_item *item)
{
    return 3 * options->recipe.size * options->recipe.size *
           ((size_t)options->views * item->n + item->n_extra);
}

/*
 * A sample was bad, another one stands in for it: tell the selector always,
 * the user the first few times.  Too many end the run.
 */
static void
report_swap(struct augmenter *a, const struct wire_place *at,
            const int64_t swap[2], const struct err *why)
{
    const size_t bad = data_pool_bad(a->pool), size = data_size(a->set);
    struct wire_reject reject = {.at = *at, .n = 1, .ids = swap};
    struct wire_msg *msg;

    snprintf(reject.reason, sizeof reject.reason, "%.*s",
             (int)sizeof reject.reason - 1, why->msg);
    msg = wire_reject_put(&reject);
    wire_client_send(a->plan, msg);
    wire_msg_free(msg);
    if ((double)bad > options->max_bad * (double)size)
        die("%zu of %zu samples are bad, more than --max-bad %g allows; "
            "the last: %s",
            bad, size, options->max_bad, why->msg);
    if (bad == a->bad)
        return;
    a->bad = bad;
    progress_clear(&a->progress);
    if (bad <= NAMED_BAD)
        say("%s; '%s' stands in for it", why->msg,
            data_name(a->set, (size_t)swap[1]));
}

/* Which of the fixed views these are: as the item says, else drawn by us. */
static struct wire_variants
choose_variants(struct augmenter *a, const struct wire_item *item)
{
    const int64_t wanted = item->variants.augmentations,
                  ours = options->augmentations;
    const size_t views = (size_t)options->views;

    if (wanted && (item->variants.views != views || (ours && wanted != ours)))
        die("items are for %zu of %" PRId64 " fixed views: give all stages of "
            "a run the same",
            item->variants.views, wanted);
    if (wanted || !ours)
        return item->variants;
    mem_grow(&a->variant, &a->variant_room, views * item->n,
             sizeof *a->variant);
    data_variants(a->seed, (uint64_t)item->at.epoch, item->n, item->ids,
                  (size_t)ours, views, a->variant);
    return (struct wire_variants){ours, views, a->variant};
}

static void
make_views(struct augmenter *a, const struct wire_item *item,
           const int64_t *variant)
{
    const struct data_wanted want = {
        .n = item->n,
        .n_extra = item->n_extra,
        .views = (size_t)options->views,
        .size = options->recipe.size,
        .ids = item->ids,
        .extra = item->extra,
        .variant = variant,
        .extra_view = item->of_extra.view,
    };
    struct data_gather *g = &a->gather;
    size_t swaps = 0;
    struct err why;
    int rc;

    data_gather_begin(g, &want);
    while ((rc = data_gather_next(g, a->pool, &options->recipe, a->seed,
                                  (uint64_t)item->at.epoch, &why)) > 0) {
        if (g->n_swap > swaps)
            report_swap(a, &item->at, g->swap[swaps++], &why);
        wire_beat(a->wire);
    }
    if (rc < 0)
        die("%s", why.msg);
    if (swaps > WIRE_SUBSTITUTED_MAX)
        die("%zu bad samples in one batch are too many", swaps);
}

/* Once, before the first batch: what all this will take. */
static void
tell_memory(const struct augmenter *a, const struct wire_item *item)
{
    const size_t credit = wire_client_credit(a->batches);
    const size_t size = options->recipe.size;
    const double mib = (double)(credit * bytes_of(item)) / (1 << 20);

    say("up to %zu batches under way of %ld x %zu views of %zu x %zu: %.1f "
        "MiB; up to %ld MiB of decoded pixels are kept",
        credit, options->views, item->n, size, size, mib, options->cache);
}

/* Whether the trainer still waits for the step at a place. */
static int
is_wanted(const struct augmenter *a, const struct wire_place *place)
{
    const struct wire_place at = wire_client_place(a->batches);

    return place->session == at.session && wire_place_cmp(place, &at) >= 0;
}

/*
 * Sends what is ready, oldest first.  A batch that cannot be sent now, for
 * want of credit, of a trainer or of room in the queue, is kept until it can
 * be, or is not wanted any more: nobody else would make it.  There are no more
 * of them than items that we asked for.
 */
static void
deliver(struct augmenter *a)
{
    size_t left = 0;

    for (size_t i = 0; i < a->n_ready; i++) {
        struct ready *ready = &a->ready[i];
        int sent;

        sent = is_wanted(a, &ready->at) &&
               wire_client_send(a->batches, ready->msg);
        a->made += sent;
        if (!sent && is_wanted(a, &ready->at))
            a->ready[left++] = *ready;
        else
            wire_msg_free(ready->msg);
    }
    a->n_ready = left;
}

static void
bring(struct augmenter *a, const struct wire_item *item)
{
    const size_t size = options->recipe.size;
    const struct data_gather *g = &a->gather;
    struct wire_batch batch = {
        .at = item->at,
        .steps = item->steps,
        .epochs = item->epochs,
        .n = item->n,
        .n_views = (size_t)options->views,
        .height = size,
        .width = size,
        .channels = 3,
        .n_extra = item->n_extra,
        .look = item->look,
        .of_extra = item->of_extra,
        .variants = choose_variants(a, item),
    };
    char where[64];

    if (bytes_of(item) > BATCH_MAX)
        die("a batch of %ld x %zu views of %zu x %zu is larger than 1 GiB",
            options->views, item->n, size, size);
    if (!a->made)
        tell_memory(a, item);
    make_views(a, item, batch.variants.variant);
    batch.rejected = (int64_t)g->n_swap;
    batch.n_substituted = g->n_swap;
    batch.substituted = g->swap;
    batch.ids = g->ids;
    batch.views = g->pixel;
    batch.extra_ids = g->ids + item->n;
    batch.extra = g->pixel + (size_t)options->views * item->n * size * size * 3;
    mem_grow(&a->ready, &a->ready_room, a->n_ready + 1, sizeof *a->ready);
    a->ready[a->n_ready++] = (struct ready){item->at, wire_batch_put(&batch)};
    deliver(a);
    snprintf(where, sizeof where, "epoch %" PRId64 " step %" PRId64,
             item->at.epoch, item->at.step);
    progress_show(&a->progress, (double)a->made, where);
}

/* An item that the trainer does not wait for any more is let go. */
static void
take_item(struct augmenter *a)
{
    const struct wire_item *item = wire_client_item(a->plan);

    if (is_wanted(a, &item->at))
        bring(a, item);
}

/* What the trainer says: credit, where it is, that the run is over. */
static void
hear_trainer(struct augmenter *a)
{
    struct wire_news news;
    struct wire_place at;
    struct err err;
    int rc, waits = 0;

    while ((rc = wire_client_next(a->batches, &news, &err)) > 0) {
        a->over |= news.what == WIRE_ENDED;
        waits |= news.what == WIRE_WAITED;
        if (news.what == WIRE_BAD)
            say("%s", news.why.msg);
    }
    if (rc < 0)
        die("%s", err.msg);
    deliver(a);
    at = wire_client_place(a->batches);
    if (at.session < 0)
        return;
    wire_client_pass(a->plan, &at);
    if (waits)
        wire_client_waits(a->plan);
    if (wire_client_credit(a->batches) > a->n_ready)
        wire_client_want(a->plan, wire_client_credit(a->batches) - a->n_ready);
}

/* One thing that the selector says.  Returns 1 when there may be more. */
static int
hear_selector(struct augmenter *a)
{
    struct wire_news news;
    struct wire_msg *end;
    struct err err;
    int rc = wire_client_next(a->plan, &news, &err);

    if (rc < 0)
        die("%s", err.msg);
    if (rc == 0)
        return 0;
    if (news.what == WIRE_CAME)
        take_item(a);
    if (news.what == WIRE_BAD)
        say("%s", news.why.msg);
    a->over |= news.what == WIRE_OVER;
    if (news.what != WIRE_ENDED)
        return 1;
    end = wire_place_put(WIRE_END, &news.at);
    wire_client_send(a->batches, end);
    wire_msg_free(end);
    return 1;
}

static int
enough(const struct augmenter *a)
{
    return a->over || (options->max_items && a->made >= options->max_items);
}

static struct wire_client *
connect_to(struct augmenter *a, enum wire_client_kind kind, const char *role,
           const char *given, const char *edge)
{
    struct wire_client_config config = {
        .role = role,
        .kind = kind,
        .hello = {.stage = "augment", .size = (int64_t)data_size(a->set)},
        .limits = {.part_bytes = kind == WIRE_ASKS ? WIRE_ITEM_PART : 0},
    };
    struct digest digest = data_digest(a->set);
    char *endpoint = wire_endpoint(given, options->run, edge);
    struct wire_client *client;
    struct err err;

    digest_hex(&digest, config.hello.digest);
    augment_recipe(config.hello.recipe);
    config.endpoint = endpoint;
    client = wire_client_open(a->wire, &config, &err);
    if (!client)
        die("%s", err.msg);
    free(endpoint);
    return client;
}

/* Say it from time to time when nobody is there, or lets us in. */
static void
tell_waiting(const struct augmenter *a, double *since)
{
    struct err plan, batches;
    const int no_plan = wire_client_trouble(a->plan, &plan),
              no_batches = wire_client_trouble(a->batches, &batches);

    if ((no_plan || no_batches) && clock_now() - *since < PATIENCE)
        return;
    *since = clock_now();
    if (no_plan)
        say("still waiting for a selector: %s", plan.msg);
    if (no_batches)
        say("still waiting for a trainer: %s", batches.msg);
}

static void
serve(struct augmenter *a, const struct wire_keys *keys)
{
    double since = clock_now();
    struct err err;
    int stop = stop_fd(&err), rc = 1;

    a->wire = stop < 0 ? NULL : wire_open(keys, &err);
    if (!a->wire)
        die("%s", err.msg);
    a->plan = connect_to(a, WIRE_ASKS, options->filter ? "negatives" : "select",
                         options->plan, options->filter ? "items" : "plan");
    a->batches = connect_to(a, WIRE_BRINGS, "train", options->batches, "batch");
    progress_start(&a->progress, "batches", 0, (double)options->max_items);
    while (rc > 0 && !enough(a)) {
        rc = wire_wait(a->wire, stop, 1, &err);
        do
            hear_trainer(a);
        while (rc > 0 && !enough(a) && !stop_asked() && hear_selector(a));
        tell_waiting(a, &since);
    }
    progress_clear(&a->progress);
    if (rc < 0)
        die("%s", err.msg);
    if (a->over)
        wire_client_over(a->plan);
    wire_client_close(a->batches);
    wire_client_close(a->plan);
    wire_close(a->wire);
}

int
main(int argc, char **argv)
{
    struct augmenter a = {0};
    struct wire_keys keys = {0};
    struct err err;

    options = augment_options_get(argc, argv);
    priority_low();
    if (options->sheet)
        end_when_stopped();
    if (options->keys &&
        wire_keys_open(&keys, options->keys, options->allow, &err))
        die("%s", err.msg);
    open_data(&a);
    if (options->sheet)
        draw_sheet(&a);
    else
        serve(&a, options->keys ? &keys : NULL);

    wire_keys_release(&keys);
    data_pool_free(a.pool);
    data_close(a.set);
    for (size_t i = 0; i < a.n_ready; i++)
        wire_msg_free(a.ready[i].msg);
    free(a.ready);
    data_gather_release(&a.gather);
    free(a.variant);
    return EXIT_OK;
}
