#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "select.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/opt.h"
#include "wire/item.h"
#include "wire/reject.h"

/* Where the trainer is, since when, and for how long it was at one place at
 * most; when that was said. */
struct waiting {
    struct wire_place at;
    double moved, longest, said;
};

/* Seconds between two looks at a plan that somebody waits for, and between two
 * times that we say whom we wait for. */
static const double soon = 0.001, patience = 10;

/* Steps of an epoch, those included in which nothing is trained. */
static int64_t
count_steps(const struct selector *s)
{
    return (int64_t)(s->task.layout.steps + s->looks.steps);
}

/* Where the trainer is. */
static struct wire_place
place_of(const struct selector *s)
{
    return flow_producer_place(s->outlet->producer);
}

/* Steps of the whole run before a place. */
static double
steps_before(const struct selector *s, const struct wire_place *at)
{
    return (double)at->epoch * (double)count_steps(s) + (double)at->step;
}

/*
 * A place as the trainer names it, which may say "behind the last step" for
 * "first step of the next epoch".  One that this plan does not have comes from
 * a run with another plan, and nothing good can follow.
 */
int
select_believe(void *tool, struct wire_place *at, struct err *why)
{
    const struct selector *s = tool;
    const long epochs = s->options->epochs;

    if (at->step == count_steps(s)) {
        at->epoch++;
        at->step = 0;
    }
    if (at->step <= count_steps(s) && at->epoch <= epochs &&
        (at->epoch < epochs || !at->step))
        return 0;
    err_set(why,
            "the trainer is at epoch %" PRId64 ", step %" PRId64
            "; this plan has %ld epochs of %" PRId64
            " steps: start it with the --batch, --epochs, "
            "--remainder and --features of the run",
            at->epoch, at->step, epochs, count_steps(s));
    if (place_of(s).session < 0)
        die("%s", why->msg);
    return -1;
}

/* A trainer was started: nothing that was handed out before counts. */
static void
on_restart(struct selector *s, const struct wire_place *at)
{
    if (s->planner) {
        planner_forget(s->planner);
        select_plan_clear(s->plan);
        s->asked = 0;
    }
    progress_start(&s->progress, "steps", steps_before(s, at),
                   (double)s->options->epochs * (double)count_steps(s));
}

/* The trainer went back, or was never where we were told: what the planner is
 * at may be of epochs that are not there yet. */
static void
pushed_back(struct selector *s)
{
    if (s->planner)
        planner_forget(s->planner);
    s->asked = 0;
}

/* The samples of an item. */
static const int64_t *
ids_of(struct selector *s, const struct wire_place *at, size_t *n)
{
    const size_t step = (size_t)at->step, trained = s->task.layout.steps;

    if (step < trained)
        return select_plan_batch(s->plan, (uint64_t)at->epoch, step, n);
    *n = select_layout_count(&s->looks, step - trained);
    return s->all + select_layout_start(&s->looks, step - trained);
}

/*
 * A peer may complain about the samples of an item that it has, or had: word of
 * another that it is trained may have come first, and then no lease says whose
 * it was.
 */
static int
has_had(const struct selector *s, const struct wire_place *at, uint64_t peer)
{
    const struct wire_place done = place_of(s);

    return at->session == done.session &&
           (flow_producer_holder(s->outlet->producer, at) == peer ||
            (at->step < count_steps(s) && wire_place_cmp(at, &done) < 0 &&
             select_plan_has(s->plan, (uint64_t)at->epoch)));
}

static int
check_reject(struct selector *s, uint64_t peer, const struct wire_reject *got,
             struct err *err)
{
    const int64_t *ids;
    size_t n;

    if (!has_had(s, &got->at, peer))
        return err_set(err, "reject: of an item that it does not have");
    ids = ids_of(s, &got->at, &n);
    for (size_t i = 0; i < got->n; i++) {
        size_t k = 0;

        while (k < n && ids[k] != got->ids[i])
            k++;
        if (k == n)
            return err_set(err, "reject: sample %" PRId64 " is not in the item",
                           got->ids[i]);
    }
    return 0;
}

static int
take_reject(struct selector *s, uint64_t peer, struct wire_msg *msg,
            struct err *err)
{
    struct wire_reject got;
    int rc;

    if (wire_msg_kind(msg) != WIRE_REJECT)
        return err_set(err, "'%s' is nothing for a selector",
                       wire_kind_name(wire_msg_kind(msg)));
    if (wire_reject_get(&got, msg, err))
        return -1;
    rc = check_reject(s, peer, &got, err);
    for (size_t i = 0; i < got.n && !rc; i++)
        select_quarantine_add(&s->bad, got.ids[i], got.reason);
    wire_reject_release(&got);
    return rc;
}

/* Say something between two pictures of the progress line. */
static void
say_between(struct selector *s, const char *text)
{
    progress_clear(&s->progress);
    say("%s", text);
}

static void
handle_news(struct selector *s, struct flow_news *news)
{
    char text[128];

    switch (news->what) {
    case FLOW_LEFT:
        if (!s->outlet->freed || s->over)
            break;
        snprintf(text, sizeof text,
                 "an augmenter is gone: its %zu items go to the next that ask",
                 s->outlet->freed);
        say_between(s, text);
        break;
    case FLOW_MESSAGE:
        if (take_reject(s, news->peer, news->msg, &news->why) &&
            flow_server_refuse(s->outlet->server, news->peer, &news->why))
            say_between(s, news->why.msg);
        break;
    case FLOW_MOVED:
        on_restart(s, &news->at);
        break;
    case FLOW_BACK:
        pushed_back(s);
        break;
    case FLOW_REPORT:
        say_between(s, news->why.msg);
        break;
    default:
        break;
    }
}

/* ---------------------------------------------------------------- plans */

/* Has the trainer told, unless it keeps no features: then it hears no word of
 * plans. */
static void
tell_plan(struct selector *s, const struct wire_plan *about)
{
    if (s->options->features != FEATURES_NONE)
        planner_tell(s->planner, about);
}

/* What the planner has made, for a peer that asks. */
static void
take_plan(struct selector *s)
{
    struct planned planned;

    if (!planner_take(s->planner, &planned))
        return;
    if (planned.epoch >= place_of(s).epoch &&
        !select_plan_has(s->plan, (uint64_t)planned.epoch)) {
        select_plan_put(s->plan, (uint64_t)planned.epoch, planned.ids);
        tell_plan(s, &planned.about);
        free(s->previous);
        s->previous = planned.ids;
    } else {
        free(planned.ids); // too late
    }
}

/*
 * Asks for the plan that is wanted next: of this epoch, or of the one behind
 * it when the features for that are there.  The first epochs come before any.
 */
static void
ask_plan(struct selector *s)
{
    const int64_t now = place_of(s).epoch, lag = s->options->lag;
    const int none = s->options->features == FEATURES_NONE;
    int64_t epoch = now;

    if (select_plan_has(s->plan, (uint64_t)epoch))
        epoch++;
    if (epoch >= s->options->epochs || epoch < s->asked ||
        select_plan_has(s->plan, (uint64_t)epoch) ||
        (!none && epoch - 1 - lag >= now))
        return;
    if (planner_ask(s->planner, epoch, none ? -1 : epoch - 1 - lag))
        s->asked = epoch + 1;
}

/*
 * An epoch has to go without its plan; the first ones, which have no features,
 * are only shuffled sooner than the planner would.
 */
static void
go_on(struct selector *s, int64_t epoch)
{
    const int late = s->command || epoch > s->options->lag;
    const int previous =
        late && s->options->policy == POLICY_PREVIOUS && s->previous;
    struct wire_plan about = {
        .epoch = epoch, .n = 1, .values = {{"fallbacks", 0}}};
    char *text =
        mem_format("the plan of epoch %" PRId64 " is late: %s", epoch,
                   previous ? "the last one is taken again" : "it is shuffled");
    size_t n;

    s->fallbacks += late;
    if (late)
        say_between(s, text);
    free(text);
    if (previous)
        select_plan_put(s->plan, (uint64_t)epoch, s->previous);
    else
        select_plan_batch(s->plan, (uint64_t)epoch, 0, &n);
    about.values[0].value = (double)s->fallbacks;
    snprintf(about.strategy, sizeof about.strategy, "%s",
             previous ? "previous" : "shuffle");
    tell_plan(s, &about);
}

/*
 * 1 when items of an epoch may be handed out.  A plan is late when the trainer
 * has come to the epoch's first step and it is not there: then it is waited
 * for, or not, as --policy says.
 */
static int
is_planned(struct selector *s, int64_t epoch)
{
    const int waits = s->options->policy == POLICY_WAIT;

    if (!s->planner)
        return 1;
    if (select_plan_has(s->plan, (uint64_t)epoch))
        return !waits || planner_told(s->planner);
    if (waits || epoch != place_of(s).epoch)
        return 0;
    go_on(s, epoch);
    return 1;
}

static void
look_at_planner(struct selector *s)
{
    struct err why;
    int trouble;

    if (!s->planner || place_of(s).session < 0 || s->over)
        return;
    trouble = planner_trouble(s->planner, &why);
    if (trouble < 0)
        die("%s", why.msg);
    if (trouble)
        say_between(s, why.msg);
    planner_hurry(s->planner, s->starved);
    take_plan(s);
    ask_plan(s);
}

/* ---------------------------------------------------------------- items */

static struct wire_msg *
item_of(struct selector *s, const struct wire_place *at)
{
    struct wire_item item = {
        .session = at->session,
        .size = (int64_t)s->task.layout.size,
        .batch = {.epoch = at->epoch,
                  .step = at->step,
                  .steps = count_steps(s),
                  .epochs = s->options->epochs,
                  .encode_only = (size_t)at->step >= s->task.layout.steps},
    };

    item.batch.ids = ids_of(s, at, &item.batch.b);
    memcpy(item.plan, s->said, sizeof item.plan);
    snprintf(item.order, sizeof item.order, "%s",
             select_plan_name(s->plan, (uint64_t)at->epoch));
    return wire_item_put(&item);
}

/* Adds to the book what is wanted and planned. */
static void
fill_book(struct selector *s)
{
    struct flow_producer *producer = s->outlet->producer;

    s->starved = 0;
    while (flow_producer_short(producer)) {
        const struct wire_place at = flow_producer_fresh(producer);
        struct wire_place behind = at;

        if (at.epoch >= s->options->epochs) {
            flow_producer_close(producer);
            return;
        }
        if (!is_planned(s, at.epoch)) {
            // nobody has anything else to do
            s->starved = !flow_producer_out(producer);
            return;
        }
        if (++behind.step == count_steps(s))
            behind = (struct wire_place){at.session, at.epoch + 1, 0};
        flow_producer_add(producer, &at, &behind);
    }
}

/* Hand out what is wanted. */
static void
give_items(struct selector *s)
{
    struct flow_producer *producer = s->outlet->producer;
    struct flow_turn turn;

    if (s->over)
        return;
    fill_book(s);
    while (flow_producer_turn(producer, clock_now(), &turn)) {
        struct wire_msg *msg = item_of(s, &turn.at);

        flow_outlet_give(s->outlet, &turn, msg);
        wire_msg_free(msg);
    }
    flow_outlet_end(s->outlet);
}

static void
show_progress(struct selector *s)
{
    const size_t peers = flow_server_peers(s->outlet->server);
    const struct wire_place done = place_of(s);
    char more[64];

    if (done.session < 0)
        return;
    snprintf(more, sizeof more, "%zu planned ahead, %zu augmenter%s",
             flow_producer_out(s->outlet->producer), peers, plural(peers));
    progress_show(&s->progress, steps_before(s, &done), more);
}

/* For whom the selector waits: 1 and who, or 0. */
static int
name_wait(const struct selector *s, struct err *who)
{
    const struct flow_producer *producer = s->outlet->producer;
    const struct flow_server *server = s->outlet->server;
    const struct wire_place at = place_of(s);
    const uint64_t peer = flow_producer_missing(producer, clock_now());

    if (!flow_server_peers(server))
        return err_set(who, "augmenters: none is there") != 0;
    if (at.session < 0)
        return err_set(who, "a trainer: augmenters are there, and have heard "
                            "of none") != 0;
    if (peer)
        return err_set(who, "'%s', which has epoch %" PRId64 ", step %" PRId64,
                       flow_server_who(server, peer)->peer, at.epoch,
                       at.step) != 0;
    if (flow_producer_short(producer))
        return 0;
    return err_set(who,
                   "the trainer, which says nothing new and is at epoch "
                   "%" PRId64 ", step %" PRId64,
                   at.epoch, at.step) != 0;
}

/* Says it from time to time when the trainer stays where it is, for twice as
 * long as its longest step so far. */
static void
tell_waiting(struct selector *s, struct waiting *waiting)
{
    const struct wire_place at = place_of(s);
    const double now = clock_now();
    struct err who;

    if (at.session != waiting->at.session ||
        wire_place_cmp(&at, &waiting->at)) {
        if (waiting->at.session >= 0)
            waiting->longest = fmax(waiting->longest, now - waiting->moved);
        waiting->at = at;
        waiting->moved = waiting->said = now;
    } else if (!name_wait(s, &who)) {
        waiting->said = now;
    } else if (now - waiting->said >= patience &&
               (at.session < 0 ||
                now - waiting->moved >= 2 * waiting->longest)) {
        waiting->said = now;
        progress_clear(&s->progress);
        say("still waiting for %s", who.msg);
    }
}

int
select_serve(struct selector *s, struct wire *wire, int stop, struct err *err)
{
    struct flow_news news;
    struct err words;
    struct waiting waiting = {.at.session = -1, .said = clock_now()};
    int rc = 1;

    while (!s->over && rc > 0) {
        rc =
            wire_wait(wire, stop,
                      s->starved ? soon : flow_outlet_patience(s->outlet), err);
        while (rc > 0 && flow_outlet_next(s->outlet, &news))
            handle_news(s, &news);
        s->over |= flow_outlet_is_over(s->outlet);
        while (flow_outlet_late(s->outlet, &words))
            say_between(s, words.msg);
        look_at_planner(s);
        give_items(s);
        show_progress(s);
        tell_waiting(s, &waiting);
    }
    progress_clear(&s->progress);
    say_stopped();
    if (s->over)
        flow_outlet_over(s->outlet);
    return rc;
}
