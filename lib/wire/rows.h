#ifndef WIRE_ROWS_H
#define WIRE_ROWS_H

#include "message.h"

/*
 * Macros for rows of the tables.  x is the struct without "wire_", m its
 * member; the type in a message follows from the member's, so the two cannot
 * disagree.
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
    _Generic(M(x, m), const uint8_t * : WIRE_U1, const int32_t * : WIRE_I4,   \
             const int64_t * : WIRE_I8, const float * : WIRE_F4,              \
             int32_t * : WIRE_I4, int64_t * : WIRE_I8, float * : WIRE_F4)
#define TENSOR(x, key, m, sizes)                                          \
    .name = (key), .at = AT(x, m), .type = WIRE_TENSOR, .shape = (sizes), \
    .dtype = DTYPE(x, m)
#define IDS(x, key, m, sizes)                                          \
    .name = (key), .at = AT(x, m), .type = WIRE_IDS, .shape = (sizes), \
    .dtype = IS(x, m, const int64_t *, WIRE_I8)

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

#endif
