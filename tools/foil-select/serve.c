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

/* Seconds between two looks at a plan that somebody waits for; and until a
 * trainer that waits has been heard. */
static const double soon = 0.001, unheard = 5;

/* Steps of an epoch, those included in which nothing is trained. */
static int64_t
steps(const struct selector *s)
{
    return (int64_t)(s->task.layout.steps + s->looks.steps);
}

/* Steps of the whole run before a place. */
static double
steps_before(const struct selector *s, const struct wire_place *at)
{
    return (double)at->epoch * (double)steps(s) + (double)at->step;
}

/*
 * A place as the trainer names it, which may say "behind the last step" for
 * "first step of the next epoch".  One that this plan does not have comes from
 * a run with another plan, and nothing good can follow.
 */
static int
judge(const struct selector *s, const struct wire_place *at,
      struct wire_place *place, struct err *why)
{
    const long epochs = s->options->epochs;

    *place = *at;
    if (place->step == steps(s)) {
        place->epoch++;
        place->step = 0;
    }
    if (place->step > steps(s) || place->epoch > epochs ||
        (place->epoch == epochs && place->step))
        return err_set(why,
                       "the trainer is at epoch %" PRId64 ", step %" PRId64
                       "; this plan has %ld epochs of %" PRId64
                       " steps: start it with the --batch, --epochs, "
                       "--remainder and --features of the run",
                       at->epoch, at->step, epochs, steps(s));
    return 0;
}

int
select_believe(void *tool, const struct wire_place *at, struct err *why)
{
    const struct selector *s = tool;
    struct wire_place place;

    return s->begun ? judge(s, at, &place, why) : 0;
}

static struct wire_place
place_of(const struct selector *s, const struct wire_place *at)
{
    struct wire_place place;
    struct err why;

    if (judge(s, at, &place, &why))
        die("%s", why.msg);
    return place;
}

/* Everything before `at` is trained. */
static void
passed(struct selector *s, const struct wire_place *at)
{
    struct wire_place place = place_of(s, at);

    wire_leases_done(s->leases, &place);
    if (wire_place_cmp(&place, &s->done) > 0)
        s->done = place;
    if (wire_place_cmp(&place, &s->next) > 0)
        s->next = place;
}

/* A trainer was started: nothing that was handed out before counts. */
static void
moved(struct selector *s, const struct wire_place *at)
{
    wire_leases_clear(s->leases);
    if (s->planner) {
        planner_forget(s->planner);
        select_plan_clear(s->plan);
        s->asked = 0;
    }
    s->next = s->done = place_of(s, at);
    s->begun = 1;
    progress_start(&s->progress, "steps", steps_before(s, &s->done),
                   (double)s->options->epochs * (double)steps(s));
}

/*
 * The trainer waits for an item.  When we have forgotten it, a peer has said
 * that it is trained, and was wrong: back to it.
 */
static void
waited(struct selector *s, const struct wire_place *at)
{
    struct wire_place place = place_of(s, at);

    if (wire_place_cmp(&place, &s->done) < 0 &&
        (!s->planner || select_plan_has(s->plan, (uint64_t)place.epoch))) {
        wire_leases_clear(s->leases);
        s->next = s->done = place;
    }
    wire_leases_wanted(s->leases, &place);
    // one that was killed leaves now, not when it has been silent for long
    wire_server_reaches(s->server, wire_leases_holder(s->leases, &place));
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
    return at->session == s->done.session &&
           (wire_leases_holder(s->leases, at) == peer ||
            (at->step < steps(s) && wire_place_cmp(at, &s->done) < 0 &&
             select_plan_has(s->plan, (uint64_t)at->epoch)));
}

static int
judge_reject(struct selector *s, uint64_t peer, const struct wire_reject *got,
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
    rc = judge_reject(s, peer, &got, err);
    for (size_t i = 0; i < got.n && !rc; i++)
        select_quarantine_add(&s->bad, got.ids[i], got.reason);
    wire_reject_release(&got);
    return rc;
}

/* Say something between two pictures of the progress line. */
static void
tell(struct selector *s, const char *text)
{
    progress_clear(&s->progress);
    say("%s", text);
}

static void
handle(struct selector *s, struct wire_news *news)
{
    size_t orphans;

    switch (news->what) {
    case WIRE_JOINED:
    case WIRE_ENDED:
    case WIRE_OVER:
        break;
    case WIRE_LEFT:
        orphans = wire_leases_drop(s->leases, news->peer);
        if (orphans && !s->over) {
            char *text = mem_format("an augmenter is gone: its %zu items go to "
                                    "the next that ask",
                                    orphans);

            tell(s, text);
            free(text);
        }
        break;
    case WIRE_CAME:
        if (take_reject(s, news->peer, news->msg, &news->why) &&
            wire_server_bad(s->server, news->peer, &news->why))
            tell(s, news->why.msg);
        break;
    case WIRE_MOVED:
        moved(s, &news->at);
        break;
    case WIRE_PASSED:
        passed(s, &news->at);
        break;
    case WIRE_WAITED:
        waited(s, &news->at);
        break;
    case WIRE_BAD:
        tell(s, news->why.msg);
        break;
    }
}

/* ---------------------------------------------------------------- plans */

/* What the planner has made, for who asks. */
static void
take_plan(struct selector *s)
{
    struct planned planned;

    if (!planner_take(s->planner, &planned))
        return;
    if (planned.epoch >= s->done.epoch &&
        !select_plan_has(s->plan, (uint64_t)planned.epoch)) {
        select_plan_put(s->plan, (uint64_t)planned.epoch, planned.ids);
        planner_tell(s->planner, &planned.about);
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
    const int64_t now = s->done.epoch, lag = s->options->lag;
    int64_t epoch = now;

    if (select_plan_has(s->plan, (uint64_t)epoch))
        epoch++;
    if (epoch >= s->options->epochs || epoch < s->asked ||
        select_plan_has(s->plan, (uint64_t)epoch) || epoch - 1 - lag >= now)
        return;
    if (planner_ask(s->planner, epoch, epoch - 1 - lag))
        s->asked = epoch + 1;
}

/*
 * An epoch has to go without its plan; the first ones, which have no features,
 * are only shuffled sooner than the planner would.
 */
static void
go_on(struct selector *s, int64_t epoch)
{
    const int late = epoch > s->options->lag;
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
        tell(s, text);
    free(text);
    if (previous)
        select_plan_put(s->plan, (uint64_t)epoch, s->previous);
    else
        select_plan_batch(s->plan, (uint64_t)epoch, 0, &n);
    about.values[0].value = (double)s->fallbacks;
    snprintf(about.strategy, sizeof about.strategy, "%s",
             previous ? "previous" : "shuffle");
    planner_tell(s->planner, &about);
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
    if (waits || epoch != s->done.epoch)
        return 0;
    go_on(s, epoch);
    return 1;
}

static void
look_at_planner(struct selector *s)
{
    struct err why;
    int trouble;

    if (!s->planner || !s->begun || s->over)
        return;
    trouble = planner_trouble(s->planner, &why);
    if (trouble < 0)
        die("%s", why.msg);
    if (trouble)
        tell(s, why.msg);
    take_plan(s);
    ask_plan(s);
}

/* ---------------------------------------------------------------- items */

static int
send_item(struct selector *s, uint64_t peer, const struct wire_place *at)
{
    struct wire_item item = {
        .at = *at,
        .size = (int64_t)s->task.layout.size,
        .steps = steps(s),
        .epochs = s->options->epochs,
        .look = (size_t)at->step >= s->task.layout.steps,
    };
    struct wire_msg *msg;
    int sent;

    item.ids = ids_of(s, at, &item.n);
    msg = wire_item_put(&item);
    sent = wire_server_send(s->server, peer, msg);
    wire_msg_free(msg);
    return sent;
}

/* Where the next item is that may be handed out: 1, or 0 when there is none.
 * *again: it was handed out before. */
static int
next_place(struct selector *s, struct wire_place *at, int *again)
{
    *again = wire_leases_next(s->leases, at);
    if (*again)
        return 1;
    *at = s->next;
    s->starved = at->epoch < s->options->epochs && !is_planned(s, at->epoch);
    return at->epoch < s->options->epochs && !s->starved;
}

/* Hand out what is asked for: first what others failed to do, then new. */
static void
give(struct selector *s)
{
    uint64_t peer;

    s->starved = 0;
    while (!s->over && (peer = wire_server_asker(s->server, s->leases))) {
        struct wire_place at;
        int again;

        if (!next_place(s, &at, &again))
            break;
        at.session = s->done.session;
        if (!send_item(s, peer, &at))
            break;
        wire_leases_give(s->leases, &at, peer, clock_now());
        if (!again && ++s->next.step == steps(s)) {
            s->next.epoch++;
            s->next.step = 0;
        }
    }
    if (s->begun && s->next.epoch >= s->options->epochs)
        wire_server_end(s->server, &s->next);
}

static void
show(struct selector *s)
{
    size_t peers = wire_server_peers(s->server);
    char more[64];

    if (!s->begun)
        return;
    snprintf(more, sizeof more, "%zu planned ahead, %zu augmenter%s",
             wire_leases_size(s->leases), peers, peers == 1 ? "" : "s");
    progress_show(&s->progress, steps_before(s, &s->done), more);
}

/*
 * Whether all is trained: by the word of one peer, so for as long as a trainer
 * that still waits for something needs to be heard.
 */
static int
is_done(struct selector *s, double now)
{
    if (s->done.epoch < s->options->epochs)
        s->done_since = 0;
    else if (!s->done_since)
        s->done_since = now;
    return s->done_since && now - s->done_since >= unheard;
}

int
select_serve(struct selector *s, struct wire *wire, int stop, struct err *err)
{
    struct wire_place end;
    struct wire_news news;
    struct err words;
    int rc = 1;

    while (!s->over && rc > 0) {
        double due = wire_leases_due(s->leases, clock_now());

        // what is due may have nobody who asks for it: no busy waiting
        due = fmin(fmax(due, 0.05), 1);
        rc = wire_wait(wire, stop, s->starved ? soon : due, err);
        while (rc > 0 && wire_server_next(s->server, &news, err) > 0)
            handle(s, &news);
        s->over |= wire_server_ended(s->server, &end) == WIRE_ALL_ENDED ||
                   is_done(s, clock_now());
        while (wire_server_late(s->server, s->leases, &words))
            tell(s, words.msg);
        look_at_planner(s);
        give(s);
        show(s);
    }
    progress_clear(&s->progress);
    if (s->over)
        wire_server_over(s->server);
    return rc;
}
