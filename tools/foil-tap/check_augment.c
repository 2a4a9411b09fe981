#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "util/clock.h"
#include "util/digest.h"
#include "util/mem.h"
#include "util/opt.h"
#include "wire/batch.h"

/* An augmenter: the checks play the selector, which binds `plan`, and the
 * trainer, which binds `batch`. */
enum { IMAGES = 4, WINDOW = 4, SNAPSHOTS = 200, ITEMS = 32 };

struct checked {
    struct check *check;
    struct check_actor plan, batch;
    int64_t size;   /* of its data set */
    int64_t window; /* of the trainer */
    int64_t ids[IMAGES];
};

static struct wire_msg *
item_of(const struct checked *s, int64_t session, int64_t step)
{
    struct wire_item item = {
        .session = session,
        .size = s->size,
        .batch = {.step = step,
                  .steps = 100,
                  .epochs = 1,
                  .b = IMAGES,
                  .ids = s->ids},
    };

    snprintf(item.run, sizeof item.run, "%s", s->plan.hello.run);
    return wire_item_put(&item);
}

/* A received batch: its place, and a digest of its views. */
struct got {
    int there, correct;
    struct wire_place at;
    struct digest views;
};

static struct got
await_batch(struct checked *s, double seconds)
{
    struct wire_msg *msg = check_await(&s->batch, WIRE_BATCH, seconds);
    struct got got = {.there = msg != NULL};
    struct wire_batch batch;
    struct err err;

    if (msg && !wire_batch_get(&batch, msg, s->size, &err)) {
        const struct batch *b = &batch.batch;
        const size_t bytes =
            b->v * b->b * batch.height * batch.width * batch.channels;

        got.at = wire_place_of(batch.session, b);
        got.correct =
            b->b == IMAGES && b->steps == 100 && b->epochs == 1 &&
            (b->n_substituted || !memcmp(b->ids, s->ids, sizeof s->ids));
        got.views = digest_bytes(b->pixels, bytes);
        wire_batch_release(&batch);
    } else if (msg) {
        log_message("a batch of the stage: %s", err.msg);
    }
    wire_msg_free(msg);
    return got;
}

static int
is_at(const struct got *got, int64_t session, int64_t step)
{
    return got->there && got->correct && got->at.session == session &&
           got->at.epoch == 0 && got->at.step == step;
}

/* 1 if this snapshot arrives at the selector; *room is its room. */
static int
relays_room(struct checked *s, int64_t serial, int64_t *room)
{
    const double until = clock_now() + 5;
    struct wire_msg *msg;
    int found = 0;

    while (!found &&
           (msg = check_await(&s->plan, WIRE_WANT, until - clock_now()))) {
        struct wire_want want;
        struct err err;

        if (!wire_want_get(&want, msg, &err)) {
            found = want.at.session == s->check->session &&
                    want.serial == serial && want.window == s->window;
            *room = want.room;
            wire_want_release(&want);
        }
        wire_msg_free(msg);
    }
    return found;
}

static void
check_greeting(struct checked *s)
{
    struct check *check = s->check;

    check_require(check, check_await_hello(&s->plan, "select", 60),
                  "it sends a hello to the selector");
    check_require(check, check_await_hello(&s->batch, "train", 10),
                  "it sends a hello to the trainer");
    check_rule(check, *s->batch.hello.recipe && *s->batch.hello.peer,
               "its hello has a name and a recipe");
    check_require(check, s->batch.hello.size > 0, "its hello has a data set");
    if (s->batch.hello.size < IMAGES)
        check_bail(check,
                   "its data set has %" PRId64
                   " images, too few for the checks: start it with %d or more",
                   s->batch.hello.size, IMAGES);
    s->size = s->batch.hello.size;
    for (size_t i = 0; i < IMAGES; i++)
        s->ids[i] = (int64_t)(IMAGES - 1 - i);
    check_rule(check, check_count(&s->batch, WIRE_HEARTBEAT, 3) >= 2,
               "it sends a heartbeat on `batch` each second");
}

static void
relays_and_delivers(struct checked *s)
{
    struct check *check = s->check;
    const int64_t session = check->session;
    int64_t room = 0;
    struct got got;

    check->table = "STATES, Relay";
    check_send(&s->batch, check_want(check, 0, 1, WINDOW, -1, 0, NULL));
    check_require(check, relays_room(s, 1, &room),
                  "it relays the trainer's snapshot to the selector");
    check_rule(check, room >= 1, "it adds its room to the snapshot");
    check_send(&s->plan, item_of(s, session, 1));
    got = await_batch(s, 20);
    check_require(check, is_at(&got, session, 1),
                  "a wanted item becomes a batch: its ids, steps and place");
    check_send(&s->plan, item_of(s, session - 1, 2));
    got = await_batch(s, 1.5);
    check_rule(check, !got.there, "an item of another session is dropped");
    check_send(&s->batch, check_want(check, 2, 2, WINDOW, -1, 0, NULL));
    relays_room(s, 2, &room);
    check_send(&s->plan, item_of(s, session, 0));
    got = await_batch(s, 1.5);
    check_rule(check, !got.there, "an item that is trained already is dropped");
}

static void
refuses_with_a_reason(struct checked *s)
{
    struct check *check = s->check;
    const int64_t session = check->session;
    const int64_t twice[] = {1, 1}, outside[] = {s->size};
    struct got got;

    check->table = "Refusals";
    check_refusal(
        &s->plan,
        check_spoil(item_of(s, session, 3), "ids", twice, sizeof twice), 3,
        "an item with an id twice is answered with an error");
    check_refusal(
        &s->plan,
        check_spoil(item_of(s, session, 3), "ids", outside, sizeof outside), 3,
        "an item with an id outside of the data set is refused");
    check_refusal(&s->plan,
                  check_rename(item_of(s, session, 3), "steps", "stepz"), 3,
                  "an item without `steps` is refused");
    s->plan.errors = 0;
    check_count(&s->plan, WIRE_ITEM, 2);
    check_rule(check, s->plan.errors < 5,
               "each is answered once: no busy loop");
    check_send(&s->plan, item_of(s, session, 3));
    got = await_batch(s, 20);
    check_rule(check, is_at(&got, session, 3),
               "after errors the next item is made as before");
}

/* The same item in another session, over new connections. */
static void
survives_a_restart(struct checked *s)
{
    struct check *check = s->check;
    char *endpoint = mem_text(s->plan.endpoint);
    struct got one, two;
    int64_t room;

    check->table = "STATES, Relay";
    check_send(&s->plan, item_of(s, check->session, 5));
    one = await_batch(s, 20);
    check_close(&s->plan);
    check_bind(check, &s->plan, endpoint);
    free(endpoint);
    check_rule(check, check_await_hello(&s->plan, "select", 15),
               "it sends a new hello to a restarted selector");
    check_rule(check, relays_room(s, 2, &room),
               "it relays the newest snapshot again to a restarted selector");
    check->session = (int64_t)clock_wall();
    check_send(&s->batch, check_want(check, 4, 1, WINDOW, -1, 0, NULL));
    check_rule(check, relays_room(s, 1, &room),
               "a newer session counts at once");
    check_send(&s->plan, item_of(s, check->session, 5));
    two = await_batch(s, 20);
    check_rule(check,
               is_at(&two, check->session, 5) && one.there &&
                   !memcmp(&one.views, &two.views, sizeof one.views),
               "the same item gives the same views in every session");
}

/* Many snapshots, then as many items as the window, at once. */
static void
survives_a_flood(struct checked *s)
{
    struct check *check = s->check;
    const int64_t session = check->session, first = 6;
    int came[ITEMS] = {0};
    int64_t room;
    size_t n = 0;

    s->window = ITEMS;
    for (int64_t serial = 2; serial < 2 + SNAPSHOTS; serial++)
        check_send(&s->batch,
                   check_want(check, first, serial, ITEMS, -1, 0, NULL));
    check_rule(check, relays_room(s, 1 + SNAPSHOTS, &room),
               "of %d snapshots at once it relays the last", SNAPSHOTS);
    for (int64_t k = ITEMS - 1; k >= 0; k--)
        check_send(&s->plan, item_of(s, session, first + k));
    for (struct got got = await_batch(s, 20); got.there;
         got = await_batch(s, 20)) {
        const int64_t k = got.at.step - first;

        if (k < 0 || k >= ITEMS || !is_at(&got, session, k + first))
            continue;
        n += !came[k];
        came[k] = 1;
        if (n == ITEMS)
            break;
    }
    check_rule(check, n == ITEMS, "%d items at once become as many batches",
               ITEMS);
}

void
check_augment(struct check *check, const char *const *endpoint)
{
    struct checked s = {.check = check, .window = WINDOW};
    struct wire_end end = {.over = 1};

    check_bind(check, &s.plan, endpoint[0]);
    check_bind(check, &s.batch, endpoint[1]);
    check_greeting(&s);
    relays_and_delivers(&s);
    refuses_with_a_reason(&s);
    survives_a_restart(&s);
    survives_a_flood(&s);
    end.at = (struct wire_place){check->session, 0, 6};
    check_send(&s.batch, wire_end_put(&end));
    wire_msg_free(check_await(&s.plan, WIRE_END, 5));
    check_count(&s.batch, WIRE_HEARTBEAT, 1);
    check_rule(check, check_count(&s.batch, WIRE_HEARTBEAT, 4) == 0,
               "it ends with the run of the trainer");
    check_close(&s.plan);
    check_close(&s.batch);
}
