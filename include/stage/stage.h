#ifndef STAGE_STAGE_H
#define STAGE_STAGE_H

#include "flow/client.h"
#include "flow/outlet.h"
#include "flow/service.h"
#include "stage/waiting.h"
#include "util/opt.h"
#include "wire/feed.h"

/*
 * What every stage does, and every tool that connects to one: options, signals,
 * keys and sockets, endpoints, the loop, and what is printed about peers.
 *
 * For main() alone, as util/opt.h: what fails ends the tool by die(), and what
 * is to be printed goes to stderr by say().  For one thread.
 */
struct stage_options {
    const char *run;   /* directory: endpoints not given are inside */
    const char *keys;  /* file: our certificate, with its secret key */
    const char *allow; /* folder: public certificates of the peers */
};

/* Rows of a tool's table of options; --keys and --allow go together
 * (opt_together()). */
#define STAGE_RUN_OPT(options)                              \
    {                                                       \
        "run", 'r', OPT_TEXT, &(options).run, 0, 0, "DIR",  \
            "run directory: endpoints not given are inside" \
    }
#define STAGE_KEYS_OPTS(options)                                   \
    {"keys", 0, OPT_TEXT, &(options).keys,                         \
     0,      0, "FILE",   "our certificate, with its secret key"}, \
    {                                                              \
        "allow", 0, OPT_TEXT, &(options).allow, 0, 0, "DIR",       \
            "public certificates of the peers to accept"           \
    }

enum { STAGE_ENDPOINTS = 8 };

struct stage {
    const struct stage_options *options; /* lent */
    int stop; /* descriptor, readable when we are asked to end (util/stop.h) */
    int both; /* descriptor of stage_watch(); -1: none */
    struct wire_keys keys;
    struct wire *wire;
    struct stage_waiting waiting;    /* of stage_loop() */
    char *endpoint[STAGE_ENDPOINTS]; /* [endpoints] that were asked for */
    size_t endpoints;
};

/*
 * stage_open() takes the signals, reads the keys and opens the set of sockets.
 * Before other threads are started.  stage_connect() is the part of it that
 * comes after the signals, for a tool that has set `stop` itself: 0, or -1
 * with a sentence.  stage_close(): what is open on `wire` must be closed.
 */
void stage_open(struct stage *stage, const struct stage_options *options);
int stage_connect(struct stage *stage, const struct stage_options *options,
                  struct err *err);
void stage_close(struct stage *stage);

/* stage_endpoint() is wire_endpoint() in the run directory; NULL where neither
 * is given.  Lent until stage_close(); STAGE_ENDPOINTS of them at most. */
const char *stage_endpoint(struct stage *stage, const char *given,
                           const char *edge);

/* stage_hello() makes the hello of a stage for a data set: its digest as in
 * struct wire_hello, its size in samples. */
struct wire_hello stage_hello(const char *name, const char *digest,
                              int64_t size);

/* stage_wait() is wire_wait(): 1 when something may have come or the time is
 * over, 0 when we are asked to end. */
int stage_wait(struct stage *stage, double seconds);

/* stage_watch() adds a descriptor, at most one: all later waits also end when
 * it is readable. */
void stage_watch(struct stage *stage, int fd);

/* stage_listen() follows kinds of events (wire_listener_open()) at an endpoint,
 * or in the run directory.
 *   queue   most messages that wait for us */
struct wire_listener *stage_listen(struct stage *stage, const char *endpoint,
                                   const char *kinds, size_t queue);

enum { STAGE_WAITS = 4 };

/* What a stage does in its loop; `self` is that of stage_loop(). */
struct stage_handlers {
    /* Seconds to wait for messages at most; NULL: 1. */
    double (*pause_s)(void *self);
    /* Reads what has come and does what is due: 1, or 0 at the end; -1 where
     * the stage cannot go on, with the reason in *err of stage_loop(). */
    int (*turn)(void *self);
    /*
     * Describes the peers that the stage waits for in who[0 ..] and returns
     * their number, up to STAGE_WAITS; -1 where it is too early to say so. Each
     * is printed behind "still waiting for ", when it is due (stage/waiting.h).
     * NULL: for nobody.
     */
    int (*waits_for)(void *self, struct stage_waiting *waiting, double now,
                     struct err who[STAGE_WAITS]);
};

/*
 * stage_loop() waits and takes turns, until turn() returns 0 or we are asked to
 * end: 0.  -1 where a wait has failed, with a sentence, or turn() has returned
 * -1.  stage_run() is for a turn() that does not fail: it ends the tool where a
 * wait does.
 */
int stage_loop(struct stage *stage, const struct stage_handlers *handlers,
               void *self, struct err *err);
void stage_run(struct stage *stage, const struct stage_handlers *handlers,
               void *self);

/* stage_report() prints the sentence of a FLOW_REPORT, and nothing of other
 * news. */
void stage_report(const struct flow_news *news);

/*
 * These take the next news of an end: 1, or 0 when there is none now.  They
 * call stage_report(); a FLOW_REPORT is news all the same.
 *   client   where the binder has refused us, this ends the tool
 *   outlet   where there is no news, also prints which peers are late
 */
int stage_client_next(struct flow_client *client, struct flow_news *news);
int stage_outlet_next(struct flow_outlet *outlet, struct flow_news *news);

/* stage_refuse() refuses the message of the last news, because of news->why,
 * which it prints when that is due: the 1st, 2nd, 4th, 8th ... time. */
void stage_refuse(struct flow_server *server, struct flow_news *news);

/* stage_refuse_answer() frees an answer of a service and refuses it because of
 * *why, which it prints when that is due.  Then wait again: another may come.
 */
void stage_refuse_answer(struct flow_service *service, struct wire_msg *answer,
                         struct err *why);

/* stage_send() is flow_client_send(), stage_ask() flow_service_ask(), of a
 * message that they free. */
int stage_send(struct flow_client *client, struct wire_msg *msg);
void stage_ask(struct flow_service *service, struct wire_msg *request,
               int64_t id);

/*
 * stage_outlet_waits() returns 1 and for whom an outlet waits, of what all
 * outlets have in common: augmenters, a trainer, or the peer that has the item
 * of the trainer's place; else 0.
 */
int stage_outlet_waits(const struct flow_outlet *outlet, double now,
                       struct err *who);

#endif
