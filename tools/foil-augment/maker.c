#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/set.h"
#include "data/sheet.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/opt.h"
#include "wire/batch.h"
#include "wire/progress.h"

#include "augment.h"

static size_t
longest_of(size_t n, const int32_t *lengths, size_t least)
{
    for (size_t i = 0; i < n; i++)
        if ((size_t)lengths[i] > least)
            least = (size_t)lengths[i];
    return least;
}

/* Removes unused columns: rows of `context` tokens get `len`. */
static void
drop_columns(int32_t *tokens, size_t n, size_t context, size_t len)
{
    for (size_t i = 1; i < n; i++)
        memmove(tokens + i * len, tokens + i * context, len * sizeof *tokens);
}

/* Converts n captions to tokens, [n,context]: those of pair [n,2] (sample,
 * which of its captions). */
static int32_t *
encode_captions(struct augment_maker *maker, int64_t epoch, size_t n,
                const int64_t *pair, int32_t *lengths)
{
    const struct text_captions_settings *how = &maker->options->text;
    int32_t *tokens =
        arena_take(&maker->arrays, n * how->context, sizeof *tokens);

    for (size_t i = 0; i < n; i++)
        lengths[i] = (int32_t)text_captions_row(
            data_caption(maker->set, (size_t)pair[2 * i]), (size_t)pair[2 * i],
            (size_t)pair[2 * i + 1], how, maker->seed, (uint64_t)epoch,
            maker->vocabulary, tokens + i * how->context);
    return tokens;
}

/* Refuses an item that names a caption which its sample does not have. */
static void
check_extra(const struct augment_maker *maker, const struct batch_extra *extra)
{
    const int all = maker->options->text.caption == TEXT_CAPTION_ALL;

    for (size_t i = 0; i < extra->n_texts; i++) {
        const size_t id = (size_t)extra->texts[2 * i],
                     k = (size_t)extra->texts[2 * i + 1],
                     count = text_captions_count(data_caption(maker->set, id));

        if (k >= (all && count ? 1 : count))
            die("an item needs caption %zu of sample '%s', which has %zu", k,
                data_name(maker->set, id), count);
    }
}

/* Adds one caption of each sample, and the extra ones of the item, to the
 * batch as tokens, valid until the next batch. */
static void
make_text(struct augment_maker *maker, struct wire_batch *made)
{
    const struct text_captions_settings *how = &maker->options->text;
    struct batch *batch = &made->batch;
    struct arena *arrays = &maker->arrays;
    const size_t b = batch->b, s = batch->extra.n_texts;
    int32_t *captions, *tokens, *extra_tokens, *lengths, *extra_lengths;
    int64_t *drawn;
    size_t len;

    if (!maker->vocabulary) {
        batch->extra.n_texts = 0;
        batch->extra.texts = NULL;
        return;
    }
    arena_begin(arrays);
    drawn = arena_take(arrays, 2 * b, sizeof *drawn);
    captions = arena_take(arrays, b, sizeof *captions);
    for (size_t i = 0; i < b; i++) {
        const size_t id = (size_t)batch->ids[i];
        const size_t k = text_captions_draw(
            how->caption, maker->seed, id, (uint64_t)batch->epoch,
            text_captions_count(data_caption(maker->set, id)));

        drawn[2 * i] = batch->ids[i];
        drawn[2 * i + 1] = (int64_t)k;
        captions[i] = (int32_t)k;
    }
    check_extra(maker, &batch->extra);
    lengths = arena_take(arrays, b, sizeof *lengths);
    extra_lengths = arena_take(arrays, s, sizeof *extra_lengths);
    tokens = encode_captions(maker, batch->epoch, b, drawn, lengths);
    extra_tokens = encode_captions(maker, batch->epoch, s, batch->extra.texts,
                                   extra_lengths);
    len = longest_of(b, lengths, 0);
    len = longest_of(s, extra_lengths, len);
    drop_columns(tokens, b, how->context, len);
    drop_columns(extra_tokens, s, how->context, len);
    batch->most_captions = (int64_t)maker->most_captions;
    batch->captions = captions;
    made->n_tokens = len;
    made->vocabulary = (int64_t)text_vocabulary_size(maker->vocabulary);
    made->tokens = tokens;
    made->lengths = lengths;
    made->extra_tokens = s ? extra_tokens : NULL;
    made->extra_lengths = s ? extra_lengths : NULL;
}

/* Maximum seconds of a piece of work, unless an image is large; seconds between
 * calls of progress() while the spare thread works. */
static const double piece_s = 0.001, progress_s = 0.01;

/* A part of a batch: the views of its next samples. */
struct piece {
    struct augment_maker *maker;
    struct image_recipe recipe;
    uint64_t epoch;
    int rc; /* of data_gather_next() */
    struct err why;
};

/* Refuses options that are for images with rows of numbers, and for rows with
 * images; opens the second set. */
static void
open_rows(struct augment_maker *maker, const struct data_pool_settings *how)
{
    const struct augment_options *o = maker->options;
    const int rows = !strncmp(o->spec, "rows", strcspn(o->spec, ","));
    struct err err;

    or_die(data_row_of(maker->set, &maker->row, &err), &err);
    if (!maker->row.d && (o->pair || o->recipe.noise > 0 || o->recipe.drop > 0))
        die("'%s' has images: %s is for rows of numbers", o->data,
            o->pair ? "--pair" : "such a --recipe");
    if (maker->row.d && (!rows || o->command || o->vocabulary || o->sheet ||
                         o->small_views || o->sizes.n > 1))
        die("'%s' has rows of numbers: 'foil run adapt' trains on them, with "
            "--recipe rows and no option for images or captions",
            o->data);
    if (!o->pair)
        return;
    maker->pair = data_open_parts_or_die(o->pair, 1);
    or_die(data_row_of(maker->pair, &maker->pair_row, &err), &err);
    if (!maker->pair_row.d || data_size(maker->pair) % data_size(maker->set))
        die("'%s' has %zu %s: --pair wants as many rows for each of the %zu of "
            "'%s', together",
            o->pair, data_size(maker->pair),
            maker->pair_row.d ? "rows" : "images", data_size(maker->set),
            o->data);
    maker->pair_pool = data_pool_new(maker->pair, how);
}

void
augment_maker_open(struct augment_maker *maker,
                   const struct augment_options *options)
{
    const struct data_pool_settings how = {
        .policy = options->policy,
        .max_pixels = (size_t)options->max_pixels,
        .keep_bytes = (size_t)options->cache << 20,
        .captioned = options->vocabulary != NULL,
    };
    struct data_facts facts;
    struct err err;

    maker->options = options;
    maker->set = data_open_parts_or_die(options->data, 1);
    maker->seed = data_seed(maker->set, (uint64_t)options->seed);
    maker->pool = data_pool_new(maker->set, &how);
    open_rows(maker, &how);
    if (options->vocabulary) {
        maker->vocabulary = text_vocabulary_open(options->vocabulary, &err);
        or_die(!maker->vocabulary || data_facts(maker->set, &facts, &err),
               &err);
        maker->most_captions = facts.most_captions;
        if (!maker->most_captions)
            die("'%s' has no captions", options->data);
    }
    maker->stop = -1;
    if (options->command && !options->dry)
        maker->command = augment_command_open(options, maker->seed);
}

void
augment_maker_close(struct augment_maker *maker)
{
    spare_close(maker->spare);
    augment_command_close(maker->command);
    text_vocabulary_free(maker->vocabulary);
    arena_release(&maker->arrays);
    data_pool_free(maker->pool);
    data_pool_free(maker->pair_pool);
    data_close(maker->set);
    data_close(maker->pair);
    data_gather_release(&maker->gather);
    free(maker->variant);
}

void
augment_maker_sheet(struct augment_maker *maker)
{
    const struct augment_options *options = maker->options;
    struct data_sheet sheet = {.rows = (size_t)options->rows,
                               .columns = (size_t)options->columns,
                               .views = (size_t)options->views,
                               .size = image_sizes_largest(&options->sizes),
                               .seed = maker->seed};
    struct image_recipe recipe = options->recipe;

    recipe.size = sheet.size;
    data_protect_or_die(maker->set, options->sheet);
    data_sheet_measure(&sheet);
    if (sheet.width > UINT16_MAX || sheet.height > UINT16_MAX)
        opt_misuse("the sheet would have %zu x %zu pixels", sheet.width,
                   sheet.height);
    data_sheet_begin(&sheet);
    data_sheet_draw(&sheet, &recipe, data_size(maker->set), maker->pool);
    data_sheet_write_or_die(&sheet, options->sheet);
}

void
augment_maker_recipe(const struct augment_maker *maker,
                     char recipe[AUGMENT_RECIPE])
{
    char hex[DIGEST_HEX];
    size_t n;

    augment_recipe(recipe);
    n = strlen(recipe);
    if (maker->pair)
        snprintf(recipe + n, AUGMENT_RECIPE - n, ",pair=%.8s",
                 digest_hex(data_digest(maker->pair), hex));
    if (!maker->vocabulary)
        return;
    snprintf(recipe + n, AUGMENT_RECIPE - n, ",vocabulary=%.8s,%zu",
             digest_hex(text_vocabulary_digest(maker->vocabulary), hex),
             maker->options->text.context);
}

/* Returns the size of the views of an item. */
static size_t
size_of(const struct augment_maker *maker, const struct batch *batch)
{
    return image_sizes_at(&maker->options->sizes, batch->epoch);
}

/* Returns what to make of a batch. */
static struct data_wanted
want_of(const struct augment_maker *maker, const struct batch *batch)
{
    const size_t pairs =
        maker->pair ? data_size(maker->pair) / data_size(maker->set) : 1;

    return (struct data_wanted){.batch = *batch,
                                .size = size_of(maker, batch),
                                .row = maker->row,
                                .pair = maker->pair_pool,
                                .pair_row = maker->pair_row,
                                .pair_each = pairs,
                                .small_views = maker->options->small_views,
                                .small = &maker->options->small};
}

/* Returns the bytes of the small views of an item. */
static size_t
small_bytes(const struct augment_maker *maker, const struct batch *batch)
{
    const size_t side = maker->options->small.size;

    return maker->options->small_views * batch->b * 3 * side * side;
}

/* Returns "32 x 32", or "512 numbers" of rows. */
static const char *
name_size(const struct data_wanted *want)
{
    return want->row.d ? mem_temp("%zu numbers",
                                  data_gather_bytes(want) / sizeof(float))
                       : mem_temp("%zu x %zu", want->size, want->size);
}

int
augment_maker_fits(const struct augment_maker *maker,
                   const struct wire_item *item, size_t most, struct err *err)
{
    const struct data_wanted want = want_of(maker, &item->batch);
    const size_t n = (size_t)maker->options->views * item->batch.b +
                     item->batch.extra.n,
                 bytes = n * data_gather_bytes(&want) +
                         small_bytes(maker, &item->batch);

    if (bytes <= most)
        return 0;
    return err_set(err,
                   "item: a batch of %zu views of %s has %.0f MiB, the "
                   "trainer takes %.0f: start foil-train with --max-batch %zu",
                   n, name_size(&want), (double)bytes / (1 << 20),
                   (double)most / (1 << 20), bytes / (1 << 20) + 1);
}

void
augment_maker_report(const struct augment_maker *maker,
                     const struct wire_item *item, size_t room)
{
    const struct augment_options *options = maker->options;
    struct data_wanted want = want_of(maker, &item->batch);
    const size_t images =
        (size_t)options->views * item->batch.b + item->batch.extra.n;
    char recipe[AUGMENT_RECIPE];

    augment_maker_recipe(maker, recipe);
    want.size = image_sizes_largest(&options->sizes);
    log_message("up to %zu batches at once of %ld x %zu views of %s: %.1f "
                "MiB; up to %ld MiB of decoded pixels are cached; recipe %s",
                room, options->views, item->batch.b, name_size(&want),
                (double)(room * (data_gather_bytes(&want) * images +
                                 small_bytes(maker, &item->batch))) /
                    (1 << 20),
                options->cache, recipe);
}

/* A bad sample got a substitute.  Too many bad ones end the run. */
static void
report_substitute(struct augment_maker *maker, const struct wire_place *at,
                  const int64_t pair[2], const struct err *why)
{
    const size_t bad = data_pool_bad(maker->pool), size = data_size(maker->set);
    const double most = maker->options->max_bad;
    const int first = bad != maker->bad;

    maker->bad = bad;
    maker->watcher.substituted(maker->watcher.data, at, pair, first, why);
    if ((double)bad > ceil(most * (double)size)) // a small set may have one
        die("bad samples: %zu of %zu, more than --max-bad %g allows "
            "(foil-data index --decode --bad skip leaves them out); the last: "
            "%s",
            bad, size, most, why->msg);
}

/* Sets which of the fixed views to make: those of the item, else drawn here. */
static void
choose_variants(struct augment_maker *maker, struct batch *batch)
{
    const struct augment_options *options = maker->options;
    const int64_t wanted = batch->fixed, ours = options->augmentations;
    const size_t views = (size_t)options->views;

    if (wanted && (batch->v != views || (ours && wanted != ours)))
        die("items are for %zu of %" PRId64 " fixed views: give all stages of "
            "a run the same",
            batch->v, wanted);
    batch->v = views;
    if (wanted || !ours)
        return;
    mem_grow(&maker->variant, &maker->variant_room, views * batch->b,
             sizeof *maker->variant);
    data_variants(maker->seed, (uint64_t)batch->epoch, batch->b, batch->ids,
                  (size_t)ours, views, maker->variant);
    batch->fixed = ours;
    batch->view_of = maker->variant;
}

/* Makes views for piece_s seconds, or until a sample gets a substitute. */
static void
make_piece(void *data)
{
    struct piece *piece = data;
    struct augment_maker *maker = piece->maker;
    struct data_gather *g = &maker->gather;
    const size_t substituted = g->batch.n_substituted;
    const double until = clock_now() + piece_s;

    do
        piece->rc = data_gather_next(g, maker->pool, &piece->recipe,
                                     maker->seed, piece->epoch, &piece->why);
    while (piece->rc > 0 && g->batch.n_substituted == substituted &&
           clock_now() < until);
}

static void
make_views(struct augment_maker *maker, int64_t session,
           const struct batch *batch)
{
    const struct augment_watcher *watcher = &maker->watcher;
    const struct wire_place at = wire_place_of(session, batch);
    struct data_wanted want = want_of(maker, batch);
    struct piece piece = {.maker = maker,
                          .recipe = maker->options->recipe,
                          .epoch = (uint64_t)batch->epoch};
    struct data_gather *g = &maker->gather;
    size_t substitutes = 0;

    piece.recipe.size = want.size;
    if (maker->command)
        augment_command_begin(maker->command, &want);
    data_gather_begin(g, &want);
    do {
        // at the lowest priority, if the trainer does not wait for it
        if (!maker->spare || watcher->is_wanted(watcher->data)) {
            make_piece(&piece);
        } else {
            spare_start(maker->spare, make_piece, &piece);
            while (!spare_wait(maker->spare, progress_s))
                watcher->progress(watcher->data);
        }
        watcher->progress(watcher->data);
        if (piece.rc > 0 && g->batch.n_substituted > substitutes)
            report_substitute(maker, &at, g->batch.substituted[substitutes++],
                              &piece.why);
    } while (piece.rc > 0);
    if (piece.rc < 0)
        die("%s", piece.why.msg);
    if (substitutes > WIRE_SUBSTITUTED_MAX)
        die("%zu bad samples in one batch are too many", substitutes);
    if (maker->command)
        augment_command_make(maker->command, &maker->watcher, maker->stop,
                             g->pixel, &g->batch);
}

struct wire_msg *
augment_maker_make(struct augment_maker *maker, const struct wire_item *item)
{
    const struct data_wanted want = want_of(maker, &item->batch);
    const size_t row = maker->row.d ? data_gather_bytes(&want) : 0;
    struct wire_batch made = {
        .session = item->session,
        .batch = item->batch,
        .height = row ? 1 : want.size,
        .width = row ? row / sizeof(float) : want.size,
        .channels = row ? sizeof(float) : 3,
    };

    memcpy(made.plan, item->plan, sizeof made.plan);
    memcpy(made.order, item->order, sizeof made.order);
    choose_variants(maker, &made.batch);
    make_views(maker, item->session, &made.batch);
    made.batch = maker->gather.batch;
    made.rejected = (int64_t)made.batch.n_substituted;
    make_text(maker, &made);
    return wire_batch_put(&made);
}
