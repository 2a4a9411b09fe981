#ifndef FOIL_VIEW_WATCH_H
#define FOIL_VIEW_WATCH_H

#include "run/live.h"
#include "run/results.h"
#include "stage/stage.h"

#include "batch_cache.h"
#include "batch_view.h"
#include "chain_trail.h"
#include "history.h"
#include "hub.h"
#include "map_frames.h"
#include "picture.h"
#include "samples.h"

enum { COMPARE_MOST = 7 };

/* Where a run is. */
struct watch_where {
    struct stage_options stage;
    const char *events, *data;
    const char *const *compare; /* [n_compare] other runs, whose curves are
                                 * shown */
    size_t n_compare;           /* up to COMPARE_MOST */
    size_t points;              /* of a map */
};

/* What is known of a run: from its folder, and from what its trainer says. */
struct watch {
    struct watch_where where;
    struct stage stage;
    struct run_live live;
    struct hub *hub; /* to which it publishes */
    struct history history;
    struct pictures pictures;
    struct map_frames *maps;
    json_t *log, *results;
    struct run_lines results_at;           /* of RUN/results.jsonl */
    struct history compared[COMPARE_MOST]; /* of the other runs */
    struct samples samples;
    struct chain_trail trail;
    int connected;           /* events come, or a status */
    double looked_at;        /* when the folder was looked into */
    struct wire_drawn drawn; /* in the newest step, until its embeddings come */
    struct batch_view newest;
    struct batch_cache cache;
    struct batch_view linked;    /* one that was asked for, of the folder */
    double cached_at, shown_at;  /* when a batch was cached last for pages that
                                  hear of it, and for one that asked for all */
    double heard_at, drawn_at;   /* when embeddings were heard first, and what
                                    was drawn last; 0: not yet */
    struct wire_metrics pending; /* the newest line, .. */
    int is_pending;              /* .. where it is not yet sent */
    double sent_at;
    double tau; /* as the trainer said it last; 0: not heard */
};

/* watch_open() reads what is there and connects to the trainer; it dies where
 * that fails.  `where` must stay.  Before other threads are started. */
void watch_open(struct watch *watch, const struct watch_where *where);
void watch_close(struct watch *watch);

/* watch_hear() takes in what came and tells pages, for a moment at most: a
 * trainer of a thousand steps a second does not keep pages from being served.
 * They are told of 20 lines of metrics a second, then; watch_show() has them
 * all. */
void watch_hear(struct watch *watch);

/* watch_waits() returns 1 while a trainer is at work of which no batch, or not
 * how its stages are, was heard yet. */
int watch_waits(const struct watch *watch);

/* watch_show() returns all that a page begins with. */
json_t *watch_show(struct watch *watch);

/* watch_newest() returns the batch that a page would begin with, or NULL. */
const struct batch_view *watch_newest(struct watch *watch);

/* watch_batch() returns the batch of a step, with its embeddings while they are
 * cached; NULL where the run has no such step.  Good until the next call. */
const struct batch_view *watch_batch(struct watch *watch, int64_t epoch,
                                     int64_t step);
json_t *watch_show_batch(struct watch *watch, const struct batch_view *batch);

/* Of a batch with embeddings: watch_embeddings() returns these with the
 * temperature of now (batch_view_embeddings()); watch_anchor() returns {drawn,
 * trail} of a row, as batch_view_drawn() and chain_trail_show() have them. */
json_t *watch_embeddings(struct watch *watch, const struct batch_view *batch);
json_t *watch_anchor(struct watch *watch, const struct batch_view *batch,
                     size_t row);

#endif
