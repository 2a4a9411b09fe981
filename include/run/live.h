#ifndef RUN_LIVE_H
#define RUN_LIVE_H

#include <stdint.h>

#include "run/stages.h"
#include "wire/feed.h"

/*
 * A run while it goes, from what its trainer publishes:
 *
 *     static const char *const kinds[RUN_LISTENERS] = {"event status"};
 *     struct run_live live;
 *
 *     run_live_open(&live, wire, "ipc://run/events", kinds, 1000, &err);
 *     while (!live.over && wire_wait(wire, stop, 1, &err) > 0)
 *         while (run_live_next(&live))
 *             if (wire_msg_kind(live.msg) == WIRE_EVENT)
 *                 ...; // live.event
 *     run_live_close(&live);
 *
 * Not for two threads at once.
 */
enum { RUN_LISTENERS = 2 };

struct run_live {
    struct wire_listener *listener[RUN_LISTENERS];

    double heard;     /* when its last message came, as clock_now(); 0: never */
    int over;         /* 1: its last event was that it stops, */
    char reason[256]; /* because of this */
    struct run_stages stages;
    int past; /* 1: stages are as run_stages_load() found them */

    struct wire_msg *msg;    /* the newest, of any kind, until the next call */
    uint64_t missed;         /* how many of its kind were lost just before it */
    struct wire_event event; /* what an event says */
    struct wire_metrics metrics; /* what metrics say, of the trainer's steps */
    struct wire_status status;   /* what a status says */
};

/*
 * run_live_open() connects to the trainer, which may start later, at the
 * endpoint of its events.  -1 with a sentence; run_live_close() is called in
 * any case.
 *   kinds  of messages, as wire_listener_open() has them, for each listener,
 *          which has a queue of its own: what comes often does not push out
 *          what is rare.  NULL: no listener
 *   queue  messages that wait
 */
int run_live_open(struct run_live *live, struct wire *wire,
                  const char *endpoint, const char *const kinds[RUN_LISTENERS],
                  size_t queue, struct err *err);
void run_live_close(struct run_live *live);

/*
 * run_live_next() returns 1 with a message, which is taken into what is known;
 * 0 where there is none now.  Those of the first listener come first.  Ones
 * that cannot be read, and metrics of other stages, are passed over.
 */
int run_live_next(struct run_live *live);

#endif
