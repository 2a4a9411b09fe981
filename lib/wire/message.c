#include <float.h>
#include <string.h>

#include "util/digest.h"
#include "wire/batch.h"
#include "wire/edge.h"
#include "wire/error.h"
#include "wire/event.h"
#include "wire/features.h"
#include "wire/fetch.h"
#include "wire/hello.h"
#include "wire/pairs.h"
#include "wire/plan.h"
#include "wire/reject.h"
#include "wire/state.h"
#include "wire/status.h"
#include "wire/weights.h"

#include "message.h"

/*
 * Parts of rows.  x is the struct without "wire_", m its member; the type on
 * the wire follows from the member's, so the two cannot disagree.
 */
#define M(x, m) (((struct wire_##x *)0)->m)
#define AT(x, m) offsetof(struct wire_##x, m)
#define IS(x, m, type, what) _Generic(M(x, m), type : what)
#define SIZE(x, m) IS(x, m, size_t, AT(x, m))

#define WHOLE(x, key, m, min, max)                                    \
    .name = (key), .at = AT(x, m), .least = (min), .greatest = (max), \
    .type = _Generic(M(x, m), int64_t                                 \
                     : WIRE_WHOLE, size_t                             \
                     : WIRE_COUNT)
#define REAL(x, key, m, min, max)                                       \
    .name = (key), .at = AT(x, m), .type = IS(x, m, double, WIRE_REAL), \
    .low = (min), .high = (max)
#define FLAG(x, key, m)                                              \
    .name = (key), .at = AT(x, m), .type = IS(x, m, int, WIRE_FLAG), \
    .optional = 1
#define TEXT(x, key, m)                                                 \
    .name = (key), .at = AT(x, m), .type = IS(x, m, char *, WIRE_TEXT), \
    .room = sizeof M(x, m)
#define SHARE(x, key, m, most)                                              \
    .name = (key), .at = AT(x, m), .type = IS(x, m, int64_t *, WIRE_SHARE), \
    .greatest = (most), .optional = 1
#define VALUES(x, key, m, n)                                                  \
    .name = (key), .at = AT(x, m),                                            \
    .type = IS(x, m, struct wire_metric *, WIRE_VALUES), .count = SIZE(x, n), \
    .greatest = sizeof M(x, m) / sizeof *M(x, m)
#define TABLE_LIST(x, key, m, n)   \
    .name = (key), .at = AT(x, m), \
    .type = IS(x, m, struct wire_table *, WIRE_TABLES), .count = SIZE(x, n)
#define DTYPE(x, m) \
    _Generic(M(x, m), const uint8_t * : WIRE_U1, const int32_t * : WIRE_I4,   \
             const int64_t * : WIRE_I8, const float * : WIRE_F4)
#define TENSOR(x, key, m, sizes)                                          \
    .name = (key), .at = AT(x, m), .type = WIRE_TENSOR, .shape = (sizes), \
    .dtype = DTYPE(x, m)
#define IDS(x, key, m, sizes)                                          \
    .name = (key), .at = AT(x, m), .type = WIRE_IDS, .shape = (sizes), \
    .dtype = IS(x, m, const int64_t *, WIRE_I8)

/* Rows that several messages have. */
#define EPOCH(x, m) WHOLE(x, "epoch", m, 0, WIRE_EPOCH_MAX - 1)
#define STEP(x, m) WHOLE(x, "step", m, 0, WIRE_STEP_MAX - 1)
#define SESSION(x, m) WHOLE(x, "session", m, 0, INT64_MAX)
#define SEQUENCE(x) WHOLE(x, "sequence", sequence, 0, INT64_MAX)
#define SIDE(x, m) WHOLE(x, #m, m, 1, WIRE_SIDE_MAX)
#define ABOVE(x, key, m) .above = (key), .above_at = IS(x, m, int64_t, AT(x, m))
#define PLACE(x)                                    \
    {SESSION(x, at.session)}, {EPOCH(x, at.epoch)}, \
    {                                               \
        STEP(x, at.step)                            \
    }
#define REQUEST(x)                                             \
    {WHOLE(x, "id", id, 0, INT64_MAX)}, {SESSION(x, session)}, \
        {EPOCH(x, epoch)},                                     \
    {                                                          \
        STEP(x, step)                                          \
    }
#define OF_EPOCH(x)                                                          \
    {WHOLE(x, "steps", steps, 1, WIRE_STEP_MAX), ABOVE(x, "step", at.step)}, \
    {                                                                        \
        WHOLE(x, "epochs", epochs, 1, WIRE_EPOCH_MAX),                       \
            ABOVE(x, "epoch", at.epoch)                                      \
    }

/* What wire/views.h says. */
#define EACH(x, key, m, most) \
    TENSOR(x, key, m, "r"), .optional = 1, .least = -1, .greatest = (most)
#define VIEWS(x)                                                              \
    {WHOLE(x, "reserve", of_extra.reserve, 1, WIRE_BATCH_MAX), .optional = 1, \
     .least_size = 'r'},                                                      \
        {EACH(x, "extra_view", of_extra.view, WIRE_VIEW_MAX - 1)},            \
        {TENSOR(x, "extra_epoch", of_extra.epoch, "r"), .optional = 1,        \
         .with = "extra_view", .greatest = WIRE_EPOCH_MAX - 1},               \
        {EACH(x, "hint_row", of_extra.hint_row, INT32_MAX)},                  \
        {EACH(x, "hint_view", of_extra.hint_view, WIRE_VIEW_MAX - 1)},        \
        {TENSOR(x, "hint_log_q", of_extra.hint_log_q, "r"), .optional = 1},   \
        {VALUES(x, "hint_values", of_extra.hint_values,                       \
                of_extra.n_hint_values),                                      \
         .optional = 1},                                                      \
        {WHOLE(x, "augmentations", variants.augmentations, 2, WIRE_VIEW_MAX), \
         .optional = 1},                                                      \
    {                                                                         \
        TENSOR(x, "variants", variants.variant, "vb"),                        \
            .with = "augmentations", .below = "augmentations",                \
            .below_at = IS(x, variants.augmentations, int64_t,                \
                           AT(x, variants.augmentations))                     \
    }

/* Texts: a sample and which of its captions; tokens and their lengths. */
#define EXTRA_TEXTS(x) \
    TENSOR(x, "extra_texts", extra_texts, "s2"), .optional = 1
#define TEXTS(x, leader) \
    WHOLE(x, "texts", texts, 1, WIRE_CAPTIONS_MAX), .with = (leader)
#define CAPTIONS(x)                       \
    TENSOR(x, "captions", captions, "b"), \
        .below = "texts", .below_at = IS(x, texts, int64_t, AT(x, texts))
#define TOKENS(x, key, m, sizes, by)                               \
    TENSOR(x, key, m, sizes),                                      \
        .below = "vocabulary",                                     \
        .below_at = IS(x, vocabulary, int64_t, AT(x, vocabulary)), \
        .lengths = (by)
#define LENGTHS(x, key, m, sizes) \
    TENSOR(x, key, m, sizes), .least = 2, .greatest = WIRE_TOKENS_MAX

/* ---- checks between fields: x is the struct that was filled ------------- */

/* How far from 1 a row of f4 may sum. */
static const double slack = 1e-3;

static void
check_digest(struct wire_reader *r, const void *x, int64_t size)
{
    const struct wire_hello *hello = x;
    struct digest digest;

    (void)size;
    if (*hello->digest && digest_from_hex(&digest, hello->digest))
        wire_read_fail(r, "'digest' is not 32 hexadecimal digits");
}

static void
check_dataset(struct wire_reader *r, const void *x, int64_t size)
{
    const struct wire_hello *hello = x;

    (void)size;
    if (!*hello->digest != !hello->size)
        wire_read_fail(r, "a data set has a digest and images, or neither");
}

static void
check_size(struct wire_reader *r, const void *x, int64_t size)
{
    const struct wire_item *item = x;

    if (size && item->size != size)
        wire_read_fail(r, "data set of %jd images, ours has %jd",
                       (intmax_t)item->size, (intmax_t)size);
}

static void
check_w(struct wire_reader *r, const void *x, int64_t size)
{
    const struct wire_weights *weights = x;
    const double least = weights->partial ? 0 : 1 - slack;

    (void)size;
    for (size_t i = 0; i < weights->rows; i++) {
        const float *row = weights->w + i * weights->columns;
        double sum = 0;
        int negative = 0;

        for (size_t j = 0; j < weights->columns; j++) {
            negative |= row[j] < 0;
            sum += row[j];
        }
        if (!negative && sum <= 1 + slack && sum >= least)
            continue;
        wire_read_fail(r, "row %zu of w is no set of weights: sum %g", i, sum);
        return;
    }
}

static void
check_piece(struct wire_reader *r, const void *x, int64_t size)
{
    const struct wire_state *state = x;
    size_t pieces = 0;

    (void)size;
    for (size_t i = 0; i < state->n; i++) {
        const struct wire_table *t = &state->tables[i];

        pieces += t->n > 0;
        if (t->n && (t->n > t->rows || (uint64_t)state->from > t->rows - t->n))
            wire_read_fail(r, "rows %jd .. of table '%s' end behind its %zu",
                           (intmax_t)state->from, t->name, t->rows);
        if (t->n > 1 && t->n > WIRE_PIECE_MAX / t->width)
            wire_read_fail(r, "%zu rows of table '%s' are more than %d bytes",
                           t->n, t->name, WIRE_PIECE_MAX);
    }
    if (pieces > 1)
        wire_read_fail(r, "rows of %zu tables in one piece", pieces);
}

/* Rows (sample, caption); a sample has `most` captions at most. */
static void
judge_texts(struct wire_reader *r, size_t n, const int64_t *texts, int64_t size,
            int64_t most)
{
    for (size_t i = 0; texts && i < n; i++) {
        const int64_t id = texts[2 * i], caption = texts[2 * i + 1];

        if (id < 0 || (size && id >= size) || caption < 0 || caption >= most)
            wire_read_fail(r, "row %zu of extra_texts is caption %jd of %jd", i,
                           (intmax_t)caption, (intmax_t)id);
    }
}

static void
check_item_texts(struct wire_reader *r, const void *x, int64_t size)
{
    const struct wire_item *item = x;

    (void)size;
    judge_texts(r, item->n_texts, item->extra_texts, item->size,
                WIRE_CAPTIONS_MAX);
}

static void
judge_lengths(struct wire_reader *r, size_t n, const int32_t *lengths,
              size_t len)
{
    for (size_t i = 0; lengths && i < n; i++)
        if ((size_t)lengths[i] > len)
            wire_read_fail(r, "a text of %d tokens, in rows of %zu", lengths[i],
                           len);
}

static void
check_lengths(struct wire_reader *r, const void *x, int64_t size)
{
    const struct wire_batch *batch = x;

    (void)size;
    judge_lengths(r, batch->n, batch->lengths, batch->n_tokens);
    judge_lengths(r, batch->n_texts, batch->extra_lengths, batch->n_tokens);
}

static void
check_batch_texts(struct wire_reader *r, const void *x, int64_t size)
{
    const struct wire_batch *batch = x;

    if (batch->extra_texts && !batch->tokens)
        wire_read_fail(r, "extra_texts without tokens");
    judge_texts(r, batch->n_texts, batch->extra_texts, size, batch->texts);
}

static void
check_kind(struct wire_reader *r, const void *x, int64_t size)
{
    const struct wire_pairs *pairs = x;

    (void)size;
    if (!strcmp(pairs->kind, "pair") && (pairs->n_views != 2 || !pairs->texts))
        wire_read_fail(r, "kind pair wants 2 views, and captions");
}

static void
check_pairs_texts(struct wire_reader *r, const void *x, int64_t size)
{
    const struct wire_pairs *pairs = x;

    judge_texts(r, pairs->n_texts, pairs->extra_texts, size,
                pairs->texts ? pairs->texts : WIRE_CAPTIONS_MAX);
}

static void
check_have(struct wire_reader *r, const void *x, int64_t size)
{
    const struct wire_next *next = x;

    (void)size;
    for (size_t i = 0; next->have && i < next->n_have; i++) {
        const int64_t *at = next->have + 2 * i;

        if (at[0] < 0 || at[0] >= WIRE_EPOCH_MAX || at[1] < 0 ||
            at[1] >= WIRE_STEP_MAX)
            wire_read_fail(r, "row %zu of have is no place", i);
        else if (i && (at[0] < at[-2] || (at[0] == at[-2] && at[1] <= at[-1])))
            wire_read_fail(r, "row %zu of have is not after the one before", i);
    }
}

static void
check_window(struct wire_reader *r, const void *x, int64_t size)
{
    const struct wire_next *next = x;

    (void)size;
    if ((int64_t)next->n_have > next->window)
        wire_read_fail(r, "%zu places are held of a window of %jd",
                       next->n_have, (intmax_t)next->window);
}

/* ---- tables ------------------------------------------------------------- */

static const struct wire_field hello_fields[] = {
    {TEXT(hello, "stage", stage)},
    {WHOLE(hello, "version", version, 0, INT32_MAX)},
    {TEXT(hello, "run", run)},
    {.name = "dataset", .type = WIRE_MAP, .members = 2},
    {TEXT(hello, "digest", digest)},
    {WHOLE(hello, "size", size, 0, WIRE_SIZE_MAX)},
    {TEXT(hello, "peer", peer), .least = 1},
    {TEXT(hello, "recipe", recipe), .least = 1, .optional = 1},
    {TEXT(hello, "sampler", sampler), .least = 1, .optional = 1},
    {WHOLE(hello, "max_batch", max_batch, 1, WIRE_SIZE_MAX), .optional = 1},
    {SHARE(hello, "part", part, WIRE_RANKS_MAX)},
    {0},
};

static const struct wire_check hello_checks[] = {
    {"the digest is one", check_digest},
    {"a data set has a digest and images, or neither", check_dataset},
    {0},
};

static const struct wire_field error_fields[] = {
    {TEXT(error, "reason", reason)},
    {FLAG(error, "again", again)},
    {FLAG(error, "state", state)},
    {WHOLE(error, "id", id, 0, INT64_MAX), .optional = 1, .missing = -1},
    {TEXT(error, "kind", of.kind), .optional = 1},
    {SESSION(error, of.at.session), .optional = 1, .missing = -1,
     .with = "kind"},
    {EPOCH(error, of.at.epoch), .with = "session"},
    {STEP(error, of.at.step), .with = "session"},
    {WHOLE(error, "count", count, 1, INT64_MAX), .optional = 1, .with = "kind"},
    {0},
};

static const struct wire_field next_fields[] = {
    PLACE(next),
    {WHOLE(next, "serial", serial, 1, INT64_MAX)},
    {WHOLE(next, "window", window, 1, WIRE_WINDOW_MAX)},
    {TENSOR(next, "have", have, "k2"), .optional = 1},
    {WHOLE(next, "room", room, 1, WIRE_WINDOW_MAX), .optional = 1},
    {0},
};

static const struct wire_size next_sizes[] = {
    {'k', SIZE(next, n_have), WIRE_WINDOW_MAX},
    {0},
};

static const struct wire_check next_checks[] = {
    {"have is places in order", check_have},
    {"no more than the window is held", check_window},
    {0},
};

static const struct wire_field end_fields[] = {
    PLACE(end),
    {FLAG(end, "over", over)},
    {0},
};

static const struct wire_field beat_fields[] = {
    {WHOLE(beat, "room", room, 1, WIRE_WINDOW_MAX), .optional = 1},
    {WHOLE(beat, "items", items, 0, WIRE_WINDOW_MAX), .with = "room"},
    {WHOLE(beat, "ready", ready, 0, WIRE_WINDOW_MAX), .with = "room"},
    {WHOLE(beat, "made", made, 0, WIRE_STEP_MAX), .with = "room"},
    {TEXT(beat, "source", source), .optional = 1, .with = "room"},
    {0},
};

static const struct wire_field reject_fields[] = {
    PLACE(reject),
    {TEXT(reject, "reason", reason)},
    {IDS(reject, "ids", ids, "n")},
    {0},
};

static const struct wire_size reject_sizes[] = {
    {'n', SIZE(reject, n), WIRE_SIZE_MAX},
    {0},
};

static const struct wire_field item_fields[] = {
    PLACE(item),
    {TEXT(item, "run", run)},
    {WHOLE(item, "size", size, 1, WIRE_SIZE_MAX)},
    OF_EPOCH(item),
    {IDS(item, "ids", ids, "b"), .once = 1},
    {IDS(item, "extra", extra, "r"), .optional = 1},
    {EXTRA_TEXTS(item)},
    VIEWS(item),
    {FLAG(item, "encode_only", encode_only)},
    {0},
};

static const struct wire_size item_sizes[] = {
    {'b', SIZE(item, n), WIRE_BATCH_MAX},
    {'r', SIZE(item, n_extra), WIRE_BATCH_MAX},
    {'s', SIZE(item, n_texts), WIRE_BATCH_MAX},
    {'v', SIZE(item, variants.views), WIRE_SIZE_MAX},
    {0},
};

static const struct wire_check item_checks[] = {
    {"the data set is ours", check_size},
    {"rows of extra_texts are captions", check_item_texts},
    {0},
};

static const struct wire_field batch_fields[] = {
    PLACE(batch),
    OF_EPOCH(batch),
    {SIDE(batch, height)},
    {SIDE(batch, width)},
    {SIDE(batch, channels)},
    {WHOLE(batch, "rejected", rejected, 0, WIRE_BATCH_MAX)},
    {.name = "substituted",
     .type = IS(batch, substituted, int64_t (*)[2], WIRE_COUPLES),
     .at = AT(batch, substituted),
     .count = IS(batch, n_substituted, size_t, AT(batch, n_substituted)),
     .greatest = WIRE_SUBSTITUTED_MAX,
     .optional = 1},
    {IDS(batch, "ids", ids, "b"), .once = 1},
    {TENSOR(batch, "views", views, "vbhwc")},
    {IDS(batch, "extra_ids", extra_ids, "r"), .optional = 1},
    {TENSOR(batch, "extra", extra, "rhwc"), .with = "extra_ids"},
    VIEWS(batch),
    {SHARE(batch, "shard", shard, WIRE_SHARDS_MAX)},
    {TEXTS(batch, "tokens")},
    {WHOLE(batch, "vocabulary", vocabulary, 1, WIRE_VOCABULARY_MAX),
     .with = "tokens"},
    {TOKENS(batch, "tokens", tokens, "bl", "lengths"), .optional = 1},
    {LENGTHS(batch, "lengths", lengths, "b"), .with = "tokens"},
    {CAPTIONS(batch), .with = "tokens"},
    {EXTRA_TEXTS(batch)},
    {TOKENS(batch, "extra_tokens", extra_tokens, "sl", "extra_lengths"),
     .with = "extra_texts"},
    {LENGTHS(batch, "extra_lengths", extra_lengths, "s"),
     .with = "extra_texts"},
    {FLAG(batch, "encode_only", encode_only)},
    {0},
};

static const struct wire_size batch_sizes[] = {
    {'b', SIZE(batch, n), WIRE_BATCH_MAX},
    {'v', SIZE(batch, n_views), WIRE_SIZE_MAX},
    {'h', SIZE(batch, height), WIRE_SIDE_MAX},
    {'w', SIZE(batch, width), WIRE_SIDE_MAX},
    {'c', SIZE(batch, channels), WIRE_SIDE_MAX},
    {'r', SIZE(batch, n_extra), WIRE_SIZE_MAX},
    {'s', SIZE(batch, n_texts), WIRE_BATCH_MAX},
    {'l', SIZE(batch, n_tokens), WIRE_TOKENS_MAX},
    {'v', SIZE(batch, variants.views), WIRE_SIZE_MAX},
    {0},
};

static const struct wire_check batch_checks[] = {
    {"texts are no longer than their rows", check_lengths},
    {"rows of extra_texts are captions", check_batch_texts},
    {0},
};

static const struct wire_field features_fields[] = {
    {SEQUENCE(features), .optional = 1, .missing = -1},
    {EPOCH(features, epoch)},
    {STEP(features, step)},
    {TEXT(features, "mode", mode), .words = "train, eval"},
    {WHOLE(features, "dim", dim, 1, WIRE_DIM_MAX)},
    {WHOLE(features, "id", id, 1, INT64_MAX), .optional = 1},
    {WHOLE(features, "next", next, 1, WIRE_SIZE_MAX), .with = "id"},
    {IDS(features, "ids", ids, "b")},
    {TENSOR(features, "z", z, "vbd"),
     .half = IS(features, half, const uint16_t *, AT(features, half))},
    {0},
};

static const struct wire_size features_sizes[] = {
    {'b', SIZE(features, n), WIRE_SIZE_MAX},
    {'v', SIZE(features, n_views), WIRE_SIZE_MAX},
    {'d', SIZE(features, dim), WIRE_DIM_MAX},
    {0},
};

static const struct wire_field pairs_fields[] = {
    REQUEST(pairs),
    {REAL(pairs, "beta", beta, DBL_MIN, 1e9)},
    {IDS(pairs, "ids", ids, "b")},
    {TENSOR(pairs, "z", z, "vbd")},
    {IDS(pairs, "extra_ids", extra_ids, "r"), .optional = 1},
    {TENSOR(pairs, "extra_z", extra_z, "rd"), .with = "extra_ids"},
    {TEXT(pairs, "kind", kind), .words = "pair, view", .optional = 1},
    {TEXTS(pairs, "captions")},
    {CAPTIONS(pairs), .optional = 1},
    {EXTRA_TEXTS(pairs)},
    {TENSOR(pairs, "extra_text_z", extra_text_z, "sd"), .with = "extra_texts"},
    VIEWS(pairs),
    {0},
};

static const struct wire_size pairs_sizes[] = {
    {'v', SIZE(pairs, n_views), WIRE_SIZE_MAX},
    {'b', SIZE(pairs, n), WIRE_SIZE_MAX},
    {'d', SIZE(pairs, dim), WIRE_DIM_MAX},
    {'r', SIZE(pairs, n_extra), WIRE_SIZE_MAX},
    {'s', SIZE(pairs, n_texts), WIRE_SIZE_MAX},
    {'v', SIZE(pairs, variants.views), WIRE_SIZE_MAX},
    {0},
};

static const struct wire_check pairs_checks[] = {
    {"kind pair has what it wants", check_kind},
    {"rows of extra_texts are captions", check_pairs_texts},
    {0},
};

static const struct wire_field weights_fields[] = {
    {WHOLE(weights, "id", id, 0, INT64_MAX)},
    {REAL(weights, "accepted", accepted, 0, 1)},
    {WHOLE(weights, "moved", moved, 0, INT64_MAX)},
    {TENSOR(weights, "w", w, "an")},
    {FLAG(weights, "partial", partial)},
    {TENSOR(weights, "outside", outside, "od"), .optional = 1},
    {TENSOR(weights, "scale", scale, "a2"), .optional = 1, .low = 0,
     .high = FLT_MAX},
    {TABLE_LIST(weights, "store", tables, n_tables), .optional = 1,
     .placed = 1},
    {VALUES(weights, "values", values, n_values), .optional = 1},
    {0},
};

static const struct wire_size weights_sizes[] = {
    {'a', SIZE(weights, rows), WIRE_SIZE_MAX},
    {'n', SIZE(weights, columns), WIRE_SIZE_MAX},
    {'o', SIZE(weights, n_outside), WIRE_SIZE_MAX},
    {'d', SIZE(weights, dim), WIRE_DIM_MAX},
    {0},
};

static const struct wire_check weights_checks[] = {
    {"rows of w are weights", check_w},
    {0},
};

static const struct wire_field state_fields[] = {
    REQUEST(state),
    {TEXT(state, "sampler", sampler)},
    {WHOLE(state, "total", total, 0, WIRE_STEP_MAX)},
    {FLAG(state, "fresh", fresh)},
    {TABLE_LIST(state, "tables", tables, n)},
    {WHOLE(state, "from", from, 0, WIRE_SIZE_MAX - 1), .optional = 1},
    {FLAG(state, "last", last)},
    {0},
};

static const struct wire_check state_checks[] = {
    {"a piece is of one table", check_piece},
    {0},
};

static const struct wire_field state_ok_fields[] = {
    REQUEST(state_ok),
    {0},
};

static const struct wire_field event_fields[] = {
    {SEQUENCE(event)},
    {TEXT(event, "what", what), .words = "step, checkpoint, epoch, stop"},
    {EPOCH(event, epoch)},
    {STEP(event, step)},
    {TEXT(event, "path", path), .optional = 1},
    {TEXT(event, "reason", reason), .optional = 1},
    {0},
};

static const struct wire_field metrics_fields[] = {
    {SEQUENCE(metrics)},
    {TEXT(metrics, "stage", stage)},
    {WHOLE(metrics, "step", step, 0, INT64_MAX)},
    {VALUES(metrics, "values", values, n)},
    {0},
};

static const struct wire_field fetch_fields[] = {
    {WHOLE(fetch, "id", id, 1, INT64_MAX)},
    {EPOCH(fetch, epoch)},
    {WHOLE(fetch, "from", from, 0, WIRE_SIZE_MAX - 1)},
    {FLAG(fetch, "half", half)},
    {WHOLE(fetch, "plan", plan, 0, WIRE_EPOCH_MAX - 1), .optional = 1,
     .missing = -1},
    {0},
};

static const struct wire_field plan_fields[] = {
    {WHOLE(plan, "id", id, 1, INT64_MAX)},
    {EPOCH(plan, epoch)},
    {TEXT(plan, "strategy", strategy)},
    {VALUES(plan, "values", values, n)},
    {0},
};

static const struct wire_field status_fields[] = {
    {SEQUENCE(status)},
    {TEXT(status, "stage", stage)},
    {WHOLE(status, "number", number, 1, INT64_MAX)},
    {VALUES(status, "values", values, n)},
    {0},
};

static const struct wire_size no_sizes[] = {{0}};
static const struct wire_check no_checks[] = {{0}};

#define PLAIN(x) sizeof(struct wire_##x), 0, 0, x##_fields, no_sizes
#define ARRAYS(x) sizeof(struct wire_##x), AT(x, msg), 0, x##_fields, x##_sizes

/* Edges. */
enum {
    PLAN = WIRE_EDGE_BIT(WIRE_EDGE_PLAN),
    BATCH = WIRE_EDGE_BIT(WIRE_EDGE_BATCH),
    NEGATIVES = WIRE_EDGE_BIT(WIRE_EDGE_NEGATIVES),
    FEATURES = WIRE_EDGE_BIT(WIRE_EDGE_FEATURES),
    EVENTS = WIRE_EDGE_BIT(WIRE_EDGE_EVENTS),
    ALL = PLAN | BATCH | NEGATIVES | FEATURES,
};

/* Roles. */
#define STAGES "select augment train negatives"

const struct wire_message wire_messages[WIRE_KINDS] = {
    [WIRE_HELLO] = {"hello", PLAIN(hello), hello_checks, STAGES " tap", ALL,
                    ALL},
    [WIRE_ERROR] = {"error", PLAIN(error), no_checks, STAGES, ALL, ALL},
    [WIRE_NEXT] = {"next", ARRAYS(next), next_checks, "augment train negatives",
                   PLAN, BATCH},
    [WIRE_END] = {"end", PLAIN(end), no_checks, STAGES, PLAN | BATCH,
                  PLAN | BATCH},
    [WIRE_BEAT] = {"beat", PLAIN(beat), no_checks, STAGES, ALL, 0},
    [WIRE_REJECT] = {"reject", ARRAYS(reject), no_checks, "augment negatives",
                     PLAN, 0},
    [WIRE_ITEM] = {"item", sizeof(struct wire_item), AT(item, msg),
                   AT(item, size), item_fields, item_sizes, item_checks,
                   "select negatives", 0, PLAN},
    [WIRE_BATCH] = {"batch", ARRAYS(batch), batch_checks, "augment", BATCH, 0},
    [WIRE_FEATURES] = {"features", ARRAYS(features), no_checks, "train", 0,
                       FEATURES | EVENTS},
    [WIRE_PAIRS] = {"pairs", ARRAYS(pairs), pairs_checks, "train", NEGATIVES,
                    0},
    [WIRE_WEIGHTS] = {"weights", ARRAYS(weights), weights_checks, "negatives",
                      0, NEGATIVES},
    [WIRE_STATE_PUT] = {"state.put", sizeof(struct wire_state), AT(state, msg),
                        0, state_fields, no_sizes, state_checks, "train",
                        NEGATIVES, 0},
    [WIRE_STATE_OK] = {"state.ok", PLAIN(state_ok), no_checks,
                       "train negatives", 0, NEGATIVES | FEATURES},
    [WIRE_EVENT] = {"event", PLAIN(event), no_checks, "train", 0, EVENTS},
    [WIRE_METRICS] = {"metrics", PLAIN(metrics), no_checks, "train negatives",
                      0, EVENTS},
    [WIRE_FEATURES_GET] = {"features.get", PLAIN(fetch), no_checks, "select",
                           FEATURES, 0},
    [WIRE_PLAN] = {"plan", PLAIN(plan), no_checks, "select", FEATURES, 0},
    [WIRE_STATUS] = {"status", PLAIN(status), no_checks, "train", 0, EVENTS},
};

const struct wire_field *
wire_field_find(const struct wire_message *message, const char *name)
{
    const struct wire_field *f = message->fields;

    while (f->name && strcmp(f->name, name))
        f++;
    REQUIRE(f->name);
    return f;
}

int
wire_message_from(const struct wire_message *message, const char *role)
{
    const size_t n = strlen(role);

    for (const char *at = message->roles; *at; at += strspn(at, " ")) {
        const size_t len = strcspn(at, " ");

        if (len == n && !memcmp(at, role, n))
            return 1;
        at += len;
    }
    return 0;
}

const struct wire_size *
wire_size_find(const struct wire_message *message, char name)
{
    const struct wire_size *size = message->sizes;

    while (size->name && size->name != name)
        size++;
    REQUIRE(size->name);
    return size;
}

const char *
wire_kind_name(enum wire_kind kind)
{
    REQUIRE(kind < WIRE_KINDS);
    return wire_messages[kind].name;
}
