#include "stage/stage.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/mem.h"
#include "util/stop.h"

int
stage_connect(struct stage *stage, const struct stage_options *options,
              struct err *err)
{
    stage->options = options;
    stage->wait_on = stage->stop;
    if (options->keys &&
        wire_keys_open(&stage->keys, options->keys, options->allow, err))
        return -1;
    stage->wire = wire_open(options->keys ? &stage->keys : NULL, err);
    return stage->wire ? 0 : -1;
}

void
stage_open(struct stage *stage, const struct stage_options *options)
{
    struct err err;

    *stage = (struct stage){.stop = stop_fd(&err)};
    or_die(stage->stop < 0 || stage_connect(stage, options, &err), &err);
}

void
stage_close(struct stage *stage)
{
    if (stage->wait_on != stage->stop)
        close(stage->wait_on);
    wire_close(stage->wire);
    wire_keys_release(&stage->keys);
    while (stage->endpoints)
        free(stage->endpoint[--stage->endpoints]);
}

const char *
stage_endpoint(struct stage *stage, const char *endpoint, const char *edge)
{
    const char *run = stage->options->run;

    REQUIRE(stage->endpoints < STAGE_ENDPOINTS);
    if (!endpoint && !run)
        return NULL;
    return stage->endpoint[stage->endpoints++] =
               endpoint ? mem_text(endpoint)
                        : mem_format("ipc://%s/%s", run, edge);
}

struct wire_hello
stage_hello(const char *name, const char *digest, int64_t size)
{
    struct wire_hello hello = {.size = size};

    snprintf(hello.stage, sizeof hello.stage, "%s", name);
    snprintf(hello.digest, sizeof hello.digest, "%s", digest);
    return hello;
}

static int
wait_once(struct stage *stage, double seconds, struct err *err)
{
    const int rc = wire_wait(stage->wire, stage->wait_on, seconds, err);

    return rc < 0 ? rc : rc || !stop_requested();
}

int
stage_wait(struct stage *stage, double seconds)
{
    struct err err;
    const int rc = wait_once(stage, seconds, &err);

    or_die(rc < 0, &err);
    return rc;
}

void
stage_watch(struct stage *stage, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};

    stage->wait_on = epoll_create1(EPOLL_CLOEXEC);
    if (stage->wait_on < 0 ||
        epoll_ctl(stage->wait_on, EPOLL_CTL_ADD, stage->stop, &event) ||
        epoll_ctl(stage->wait_on, EPOLL_CTL_ADD, fd, &event))
        die("cannot wait: %s", strerror(errno));
}

void
stage_waiting_begin(struct stage_waiting *waiting, double now)
{
    *waiting =
        (struct stage_waiting){.at.session = -1, .since = now, .reported = now};
}

int
stage_waiting_moved(struct stage_waiting *waiting, const struct wire_place *at,
                    double now)
{
    if (at->session == waiting->at.session && !wire_place_cmp(at, &waiting->at))
        return 0;
    if (waiting->at.session >= 0)
        waiting->longest = fmax(waiting->longest, now - waiting->since);
    waiting->at = *at;
    waiting->since = now;
    return 1;
}

int
stage_waiting_due(struct stage_waiting *waiting, int waits, double now)
{
    if (waits < 0 || (waits && now - waiting->reported < STAGE_REPORT_EVERY_S))
        return 0;
    waiting->reported = now;
    return waits;
}

int
stage_loop(struct stage *stage, const struct stage_handlers *handlers,
           void *self, struct err *err)
{
    struct stage_waiting *waiting = &stage->waiting;
    struct err who[STAGE_WAITS];

    stage_waiting_begin(waiting, clock_now());
    for (;;) {
        const double pause = handlers->pause_s ? handlers->pause_s(self) : 1;
        int n, rc = wait_once(stage, pause, err);
        double now;

        if (rc > 0)
            rc = handlers->turn(self);
        if (rc <= 0)
            return rc;
        if (!handlers->waits_for)
            continue;
        now = clock_now();
        n = handlers->waits_for(self, waiting, now, who);
        if (stage_waiting_due(waiting, n < 0 ? -1 : n > 0, now))
            for (int i = 0; i < n; i++)
                log_message("still waiting for %s", who[i].msg);
    }
}

void
stage_run(struct stage *stage, const struct stage_handlers *handlers,
          void *self)
{
    struct err err = {""};

    or_die(stage_loop(stage, handlers, self, &err), &err);
}

void
stage_report(const struct flow_event *event)
{
    if (event->kind == FLOW_REPORT)
        log_message("%s", event->why.msg);
}

int
stage_client_next(struct flow_client *client, struct flow_event *event)
{
    struct err err;
    const int rc = flow_client_next(client, event, &err);

    or_die(rc < 0, &err);
    if (rc)
        stage_report(event);
    return rc;
}

int
stage_outlet_next(struct flow_outlet *outlet, struct flow_event *event)
{
    const int rc = flow_outlet_next(outlet, event);
    struct err late;

    if (rc)
        stage_report(event);
    while (!rc && flow_outlet_late(outlet, &late))
        log_message("%s", late.msg);
    return rc;
}

void
stage_refuse(struct flow_server *server, struct flow_event *event)
{
    if (flow_server_refuse(server, event))
        log_message("%s", event->why.msg);
}

int
stage_send(struct flow_client *client, struct wire_msg *msg)
{
    const int sent = flow_client_send(client, msg);

    wire_msg_free(msg);
    return sent;
}

enum flow_answer
stage_terminate(struct flow_client *service, int stop, struct wire_msg *request,
                int64_t id, int64_t session,
                int (*take)(void *self, struct wire_msg *answer,
                            struct err *why),
                void *self, struct err *err)
{
    struct wire_msg *answer;
    enum flow_answer what;
    struct err old;
    int rc;

    flow_client_ask(service, request, id);
    wire_msg_free(request);
    for (;;) {
        what = flow_client_wait(service, stop, &answer, err);
        if (what == FLOW_BAD_MESSAGE) {
            log_message("%s", err->msg);
            if (session >= 0 && wire_session_check(session, &old))
                return FLOW_STOPPED;
            continue;
        }
        if (what != FLOW_ANSWERED)
            return what;
        rc = take(self, answer, err);
        wire_msg_free(answer);
        if (!rc)
            return what;
        if (flow_client_refuse(service, err))
            log_message("%s", err->msg);
    }
}

int
stage_outlet_waits(const struct flow_outlet *outlet, double now,
                   struct err *who)
{
    const struct wire_place at = flow_producer_place(outlet->producer);
    const uint64_t peer = flow_producer_awaited_peer(outlet->producer, now);
    const struct wire_hello *hello;

    if (!flow_server_peers(outlet->server))
        return err_set(who, "augmenters: none is connected") != 0;
    if (at.session < 0)
        return err_set(who, "a trainer: augmenters are connected, but none of "
                            "them has one") != 0;
    hello = peer ? flow_server_peer_hello(outlet->server, peer) : NULL;
    return hello && err_set(who, "foil-%s '%s', which has epoch %jd, step %jd",
                            hello->stage, hello->peer, (intmax_t)at.epoch,
                            (intmax_t)at.step);
}

struct stage_program *
stage_command_open(const struct stage_program_config *config)
{
    struct stage_program_config printing = *config;
    struct stage_program *program;
    struct err err;

    printing.print = log_line;
    program = stage_program_open(&printing, &err);
    or_die(!program, &err);
    return program;
}

int
stage_command_ask(struct stage_program *program, const char *line, int stop,
                  struct stage_answer *answer, struct err *err)
{
    const enum stage_outcome outcome =
        stage_program_ask_retry(program, line, stop, answer, err);

    if (outcome == STAGE_STOPPED) {
        log_stopped();
        exit(EXIT_OK);
    }
    return outcome == STAGE_ANSWERED ? 0 : -1;
}
