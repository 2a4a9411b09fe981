#pragma once

#include <stddef.h>
#include <stdint.h>

#include "data/set.h"
#include "util/json.h"
#include "wire/events.h"

/* The batch of one step: its samples, the embeddings of their views, and the
 * negatives that a sampler drew for them.  The page computes pairs, cosines and
 * weights from it.  A zeroed batch is empty. */
struct batch_view {
    int64_t epoch, step;
    size_t n, views, d;
    int texts;    /* 1: row n + i is the text of image i and has no picture;
                     images have texts as negatives, and texts images */
    int64_t *ids; /* [n] */
    float *z;     /* [views,n,d] of unit length; NULL: unknown */
    int made;     /* 1: z is by the newest checkpoint, not by the trainer */
    struct wire_top_negatives top; /* heaviest.k = 0: unknown */
};

void batch_view_release(struct batch_view *batch);

/* batch_view_pictures() returns the number of pictures of each image;
 * batch_view_label() the class of a sample, -1: none, or unknown. */
size_t batch_view_pictures(const struct batch_view *batch);
int batch_view_label(const struct data_set *set, int64_t id);

/*
 * batch_view_json() returns {epoch, step, ids, labels, views, pictures,
 * known, made}; known: it has embeddings.
 *   set  has the labels; NULL: no labels
 */
json_t *batch_view_json(const struct batch_view *batch,
                        const struct data_set *set);

/* batch_view_embeddings() returns {z}: f4 [views,n,d], little-endian, in
 * base64. */
json_t *batch_view_embeddings(const struct batch_view *batch);

/*
 * batch_view_negatives() returns the negatives that the sampler drew for a row,
 * which is view * n + place, below views * n; null if they are unknown:
 *
 *     {sampler, columns, outside, effective,
 *      negatives: [{id, label, view, epoch, weight, cosine, row}]}
 *
 * A negative outside the batch has a row of null.
 */
json_t *batch_view_negatives(const struct batch_view *batch,
                             const struct data_set *set, size_t row);

/* batch_view_negative() returns {id, label, view, epoch, weight, cosine}; -1:
 * unknown. */
json_t *batch_view_negative(const struct data_set *set, int64_t id, int view,
                            int64_t epoch, float weight, float cosine);

enum { BATCH_CACHE_PLACES = 64, BATCH_CACHE_PINS = 32 };

/* The newest batches with their embeddings, for requests of pages.  A zeroed
 * cache is empty. */
struct batch_cache {
    struct batch_view place[BATCH_CACHE_PLACES];
    uint64_t pinned[BATCH_CACHE_PLACES]; /* number of its last pin; 0: none */
    uint64_t pins;
    size_t n, last; /* batches added; place of the newest */
};

/* batch_cache_add() takes ownership of a batch and returns its copy in the
 * cache, which replaces the oldest batch that is not pinned. */
const struct batch_view *batch_cache_add(struct batch_cache *cache,
                                         struct batch_view *batch);

/* batch_cache_newest() returns the batch that was added last, or NULL;
 * batch_cache_find() that of a step, or NULL. */
struct batch_view *batch_cache_newest(struct batch_cache *cache);
struct batch_view *batch_cache_find(struct batch_cache *cache, int64_t epoch,
                                    int64_t step);

/* batch_cache_pin() protects a batch from replacement until BATCH_CACHE_PINS
 * others have been pinned after it. */
void batch_cache_pin(struct batch_cache *cache, const struct batch_view *batch);
void batch_cache_release(struct batch_cache *cache);

/* The latest steps of the Markov chain (sample/emc2.h) of each view of each
 * image.  A step holds the states with the most weight, which are negatives.
 * Steps that were not received are missing.  A zeroed trail is empty. */
enum { CHAIN_TRAIL_STEPS = 8, CHAIN_TRAIL_STATES = 3 };

struct chain_trail {
    size_t size, views;
    struct chain_steps **steps; /* [size,views] NULL: none received */
    size_t n; /* of them are not NULL; at most CHAIN_TRAIL_MOST */
};

enum { CHAIN_TRAIL_MOST = 65536 }; /* about 1 kB each */

/*
 * chain_trail_add() adds the negatives drawn for each anchor of a step.  If a
 * step is not later than the last one of an anchor, the run was resumed, and
 * the anchor's earlier steps are dropped.
 *   size  samples in the data set; 0: unknown, and nothing is added
 */
void chain_trail_add(struct chain_trail *trail,
                     const struct wire_top_negatives *drawn, size_t size);

/*
 * chain_trail_json() returns the steps of a view of a sample, oldest first,
 * with states in the form of batch_view_negative():
 *
 *     [{epoch, step, outside, effective, states: []}]
 */
json_t *chain_trail_json(const struct chain_trail *trail, int64_t id,
                         size_t view, const struct data_set *set);
void chain_trail_release(struct chain_trail *trail);
