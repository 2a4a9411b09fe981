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

/* Rows of the tables.  x is the struct without "wire_", m its member; the type
 * in a message follows from the member's, so the two cannot disagree. */
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
#define VALUES(x, key, m, n)                                            \
    .name = (key), .at = AT(x, m),                                      \
    .type = IS(x, m, struct value *, WIRE_VALUES), .count = SIZE(x, n), \
    .greatest = sizeof M(x, m) / sizeof *M(x, m)
#define SOME_VALUES(x, key, m, most)                                     \
    .name = (key), .at = AT(x, m.value),                                 \
    .type = IS(x, m, struct values, WIRE_VALUES), .count = SIZE(x, m.n), \
    .greatest = (most)
#define TABLE_LIST(x, key, m, n)   \
    .name = (key), .at = AT(x, m), \
    .type = IS(x, m, struct table_rows *, WIRE_TABLES), .count = SIZE(x, n)
#define DTYPE(x, m) \
    _Generic(M(x, m), const uint8_t * : DTYPE_U1, const int32_t * : DTYPE_I4,   \
             const int64_t * : DTYPE_I8, const float * : DTYPE_F4,              \
             int32_t * : DTYPE_I4, int64_t * : DTYPE_I8, float * : DTYPE_F4)
#define TENSOR(x, key, m, sizes)                                          \
    .name = (key), .at = AT(x, m), .type = WIRE_TENSOR, .shape = (sizes), \
    .dtype = DTYPE(x, m)
#define IDS(x, key, m, sizes)                                          \
    .name = (key), .at = AT(x, m), .type = WIRE_IDS, .shape = (sizes), \
    .dtype = IS(x, m, const int64_t *, DTYPE_I8)

/* Rows shared by several messages. */
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
#define OF_BATCH(x)                                 \
    {SESSION(x, session)}, {EPOCH(x, batch.epoch)}, \
    {                                               \
        STEP(x, batch.step)                         \
    }
#define OF_EPOCH(x)                                          \
    {WHOLE(x, "steps", batch.steps, 1, WIRE_STEP_MAX),       \
     ABOVE(x, "step", batch.step)},                          \
    {                                                        \
        WHOLE(x, "epochs", batch.epochs, 1, WIRE_EPOCH_MAX), \
            ABOVE(x, "epoch", batch.epoch)                   \
    }
#define OF_PLAN(x)                                          \
    {TEXT(x, "plan", plan), .least = 1, .optional = 1},     \
    {                                                       \
        TEXT(x, "order", order), .least = 1, .optional = 1, \
    }

/* The optional fields of the views of a batch. */
#define EACH(x, key, m, most) \
    TENSOR(x, key, m, "r"), .optional = 1, .least = -1, .greatest = (most)
#define VIEWS(x)                                                               \
    {WHOLE(x, "reserve", batch.extra.most, 1, WIRE_BATCH_MAX), .optional = 1,  \
     .least_size = 'r'},                                                       \
        {EACH(x, "extra_view", batch.extra.view, WIRE_VIEW_MAX - 1)},          \
        {TENSOR(x, "extra_epoch", batch.extra.epoch, "r"), .optional = 1,      \
         .with = "extra_view", .greatest = WIRE_EPOCH_MAX - 1},                \
        {EACH(x, "hint_row", batch.extra.hint_row, INT32_MAX)},                \
        {EACH(x, "hint_view", batch.extra.hint_view, WIRE_VIEW_MAX - 1)},      \
        {TENSOR(x, "hint_log_q", batch.extra.hint_log_q, "r"), .optional = 1}, \
        {VALUES(x, "hint_values", batch.extra.values, batch.extra.n_values),   \
         .optional = 1},                                                       \
        {WHOLE(x, "augmentations", batch.fixed, 2, WIRE_VIEW_MAX),             \
         .optional = 1},                                                       \
    {                                                                          \
        TENSOR(x, "variants", batch.view_of, "vb"),                            \
            .with = "augmentations", .below = "augmentations",                 \
            .below_at = IS(x, batch.fixed, int64_t, AT(x, batch.fixed))        \
    }

/* Texts: a sample and the index of its caption; tokens and their lengths. */
#define EXTRA_TEXTS(x) \
    TENSOR(x, "extra_texts", batch.extra.texts, "s2"), .optional = 1
#define TEXTS(x, leader)                                                  \
    WHOLE(x, "most_captions", batch.most_captions, 1, WIRE_CAPTIONS_MAX), \
        .with = (leader)
#define CAPTIONS(x)                             \
    TENSOR(x, "captions", batch.captions, "b"), \
        .below = "most_captions",               \
        .below_at =                             \
            IS(x, batch.most_captions, int64_t, AT(x, batch.most_captions))
#define TOKENS(x, key, m, sizes, by)                               \
    TENSOR(x, key, m, sizes),                                      \
        .below = "vocabulary",                                     \
        .below_at = IS(x, vocabulary, int64_t, AT(x, vocabulary)), \
        .lengths = (by)
#define LENGTHS(x, key, m, sizes) \
    TENSOR(x, key, m, sizes), .least = 2, .greatest = WIRE_TOKENS_MAX

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
    {WHOLE(hello, "windows", windows, 1, INT32_MAX), .optional = 1},
    {WHOLE(hello, "windows_seed", windows_seed, 0, INT64_MAX),
     .with = "windows"},
    {WHOLE(hello, "windows_shards", windows_shards, 1, WIRE_SIZE_MAX),
     .with = "windows"},
    {FLAG(hello, "windows_fixed", windows_fixed), .with = "windows"},
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
    {WHOLE(want, "room", room, 0, WIRE_WINDOW_MAX), .optional = 1,
     .missing = -1},
    OF_PLAN(want),
    {0},
};

static const struct wire_size want_sizes[] = {
    {'k', SIZE(want, n_have), WIRE_WINDOW_MAX},
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
    {TENSOR(batch, "groups", batch.small.pixels, "ubyxc"), .optional = 1,
     .extension = WIRE_GROUPS},
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
    {'u', SIZE(batch, batch.small.v), WIRE_SMALL_MAX},
    {'y', SIZE(batch, batch.small.height), WIRE_SIDE_MAX},
    {'x', SIZE(batch, batch.small.width), WIRE_SIDE_MAX},
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
    [WIRE_HELLO] = {"hello", PLAIN(hello), wire_check_hello, ALL, ALL},
    [WIRE_ERROR] = {"error", PLAIN(error), NULL, ALL, ALL},
    [WIRE_WANT] = {"want", ARRAYS(want), wire_check_want, PLAN, BATCH},
    [WIRE_END] = {"end", PLAIN(end), NULL, PLAN | BATCH, PLAN | BATCH},
    [WIRE_HEARTBEAT] = {"heartbeat", PLAIN(heartbeat), NULL, ALL, 0},
    [WIRE_REJECT] = {"reject", ARRAYS(reject), NULL, PLAN, 0},
    [WIRE_ITEM] = {"item", sizeof(struct wire_item), AT(item, msg),
                   AT(item, size), item_fields, item_sizes, wire_check_item, 0,
                   PLAN},
    [WIRE_BATCH] = {"batch", ARRAYS(batch), wire_check_batch, BATCH, 0},
    [WIRE_FEATURES] = {"features", ARRAYS(features), NULL, 0,
                       FEATURES | EVENTS},
    [WIRE_WEIGHTS_GET] = {"weights.get", ARRAYS(weights_request),
                          wire_check_request, NEGATIVES, 0},
    [WIRE_WEIGHTS] = {"weights", ARRAYS(weights), wire_check_weights, 0,
                      NEGATIVES},
    [WIRE_STATE_PUT] = {"state.put", sizeof(struct wire_state), AT(state, msg),
                        0, state_fields, no_sizes, wire_check_state, NEGATIVES,
                        0},
    [WIRE_OK] = {"ok", PLAIN(ok), NULL, 0, NEGATIVES | FEATURES},
    [WIRE_EVENT] = {"event", PLAIN(event), NULL, 0, EVENTS},
    [WIRE_METRICS] = {"metrics", PLAIN(metrics), NULL, 0, EVENTS},
    [WIRE_FEATURES_GET] = {"features.get", PLAIN(features_request), NULL,
                           FEATURES, 0},
    [WIRE_PLAN] = {"plan", PLAIN(plan), NULL, FEATURES, 0},
    [WIRE_STATUS] = {"status", PLAIN(status), NULL, 0, EVENTS},
    [WIRE_TOP_NEGATIVES] = {"top_negatives", ARRAYS(top_negatives), NULL, 0,
                            EVENTS},
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
