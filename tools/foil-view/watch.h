#pragma once

#include "run/live.h"
#include "run/results.h"
#include "stage/stage.h"
#include "util/opt.h"

#include "batch_view.h"
#include "embedding.h"
#include "history.h"
#include "hub.h"
#include "map_frames.h"
#include "picture.h"
#include "samples.h"

enum { COMPARE_MOST = 7 };

/* Where a run is, and what to show of it. */
struct watch_where {
    struct stage_options stage;
    const char *events, *data;
    struct opt_list compare; /* up to COMPARE_MOST runs: only their curves */
    long points;             /* on a map */
    int whole;               /* 1: makes a map also while a trainer runs */
};

/* The state of a run, from its directory and from its trainer's messages. */
struct watch {
    struct watch_where where;
    struct stage stage;
    struct run_live live;
    struct hub *hub; /* pages */
    struct history history;
    struct pictures pictures;
    struct map_frames *maps;
    json_t *results;
    struct run_lines results_at;           /* of RUN/results.jsonl */
    struct history compared[COMPARE_MOST]; /* of the other runs */
    struct samples samples;
    struct chain_trail trail;
    int connected;                 /* an event or a status was received */
    double read_at;                /* when the directory was read last */
    struct wire_top_negatives top; /* until embeddings of its step come */
    struct batch_view newest;
    struct batch_cache cache;
    struct batch_view stored;   /* last one read from the directory */
    struct embedding embedding; /* of `embedded` */
    struct batch_view embedded; /* without z; views = 0: points of the map */
    struct err why;             /* why embeddings cannot be made; or "" */
    time_t table_at;            /* when RUN/table.json was written; 0: never */
    int over;                   /* 1: no trainer runs */
    int map_begun;              /* 1: the embeddings of a map were begun */
    /* when a batch was added to the cache: published, or in an answer */
    double published_at, answered_at;
    double first_at; /* when the first embeddings came; 0: not yet */
    double top_at;   /* when the last top_negatives came; 0: not yet */
};

/*
 * watch_open() reads the run directory and connects to the trainer; it exits
 * with an error if that fails.  Call it before other threads are started.
 *   where  must live as long as *watch
 */
void watch_open(struct watch *watch, const struct watch_where *where);
void watch_close(struct watch *watch);

/* watch_poll() reads the trainer's messages for 50 ms at most, so that HTTP
 * requests are answered in between, and publishes them to pages; once a second
 * also what is new in the run directory. */
void watch_poll(struct watch *watch);

/* watch_is_incomplete() returns 1 while a trainer runs and its first batch, the
 * status of its stages, or the first top_negatives of a sampler has not come.
 */
int watch_is_incomplete(const struct watch *watch);

/* watch_json() returns the data that a page starts with; watch_newest() its
 * batch, or NULL. */
json_t *watch_json(struct watch *watch);
const struct batch_view *watch_newest(struct watch *watch);

/* watch_batch() returns the batch of a step, with embeddings if it is cached;
 * NULL if the run has no such step.  It is valid until the next call.
 * watch_make() starts to make the embeddings of such a batch by the newest
 * checkpoint, unless others are being made or the trainer publishes them; pages
 * get an event `embedded`. */
const struct batch_view *watch_batch(struct watch *watch, int64_t epoch,
                                     int64_t step);
void watch_make(struct watch *watch, const struct batch_view *batch);
json_t *watch_batch_json(struct watch *watch, const struct batch_view *batch);

/* watch_anchor() returns {drawn, trail} of a row of a batch with embeddings
 * (batch_view_negatives(), chain_trail_json()). */
json_t *watch_anchor(struct watch *watch, const struct batch_view *batch,
                     size_t row);

/*
 * export.c: export_page() returns the present page as one HTML file with its
 * data as JSON, which a browser opens without a network.  The file is *size
 * bytes, some megabytes, with a zero after the last byte.  Free it with free().
 *
 * It contains the newest batch with its pictures and embeddings, the negatives
 * that a sampler drew for its first EXPORT_ANCHORS rows, the map, and pictures
 * of the images in the batch and on the map, up to EXPORT_IMAGES.
 */
enum { EXPORT_ANCHORS = 1024, EXPORT_IMAGES = 4608 };

char *export_page(struct watch *watch, size_t *size);

/*
 * serve.c: the page of a run over HTTP.  It answers only GET below /TOKEN/. The
 * token is in the path and not in a cookie, since browsers send the cookies of
 * a host to all its ports.  The Host of a request must be a numeric address or
 * a name of this machine; this stops DNS rebinding.
 *
 * serve_page() listens, prints the page's address, answers requests and
 * publishes the trainer's messages to pages, until a signal stops the tool.  It
 * exits with an error if it cannot listen.
 *   address  numeric, as "127.0.0.1"
 *   port     0: any free port
 *   token    "": none
 */
void serve_page(struct watch *watch, const char *address, uint16_t port,
                const char *token);
