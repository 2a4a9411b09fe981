#ifndef FLOW_SERVICE_H
#define FLOW_SERVICE_H

#include "wire/error.h"
#include "wire/hello.h"
#include "wire/sock.h"

/*
 * The asking end of a service (flow/server.h of such an edge answers).
 *
 * A request carries an id, and answers to another id are dropped.  When no
 * answer comes in time, the request is sent again on a fresh socket, after a
 * pause that doubles from 0.1 s to 5 s.  The answer to a repeated id is the
 * same answer.
 *
 * A message that cannot be read, or that the caller refuses, is no answer: it
 * is counted, its sender is told why, and the wait goes on, to the deadline.
 */
struct flow_service;

struct flow_service_config {
    const char *endpoint;
    const char *role;        /* of the binder: "negatives" */
    enum wire_edge edge;     /* NEGATIVES or FEATURES */
    struct wire_hello hello; /* ours */
    struct wire_limits limits;
    double timeout;     /* seconds until a request is sent again; 0: 5 */
    double deadline;    /* seconds until it is given up; 0: 60 */
    double say_every_s; /* seconds without an answer until FLOW_ODD; 0: 10 */
};

/* flow_service_open() returns at once: the service may start later.  NULL on
 * error. */
struct flow_service *flow_service_open(struct wire *wire,
                                       const struct flow_service_config *config,
                                       struct err *err);
void flow_service_close(struct flow_service *service);

/*
 * flow_service_id() returns the next request id: put it into the request
 * before flow_service_ask().  Ids count up from the time of the start, so
 * that no two runs of a trainer share one.
 */
int64_t flow_service_id(struct flow_service *service);

/*
 * flow_service_ask() sends a request and returns at once; compute something,
 * then flow_service_wait() for its answer.  One request at a time.
 */
void flow_service_ask(struct flow_service *service, struct wire_msg *request,
                      int64_t id);

enum flow_answer {
    FLOW_REFUSED = -1,  /* end with err: we are refused (version, run, data
                           set), the request is larger than its edge takes, or
                           waiting failed */
    FLOW_STOPPED = 0,   /* stop_fd became readable */
    FLOW_ANSWERED = 1,  /* *answer is yours to free */
    FLOW_NO_STATE = 2,  /* it wants state.put first, then the request again */
    FLOW_FAILED = 3,    /* it answered with an error: err says which */
    FLOW_UNREACHED = 4, /* the deadline has passed: err says so */
    FLOW_ODD = 5        /* a message that will not do came, or no message for a
                           while: print err, and wait again */
};

/*
 * flow_service_wait() waits for the answer.  All results but FLOW_ANSWERED and
 * FLOW_STOPPED leave a sentence in *err.  FLOW_ODD is returned for the 1st,
 * 2nd, 4th, 8th ... message that will not do, and whenever `say_every_s` has
 * passed without an answer: then, as at the deadline, *err says what was wrong
 * with the last message, if any came.
 */
enum flow_answer flow_service_wait(struct flow_service *service, int stop_fd,
                                   struct wire_msg **answer, struct err *err);

/*
 * flow_service_refuse() refuses the answer that flow_service_wait() returned
 * last: wait again, another may come.  Returns 1 when *why is to be printed, as
 * tally_add(), the service's endpoint added.
 */
int flow_service_refuse(struct flow_service *service, struct err *why);

/*
 * flow_service_poll() gives up the request, if there is one, and reads all
 * messages that have come.  Returns 0; 1 with a sentence to print, and then
 * call it again; or -1 when the service refused us.
 *
 * flow_service_joined() returns 1 while the service knows us: then
 * flow_service_who() returns the hello of the one that would be asked, whose
 * `peer` is another after a restart.
 */
int flow_service_poll(struct flow_service *service, struct err *err);
int flow_service_joined(const struct flow_service *service);

/* flow_service_retries() returns how many requests had to be sent again,
 * flow_service_greetings() how often a service has greeted us: once more on
 * each connection. */
uint64_t flow_service_retries(const struct flow_service *service);
uint64_t flow_service_greetings(const struct flow_service *service);

/* flow_service_who() returns the service's hello, lent; its stage is "" before
 * the service has greeted us. */
const struct wire_hello *flow_service_who(const struct flow_service *service);

#endif
