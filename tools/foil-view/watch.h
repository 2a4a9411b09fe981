#ifndef FOIL_VIEW_WATCH_H
#define FOIL_VIEW_WATCH_H

#include "run/live.h"
#include "run/results.h"

#include "film.h"
#include "history.h"
#include "hub.h"
#include "kept.h"
#include "moment.h"
#include "picture.h"
#include "samples.h"
#include "ways.h"

enum { BESIDE_MOST = 7 };

/* Where a run is. */
struct watch_where {
    struct run_where live;
    const char *data;
    const char *const
        *beside;     /* [n_beside] other runs, whose curves are shown */
    size_t n_beside; /* up to BESIDE_MOST */
    size_t points;   /* of a map */
};

/* What is known of a run: from its folder, and from what its trainer says. */
struct watch {
    struct watch_where where;
    struct run_live live;
    struct hub *hub; /* that is told */
    struct history history;
    struct pictures pictures;
    struct film *film;
    json_t *log, *results;
    struct run_lines results_at;        /* of RUN/results.jsonl */
    struct history beside[BESIDE_MOST]; /* of the other runs */
    struct samples samples;
    struct ways ways;
    int connected;       /* events come, or a status */
    double looked_at;    /* when the folder was looked into */
    struct moment drawn; /* the newest of which it is known what was drawn, and
                            nothing else */
    struct moment newest;
    struct kept kept;
    struct moment linked;       /* one that was asked for, of the folder */
    double kept_at, shown_at;   /* when a batch was kept last for pages that
                                   hear of it, and for one that asked for all */
    double heard_at, drawn_at;  /* when embeddings were heard first, and what
                                   was drawn last; 0: not yet */
    struct wire_metrics untold; /* the newest line, ..*/
    int is_untold;              /* .. where pages lack it */
    double told_at;
    double tau; /* as the trainer said it last; 0: not heard */
};

/* watch_open() reads what is there and connects to the trainer; it dies where
 * that fails. */
void watch_open(struct watch *watch, const struct watch_where *where,
                struct hub *hub);
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
const struct moment *watch_newest(struct watch *watch);

/* watch_batch() returns the batch of a step, with its embeddings while they are
 * kept; NULL where the run has no such step.  Good until the next call. */
const struct moment *watch_batch(struct watch *watch, int64_t epoch,
                                 int64_t step);
json_t *watch_show_batch(struct watch *watch, const struct moment *moment);
json_t *watch_anchor(struct watch *watch, const struct moment *moment,
                     size_t row);

#endif
