#ifndef RUN_LIVE_H
#define RUN_LIVE_H

#include <stdint.h>

#include "run/stages.h"
#include "wire/feed.h"

/*
 * A live run, from the messages that its trainer publishes:
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
 * Not thread-safe.
 */
enum { RUN_LISTENERS = 2 };

struct run_live {
    struct wire_listener *listener[RUN_LISTENERS];

    double received_at; /* of the last message, as clock_now(); 0: none yet */
    int over;           /* 1: its last event was "stop", */
    char reason[256];   /* for this reason */
    struct run_stages stages;
    int past; /* 1: `stages` is what run_stages_load() read */

    struct wire_msg *msg;        /* the newest message, until the next call */
    uint64_t missed;             /* messages of its kind lost just before it */
    struct wire_event event;     /* of an event message */
    struct wire_metrics metrics; /* of a metrics message of the trainer */
    struct wire_status status;   /* of a status message */
};

/*
 * run_live_open() connects to the endpoint of the trainer's events; the
 * trainer may start later.  0, or -1 with a sentence; call run_live_close() in
 * either case.
 *   kinds  of messages for each listener, as in wire_listener_open(). Each
 *          listener has its own queue, so frequent messages do not push out
 *          rare ones.  NULL: no listener
 *   queue  most messages that wait
 */
int run_live_open(struct run_live *live, struct wire *wire,
                  const char *endpoint, const char *const kinds[RUN_LISTENERS],
                  size_t queue, struct err *err);
void run_live_close(struct run_live *live);

/*
 * run_live_next() returns 1 with a message and updates the fields above; 0 if
 * there is none now.  Messages of the first listener come first.  Malformed
 * messages, and metrics of other stages, are skipped.
 */
int run_live_next(struct run_live *live);

#endif
