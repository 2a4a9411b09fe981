#pragma once

/*
 * For tests of the ends of edges: two sets of sockets in one process, a
 * scratch folder, and a loop that runs both until there is an event.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow/client.h"
#include "flow/server.h"
#include "util/clock.h"
#include "util/file.h"

static char scratch[64];

__attribute__((unused)) static void
scratch_open(void)
{
    const char *top = getenv("TMPDIR");

    snprintf(scratch, sizeof scratch, "%s/foil-wire-XXXXXX",
             top && strlen(top) < 32 ? top : "/tmp");
    if (!mkdtemp(scratch))
        abort();
}

__attribute__((unused)) static void
scratch_close(void)
{
    struct err err;

    file_remove(scratch, &err);
}

/* "ipc://SCRATCH/name", valid until the fourth call from now. */
__attribute__((unused)) static const char *
at(const char *name)
{
    static char text[4][128];
    static int turn;

    turn = (turn + 1) % 4;
    snprintf(text[turn], sizeof text[turn], "ipc://%s/%s", scratch, name);
    return text[turn];
}

static const char digest_a[] = "0123456789abcdef0123456789abcdef";

__attribute__((unused)) static struct wire_hello
hello_of(const char *stage, const char *run, const char *digest, int64_t size)
{
    static int n;
    struct wire_hello hello = {.version = WIRE_VERSION, .size = size};

    snprintf(hello.stage, sizeof hello.stage, "%s", stage);
    snprintf(hello.run, sizeof hello.run, "%s", run);
    snprintf(hello.digest, sizeof hello.digest, "%s", digest);
    snprintf(hello.peer, sizeof hello.peer, "%.31s-%d", stage, ++n);
    if (!strcmp(stage, "augment"))
        snprintf(hello.recipe, sizeof hello.recipe, "cifar");
    return hello;
}

/* The binding end of an edge, at("name"), as a stage of a run. */
__attribute__((unused)) static struct flow_server *
server_at(struct wire *wire, const char *name, enum wire_edge edge,
          const char *stage, const char *run)
{
    struct err err = {""};
    const struct flow_server_config config = {
        .endpoint = at(name),
        .edge = edge,
        .hello = hello_of(stage, run, digest_a, 10),
    };

    return flow_server_open(wire, &config, &err);
}

/* The end that connects to it. */
__attribute__((unused)) static struct flow_client *
client_at(struct wire *wire, const char *name, enum wire_edge edge,
          const char *stage)
{
    struct err err = {""};
    const struct flow_client_config config = {
        .endpoint = at(name),
        .edge = edge,
        .hello = hello_of(stage, "", digest_a, 10),
    };

    return flow_client_open(wire, &config, &err);
}

/* All objects of a test; unused ones are NULL. */
__attribute__((unused)) static void
close_ends(struct wire *a, struct wire *b, struct flow_server *server,
           struct flow_client *client)
{
    flow_client_close(client);
    flow_server_close(server);
    wire_close(a);
    wire_close(b);
}

/*
 * Run both sides until the server (client) has an event of that kind; others
 * are skipped.  0 after so many seconds.
 */
static int
turn(struct wire *a, struct wire *b)
{
    struct err err;

    return wire_wait(a, -1, 0.005, &err) > 0 &&
           wire_wait(b, -1, 0.005, &err) > 0;
}

__attribute__((unused)) static int
server_sees(struct wire *a, struct wire *b, struct flow_server *server,
            enum flow_event_kind what, struct flow_event *event, double seconds)
{
    const double until = clock_now() + seconds;

    do {
        while (flow_server_next(server, event) > 0)
            if (event->kind == what)
                return 1;
    } while (turn(a, b) && clock_now() < until);
    return 0;
}

/* A consumer's snapshot of a place, with a window of eight and nothing held. */
__attribute__((unused)) static struct wire_msg *
next_of(int64_t session, int64_t epoch, int64_t step, int64_t serial)
{
    const struct wire_want next = {.at = {session, epoch, step},
                                   .serial = serial,
                                   .window = 8,
                                   .room = -1};

    return wire_want_put(&next);
}

/* Run both sides, and the client if any, until the server has a next. */
__attribute__((unused)) static int
server_is_asked(struct wire *a, struct wire *b, struct flow_server *server,
                struct flow_client *client, struct wire_want *next)
{
    struct flow_event event;
    struct wire_want got;
    struct err err;

    for (int i = 0; i < 1000; i++) {
        while (client && flow_client_next(client, &event, &err) > 0)
            ;
        while (server_sees(a, b, server, FLOW_MESSAGE, &event, 0)) {
            if (wire_msg_kind(event.msg) != WIRE_WANT ||
                wire_want_get(&got, event.msg, &err))
                continue;
            *next = got;
            next->have = NULL;
            next->msg = NULL;
            wire_want_release(&got);
            return 1;
        }
    }
    return 0;
}

/* The same, with a client that has to reconnect by itself. */
__attribute__((unused)) static int
both_see(struct wire *a, struct wire *b, struct flow_server *server,
         struct flow_client *client, enum flow_event_kind what,
         struct flow_event *event)
{
    struct flow_event other;
    struct err err;

    for (int i = 0; i < 1000; i++) {
        while (flow_client_next(client, &other, &err) > 0)
            ;
        if (server_sees(a, b, server, what, event, 0))
            return 1;
    }
    return 0;
}

__attribute__((unused)) static int
client_sees(struct wire *a, struct wire *b, struct flow_client *client,
            enum flow_event_kind what, struct flow_event *event, double seconds)
{
    const double until = clock_now() + seconds;
    struct err err;

    do {
        while (flow_client_next(client, event, &err) > 0)
            if (event->kind == what)
                return 1;
    } while (turn(a, b) && clock_now() < until);
    return 0;
}

/* The client sends a message, which is freed: 1 when it was sent. */
static inline int
send_to_server(struct flow_client *client, struct wire_msg *msg)
{
    const int sent = flow_client_send(client, msg);

    wire_msg_free(msg);
    return sent;
}
