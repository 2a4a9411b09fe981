#pragma once

#include <stddef.h>
#include <stdint.h>

#include "wire/events.h"
#include "wire/feed.h"

/* The last status of each stage of a run.  All zeros is an empty list; finding
 * a stage is O(n).  Not thread-safe. */
enum { RUN_STAGES_MAX = 500 };

struct run_stage {
    struct wire_status status;
    double received_at; /* as clock_now(); 0: in an earlier run */
    double rate;        /* batches a second, lately; or NaN */
    double made, since; /* batches, and when `rate` was updated */
};

struct run_stages {
    size_t n, room;
    struct run_stage *stage; /* [n], in order of their first status */
};

/* run_stages_put() replaces the status of a stage, or adds the stage; ignored
 * beyond RUN_STAGES_MAX stages. */
void run_stages_put(struct run_stages *stages, const struct wire_status *status,
                    double received_at);

/* run_stages_find() returns a stage by name and number, or NULL. */
struct run_stage *run_stages_find(const struct run_stages *stages,
                                  const char *name, int64_t number);

/* run_stage_value() returns a value from a stage's status by name, or NaN. */
double run_stage_value(const struct run_stage *stage, const char *name);

/* run_stages_save() writes RUN/stages.json, {total, stages: [{stage, number,
 * values}]}; it ignores errors, as no run needs the file.  run_stages_load()
 * adds the stages of that file if it was written after step `total`, > 0. */
void run_stages_save(const struct run_stages *stages, const char *run,
                     int64_t total);
void run_stages_load(struct run_stages *stages, const char *run, int64_t total);
void run_stages_release(struct run_stages *stages);

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
 * trainer may start later.  0, or -1 with a message; call run_live_close() in
 * either case.
 *   kinds  of messages for each listener, as in wire_listener_open(). Each
 *          listener has its own queue, so frequent messages do not push out
 *          rare ones.  NULL: no listener
 *   queue  maximum messages that wait
 */
int run_live_open(struct run_live *live, struct wire *wire,
                  const char *endpoint, const char *const kinds[RUN_LISTENERS],
                  size_t queue, struct err *err);
void run_live_close(struct run_live *live);

/* run_live_next() returns 1 with a message and updates the fields above; 0 if
 * there is none now.  Messages of the first listener come first.  Malformed
 * messages, and metrics of other stages, are skipped. */
int run_live_next(struct run_live *live);
