#include "tap.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/mem.h"
#include "util/opt.h"

void
check_finish(struct check *check)
{
    printf("1..%zu\n", check->rules);
    fflush(stdout);
    tap_close(check->tap);
    if (check->broken)
        log_message("%zu of %zu rules are broken: see foil-wire(5)",
                    check->broken, check->rules);
    exit(check->broken ? EXIT_FAILED : EXIT_OK);
}

void
check_bail(struct check *check, const char *why, ...)
{
    char text[256];
    va_list args;

    va_start(args, why);
    vsnprintf(text, sizeof text, why, args);
    va_end(args);
    printf("Bail out!  %s\n", text);
    fflush(stdout);
    tap_close(check->tap);
    die("%s", text);
}

void
check_expect(struct check *check, const char *what, ...)
{
    va_list args;

    va_start(args, what);
    vsnprintf(check->wanted, sizeof check->wanted, what, args);
    va_end(args);
}

static void
print_why(const struct check *check)
{
    const size_t n = check->n_seen < CHECK_SEEN ? check->n_seen : CHECK_SEEN;

    if (*check->wanted)
        printf("# wanted: %s\n", check->wanted);
    if (!n)
        printf("# saw: no message since the last rule\n");
    else if (n < check->n_seen)
        printf("# saw: %zu messages since the last rule; the newest:\n",
               check->n_seen);
    else
        printf("# saw:\n");
    for (size_t i = check->n_seen - n; i < check->n_seen; i++) {
        json_t *all = wire_show(check->seen[i % CHECK_SEEN], 0, NULL);
        char *header = json_dumps(json_object_get(all, "header"), JSON_COMPACT);

        printf("#   %s %.200s\n",
               json_string_value(json_object_get(all, "kind")),
               header ? header : "");
        free(header);
        json_decref(all);
    }
    printf("# see: foil-wire(5), %s\n", check->table);
}

void
check_rule(struct check *check, int holds, const char *rule, ...)
{
    va_list args;

    check->rules++;
    check->broken += !holds;
    printf("%sok %zu - ", holds ? "" : "not ", check->rules);
    va_start(args, rule);
    vprintf(rule, args);
    va_end(args);
    putchar('\n');
    if (!holds)
        print_why(check);
    for (size_t i = 0; i < CHECK_SEEN; i++) {
        wire_msg_free(check->seen[i]);
        check->seen[i] = NULL;
    }
    check->n_seen = 0;
    *check->wanted = 0;
    fflush(stdout);
    if (!holds && check->tap->count == (long)check->broken)
        check_finish(check);
}

void
check_require(struct check *check, int there, const char *rule)
{
    check_rule(check, there, "%s", rule);
    if (!there) {
        log_message("the other rules depend on this one");
        check_finish(check);
    }
}

static const struct wire_limits limits = {.queue = 1000, .edge = WIRE_EDGE_ANY};

void
check_connect(struct check *check, struct check_actor *actor,
              const char *endpoint, const char *name)
{
    struct err err;

    *actor = (struct check_actor){.check = check};
    snprintf(actor->name, sizeof actor->name, "%s", name);
    actor->endpoint = mem_text(endpoint);
    actor->sock = wire_sock_open(check->tap->stage.wire, WIRE_DEALER, endpoint,
                                 check->tap->to, &limits, &err);
    or_die(!actor->sock, &err);
}

void
check_bind(struct check *check, struct check_actor *actor, const char *endpoint)
{
    struct err err;

    *actor = (struct check_actor){.check = check, .binds = 1};
    snprintf(actor->name, sizeof actor->name, "check-%d", (int)getpid());
    actor->endpoint = mem_text(endpoint);
    actor->sock = wire_sock_open(check->tap->stage.wire, WIRE_ROUTER, endpoint,
                                 NULL, &limits, &err);
    or_die(!actor->sock, &err);
}

void
check_close(struct check_actor *actor)
{
    wire_sock_close(actor->sock);
    free(actor->endpoint);
    *actor = (struct check_actor){.check = actor->check};
}

/* Waits, and ends the tool at a signal. */
static void
wait_for(struct check_actor *actor, double seconds)
{
    struct err err;
    const int rc = wire_sock_wait(actor->check->tap->stage.wire, actor->sock,
                                  actor->check->tap->stage.stop, seconds, &err);

    or_die(rc < 0, &err);
    if (!rc)
        die("stopped before all rules were checked");
}

void
check_send(struct check_actor *actor, struct wire_msg *msg)
{
    const struct wire_id *to = actor->binds ? &actor->peer : NULL;
    const double until = clock_now() + 5;

    while (!wire_sock_send(actor->sock, to, msg) && clock_now() < until)
        wait_for(actor, 0.01);
    wire_msg_free(msg);
}

/* Returns the next message that has arrived, or NULL.  Stores hellos and
 * errors, whatever the caller waits for. */
static struct wire_msg *
receive_message(struct check_actor *actor)
{
    struct check *check = actor->check;
    struct wire_msg *msg, **seen;
    struct wire_hello hello;
    struct wire_error error;
    struct wire_id from;
    struct err err;
    int rc;

    while ((rc = wire_sock_recv(actor->sock, actor->binds ? &from : NULL, &msg,
                                &err))) {
        if (rc < 0) {
            check_rule(check, 0, "every message is well-formed: %s", err.msg);
            continue;
        }
        if (actor->binds) {
            wire_sock_admit(actor->sock);
            actor->peer = from;
            actor->skipped_hello |=
                !actor->greeted && wire_msg_kind(msg) != WIRE_HELLO;
        }
        if (wire_msg_kind(msg) == WIRE_HELLO &&
            !wire_hello_get(&hello, msg, &err))
            actor->hello = hello;
        if (wire_msg_kind(msg) == WIRE_ERROR &&
            !wire_error_get(&error, msg, &err)) {
            actor->error = error;
            actor->errors++;
        }
        seen = &check->seen[check->n_seen++ % CHECK_SEEN];
        wire_msg_free(*seen);
        *seen = wire_msg_hold(msg);
        return msg;
    }
    return NULL;
}

struct wire_msg *
check_await(struct check_actor *actor, enum wire_kind kind, double seconds)
{
    const double until = clock_now() + seconds;

    do {
        struct wire_msg *msg;

        while ((msg = receive_message(actor))) {
            if (wire_msg_kind(msg) == kind)
                return msg;
            wire_msg_free(msg);
        }
        wait_for(actor, 0.02);
    } while (clock_now() < until);
    return NULL;
}

size_t
check_count(struct check_actor *actor, enum wire_kind kind, double seconds)
{
    const double until = clock_now() + seconds;
    struct wire_msg *msg;
    size_t n = 0;

    while ((msg = check_await(actor, kind, until - clock_now()))) {
        wire_msg_free(msg);
        n++;
        if (clock_now() >= until)
            break;
    }
    return n;
}

/* Maximum seconds for a stage to start, which foil-wire(5) does not limit; and,
 * once connected, to send a hello. */
static const double start_s = 60, hello_s = 10;

/* Whether the time for the first hello is over. */
static int
is_over(const struct check_actor *actor, double began, double *connected)
{
    const double now = clock_now();

    if (!*connected && wire_sock_has_connected(actor->sock))
        *connected = now;
    return now >= began + start_s ||
           (*connected && now >= *connected + hello_s);
}

/* Sends a heartbeat each second. */
static double
send_heartbeat(void *self, int up, double now)
{
    struct check_actor *actor = self;
    struct wire_msg *msg;

    (void)up;
    if (now < actor->heartbeat_at)
        return actor->heartbeat_at;
    msg = wire_heartbeat_put(&(struct wire_heartbeat){0});
    wire_sock_send(actor->sock, NULL, msg);
    wire_msg_free(msg);
    return actor->heartbeat_at = now + WIRE_HEARTBEAT_S;
}

int
check_greet(struct check_actor *actor, const char *stage, const char *recipe,
            const char *digest, int64_t size)
{
    const double began = clock_now() - (actor->check->rules ? start_s : 0);
    double connected = 0;
    struct wire_hello hello = stage_hello(stage, digest, size);
    struct wire_msg *answer;

    snprintf(hello.peer, sizeof hello.peer, "%s", actor->name);
    snprintf(hello.recipe, sizeof hello.recipe, "%s", recipe);
    do {
        check_send(actor, wire_hello_put(&hello));
        answer = check_await(actor, WIRE_HELLO, 5);
    } while (!answer && !is_over(actor, began, &connected));
    wire_msg_free(answer);
    if (!answer)
        return 0;
    actor->heartbeat_at = clock_now() + WIRE_HEARTBEAT_S;
    wire_sock_on_tick(actor->sock, send_heartbeat, actor);
    return 1;
}

int
check_await_hello(struct check_actor *actor, const char *stage, double seconds)
{
    const struct wire_error who = {
        .reason = "send a hello first", .rehello = 1, .id = -1};
    const double began = clock_now() - (start_s - seconds);
    struct wire_hello mine;
    struct wire_msg *hello;
    double connected = 0;

    // a stage that did not notice a lost connection sends hello after an error
    while (!(hello = check_await(actor, WIRE_HELLO, 1)) &&
           !is_over(actor, began, &connected)) {
        if (actor->skipped_hello)
            check_send(actor, wire_error_put(&who));
        actor->skipped_hello = 0;
    }
    wire_msg_free(hello);
    if (!hello)
        return 0;
    mine = stage_hello(stage, actor->hello.digest, actor->hello.size);
    snprintf(mine.run, sizeof mine.run, "%s", actor->hello.run);
    snprintf(mine.peer, sizeof mine.peer, "%s", actor->name);
    check_send(actor, wire_hello_put(&mine));
    actor->greeted = 1;
    return 1;
}

void
check_refusal(struct check_actor *actor, struct wire_msg *msg, double seconds,
              const char *rule)
{
    const char *kind = wire_kind_name(wire_msg_kind(msg));

    check_expect(actor->check, "an error that names the kind %s", kind);
    actor->errors = 0;
    check_send(actor, msg);
    wire_msg_free(check_await(actor, WIRE_ERROR, seconds));
    check_rule(actor->check,
               actor->errors && !strcmp(actor->error.of.kind, kind), "%s",
               rule);
}

void
check_ending(struct check_actor *actor, int64_t epoch, int64_t step)
{
    struct wire_end end = {.at = {actor->check->session, epoch, step},
                           .over = 1};
    const double until = clock_now() + 10;
    int gone = 0;

    wire_sock_lost(actor->sock);
    check_send(actor, wire_end_put(&end));
    while (!gone && clock_now() < until) {
        wire_msg_free(check_await(actor, WIRE_END, 0.2));
        gone = wire_sock_lost(actor->sock);
    }
    check_rule(actor->check, gone, "it ends within 10 s when the run is over");
}

/* Copies a message with other bytes in part `at`, and frees both. */
static struct wire_msg *
with_part(struct wire_msg *msg, size_t at, uint8_t *bytes, size_t len)
{
    struct wire_part part[WIRE_PARTS_MAX];
    const size_t n = wire_msg_parts(msg);
    struct wire_msg *copy;
    struct err err;

    for (size_t i = 0; i < n; i++)
        part[i] =
            i == at ? (struct wire_part){bytes, len} : wire_msg_part(msg, i);
    copy = wire_msg_from(n, part, &err);
    if (!copy)
        die("a message of this check: %s", err.msg);
    wire_msg_free(msg);
    free(bytes);
    return copy;
}

struct wire_msg *
check_rename(struct wire_msg *msg, const char *key, const char *other)
{
    const struct wire_part header = wire_msg_part(msg, 1);
    const size_t len = strlen(key);
    uint8_t *bytes = mem_array(header.len, 1);

    REQUIRE(strlen(other) == len);
    memcpy(bytes, header.data, header.len);
    for (size_t i = 0; i + len <= header.len; i++)
        if (!memcmp(bytes + i, key, len)) {
            memcpy(bytes + i, other, len);
            break;
        }
    return with_part(msg, 1, bytes, header.len);
}

struct wire_msg *
check_spoil(struct wire_msg *msg, const char *name, const void *from, size_t n)
{
    const struct wire_tensor *tensor = wire_msg_find(msg, name);
    struct wire_part part = {0};
    uint8_t *bytes;
    size_t at = 1;

    while (part.data != tensor->data)
        part = wire_msg_part(msg, ++at);
    bytes = mem_array(part.len, 1);
    REQUIRE(n <= part.len);
    memcpy(bytes, part.data, part.len);
    memcpy(bytes, from, n);
    return with_part(msg, at, bytes, part.len);
}

struct wire_msg *
check_want(const struct check *check, int64_t step, int64_t serial,
           int64_t window, int64_t room, size_t n_have, const int64_t *have)
{
    const struct wire_want want = {
        .at = {check->session, 0, step},
        .serial = serial,
        .window = window,
        .n_have = n_have,
        .have = have,
        .room = room,
    };

    return wire_want_put(&want);
}
