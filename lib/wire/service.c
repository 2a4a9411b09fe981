#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/mem.h"
#include "wire/service.h"

#include "asking.h"
#include "greeting.h"
#include "pack.h"
#include "raw.h"
#include "refusal.h"

struct wire_service {
    struct wire *wire;
    struct wire_sock *sock;
    struct wire_service_config config;
    char *endpoint, *role;
    struct wire_hello who;
    struct wire_greeting greeting;
    struct wire_asking asking;
    struct wire_msg *request; /* NULL: nothing is asked */
    struct wire_refusal refusal;
    struct wire_subject subject; /* of the answer that the caller has */
    struct tally refused;        /* messages */
    struct tally told;           /* errors about messages of ours */
    struct err last;  /* why what came last was refused; "": it was not */
    struct err unfit; /* why the request cannot be sent; "": it can */
    uint64_t retries;
    double said; /* when it was said last that no answer has come */
};

static int
is_in(const struct wire_service *service)
{
    return service->greeting.state == WIRE_IN;
}

static int
connect_anew(struct wire_service *service, struct err *err)
{
    struct wire_msg *hello, *beat;

    wire_sock_close(service->sock);
    wire_greeting_lost(&service->greeting);
    service->sock =
        wire_sock_connect(service->wire, WIRE_DEALER, service->endpoint,
                          service->role, &service->config.limits, err);
    if (!service->sock)
        return -1;
    hello = wire_hello_put(&service->config.hello);
    beat = wire_beat_put(&(struct wire_beat){0});
    wire_sock_greet(service->sock, &service->greeting, hello);
    wire_sock_beat(service->sock, beat);
    wire_msg_free(hello);
    wire_msg_free(beat);
    return 0;
}

struct wire_service *
wire_service_open(struct wire *wire, const struct wire_service_config *config,
                  struct err *err)
{
    struct wire_service *service = mem_array(1, sizeof *service);

    REQUIRE(wire_edge_serves(config->edge));
    service->wire = wire;
    service->config = *config;
    service->config.limits.edge = config->edge;
    service->endpoint = mem_text(config->endpoint);
    service->role = mem_text(config->role ? config->role : "");
    service->config.hello.version = WIRE_VERSION;
    wire_hello_name(&service->config.hello);
    if (service->config.deadline <= 0)
        service->config.deadline = 60;
    if (service->config.patience <= 0)
        service->config.patience = 10;
    service->asking = (struct wire_asking){
        .timeout = config->timeout > 0 ? config->timeout : 5,
        .deadline = service->config.deadline,
        .last_id = (int64_t)(clock_wall() & INT64_MAX),
    };
    if (!connect_anew(service, err))
        return service;
    wire_service_close(service);
    return NULL;
}

void
wire_service_close(struct wire_service *service)
{
    if (!service)
        return;
    wire_sock_close(service->sock);
    wire_msg_free(service->request);
    free(service->endpoint);
    free(service->role);
    free(service);
}

int64_t
wire_service_id(struct wire_service *service)
{
    return wire_asking_id(&service->asking);
}

uint64_t
wire_service_retries(const struct wire_service *service)
{
    return service->retries;
}

const struct wire_hello *
wire_service_who(const struct wire_service *service)
{
    return &service->who;
}

static void
try_to_send(struct wire_service *service)
{
    if (is_in(service) && service->request && service->asking.waits &&
        !*service->unfit.msg)
        wire_sock_soon(service->sock, service->request);
}

void
wire_service_ask(struct wire_service *service, struct wire_msg *request,
                 int64_t id)
{
    wire_msg_free(service->request);
    service->request = wire_msg_hold(request);
    service->said = clock_now();
    wire_asking_begin(&service->asking, id, service->said);
    *service->last.msg = '\0';
    *service->unfit.msg = '\0';
    if (wire_edge_fits(service->config.edge, WIRE_CONNECTS, request,
                       &service->unfit))
        return;
    if (is_in(service) && wire_sock_send(service->sock, NULL, request) != 1)
        try_to_send(service);
}

/* Something is refused: WIRE_ODD when that is to be printed. */
static enum wire_answer
refuse(struct wire_service *service, const struct wire_subject *subject,
       struct err *err)
{
    const struct err plain = *err;

    service->last = plain;
    wire_refusal_tell(&service->refusal, service->sock, NULL, subject, &plain);
    err_set(err, "%.80s: %.400s", service->endpoint, plain.msg);
    return tally_add(&service->refused, err) ? WIRE_ODD : WIRE_STOPPED;
}

int
wire_service_refuse(struct wire_service *service, struct err *why)
{
    wire_asking_refuse(&service->asking);
    return refuse(service, &service->subject, why) == WIRE_ODD;
}

/* What came: WIRE_STOPPED stands for "go on waiting" here. */
static enum wire_answer
take_hello(struct wire_service *service, const struct wire_msg *msg,
           struct err *err)
{
    struct wire_hello who;

    if (wire_hello_get(&who, msg, err))
        return refuse(service, &service->subject, err);
    if (wire_hello_fits(&service->config.hello, &who, err)) {
        wire_refusal_last(service->wire, service->sock, err);
        return WIRE_REFUSED;
    }
    if (!wire_greeting_hello(&service->greeting))
        return WIRE_STOPPED;
    service->who = who;
    try_to_send(service);
    return WIRE_STOPPED;
}

static enum wire_answer
take_error(struct wire_service *service, const struct wire_msg *msg,
           struct err *err)
{
    struct wire_error error;
    enum wire_answer what;

    if (wire_error_get(&error, msg, err))
        return refuse(service, &service->subject, err);
    if (error.again) {
        wire_greeting_again(&service->greeting);
        return WIRE_STOPPED;
    }
    what = wire_asking_hear(&service->asking, error.id, &error);
    if (what != WIRE_ODD) {
        err_set(err, "%.80s answers: %.400s", service->endpoint, error.reason);
        return what;
    }
    wire_refusal_words(&error, service->endpoint, err);
    service->last = *err;
    return tally_add(&service->told, err) ? WIRE_ODD : WIRE_STOPPED;
}

static enum wire_answer
take(struct wire_service *service, struct wire_msg *msg, struct err *err)
{
    struct wire_reader r = wire_read_start(msg, err);
    int64_t id;

    wire_subject_of(&service->subject, msg);
    if (wire_msg_kind(msg) == WIRE_HELLO)
        return take_hello(service, msg, err);
    if (wire_msg_kind(msg) == WIRE_ERROR)
        return take_error(service, msg, err);
    if (!is_in(service)) // meant for an earlier connection
        return WIRE_STOPPED;
    id = wire_read_whole(&r, "id", 0, INT64_MAX);
    if (r.rc)
        return refuse(service, &service->subject, err);
    return wire_asking_hear(&service->asking, id, NULL);
}

/* What could not be read.  Another version is refused by name. */
static enum wire_answer
unread(struct wire_service *service, struct err *err)
{
    const struct wire_subject *subject = wire_sock_subject(service->sock);
    const struct err why = *err;

    if (is_in(service) || !subject->version)
        return refuse(service, subject, err);
    err_set(err, "'%.80s': %.400s", service->endpoint, why.msg);
    return WIRE_REFUSED;
}

/* Read all that is there, up to what ends the wait. */
static enum wire_answer
drain(struct wire_service *service, struct wire_msg **answer, struct err *err)
{
    enum wire_answer what = WIRE_STOPPED;
    int got;

    while (what == WIRE_STOPPED &&
           (got = wire_sock_recv(service->sock, NULL, answer, err))) {
        if (got < 0) {
            what = unread(service, err);
            continue;
        }
        what = take(service, *answer, err);
        if (what != WIRE_ANSWERED)
            wire_msg_free(*answer);
    }
    if (what == WIRE_STOPPED && wire_sock_lost(service->sock))
        wire_greeting_lost(&service->greeting);
    if (!is_in(service))
        wire_sock_soon(service->sock, NULL); // the answer to hello comes first
    return what;
}

/* No answer in time: pause, then the same again on a fresh socket. */
static int
retry(struct wire_service *service, int stop_fd, struct err *err)
{
    int rc = wire_sock_wait(service->wire, NULL, stop_fd,
                            wire_asking_pause(&service->asking), err);

    if (rc <= 0)
        return rc;
    service->retries++;
    wire_asking_renewed(&service->asking, clock_now());
    return connect_anew(service, err) ? -1 : 1;
}

int
wire_service_poll(struct wire_service *service, struct err *err)
{
    enum wire_answer what;

    wire_msg_free(service->request);
    service->request = NULL;
    do {
        struct wire_msg *late = NULL;

        what = drain(service, &late, err);
        if (what == WIRE_ANSWERED)
            wire_msg_free(late);
    } while (what != WIRE_STOPPED && what != WIRE_REFUSED && what != WIRE_ODD);
    if (what == WIRE_ODD)
        return 1;
    return what == WIRE_REFUSED ? -1 : 0;
}

int
wire_service_joined(const struct wire_service *service)
{
    return is_in(service);
}

static enum wire_answer
give_up(const struct wire_service *service, struct err *err)
{
    const struct err last = service->last;

    if (*last.msg)
        err_set(err,
                "'%.120s' gave no answer that will do in %g s; the last that "
                "came: %.250s",
                service->endpoint, service->config.deadline, last.msg);
    else
        err_set(err, "no answer from '%.200s' in %g s", service->endpoint,
                service->config.deadline);
    return WIRE_UNREACHED;
}

/* Says that no answer has come: 1, now and then. */
static int
still_waits(struct wire_service *service, double now, struct err *err)
{
    if (now - service->said < service->config.patience)
        return 0;
    service->said = now;
    if (*service->last.msg)
        err_set(err,
                "'%.120s' has given no answer that will do for %.0f seconds; "
                "the last that came: %.250s",
                service->endpoint, now - service->asking.begun,
                service->last.msg);
    else
        err_set(err,
                "no answer from '%.200s' for %.0f seconds; start the stage "
                "that answers there again if it ended",
                service->endpoint, now - service->asking.begun);
    return 1;
}

enum wire_answer
wire_service_wait(struct wire_service *service, int stop_fd,
                  struct wire_msg **answer, struct err *err)
{
    REQUIRE(service->request && service->asking.waits);
    if (*service->unfit.msg)
        return err_set(err, "%.80s: %.400s", service->endpoint,
                       service->unfit.msg);
    for (;;) {
        enum wire_answer what = drain(service, answer, err);
        const double now = clock_now();
        double until;
        int rc;

        if (what != WIRE_STOPPED)
            return what;
        rc = wire_asking_turn(&service->asking, now, &until);
        if (rc < 0)
            return give_up(service, err);
        if (still_waits(service, now, err))
            return WIRE_ODD;
        until = fmin(until, service->said + service->config.patience);
        rc = rc ? retry(service, stop_fd, err)
                : wire_sock_wait(service->wire, service->sock, stop_fd,
                                 until - now, err);
        if (rc <= 0)
            return rc ? WIRE_REFUSED : WIRE_STOPPED;
    }
}
