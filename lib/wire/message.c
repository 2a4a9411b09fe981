#include <float.h>
#include <string.h>

#include "wire/batch.h"
#include "wire/edge.h"
#include "wire/error.h"
#include "wire/events.h"
#include "wire/features.h"
#include "wire/hello.h"
#include "wire/negatives.h"

#include "message.h"
#include "rows.h"

static const struct wire_field hello_fields[] = {
    {TEXT(hello, "stage", stage)},
    {WHOLE(hello, "version", version, 0, INT32_MAX)},
    {TEXT(hello, "run", run)},
    {.name = "dataset", .type = WIRE_MAP, .members = 2},
    {TEXT(hello, "digest", digest)},
    {WHOLE(hello, "size", size, 0, WIRE_SIZE_MAX)},
    {TEXT(hello, "peer", peer), .least = 1},
    {TEXT(hello, "recipe", recipe), .least = 1, .optional = 1},
    {TEXT(hello, "view_options", view_options), .least = 1, .optional = 1},
    {TEXT(hello, "sampler", sampler), .least = 1, .optional = 1},
    {WHOLE(hello, "max_batch", max_batch, 1, WIRE_SIZE_MAX), .optional = 1},
    {WHOLE(hello, "width", width, 1, WIRE_DIM_MAX), .optional = 1},
    {SHARE(hello, "rank", rank, WIRE_RANKS_MAX)},
    {0},
};

static const struct wire_check hello_checks[] = {
    {"the digest is valid", wire_check_digest},
    {"a data set has a digest and images, or neither", wire_check_dataset},
    {0},
};

static const struct wire_field error_fields[] = {
    {TEXT(error, "reason", reason)},
    {FLAG(error, "rehello", rehello)},
    {FLAG(error, "need_state", need_state)},
    {WHOLE(error, "id", id, 0, INT64_MAX), .optional = 1, .missing = -1},
    {TEXT(error, "kind", of.kind), .optional = 1},
    {SESSION(error, of.at.session), .optional = 1, .missing = -1,
     .with = "kind"},
    {EPOCH(error, of.at.epoch), .with = "session"},
    {STEP(error, of.at.step), .with = "session"},
    {WHOLE(error, "count", count, 1, INT64_MAX), .optional = 1, .with = "kind"},
    {0},
};

static const struct wire_field want_fields[] = {
    PLACE(want),
    {WHOLE(want, "serial", serial, 1, INT64_MAX)},
    {WHOLE(want, "window", window, 1, WIRE_WINDOW_MAX)},
    {TENSOR(want, "have", have, "k2"), .optional = 1},
    {WHOLE(want, "room", room, 1, WIRE_WINDOW_MAX), .optional = 1},
    OF_PLAN(want),
    {0},
};

static const struct wire_size want_sizes[] = {
    {'k', SIZE(want, n_have), WIRE_WINDOW_MAX},
    {0},
};

static const struct wire_check want_checks[] = {
    {"have lists places in order", wire_check_have},
    {"no more than the window is held", wire_check_window},
    {0},
};

static const struct wire_field end_fields[] = {
    PLACE(end),
    {FLAG(end, "over", over)},
    {0},
};

static const struct wire_field heartbeat_fields[] = {
    {WHOLE(heartbeat, "room", room, 1, WIRE_WINDOW_MAX), .optional = 1},
    {WHOLE(heartbeat, "items", items, 0, WIRE_WINDOW_MAX), .with = "room"},
    {WHOLE(heartbeat, "ready", ready, 0, WIRE_WINDOW_MAX), .with = "room"},
    {WHOLE(heartbeat, "made", made, 0, WIRE_STEP_MAX), .with = "room"},
    {TEXT(heartbeat, "source", source), .optional = 1, .with = "room"},
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
    OF_BATCH(item),
    {TEXT(item, "run", run)},
    {WHOLE(item, "size", size, 1, WIRE_SIZE_MAX)},
    OF_EPOCH(item),
    OF_PLAN(item),
    {IDS(item, "ids", batch.ids, "b"), .once = 1},
    {IDS(item, "extra", batch.extra.ids, "r"), .optional = 1},
    {EXTRA_TEXTS(item)},
    VIEWS(item),
    {FLAG(item, "encode_only", batch.encode_only)},
    {0},
};

static const struct wire_size item_sizes[] = {
    {'b', SIZE(item, batch.b), WIRE_BATCH_MAX},
    {'r', SIZE(item, batch.extra.n), WIRE_BATCH_MAX},
    {'s', SIZE(item, batch.extra.n_texts), WIRE_BATCH_MAX},
    {'v', SIZE(item, batch.v), WIRE_SIZE_MAX},
    {0},
};

static const struct wire_check item_checks[] = {
    {"the data set is ours", wire_check_size},
    {"rows of extra_texts are captions", wire_check_item_texts},
    {0},
};

static const struct wire_field batch_fields[] = {
    OF_BATCH(batch),
    OF_EPOCH(batch),
    OF_PLAN(batch),
    {SIDE(batch, height)},
    {SIDE(batch, width)},
    {SIDE(batch, channels)},
    {WHOLE(batch, "rejected", rejected, 0, WIRE_BATCH_MAX)},
    {.name = "substituted",
     .type = IS(batch, batch.substituted, int64_t (*)[2], WIRE_COUPLES),
     .at = AT(batch, batch.substituted),
     .count =
         IS(batch, batch.n_substituted, size_t, AT(batch, batch.n_substituted)),
     .greatest = WIRE_SUBSTITUTED_MAX,
     .optional = 1},
    {IDS(batch, "ids", batch.ids, "b"), .once = 1},
    {TENSOR(batch, "views", batch.pixels, "vbhwc")},
    {TENSOR(batch, "made", batch.made, "vbk"), .optional = 1},
    {IDS(batch, "extra_ids", batch.extra.ids, "r"), .optional = 1},
    {TENSOR(batch, "extra", batch.extra.pixels, "rhwc"), .with = "extra_ids"},
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
    {FLAG(batch, "encode_only", batch.encode_only)},
    {0},
};

static const struct wire_size batch_sizes[] = {
    {'b', SIZE(batch, batch.b), WIRE_BATCH_MAX},
    {'v', SIZE(batch, batch.v), WIRE_SIZE_MAX},
    {'h', SIZE(batch, height), WIRE_SIDE_MAX},
    {'w', SIZE(batch, width), WIRE_SIDE_MAX},
    {'c', SIZE(batch, channels), WIRE_SIDE_MAX},
    {'k', SIZE(batch, batch.n_made), BATCH_MADE_MAX},
    {'r', SIZE(batch, batch.extra.n), WIRE_SIZE_MAX},
    {'s', SIZE(batch, batch.extra.n_texts), WIRE_BATCH_MAX},
    {'l', SIZE(batch, n_tokens), WIRE_TOKENS_MAX},
    {0},
};

static const struct wire_check batch_checks[] = {
    {"texts are no longer than their rows", wire_check_lengths},
    {"rows of extra_texts are captions", wire_check_batch_texts},
    {0},
};

static const struct wire_field features_fields[] = {
    {SEQUENCE(features), .optional = 1, .missing = -1},
    {EPOCH(features, batch.epoch)},
    {STEP(features, batch.step)},
    {TEXT(features, "mode", mode), .words = "train, eval"},
    {WHOLE(features, "dim", batch.dim, 1, WIRE_DIM_MAX)},
    {WHOLE(features, "id", id, 1, INT64_MAX), .optional = 1},
    {WHOLE(features, "next_id", next_id, 1, WIRE_SIZE_MAX), .with = "id"},
    {IDS(features, "ids", batch.ids, "b")},
    {TENSOR(features, "z", batch.z, "vbd"),
     .half = IS(features, half, const uint16_t *, AT(features, half))},
    {0},
};

static const struct wire_size features_sizes[] = {
    {'b', SIZE(features, batch.b), WIRE_SIZE_MAX},
    {'v', SIZE(features, batch.v), WIRE_SIZE_MAX},
    {'d', SIZE(features, batch.dim), WIRE_DIM_MAX},
    {0},
};

static const struct wire_field weights_request_fields[] = {
    {WHOLE(weights_request, "id", id, 0, INT64_MAX)},
    OF_BATCH(weights_request),
    {REAL(weights_request, "beta", batch.beta, DBL_MIN, 1e9)},
    {IDS(weights_request, "ids", batch.ids, "b")},
    {TENSOR(weights_request, "z", batch.z, "vbd")},
    {IDS(weights_request, "extra_ids", batch.extra.ids, "r"), .optional = 1},
    {TENSOR(weights_request, "extra_z", batch.extra.z, "rd"),
     .with = "extra_ids"},
    {TEXT(weights_request, "kind", kind), .words = "pair, view", .optional = 1},
    {TEXTS(weights_request, "captions")},
    {CAPTIONS(weights_request), .optional = 1},
    {EXTRA_TEXTS(weights_request)},
    {TENSOR(weights_request, "extra_text_z", extra_text_z, "sd"),
     .with = "extra_texts"},
    VIEWS(weights_request),
    {0},
};

static const struct wire_size weights_request_sizes[] = {
    {'v', SIZE(weights_request, batch.v), WIRE_SIZE_MAX},
    {'b', SIZE(weights_request, batch.b), WIRE_SIZE_MAX},
    {'d', SIZE(weights_request, batch.dim), WIRE_DIM_MAX},
    {'r', SIZE(weights_request, batch.extra.n), WIRE_SIZE_MAX},
    {'s', SIZE(weights_request, batch.extra.n_texts), WIRE_SIZE_MAX},
    {0},
};

static const struct wire_check weights_request_checks[] = {
    {"kind pair has 2 views and captions", wire_check_kind},
    {"rows of extra_texts are captions", wire_check_request_texts},
    {0},
};

static const struct wire_field weights_fields[] = {
    {WHOLE(weights, "id", id, 0, INT64_MAX)},
    {REAL(weights, "accepted", weights.accepted, 0, 1)},
    {WHOLE(weights, "moved", weights.moved, 0, INT64_MAX)},
    {TENSOR(weights, "w", weights.w, "an")},
    {FLAG(weights, "partial", weights.partial)},
    {TENSOR(weights, "outside", weights.outside, "od"), .optional = 1},
    {TENSOR(weights, "scale", weights.scale, "a2"), .optional = 1, .low = 0,
     .high = FLT_MAX},
    {TABLE_LIST(weights, "store", weights.tables, weights.n_tables),
     .optional = 1, .placed = 1},
    {SOME_VALUES(weights, "values", weights.values, WIRE_VALUES_MAX),
     .optional = 1},
    {0},
};

static const struct wire_size weights_sizes[] = {
    {'a', SIZE(weights, weights.rows), WIRE_SIZE_MAX},
    {'n', SIZE(weights, weights.columns), WIRE_SIZE_MAX},
    {'o', SIZE(weights, weights.n_outside), WIRE_SIZE_MAX},
    {'d', SIZE(weights, weights.dim), WIRE_DIM_MAX},
    {0},
};

static const struct wire_check weights_checks[] = {
    {"rows of w are weights", wire_check_w},
    {0},
};

static const struct wire_field state_fields[] = {
    REQUEST(state),
    {TEXT(state, "sampler", sampler)},
    {WHOLE(state, "total", total, 0, WIRE_STEP_MAX)},
    {FLAG(state, "empty", empty)},
    {TABLE_LIST(state, "tables", tables, n)},
    {WHOLE(state, "from", from, 0, WIRE_SIZE_MAX - 1), .optional = 1},
    {FLAG(state, "last", last)},
    {0},
};

static const struct wire_check state_checks[] = {
    {"a piece is of one table", wire_check_piece},
    {0},
};

static const struct wire_field ok_fields[] = {
    REQUEST(ok),
    {0},
};

static const struct wire_field event_fields[] = {
    {SEQUENCE(event)},
    {TEXT(event, "what", what),
     .words = "step, checkpoint, epoch, result, stop"},
    {EPOCH(event, epoch)},
    {STEP(event, step)},
    {TEXT(event, "path", path), .optional = 1},
    {TEXT(event, "reason", reason), .optional = 1},
    {TEXT(event, "line", line), .optional = 1},
    {0},
};

static const struct wire_field metrics_fields[] = {
    {SEQUENCE(metrics)},
    {TEXT(metrics, "stage", stage)},
    {WHOLE(metrics, "step", step, 0, INT64_MAX)},
    {VALUES(metrics, "values", values, n)},
    {0},
};

static const struct wire_field features_request_fields[] = {
    {WHOLE(features_request, "id", id, 1, INT64_MAX)},
    {EPOCH(features_request, epoch)},
    {WHOLE(features_request, "from", from, 0, WIRE_SIZE_MAX - 1)},
    {FLAG(features_request, "half", half)},
    {WHOLE(features_request, "plan", plan, 0, WIRE_EPOCH_MAX - 1),
     .optional = 1, .missing = -1},
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

/* Of each of an anchor's k negatives; -1: not known. */
#define KNOWN(x, key, m, most) \
    TENSOR(x, key, m, "vbk"), .least = -1, .greatest = (most)

static const struct wire_field top_negatives_fields[] = {
    {SEQUENCE(top_negatives)},
    {EPOCH(top_negatives, batch.epoch)},
    {STEP(top_negatives, batch.step)},
    {TEXT(top_negatives, "sampler", sampler)},
    {REAL(top_negatives, "beta", batch.beta, DBL_MIN, 1e9)},
    {WHOLE(top_negatives, "columns", columns, 1, WIRE_SIZE_MAX)},
    {IDS(top_negatives, "ids", batch.ids, "b")},
    {KNOWN(top_negatives, "row", heaviest.row, INT32_MAX)},
    {KNOWN(top_negatives, "sample", heaviest.sample, WIRE_SIZE_MAX - 1)},
    {KNOWN(top_negatives, "view", heaviest.view, WIRE_VIEW_MAX - 1)},
    {KNOWN(top_negatives, "view_epoch", heaviest.epoch, WIRE_EPOCH_MAX - 1)},
    {TENSOR(top_negatives, "w", heaviest.w, "vbk"), .low = 0, .high = 1.01},
    {TENSOR(top_negatives, "cosine", heaviest.cosine, "vbk"), .low = -1.01,
     .high = 1.01},
    {TENSOR(top_negatives, "outside", heaviest.outside, "vb"), .low = 0,
     .high = 1.01},
    {TENSOR(top_negatives, "effective", heaviest.effective, "vb"), .low = 0,
     .high = FLT_MAX},
    {0},
};

static const struct wire_size top_negatives_sizes[] = {
    {'v', SIZE(top_negatives, batch.v), WIRE_SIZE_MAX},
    {'b', SIZE(top_negatives, batch.b), WIRE_SIZE_MAX},
    {'k', SIZE(top_negatives, heaviest.k), HEAVIEST_MAX},
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

const struct wire_message wire_messages[WIRE_KINDS] = {
    [WIRE_HELLO] = {"hello", PLAIN(hello), hello_checks, ALL, ALL},
    [WIRE_ERROR] = {"error", PLAIN(error), no_checks, ALL, ALL},
    [WIRE_WANT] = {"want", ARRAYS(want), want_checks, PLAN, BATCH},
    [WIRE_END] = {"end", PLAIN(end), no_checks, PLAN | BATCH, PLAN | BATCH},
    [WIRE_HEARTBEAT] = {"heartbeat", PLAIN(heartbeat), no_checks, ALL, 0},
    [WIRE_REJECT] = {"reject", ARRAYS(reject), no_checks, PLAN, 0},
    [WIRE_ITEM] = {"item", sizeof(struct wire_item), AT(item, msg),
                   AT(item, size), item_fields, item_sizes, item_checks, 0,
                   PLAN},
    [WIRE_BATCH] = {"batch", ARRAYS(batch), batch_checks, BATCH, 0},
    [WIRE_FEATURES] = {"features", ARRAYS(features), no_checks, 0,
                       FEATURES | EVENTS},
    [WIRE_WEIGHTS_GET] = {"weights.get", ARRAYS(weights_request),
                          weights_request_checks, NEGATIVES, 0},
    [WIRE_WEIGHTS] = {"weights", ARRAYS(weights), weights_checks, 0, NEGATIVES},
    [WIRE_STATE_PUT] = {"state.put", sizeof(struct wire_state), AT(state, msg),
                        0, state_fields, no_sizes, state_checks, NEGATIVES, 0},
    [WIRE_OK] = {"ok", PLAIN(ok), no_checks, 0, NEGATIVES | FEATURES},
    [WIRE_EVENT] = {"event", PLAIN(event), no_checks, 0, EVENTS},
    [WIRE_METRICS] = {"metrics", PLAIN(metrics), no_checks, 0, EVENTS},
    [WIRE_FEATURES_GET] = {"features.get", PLAIN(features_request), no_checks,
                           FEATURES, 0},
    [WIRE_PLAN] = {"plan", PLAIN(plan), no_checks, FEATURES, 0},
    [WIRE_STATUS] = {"status", PLAIN(status), no_checks, 0, EVENTS},
    [WIRE_TOP_NEGATIVES] = {"top_negatives", ARRAYS(top_negatives), no_checks,
                            0, EVENTS},
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
