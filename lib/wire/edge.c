#include <string.h>

#include "wire/edge.h"

#include "message.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

/* With each limit, the message that needs it.  `besides` is for the other parts
 * of a message, apart from its largest. */
static const struct limit {
    size_t part, besides;
} limits[WIRE_EDGES][2] = {
    // want: a window of 4,096 places; item: variants of 2 x 65,536 views
    [WIRE_EDGE_PLAN] = {{64 * KIB, 4032 * KIB}, {1 * MIB, 3 * MIB}},
    // batch: the pixels, then tokens; want
    [WIRE_EDGE_BATCH] = {{WIRE_BATCH_PART, 4 * MIB}, {64 * KIB, 64 * KIB}},
    // weights.get: 8,192 rows of 2,048 floats; weights: 8,192 x 8,192 floats
    [WIRE_EDGE_NEGATIVES] = {{64 * MIB, 64 * MIB}, {256 * MIB, 256 * MIB}},
    // features.get, plan: a header; features: a piece of about 1 MiB
    [WIRE_EDGE_FEATURES] = {{64 * KIB, 64 * KIB}, {4 * MIB, 4 * MIB}},
    // a handshake with keys, a subscription; features of a batch
    [WIRE_EDGE_EVENTS] = {{512, 3 * 512}, {64 * MIB, 64 * MIB}},
    [WIRE_EDGE_ANY] = {{1024 * MIB, 1024 * MIB}, {1024 * MIB, 1024 * MIB}},
};

static const char *const names[WIRE_EDGES] = {
    "plan, items", "batch", "negatives", "features", "events", "any",
};

/* The roles that a key may have at the two ends, separated by blanks. */
#define ALL "select augment train negatives tap"
static const char *const roles[WIRE_EDGES][2] = {
    [WIRE_EDGE_PLAN] = {"augment negatives", "select negatives"},
    [WIRE_EDGE_BATCH] = {"augment", "train"},
    [WIRE_EDGE_NEGATIVES] = {"train", "negatives"},
    [WIRE_EDGE_FEATURES] = {"select", "train"},
    [WIRE_EDGE_EVENTS] = {ALL, "train"},
    [WIRE_EDGE_ANY] = {ALL, ALL},
};

const char *
wire_edge_name(enum wire_edge edge)
{
    REQUIRE(edge < WIRE_EDGES);
    return names[edge];
}

int
wire_edge_allows_kind(enum wire_edge edge, enum wire_side from,
                      enum wire_kind kind)
{
    const struct wire_message *m = &wire_messages[kind];
    const unsigned edges = from == WIRE_CONNECTS ? m->up : m->down;

    return edge == WIRE_EDGE_ANY || (edges & WIRE_EDGE_BIT(edge));
}

int
wire_edge_allows_role(enum wire_edge edge, enum wire_side side,
                      const char *role)
{
    return !strcmp(role, "any") ||
           wire_is_word(roles[edge][side], role, strlen(role));
}

int
wire_is_word(const char *list, const char *text, size_t n)
{
    for (const char *word = list; *word; word += strspn(word, ", ")) {
        const size_t len = strcspn(word, ", ");

        if (len == n && !memcmp(word, text, n))
            return 1;
        word += len;
    }
    return 0;
}

int
wire_edge_is_service(enum wire_edge edge)
{
    return edge == WIRE_EDGE_NEGATIVES || edge == WIRE_EDGE_FEATURES;
}

size_t
wire_edge_part(enum wire_edge edge, enum wire_side from, size_t max_batch)
{
    if (edge == WIRE_EDGE_BATCH && from == WIRE_CONNECTS && max_batch)
        return max_batch;
    return limits[edge][from].part;
}

size_t
wire_edge_message(enum wire_edge edge, enum wire_side from, size_t max_batch)
{
    return limits[edge][from].besides + wire_edge_part(edge, from, max_batch);
}

int
wire_edge_fits(enum wire_edge edge, enum wire_side from,
               const struct wire_msg *msg, struct err *err)
{
    const size_t most[] = {wire_edge_part(edge, from, 0),
                           wire_edge_message(edge, from, 0)};
    size_t bytes[2] = {0, 0}; // of the longest part, of all

    for (size_t i = 0; i < wire_msg_parts(msg); i++) {
        const size_t n = wire_msg_part(msg, i).len;

        bytes[0] = n > bytes[0] ? n : bytes[0];
        bytes[1] += n;
    }
    for (int i = 0; i < 2; i++)
        if (bytes[i] > most[i])
            return err_set(err,
                           "%s of %zu bytes%s, edge %s takes at most %zu: "
                           "use smaller batches",
                           wire_kind_name(wire_msg_kind(msg)), bytes[i],
                           i ? "" : " in one part", names[edge], most[i]);
    return 0;
}
