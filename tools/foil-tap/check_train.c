#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "util/clock.h"
#include "util/mem.h"
#include "wire/batch.h"

/* A trainer with an objective that needs no service of negatives: the checks
 * play an augmenter.  The plan has one epoch of four steps. */
enum { IMAGES = 8, SIDE = 32, STEPS = 4, SIZE = 64, FLOOD = 64 };

static const char digest[] = "c0ffee00c0ffee00c0ffee00c0ffee00";

struct checked {
    struct check *check;
    struct check_actor a;
    struct wire_want want; /* the newest; `have` is a copy */
    int64_t have[2 * WIRE_WINDOW_MAX];
    size_t snapshots; /* with different serials */
};

static struct wire_msg *
batch_of(int64_t session, int64_t step, size_t side)
{
    const size_t bytes = 2 * IMAGES * side * side * 3;
    uint8_t *views = mem_array(bytes, 1);
    int64_t ids[IMAGES];
    struct wire_batch b = {
        .session = session,
        .batch = {.step = step,
                  .steps = STEPS,
                  .epochs = 1,
                  .b = IMAGES,
                  .v = 2,
                  .ids = ids,
                  .pixels = views},
        .height = side,
        .width = side,
        .channels = 3,
    };
    struct wire_msg *msg;

    for (size_t i = 0; i < IMAGES; i++)
        ids[i] = step * IMAGES + (int64_t)i;
    for (size_t i = 0; i < bytes; i++)
        views[i] = (uint8_t)((i + (size_t)step) * 2654435761u >> 24);
    msg = wire_batch_put(&b);
    free(views);
    return msg;
}

/* Reads a snapshot, if one arrives within `seconds`. */
static void
read_snapshot(struct checked *s, double seconds)
{
    struct wire_msg *msg = check_await(&s->a, WIRE_WANT, seconds);
    struct wire_want want;
    struct err err;

    if (!msg)
        return;
    if (wire_want_get(&want, msg, &err)) {
        check_rule(s->check, 0, "each of its snapshots is well-formed: %s",
                   err.msg);
        wire_msg_free(msg);
        return;
    }
    if (want.at.session > s->want.at.session || want.serial > s->want.serial) {
        s->want = want;
        s->want.msg = NULL;
        s->want.have = s->have;
        if (want.n_have)
            memcpy(s->have, want.have, want.n_have * 2 * sizeof *s->have);
        s->snapshots++;
    }
    wire_want_release(&want);
    wire_msg_free(msg);
}

/* Whether the trainer holds that step in its newest snapshot. */
static int
is_held(const struct checked *s, int64_t step)
{
    for (size_t i = 0; i < s->want.n_have; i++)
        if (s->have[2 * i + 1] == step)
            return 1;
    return 0;
}

static int
is_at(const struct checked *s, int64_t step)
{
    return s->want.at.step >= step || s->want.at.epoch > 0;
}

/* Reads snapshots until is(s, step) is true: 1; or for `seconds`: 0. */
static int
await_state(struct checked *s, int (*is)(const struct checked *s, int64_t step),
            int64_t step, double seconds)
{
    const double until = clock_now() + seconds;

    for (;;) {
        read_snapshot(s, until - clock_now());
        if (is(s, step))
            return 1;
        if (clock_now() >= until)
            return 0;
    }
}

/* Reads two new snapshots, so the second was made after all earlier messages
 * were read, or for 5 s: 1 if the trainer is before `step`. */
static int
stays_before(struct checked *s, int64_t step)
{
    const double until = clock_now() + 5;

    s->snapshots = 0;
    while (s->snapshots < 2 && clock_now() < until)
        read_snapshot(s, until - clock_now());
    return s->want.at.epoch == 0 && s->want.at.step < step;
}

static void
sends_snapshots(struct checked *s)
{
    struct check *check = s->check;
    struct err err;

    check_require(check, check_greet(&s->a, "augment", "check", digest, SIZE),
                  "it answers a hello with its own");
    check_rule(check, !strcmp(s->a.hello.stage, "train") && *s->a.hello.peer,
               "its hello has the stage train and a name");
    read_snapshot(s, 5);
    check_require(check, s->snapshots > 0, "it sends a snapshot within 5 s");
    check->session = s->want.at.session;
    check_rule(check, !wire_session_check(check->session, &err),
               "its session is the time of its start");
    if (s->want.at.epoch > 0 || s->want.at.step > 0)
        check_bail(check,
                   "it resumes in epoch %" PRId64 ", step %" PRId64 ": start "
                   "it in a "
                   "new run "
                   "directory",
                   s->want.at.epoch, s->want.at.step);
    s->snapshots = 0;
    await_state(s, is_at, 1, 4);
    check_rule(check, s->snapshots >= 2,
               "while it waits, it makes a new snapshot each second");
}

static void
trains_in_order(struct checked *s)
{
    struct check *check = s->check;
    const int64_t session = check->session;

    check->table = "STATES, Consumer";
    check_send(&s->a, batch_of(session, 1, SIDE));
    check_rule(check, await_state(s, is_held, 1, 20),
               "a batch before its turn is held, and reported as held");
    check_rule(check, s->want.at.step == 0,
               "a batch before its turn is not trained yet");
    check_send(&s->a, batch_of(session, 1, SIDE));
    check_send(&s->a, batch_of(session - 1, 0, SIDE));
    check_rule(check, stays_before(s, 1),
               "a repeated batch, or one of another session, changes nothing");
    check_send(&s->a, batch_of(session, 0, SIDE));
    check_rule(check, await_state(s, is_at, 2, 60),
               "after the missing one both are trained in order");
}

static void
refuses_with_a_reason(struct checked *s)
{
    const int64_t outside[] = {SIZE}, twice[] = {3, 3};
    const int64_t session = s->check->session;
    struct check *check = s->check;

    check->table = "Refusals";
    check_refusal(
        &s->a,
        check_spoil(batch_of(session, 2, SIDE), "ids", outside, sizeof outside),
        5,
        "a batch with an id outside of the data set is answered with an "
        "error");
    check_refusal(
        &s->a,
        check_spoil(batch_of(session, 2, SIDE), "ids", twice, sizeof twice), 5,
        "a batch with an id twice is refused");
    check_refusal(&s->a,
                  check_rename(batch_of(session, 2, SIDE), "steps", "stepz"), 5,
                  "a batch without `steps` is refused");
    check_rule(check, stays_before(s, 3), "no batch with an error is trained");
    s->a.errors = 0;
    check_send(&s->a, batch_of(session, 2, SIDE / 2));
    wire_msg_free(check_await(&s->a, WIRE_ERROR, 5));
    check_rule(check, s->a.errors,
               "a batch of another size, or its sender, is refused");
}

/* The same augmenter on another connection, then a second one. */
static void
greets_again(struct checked *s)
{
    struct check *check = s->check;
    struct check_actor other;
    char *endpoint = mem_text(s->a.endpoint);

    check->table = "STATES, Greeting, the binder";
    check_close(&s->a);
    check_connect(check, &s->a, endpoint, "check-1");
    check_rule(check, check_greet(&s->a, "augment", "check", digest, SIZE),
               "an augmenter that reconnects is greeted");
    s->want = (struct wire_want){.at = {.session = -1}};
    check_rule(check, await_state(s, is_at, 2, 5),
               "an augmenter that reconnects gets a snapshot");
    check_connect(check, &other, endpoint, "check-2");
    check_greet(&other, "augment", "another", digest, SIZE);
    wire_msg_free(check_await(&other, WIRE_ERROR, 3));
    check_rule(check, other.errors && !other.error.rehello,
               "an augmenter with another recipe is refused");
    check_close(&other);
    free(endpoint);
}

/* Sends the last batch many times, before its turn. */
static void
survives_a_flood(struct checked *s)
{
    struct wire_msg *msg = batch_of(s->check->session, STEPS - 1, SIDE);

    s->check->table = "STATES, Consumer";
    for (int i = 0; i < FLOOD; i++)
        check_send(&s->a, wire_msg_hold(msg));
    wire_msg_free(msg);
    check_rule(s->check,
               await_state(s, is_held, STEPS - 1, 20) && s->want.n_have == 1 &&
                   stays_before(s, STEPS - 1),
               "a batch sent %d times at once is held once", FLOOD);
}

void
check_train(struct check *check, const char *const *endpoint)
{
    struct checked s = {.check = check, .want = {.at = {.session = -1}}};
    struct wire_msg *msg;

    check_connect(check, &s.a, *endpoint, "check-1");
    sends_snapshots(&s);
    trains_in_order(&s);
    refuses_with_a_reason(&s);
    greets_again(&s);
    survives_a_flood(&s);
    check_send(&s.a, batch_of(check->session, STEPS - 2, SIDE));
    msg = check_await(&s.a, WIRE_END, 60);
    check_rule(check, msg != NULL,
               "it sends the end of the run after the last step");
    wire_msg_free(msg);
    check_close(&s.a);
}
