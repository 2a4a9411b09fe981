#pragma once

#include "flow/client.h"
#include "flow/outlet.h"
#include "stage/program.h"
#include "util/opt.h"
#include "wire/sock.h"

/*
 * What all stages, and tools that connect to one, have in common: options,
 * signals, keys and sockets, endpoints, the main loop, messages about peers.
 *
 * For main() alone, as util/opt.h: errors end the tool with die(), and
 * messages go to stderr with log_message().  Not thread-safe.
 */
struct stage_options {
    const char *run;   /* directory, with the default endpoints */
    const char *keys;  /* file: certificate with secret key */
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

/* When a stage reports that it waits: every STAGE_REPORT_EVERY_S seconds of a
 * wait.  Reads no clock: `now` is in seconds from any origin and never
 * decreases.  Not thread-safe. */
#define STAGE_REPORT_EVERY_S 10.0

struct stage_waiting {
    struct wire_place at; /* where the trainer is; session -1: unknown */
    double since;         /* when it got there, or was idle last */
    double longest;       /* longest time at one place, in seconds */
    double reported;      /* when the wait was reported last; else its start */
};

/* stage_waiting_begin() begins a wait; the trainer's place is unknown. */
void stage_waiting_begin(struct stage_waiting *waiting, double now);

/* stage_waiting_moved() returns 1 if the trainer's place or session differs
 * from that of the last call, and sets at, since and longest; else 0. */
int stage_waiting_moved(struct stage_waiting *waiting,
                        const struct wire_place *at, double now);

/*
 * stage_waiting_due() returns 1 if the wait must be reported, else 0.
 *   waits   1: the stage waits; 0: it does not, and the next wait begins now;
 *           -1: it waits, but it is too early to report
 */
int stage_waiting_due(struct stage_waiting *waiting, int waits, double now);

enum { STAGE_ENDPOINTS = 8 };

struct stage {
    const struct stage_options *options; /* the caller's */
    int stop; /* descriptor, readable after SIGINT or SIGTERM (util/stop.h) */
    int wait_on; /* `stop`, or an epoll of it and that of stage_watch() */
    struct wire_keys keys;
    struct wire *wire;
    struct stage_waiting waiting;    /* of stage_loop() */
    char *endpoint[STAGE_ENDPOINTS]; /* [endpoints] of stage_endpoint() */
    size_t endpoints;
};

/*
 * stage_open() handles signals, reads the keys and opens the set of sockets;
 * call it before other threads start.  stage_connect() does the same without
 * signals, for a tool that sets `stop`: 0, or -1 with a message.  Before
 * stage_close(), close all sockets on `wire`.
 */
void stage_open(struct stage *stage, const struct stage_options *options);
int stage_connect(struct stage *stage, const struct stage_options *options,
                  struct err *err);
void stage_close(struct stage *stage);

/* stage_endpoint() returns the endpoint of an edge: `endpoint`, or if that is
 * NULL "ipc://RUN/EDGE" with edge plan, batch, negatives or events; NULL
 * without a run directory.  Valid until stage_close(); at most STAGE_ENDPOINTS
 * calls. */
const char *stage_endpoint(struct stage *stage, const char *endpoint,
                           const char *edge);

/* stage_hello() returns the hello of a stage for a data set, with its digest
 * as in struct wire_hello and its size in samples. */
struct wire_hello stage_hello(const char *name, const char *digest,
                              int64_t size);

/* stage_wait() is wire_wait(): 1 if a message may have arrived or the time is
 * over, 0 if `stop` is readable. */
int stage_wait(struct stage *stage, double seconds);

/* stage_watch() makes stage_wait() return 1 also when a descriptor is readable,
 * such as the epoll descriptor of an HTTP server.  Call it once at most, after
 * stage_open().  Close the descriptor after the last wait. */
void stage_watch(struct stage *stage, int fd);

enum { STAGE_WAITS = 4 };

/* Callbacks of a stage's main loop; `self` is that of stage_loop(). */
struct stage_handlers {
    /* Maximum seconds to wait for messages; NULL: 1. */
    double (*pause_s)(void *self);
    /* Handles all messages and timers: 1, or 0 at the end; -1 on an error, with
     * the reason in *err of stage_loop(). */
    int (*turn)(void *self);
    /*
     * Describes the peers that the stage waits for in who[0 ..] and returns
     * their number, up to STAGE_WAITS; -1 if it is too early to report.  Each
     * is printed after "still waiting for " when stage_waiting_due() says so.
     * NULL: it waits for none.
     */
    int (*waits_for)(void *self, struct stage_waiting *waiting, double now,
                     struct err who[STAGE_WAITS]);
};

/* stage_loop() waits and calls turn() until it returns 0 or `stop` is readable:
 * 0.  -1 if a wait fails, with a message, or turn() returns -1.  stage_run()
 * is for a turn() that does not fail: it ends the tool if a wait fails. */
int stage_loop(struct stage *stage, const struct stage_handlers *handlers,
               void *self, struct err *err);
void stage_run(struct stage *stage, const struct stage_handlers *handlers,
               void *self);

/* stage_report() prints the message of a FLOW_REPORT; it ignores other events.
 */
void stage_report(const struct flow_event *event);

/*
 * These return the next event: 1, or 0 if there is none now.  They call
 * stage_report() before they return a FLOW_REPORT.
 *   client   ends the tool if the other side has refused it
 *   outlet   if there is no event, also prints which peers are late
 */
int stage_client_next(struct flow_client *client, struct flow_event *event);
int stage_outlet_next(struct flow_outlet *outlet, struct flow_event *event);

/* stage_refuse() refuses the message of the last event with event->why, which
 * it prints the 1st, 2nd, 4th, 8th ... time. */
void stage_refuse(struct flow_server *server, struct flow_event *event);

/* stage_send() is flow_client_send() that also frees the message. */
int stage_send(struct flow_client *client, struct wire_msg *msg);

/*
 * stage_terminate() sends a request, which it frees, to a service, and waits
 * until take() accepts an answer.  Returns as flow_client_wait(), but never
 * FLOW_BAD_MESSAGE: it prints that and waits again.
 *   id       of the request: flow_client_next_id()
 *   session  of the request, or -1; FLOW_STOPPED once this machine's clock no
 *            longer allows it, as the service always refuses it then
 *   take     returns 0, or -1 with the reason to refuse the answer, printed the
 *            1st, 2nd, 4th ... time; another answer may arrive
 */
enum flow_answer stage_terminate(
    struct flow_client *service, int stop, struct wire_msg *request, int64_t id,
    int64_t session,
    int (*take)(void *self, struct wire_msg *answer, struct err *why),
    void *self, struct err *err);

/* stage_outlet_waits() returns 1 and describes the peer that an outlet waits
 * for, if it is one that all outlets have: augmenters, a trainer, or the
 * augmenter with the item that the trainer needs; else 0. */
int stage_outlet_waits(const struct flow_outlet *outlet, double now,
                       struct err *who);

/*
 * The program behind an option such as --view-command.  stage_command_open() is
 * stage_program_open() that prints with log_line(), and ends the tool if it
 * fails.
 *
 * stage_command_ask() is stage_program_ask_retry(): 0 with an answer, or -1
 * with the reason.  Ends the tool with EXIT_OK when `stop` is readable.
 */
struct stage_program *
stage_command_open(const struct stage_program_config *config);
int stage_command_ask(struct stage_program *program, const char *line, int stop,
                      struct stage_answer *answer, struct err *err);
