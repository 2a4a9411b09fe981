#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "select.h"
#include "util/clock.h"
#include "util/opt.h"
#include "wire/batch.h"

/* Seconds between checks for a plan that the trainer waits for. */
static const double poll_plan_s = 0.001;

/* Reads the options of a plan, as select_options_print() writes them: returns
 * the strategy, and sets seed and layout; NULL if that is not possible. */
static const struct select_strategy *
read_options(const char *options, struct select_task *task)
{
    static const char *const words[] = {[SELECT_DROP] = " --remainder drop",
                                        [SELECT_WRAP] = " --remainder wrap"};
    const char *at = strstr(options, " -b ");
    enum select_remainder remainder = SELECT_KEEP;
    long batch, seed;
    char name[32];
    struct err err;

    if (!at || sscanf(at, " -b %ld -s %ld", &batch, &seed) != 2 || batch < 2 ||
        sscanf(options, "--strategy %31[^, ]", name) != 1 ||
        strstr(options, " --features eval"))
        return NULL;
    for (int i = SELECT_DROP; i <= SELECT_WRAP; i++)
        if (strstr(at, words[i]))
            remainder = (enum select_remainder)i;
    task->seed = (uint64_t)seed;
    return select_layout_make(task->layout.size, (size_t)batch, remainder,
                              &task->layout, &err)
               ? NULL
               : select_strategy_find(name, &err);
}

/* Prepares the rest of the epoch of a snapshot if it began with another plan,
 * and prints a message.  An order without features can be made again, but not
 * one by features or a command; then the trainer ends the epoch. */
static void
find_rest(struct selector *s, const struct wire_want *next)
{
    struct select_rest *rest = &s->rest;
    struct select_task task = s->task;
    const int64_t epoch = next->at.epoch;
    const struct select_strategy *strategy;

    if (!*next->order || !strcmp(next->plan, s->plan_options) ||
        (epoch == rest->epoch && !strcmp(next->order, rest->order)))
        return;
    select_plan_free(rest->plan);
    select_windows_free(rest->windows);
    *rest = (struct select_rest){.epoch = epoch};
    memcpy(rest->order, next->order, sizeof rest->order);
    memcpy(rest->options, next->plan, sizeof rest->options);
    task.group = NULL;
    task.windows = NULL;
    strategy = read_options(next->plan, &task);
    if (strategy) {
        const char *at = strstr(next->plan, " --windows ");
        long each = 0;

        if (at && sscanf(at, " --windows %ld", &each) == 1 && each > 0)
            task.windows = rest->windows =
                select_open_windows(s->set, (size_t)each, task.seed);
        rest->layout = task.layout;
        rest->plan = select_plan_new(strategy, &task);
        if (strcmp(select_plan_name(rest->plan, (uint64_t)epoch),
                   rest->order) != 0) {
            select_plan_free(rest->plan);
            rest->plan = NULL;
        }
    }
    if (rest->plan)
        log_message("epoch %" PRId64 " began with another plan, '%.200s': from "
                    "step %" PRId64 " on that plan is completed, and epoch "
                    "%" PRId64 " has this one",
                    epoch, rest->options, next->at.step, epoch + 1);
    else
        log_message("epoch %" PRId64 " began with another plan, '%.200s', "
                    "which cannot be made again here, as it is by features or "
                    "a program: the trainer ends the epoch at step %" PRId64,
                    epoch, rest->options, next->at.step);
}

/* Returns the rest of an epoch, or NULL if the epoch has our plan. */
static const struct select_rest *
rest_of(const struct selector *s, int64_t epoch)
{
    return s->rest.plan && s->rest.epoch == epoch ? &s->rest : NULL;
}

/* Steps of an epoch, including those of an extra pass. */
static int64_t
count_steps(const struct selector *s, int64_t epoch)
{
    const struct select_rest *rest = rest_of(s, epoch);

    return (int64_t)(rest ? rest->layout.steps
                          : s->task.layout.steps + s->eval_pass.steps);
}

static struct wire_place
place_of(const struct selector *s)
{
    return flow_producer_place(s->outlet->producer);
}

/* Steps of the whole run before a place. */
static double
steps_before(const struct selector *s, const struct wire_place *at)
{
    return (double)at->epoch * (double)count_steps(s, -1) + (double)at->step;
}

/* A trainer may send the place after the last step for the first step of the
 * next epoch.  A place outside of this plan is of a run with another plan. */
int
select_check_place(void *tool, struct wire_want *next, struct err *why)
{
    struct selector *s = tool;
    struct wire_place *at = &next->at;
    const long epochs = s->options->epochs;
    int64_t steps;

    find_rest(s, next);
    steps = count_steps(s, at->epoch);
    if (at->step == steps) {
        at->epoch++;
        at->step = 0;
    }
    if (at->step <= steps && at->epoch <= epochs &&
        (at->epoch < epochs || !at->step))
        return 0;
    err_set(why,
            "the trainer is at epoch %" PRId64 ", step %" PRId64
            "; this plan has %ld epochs of %" PRId64
            " steps: start it with the --batch, --epochs, "
            "--remainder and --features of the run",
            at->epoch, at->step, epochs, steps);
    if (place_of(s).session < 0)
        die("%s", why->msg);
    return -1;
}

static const int64_t *
ids_of(struct selector *s, const struct wire_place *at, size_t *n)
{
    const struct select_rest *rest = rest_of(s, at->epoch);
    const size_t step = (size_t)at->step, trained = s->task.layout.steps;

    if (rest)
        return select_plan_batch(rest->plan, (uint64_t)at->epoch, step, n);
    if (step < trained)
        return select_plan_batch(s->plan, (uint64_t)at->epoch, step, n);
    *n = select_layout_count(&s->eval_pass, step - trained);
    return s->all + select_layout_start(&s->eval_pass, step - trained);
}

static int
has_plan(const struct selector *s, int64_t epoch)
{
    return rest_of(s, epoch) || select_plan_has(s->plan, (uint64_t)epoch);
}

/* A peer may reject samples of an item that it has, or had: if another peer's
 * message that the item is trained came first, no lease shows which peer had
 * it. */
static int
check_reject(struct selector *s, uint64_t peer, const struct wire_reject *got,
             struct err *err)
{
    const struct wire_place done = place_of(s);
    const int was_trained = got->at.step < count_steps(s, got->at.epoch) &&
                            wire_place_cmp(&got->at, &done) < 0 &&
                            has_plan(s, got->at.epoch);
    const int64_t *ids;
    size_t n;

    if (got->at.session != done.session ||
        (flow_producer_holder(s->outlet->producer, &got->at) != peer &&
         !was_trained))
        return err_set(err, "reject: for an item that the peer does not have");
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
        return err_set(err, "a selector takes no '%s'",
                       wire_kind_name(wire_msg_kind(msg)));
    if (wire_reject_get(&got, msg, err))
        return -1;
    rc = check_reject(s, peer, &got, err);
    for (size_t i = 0; i < got.n && !rc; i++)
        select_quarantine_add(&s->bad, got.ids[i], got.reason);
    wire_reject_release(&got);
    return rc;
}

static void
handle_event(struct selector *s, struct flow_event *event)
{
    switch (event->kind) {
    case FLOW_LEFT:
        if (s->outlet->freed && !s->over)
            log_message("an augmenter is gone: others get its %zu items",
                        s->outlet->freed);
        break;
    case FLOW_MESSAGE:
        if (take_reject(s, event->peer, event->msg, &event->why))
            stage_refuse(s->outlet->server, event);
        break;
    case FLOW_NEW_SESSION: // all earlier items are void
        if (s->planner) {
            planner_cancel(s->planner);
            select_plan_clear(s->plan);
            s->requested = 0;
        }
        progress_start(&s->progress, "steps", steps_before(s, &event->at),
                       (double)s->options->epochs * (double)count_steps(s, -1));
        break;
    case FLOW_REWOUND:
        // the place moved back, or was wrong: the planner may work for a
        // later epoch
        if (s->planner)
            planner_cancel(s->planner);
        s->requested = 0;
        break;
    default:
        break;
    }
}

/* Reports a plan to the trainer, unless it has no service of features. */
static void
report_plan(struct selector *s, const struct wire_plan *about)
{
    if (s->options->features != FEATURES_NONE)
        planner_report(s->planner, about);
}

/* Requests the next plan: of this epoch, or of the next one if its features
 * exist.  The first epochs have no features. */
static void
ask_plan(struct selector *s)
{
    const int64_t now = place_of(s).epoch, lag = s->options->lag;
    const int none = s->options->features == FEATURES_NONE;
    int64_t epoch = now;

    if (has_plan(s, epoch))
        epoch++;
    if (epoch >= s->options->epochs || epoch < s->requested ||
        has_plan(s, epoch) || (!none && epoch - 1 - lag >= now))
        return;
    if (planner_ask(s->planner, epoch, none ? -1 : epoch - 1 - lag))
        s->requested = epoch + 1;
}

/* 1 if items of an epoch may be sent.  A plan is late if the trainer has
 * reached the epoch's first step without it; --policy decides whether to
 * wait. */
static int
is_planned(struct selector *s, int64_t epoch)
{
    const int waits = s->options->policy == POLICY_WAIT;
    const int late = s->command || epoch > s->options->lag;
    const int previous =
        late && s->options->policy == POLICY_PREVIOUS && s->previous;
    struct wire_plan about = {
        .epoch = epoch, .n = 1, .values = {{"fallbacks", 0, 0}}};
    size_t n;

    if (!s->planner || rest_of(s, epoch))
        return 1;
    if (select_plan_has(s->plan, (uint64_t)epoch))
        return !waits || planner_reported(s->planner);
    if (waits || epoch != place_of(s).epoch)
        return 0;
    // starts an epoch without its plan.  In the first epochs, without features,
    // the planner would make the same shuffle, later.
    s->fallbacks += late;
    if (late)
        log_message("the plan of epoch %" PRId64 " is late: %s", epoch,
                    previous ? "repeating the last one" : "shuffling");
    if (previous)
        select_plan_put(s->plan, (uint64_t)epoch, s->previous);
    else
        select_plan_batch(s->plan, (uint64_t)epoch, 0, &n);
    about.values[0].value = (double)s->fallbacks;
    snprintf(about.strategy, sizeof about.strategy, "%s",
             previous ? "previous" : "shuffle");
    report_plan(s, &about);
    return 1;
}

static void
poll_planner(struct selector *s)
{
    struct planner_plan planned;
    struct err why;
    int trouble;

    if (!s->planner || place_of(s).session < 0 || s->over)
        return;
    trouble = planner_trouble(s->planner, &why);
    or_die(trouble < 0, &why);
    if (trouble)
        log_message("%s", why.msg);
    planner_set_urgent(s->planner, s->starved);
    if (planner_take(s->planner, &planned)) {
        if (planned.epoch >= place_of(s).epoch && !has_plan(s, planned.epoch)) {
            select_plan_put(s->plan, (uint64_t)planned.epoch, planned.ids);
            report_plan(s, &planned.about);
            free(s->previous);
            s->previous = planned.ids;
        } else {
            free(planned.ids); // too late
        }
    }
    ask_plan(s);
}

static struct wire_msg *
item_of(struct selector *s, const struct wire_place *at)
{
    const struct select_rest *rest = rest_of(s, at->epoch);
    struct wire_item item = {
        .session = at->session,
        .size = (int64_t)s->task.layout.size,
        .batch = {.epoch = at->epoch,
                  .step = at->step,
                  .steps = count_steps(s, at->epoch),
                  .epochs = s->options->epochs,
                  .encode_only =
                      !rest && (size_t)at->step >= s->task.layout.steps},
    };

    item.batch.ids = ids_of(s, at, &item.batch.b);
    memcpy(item.plan, rest ? rest->options : s->plan_options, sizeof item.plan);
    snprintf(item.order, sizeof item.order, "%s",
             rest ? rest->order
                  : select_plan_name(s->plan, (uint64_t)at->epoch));
    return wire_item_put(&item);
}

/* Adds wanted and planned items to the producer. */
static void
add_items(struct selector *s)
{
    struct flow_producer *producer = s->outlet->producer;

    s->starved = 0;
    while (flow_producer_needs_place(producer)) {
        const struct wire_place at = flow_producer_fresh(producer);
        struct wire_place next = at;

        if (at.epoch >= s->options->epochs) {
            flow_producer_close(producer, &at);
            return;
        }
        if (!is_planned(s, at.epoch)) {
            // all peers wait for this plan
            s->starved = !flow_producer_leases(producer);
            return;
        }
        if (++next.step == count_steps(s, at.epoch))
            next = (struct wire_place){at.session, at.epoch + 1, 0};
        flow_producer_add(producer, &at, &next);
    }
}

static void
send_items(struct selector *s)
{
    struct flow_producer *producer = s->outlet->producer;
    struct flow_send_item turn;

    if (s->over)
        return;
    add_items(s);
    while (flow_producer_next_item(producer, clock_now(), &turn)) {
        struct wire_msg *msg = item_of(s, &turn.at);

        flow_outlet_send_item(s->outlet, &turn, msg);
        wire_msg_free(msg);
    }
    flow_outlet_send_end(s->outlet);
}

/* See stage/stage.h: reported after twice the time of the trainer's longest
 * step so far. */
static int
describe_waits(void *self, struct stage_waiting *waiting, double now,
               struct err who[STAGE_WAITS])
{
    const struct selector *s = self;
    const struct wire_place at = place_of(s);

    if (stage_waiting_moved(waiting, &at, now))
        return 0;
    if (!stage_outlet_waits(s->outlet, now, who)) {
        if (flow_producer_needs_place(s->outlet->producer))
            return 0;
        err_set(who,
                "the trainer, which reports no progress and is at epoch "
                "%" PRId64 ", step %" PRId64,
                at.epoch, at.step);
    }
    return at.session < 0 || now - waiting->since >= 2 * waiting->longest ? 1
                                                                          : -1;
}

static double
choose_pause(void *self)
{
    const struct selector *s = self;

    return s->starved ? poll_plan_s : flow_outlet_pause_s(s->outlet);
}

static int
take_turn(void *self)
{
    struct selector *s = self;
    struct wire_place done;
    struct flow_event event;
    size_t peers;
    char more[64];

    while (stage_outlet_next(s->outlet, &event))
        handle_event(s, &event);
    s->over = flow_outlet_is_over(s->outlet);
    poll_planner(s);
    send_items(s);
    done = place_of(s);
    if (done.session >= 0) {
        peers = flow_server_peers(s->outlet->server);
        snprintf(more, sizeof more, "%zu planned ahead, %zu augmenter%s",
                 flow_producer_leases(s->outlet->producer), peers,
                 plural(peers));
        progress_show(&s->progress, steps_before(s, &done), more);
    }
    return !s->over;
}

void
select_serve(struct selector *s)
{
    static const struct stage_handlers handlers = {choose_pause, take_turn,
                                                   describe_waits};

    stage_run(&s->stage, &handlers, s);
    progress_clear(&s->progress);
    log_stopped();
    if (s->over)
        flow_outlet_send_over(s->outlet);
}
