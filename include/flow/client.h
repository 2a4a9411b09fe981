#pragma once

#include "flow/event.h"
#include "wire/hello.h"
#include "wire/sock.h"

/*
 * The connecting end of an edge.  It sends hello, and again whenever the binder
 * does not know it (after a restart or a lost connection), and a heartbeat each
 * second.  Messages that arrive before the binder's answer belong to an earlier
 * connection and are dropped (lib/flow/greeting.h).
 *
 * A message that the client refuses changes nothing and is counted.  Its sender
 * receives an error with the reason, at most 16 errors a second.
 */
struct flow_client;

struct flow_client_config {
    const char *endpoint;
    const char *role;        /* the binder's: "select", "train" */
    enum wire_edge edge;     /* PLAN: receives items; BATCH: sends batches */
    struct wire_hello hello; /* ours; an empty `peer` is filled in */
    struct wire_limits limits;

    /* of requests to a service, in seconds; 0: the default */
    double timeout;        /* 5; a request without an answer is sent again */
    double deadline;       /* 60; then the request fails */
    double report_every_s; /* 10; FLOW_BAD_MESSAGE while there is no answer */
};

/* flow_client_open() returns at once: the binder may start later.  NULL on
 * error.
 */
struct flow_client *flow_client_open(struct wire *wire,
                                     const struct flow_client_config *config,
                                     struct err *err);
void flow_client_close(struct flow_client *client);

/*
 * flow_client_next() returns 1 with an event, 0 when there is none, -1 when the
 * binder refused us (version, run, data set): exit with the message in *err.
 *
 * It is FLOW_JOINED, FLOW_MESSAGE, FLOW_ENDED, FLOW_OVER or FLOW_REPORT.  The
 * message is an item on edge PLAN, of our run and with ids within the data set,
 * and a snapshot on edge BATCH.
 */
int flow_client_next(struct flow_client *client, struct flow_event *event,
                     struct err *err);

/* flow_client_joined() returns 1 while the binder knows us. */
int flow_client_joined(const struct flow_client *client);

/* flow_client_trouble() returns 1 with the reason while the binder does not
 * know us. */
int flow_client_trouble(const struct flow_client *client, struct err *why);

/* flow_client_binder_hello() returns the binder's hello, owned by the client;
 * its stage is "" before FLOW_JOINED. */
const struct wire_hello *
flow_client_binder_hello(const struct flow_client *client);

/*
 * flow_client_refuse() refuses the message of the last event, or the answer
 * that flow_client_wait() returned last: wait again, another may come.  It
 * sends an error that names the message and the reason.  Returns 1 when *why is
 * to be printed, as tally_add() does, with the count and the sender added.
 */
int flow_client_refuse(struct flow_client *client, struct err *why);

/* flow_client_heartbeat() sets the content of all later heartbeats. */
void flow_client_heartbeat(struct flow_client *client,
                           const struct wire_heartbeat *heartbeat);

/* flow_client_send() returns 1 when the message was sent, 0 when it was not:
 * the binder does not know us, or the queue is full.  The caller keeps
 * ownership of the message. */
int flow_client_send(struct flow_client *client, struct wire_msg *msg);

/*
 * Requests to a service, on its edges; the answering end is flow/server.h.
 *
 * A request carries an id, and answers to another id are dropped.  When no
 * answer arrives in time, the request is sent again on a new socket, after a
 * pause that doubles from 0.1 s to 5 s.  A repeated id gets the same answer.
 *
 * A message that cannot be read, or that the caller refuses, is not an answer:
 * the wait continues, to the deadline.
 *
 * flow_client_next_id() returns the next request id: write it into the request
 * before flow_client_ask().  Ids count up from the start time, so that no two
 * runs of a trainer share one.
 */
int64_t flow_client_next_id(struct flow_client *client);

/* flow_client_ask() sends a request and returns at once; compute something,
 * then call flow_client_wait() for its answer.  One request at a time. */
void flow_client_ask(struct flow_client *client, struct wire_msg *request,
                     int64_t id);

enum flow_answer {
    FLOW_REFUSED = -1,   /* exit with err: we are refused (version, run, data
                            set), the request is larger than its edge takes, or
                            waiting failed */
    FLOW_STOPPED = 0,    /* stop_fd became readable */
    FLOW_ANSWERED = 1,   /* *answer is yours to free */
    FLOW_NO_STATE = 2,   /* send state.put first, then the request again */
    FLOW_FAILED = 3,     /* the answer is an error: its reason is in err */
    FLOW_UNREACHED = 4,  /* the deadline has passed: err says so */
    FLOW_BAD_MESSAGE = 5 /* a message was unusable, or none came for a while:
                    print err, and wait again */
};

/*
 * flow_client_wait() waits for the answer.  All results but FLOW_ANSWERED and
 * FLOW_STOPPED leave a message in *err.  FLOW_BAD_MESSAGE is returned for the
 * 1st, 2nd, 4th, 8th ... unusable message, and whenever `report_every_s` has
 * passed without an answer: then, as at the deadline, *err has the fault of the
 * last message, if any came.
 */
enum flow_answer flow_client_wait(struct flow_client *client, int stop_fd,
                                  struct wire_msg **answer, struct err *err);

/*
 * flow_client_poll() cancels the request, if there is one, and reads all
 * pending messages.  Returns 0; 1 with a message to print, and then call it
 * again; or -1 when the service refused us.  Then flow_client_binder_hello() is
 * that of the service that would receive the next request; its `peer` changes
 * with a restart.
 */
int flow_client_poll(struct flow_client *client, struct err *err);

/* flow_client_greetings() returns how many hellos of the service completed a
 * greeting, one for each connection. */
uint64_t flow_client_greetings(const struct flow_client *client);
