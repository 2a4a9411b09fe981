#ifndef FLOW_SERVICE_H
#define FLOW_SERVICE_H

#include "wire/error.h"
#include "wire/hello.h"
#include "wire/sock.h"

/*
 * The asking end of a service (flow/server.h of such an edge answers).
 *
 * A request carries an id; what answers another id is dropped.  When no
 * answer comes in time, the request is sent again on a fresh socket, after a
 * pause that doubles from 0.1 s to 5 s.  The answer to a repeated id is the
 * same answer.
 *
 * What cannot be read is no answer, and neither is what the caller refuses: it
 * is counted, its sender hears why, and the wait goes on, to the deadline.
 */
struct flow_service;

struct flow_service_config {
    const char *endpoint;
    const char *role;        /* of the binder: "negatives" */
    enum wire_edge edge;     /* NEGATIVES or FEATURES: a bug without it */
    struct wire_hello hello; /* ours */
    struct wire_limits limits;
    double timeout;  /* seconds until a request is sent again; 0: 5 */
    double deadline; /* seconds until it is given up; 0: 60 */
    double patience; /* seconds until it is said that none came; 0: 10 */
};

/* flow_service_open() returns at once: the service may start later. */
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
    FLOW_REFUSED = -1,  /* end with that sentence: we are refused (version, run,
                           data set), the request is larger than its edge takes,
                           or waiting failed */
    FLOW_STOPPED = 0,   /* stop_fd became readable */
    FLOW_ANSWERED = 1,  /* *answer is yours to free */
    FLOW_NO_STATE = 2,  /* it wants state.put first, then the same again */
    FLOW_FAILED = 3,    /* it answered with an error: err says which */
    FLOW_UNREACHED = 4, /* the deadline has passed: err says so */
    FLOW_ODD = 5        /* what came will not do, or nothing came for a while:
                           say err, and wait again */
};

/*
 * flow_service_wait() waits for the answer.  All but ANSWERED and STOPPED leave
 * a sentence in *err.  ODD is returned the 1st, 2nd, 4th, 8th ... time, and
 * whenever `patience` has passed without an answer that will do: then, as at
 * the deadline, *err has what was wrong with the last that came, if any came.
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
 * flow_service_poll() reads what has come, and gives up what was asked: 0, 1
 * to be called again when *err is printed, or -1 when the service refused us.
 * flow_service_joined() returns 1 while it knows us: then flow_service_who() is
 * the one that would be asked, and its `peer` changes when it was started
 * again.
 */
int flow_service_poll(struct flow_service *service, struct err *err);
int flow_service_joined(const struct flow_service *service);

/* flow_service_retries() counts requests that had to be sent again; public
 * interface, for a stage that wants to say so. */
uint64_t flow_service_retries(const struct flow_service *service);

/* flow_service_who() is the service's hello; its stage is "" before. */
const struct wire_hello *flow_service_who(const struct flow_service *service);

#endif
