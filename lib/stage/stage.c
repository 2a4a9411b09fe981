#include "stage/stage.h"

#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/mem.h"
#include "util/stop.h"

int
stage_connect(struct stage *stage, const struct stage_options *options,
              struct err *err)
{
    stage->options = options;
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
    if (stage->stop < 0 || stage_connect(stage, options, &err))
        die("%s", err.msg);
}

void
stage_close(struct stage *stage)
{
    wire_close(stage->wire);
    wire_keys_release(&stage->keys);
    while (stage->endpoints)
        free(stage->endpoint[--stage->endpoints]);
}

const char *
stage_endpoint(struct stage *stage, const char *endpoint, const char *edge)
{
    char *made = wire_endpoint(endpoint, stage->options->run, edge);

    REQUIRE(stage->endpoints < STAGE_ENDPOINTS);
    return made ? stage->endpoint[stage->endpoints++] = made : NULL;
}

struct wire_hello
stage_hello(const char *name, const char *digest, int64_t size)
{
    struct wire_hello hello = {.size = size};

    snprintf(hello.stage, sizeof hello.stage, "%s", name);
    snprintf(hello.digest, sizeof hello.digest, "%s", digest);
    return hello;
}

int
stage_wait(struct stage *stage, double seconds)
{
    struct err err;
    const int rc = wire_wait(stage->wire, stage->stop, seconds, &err);

    if (rc < 0)
        die("%s", err.msg);
    return rc;
}

struct wire_listener *
stage_listen(struct stage *stage, const char *endpoint, const char *kinds,
             size_t queue)
{
    const struct wire_limits limits = {.queue = queue};
    struct err err;
    struct wire_listener *listener = wire_listener_open(
        stage->wire, stage_endpoint(stage, endpoint, "events"), kinds, &limits,
        &err);

    if (!listener)
        die("%s", err.msg);
    return listener;
}

static void
say_waiting(struct stage *stage, const struct stage_handlers *handlers,
            void *self)
{
    const double now = clock_now();
    struct err who[STAGE_WAITS];
    const int n = handlers->waits_for(self, &stage->waiting, now, who);

    if (stage_waiting_due(&stage->waiting, n < 0 ? -1 : n > 0, now))
        for (int i = 0; i < n; i++)
            say("still waiting for %s", who[i].msg);
}

void
stage_run(struct stage *stage, const struct stage_handlers *handlers,
          void *self)
{
    stage_waiting_begin(&stage->waiting, clock_now());
    while (stage_wait(stage, handlers->pause_s ? handlers->pause_s(self) : 1) &&
           handlers->turn(self))
        if (handlers->waits_for)
            say_waiting(stage, handlers, self);
}

static void
say_report(const struct flow_news *news)
{
    if (news->what == FLOW_REPORT)
        say("%s", news->why.msg);
}

int
stage_client_next(struct flow_client *client, struct flow_news *news)
{
    struct err err;
    const int rc = flow_client_next(client, news, &err);

    if (rc < 0)
        die("%s", err.msg);
    if (rc)
        say_report(news);
    return rc;
}

int
stage_outlet_next(struct flow_outlet *outlet, struct flow_news *news)
{
    const int rc = flow_outlet_next(outlet, news);
    struct err late;

    if (rc)
        say_report(news);
    while (!rc && flow_outlet_late(outlet, &late))
        say("%s", late.msg);
    return rc;
}

void
stage_refuse(struct flow_server *server, struct flow_news *news)
{
    if (flow_server_refuse(server, news->peer, &news->why))
        say("%s", news->why.msg);
}

int
stage_send(struct flow_client *client, struct wire_msg *msg)
{
    const int sent = flow_client_send(client, msg);

    wire_msg_free(msg);
    return sent;
}

void
stage_ask(struct flow_service *service, struct wire_msg *request, int64_t id)
{
    flow_service_ask(service, request, id);
    wire_msg_free(request);
}

int
stage_outlet_waits(const struct flow_outlet *outlet, double now,
                   struct err *who)
{
    const struct wire_place at = flow_producer_place(outlet->producer);
    const uint64_t peer = flow_producer_missing(outlet->producer, now);
    const struct wire_hello *hello;

    if (!flow_server_peers(outlet->server))
        return err_set(who, "augmenters: none is connected") != 0;
    if (at.session < 0)
        return err_set(who, "a trainer: augmenters are connected, but none of "
                            "them has one") != 0;
    hello = peer ? flow_server_who(outlet->server, peer) : NULL;
    return hello && err_set(who, "foil-%s '%s', which has epoch %jd, step %jd",
                            hello->stage, hello->peer, (intmax_t)at.epoch,
                            (intmax_t)at.step);
}
