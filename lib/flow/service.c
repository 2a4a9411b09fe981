#include <math.h>
#include <stdlib.h>

#include "flow/service.h"
#include "util/clock.h"
#include "util/mem.h"

#include "client_impl.h"
#include "request.h"

struct flow_service {
    struct flow_client *client;
    double report_every_s;
    struct flow_request pending;
    struct wire_msg *request;    /* NULL: none */
    struct wire_subject subject; /* of the answer that the caller has */
    struct err unfit; /* why the request cannot be sent; "": it can */
    uint64_t greetings;
    double reported; /* time of the last report that no answer has come */
};

struct flow_service *
flow_service_open(struct wire *wire, const struct flow_service_config *config,
                  struct err *err)
{
    struct flow_service *service = mem_array(1, sizeof *service);

    REQUIRE(wire_edge_is_service(config->client.edge));
    service->report_every_s =
        config->report_every_s > 0 ? config->report_every_s : 10;
    service->pending = (struct flow_request){
        .timeout = config->timeout > 0 ? config->timeout : 5,
        .deadline = config->deadline > 0 ? config->deadline : 60,
        .last_id = (int64_t)(clock_wall() & INT64_MAX),
    };
    service->client = flow_client_open(wire, &config->client, err);
    if (service->client)
        return service;
    flow_service_close(service);
    return NULL;
}

void
flow_service_close(struct flow_service *service)
{
    if (!service)
        return;
    flow_client_close(service->client);
    wire_msg_free(service->request);
    free(service);
}

int64_t
flow_service_id(struct flow_service *service)
{
    return flow_request_id(&service->pending);
}

int
flow_service_joined(const struct flow_service *service)
{
    return flow_client_joined(service->client);
}

const struct wire_hello *
flow_service_hello(const struct flow_service *service)
{
    return flow_client_binder_hello(service->client);
}

uint64_t
flow_service_greetings(const struct flow_service *service)
{
    return service->greetings;
}

static void
send_request(struct flow_service *service)
{
    if (flow_service_joined(service) && service->request &&
        service->pending.waits && !*service->unfit.msg)
        wire_sock_send_when_connected(service->client->link.sock,
                                      service->request);
}

void
flow_service_ask(struct flow_service *service, struct wire_msg *request,
                 int64_t id)
{
    wire_msg_free(service->request);
    service->request = wire_msg_hold(request);
    service->reported = clock_now();
    flow_request_begin(&service->pending, id, service->reported);
    *service->client->link.last.msg = '\0';
    *service->unfit.msg = '\0';
    if (!wire_edge_fits(service->client->link.edge, WIRE_CONNECTS, request,
                        &service->unfit) &&
        !flow_client_send(service->client, request))
        send_request(service);
}

int
flow_service_refuse(struct flow_service *service, struct err *why)
{
    struct flow_news news = {.why = *why};
    const int print =
        flow_client_refuse_subject(service->client, &service->subject, &news);

    flow_request_refuse(&service->pending);
    *why = news.why;
    return print;
}

/* Takes an answer, or an error about a request: 1 with *what it means, or 0 to
 * wait on. */
static int
on_answer(struct flow_service *service, struct flow_news *news,
          enum flow_answer *what, struct err *err)
{
    struct wire_error error;
    int64_t id;

    wire_subject_of(&service->subject, news->msg);
    if (wire_msg_kind(news->msg) == WIRE_ERROR) {
        wire_error_get(&error, news->msg, &news->why);
        err_set(err, "%.80s answers: %.400s", service->client->endpoint,
                error.reason);
        return flow_request_receive(&service->pending, error.id, &error, what);
    }
    if (!wire_msg_id(news->msg, &id, &news->why))
        return flow_request_receive(&service->pending, id, NULL, what);
    *what = FLOW_BAD_MESSAGE;
    if (!flow_client_refuse_subject(service->client, &service->subject, news))
        return 0;
    *err = news->why;
    return 1;
}

/* Reads all pending messages, up to one that ends the wait: 1 with *what, else
 * 0.  The message of ANSWERED stays with the client. */
static int
read_answers(struct flow_service *service, enum flow_answer *what,
             struct err *err)
{
    struct flow_news news;
    int rc;

    while ((rc = flow_client_read(service->client, &news, err)) > 0) {
        if (news.what == FLOW_JOINED) {
            service->greetings++;
            send_request(service);
        }
        if (news.what == FLOW_REPORT) {
            *err = news.why;
            *what = FLOW_BAD_MESSAGE;
            return 1;
        }
        if (news.what == FLOW_MESSAGE && on_answer(service, &news, what, err))
            return 1;
    }
    if (!flow_service_joined(service)) // the answer to hello comes first
        wire_sock_send_when_connected(service->client->link.sock, NULL);
    *what = FLOW_REFUSED;
    return rc < 0;
}

/* No answer in time: pause, then send the request on a new socket. */
static int
retry_request(struct flow_service *service, int stop_fd, struct err *err)
{
    int rc = wire_sock_wait(service->client->link.wire, NULL, stop_fd,
                            flow_request_pause(&service->pending), err);

    if (rc <= 0)
        return rc;
    flow_request_renewed(&service->pending, clock_now());
    return flow_client_renew(service->client, err) ? -1 : 1;
}

int
flow_service_poll(struct flow_service *service, struct err *err)
{
    enum flow_answer what;

    wire_msg_free(service->request);
    service->request = NULL;
    while (read_answers(service, &what, err))
        if (what == FLOW_BAD_MESSAGE || what == FLOW_REFUSED)
            return what == FLOW_BAD_MESSAGE ? 1 : -1;
    return 0;
}

/* Why the last answer was refused; "": none was. */
static const char *
last_error(const struct flow_service *service)
{
    return service->client->link.last.msg;
}

static enum flow_answer
give_up(const struct flow_service *service, struct err *err)
{
    const char *last = last_error(service);

    if (*last)
        err_set(err,
                "no usable answer from '%.120s' in %g s; last error: %.250s",
                service->client->endpoint, service->pending.deadline, last);
    else
        err_set(err, "no answer from '%.200s' in %g s",
                service->client->endpoint, service->pending.deadline);
    return FLOW_UNREACHED;
}

/* Reports from time to time that no answer has come: 1 when it did. */
static int
report_wait(struct flow_service *service, double now, struct err *err)
{
    const double seconds = now - service->pending.begun;
    const char *last = last_error(service);

    if (now - service->reported < service->report_every_s)
        return 0;
    service->reported = now;
    if (*last)
        err_set(err,
                "no usable answer from '%.120s' for %.0f seconds; last error: "
                "%.250s",
                service->client->endpoint, seconds, last);
    else
        err_set(err,
                "no answer from '%.200s' for %.0f seconds; start the stage "
                "that answers there again if it ended",
                service->client->endpoint, seconds);
    return 1;
}

/* Pass the answer to the caller. */
static struct wire_msg *
take_answer(struct flow_service *service)
{
    struct wire_msg *msg = service->client->link.msg;

    service->client->link.msg = NULL;
    return msg;
}

enum flow_answer
flow_service_wait(struct flow_service *service, int stop_fd,
                  struct wire_msg **answer, struct err *err)
{
    struct flow_link *link = &service->client->link;
    enum flow_answer what;

    REQUIRE(service->request && service->pending.waits);
    if (*service->unfit.msg)
        return err_set(err, "%.80s: %.400s", service->client->endpoint,
                       service->unfit.msg);
    while (!read_answers(service, &what, err)) {
        const double now = clock_now();
        double until;
        int rc = flow_request_turn(&service->pending, now, &until);

        if (rc < 0)
            return give_up(service, err);
        if (report_wait(service, now, err))
            return FLOW_BAD_MESSAGE;
        until = fmin(until, service->reported + service->report_every_s);
        rc = rc ? retry_request(service, stop_fd, err)
                : wire_sock_wait(link->wire, link->sock, stop_fd, until - now,
                                 err);
        if (rc <= 0)
            return rc ? FLOW_REFUSED : FLOW_STOPPED;
    }
    if (what == FLOW_ANSWERED)
        *answer = take_answer(service);
    return what;
}
