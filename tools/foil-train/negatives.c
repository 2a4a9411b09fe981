#include <stdlib.h>
#include <string.h>

#include "loss/rows.h"
#include "negatives.h"
#include "num/gemm.h"
#include "util/clock.h"
#include "util/mem.h"
#include "wire/pairs.h"
#include "wire/state.h"

/* Seconds for which a service that was not there is not asked again. */
static const double ask_retry_s = 10;

int
train_service_open(struct train_service *s, struct stage *stage,
                   const char *run, size_t width, struct err *err)
{
    struct flow_service_config config = {
        .endpoint = stage_endpoint(stage, s->options->negatives, "negatives"),
        .role = "negatives",
        .edge = WIRE_EDGE_NEGATIVES,
        .hello = stage_hello("train", s->shape->digest, s->shape->size),
        .deadline = s->options->deadline,
    };

    if (s->options->in_batch) {
        // a step is worth a short wait, not the whole deadline
        config.timeout = 1;
        config.deadline = 2;
    }
    snprintf(config.hello.run, sizeof config.hello.run, "%s", run);
    config.hello.width = (int64_t)width;
    s->service = flow_service_open(stage->wire, &config, err);
    return s->service ? 0 : -1;
}

void
train_service_close(struct train_service *s)
{
    flow_service_close(s->service);
    wire_weights_release(&s->answer);
    free(s->in_batch);
}

/* Waits for what comes of a request; what will not do is said.  Where the clock
 * was set back a service refuses our session for good: stopped, for the step is
 * done again in another one. */
static enum flow_answer
wait_for_answer(struct train_service *s, struct wire_msg **answer,
                struct err *err)
{
    enum flow_answer what;
    struct err why;

    while ((what = flow_service_wait(s->service, s->stop, answer, err)) ==
           FLOW_ODD) {
        train_journal_say(s->journal, "%s", err->msg);
        if (wire_session_check(*s->session, &why))
            return FLOW_STOPPED;
    }
    return what;
}

/* Lets go of an answer that will not do: a better one may come. */
static void
refuse_answer(struct train_service *s, struct wire_msg *answer, struct err *why)
{
    wire_msg_free(answer);
    if (flow_service_refuse(s->service, why))
        train_journal_say(s->journal, "%s", why->msg);
}

/* 1 when it says that the state was taken. */
static int
is_taken(struct wire_msg *answer, const struct wire_state *state,
         struct err *err)
{
    struct wire_state_ok ok;
    int same;

    if (wire_msg_kind(answer) != WIRE_STATE_OK) {
        err_set(err, "state.put is answered with %s",
                wire_kind_name(wire_msg_kind(answer)));
        return 0;
    }
    if (wire_state_ok_get(&ok, answer, err))
        return 0;
    same = ok.session == state->session && ok.epoch == state->epoch &&
           ok.step == state->step;
    if (!same)
        err_set(err, "state.ok is of another place");
    return same;
}

/* One piece of what was kept. */
static enum flow_answer
give_piece(struct train_service *s, const struct sample_piece *piece, int last,
           struct err *err)
{
    const struct sample_store *store = &s->samples->store;
    struct table_rows tables[TABLES_MAX];
    struct wire_state state = {
        .id = flow_service_id(s->service),
        .session = *s->session,
        .epoch = s->state->epoch,
        .step = s->state->step,
        .total = s->state->total,
        .fresh = !store->n,
        .n = store->n,
        .from = (int64_t)piece->from,
        .last = last,
        .tables = tables,
    };
    struct wire_msg *answer;
    enum flow_answer what;
    int taken = 0;

    memcpy(state.sampler, store->sampler, sizeof state.sampler);
    sample_store_piece(store, piece, tables);
    stage_ask(s->service, wire_state_put(&state), state.id);
    while (!taken &&
           (what = wait_for_answer(s, &answer, err)) == FLOW_ANSWERED) {
        taken = is_taken(answer, &state, err);
        if (!taken)
            refuse_answer(s, answer, err);
        else
            wire_msg_free(answer);
    }
    return what;
}

/* Gives the service back what was kept of it. */
static enum flow_answer
give_state(struct train_service *s, struct err *err)
{
    struct sample_piece piece = {.n = 0};
    enum flow_answer what;
    int more;

    do {
        more = sample_store_next(&s->samples->store, &piece);
        what = give_piece(s, &piece, !more, err);
    } while (more && what == FLOW_ANSWERED);
    return what;
}

/* Decodes the weights of a batch; -1 where they are those of no such one. */
static int
get_weights(struct train_service *s, struct wire_msg *answer,
            const struct batch *step, struct err *err)
{
    const size_t anchors = step->v * step->b, pairs = anchors + step->extra.n;
    const struct weights *w = &s->answer.weights;
    struct err why;
    int rc = 0;

    if (wire_msg_kind(answer) != WIRE_WEIGHTS)
        return err_set(err, "pairs are answered with %s",
                       wire_kind_name(wire_msg_kind(answer)));
    if (wire_weights_get(&s->answer, answer, s->shape->size, err))
        return -1;
    if (w->rows != anchors || w->columns != pairs + w->n_outside)
        rc = err_set(err, "weights: %zu x %zu of them, want %zu x %zu", w->rows,
                     w->columns, anchors, pairs + w->n_outside);
    else if (w->n_outside && w->dim != step->dim)
        rc = err_set(err, "weights: 'outside' has %zu columns, want %zu",
                     w->dim, step->dim);
    else if (sample_store_judge(&s->samples->store, w->n_tables, w->tables,
                                &why))
        rc = err_set(err, "weights: %s", why.msg);
    if (rc)
        wire_weights_release(&s->answer);
    return rc;
}

/* What the service is asked of a step; with captions further samples are
 * texts. */
static struct wire_msg *
pairs_of(const struct train_service *s, const struct batch *batch, int64_t id)
{
    struct wire_pairs pairs = {
        .id = id, .session = *s->session, .batch = *batch};

    if (batch->tokens) {
        snprintf(pairs.kind, sizeof pairs.kind, "pair");
        pairs.extra_text_z = batch->extra.z;
        batch_captions_undo(&pairs.batch);
    }
    return wire_pairs_put(&pairs);
}

/* Asks for the weights of a batch, once. */
static enum flow_answer
ask_weights(struct train_service *s, const struct batch *step,
            struct weights *weights, struct err *err)
{
    const int64_t id = flow_service_id(s->service);
    struct wire_msg *answer;
    enum flow_answer what;

    stage_ask(s->service, pairs_of(s, step, id), id);
    while ((what = wait_for_answer(s, &answer, err)) == FLOW_ANSWERED) {
        wire_weights_release(&s->answer);
        if (!get_weights(s, answer, step, err)) {
            wire_msg_free(answer);
            *weights = s->answer.weights;
            weights->sampler = flow_service_who(s->service)->sampler;
            break;
        }
        refuse_answer(s, answer, err);
    }
    return what;
}

/* Without the service: the softmax over the other images of the batch, which
 * is what chains that have mixed within it would say. */
static void
in_batch(struct train_service *s, const struct batch *step,
         struct weights *weights)
{
    const size_t n = step->v * step->b, rows = n + step->extra.n;

    mem_grow(&s->in_batch, &s->in_batch_room, n * rows, sizeof *s->in_batch);
    num_gemm_nt(n, rows, step->dim, 1, step->z, step->z, 0, s->in_batch);
    loss_partition(step->b, rows, step->beta,
                   s->samples->objective->wants_cross ? LOSS_CROSS_NEGATIVES
                                                      : LOSS_NEGATIVES,
                   s->in_batch, s->in_batch);
    *weights = (struct weights){.rows = n, .columns = rows, .w = s->in_batch};
}

static const char *
version_met(const struct train_service *s)
{
    return flow_service_who(s->service)->peer;
}

/* A service that lost its state is given what we kept, and asked again. */
static enum flow_answer
ask_until_answered(struct train_service *s, const struct batch *step,
                   struct weights *weights, struct err *err)
{
    enum flow_answer what;

    do
        what = s->keeper.ready ? ask_weights(s, step, weights, err)
                               : give_state(s, err);
    while (flow_keeper_next(&s->keeper, what, version_met(s)));
    return what;
}

static int
find_weights(struct train_service *s, const struct batch *step,
             struct weights *weights, int *alone, struct err *err)
{
    enum flow_answer what = FLOW_UNREACHED;

    *alone = 0;
    if (clock_now() >= s->again)
        what = ask_until_answered(s, step, weights, err);
    if (what == FLOW_ANSWERED)
        return 1;
    if (what == FLOW_UNREACHED && s->options->in_batch) {
        if (clock_now() >= s->again) {
            s->again = clock_now() + ask_retry_s;
            train_journal_say(s->journal, "%s: training without it", err->msg);
        }
        in_batch(s, step, weights);
        *alone = 1;
        flow_keeper_behind(&s->keeper);
        return 1;
    }
    return what == FLOW_STOPPED ? 0 : -1;
}

/* Asked for in the midst of a step, while the desk is left. */
static int
weigh_step(void *self, const struct batch *step, struct weights *weights,
           int *alone, struct err *err)
{
    struct train_service *s = self;
    int rc;

    train_desk_back(s->desk);
    rc = find_weights(s, step, weights, alone, err);
    train_desk_leave(s->desk);
    return rc;
}

/* It has gone on, what we keep of it has not. */
static void
on_refusal(void *self)
{
    struct train_service *s = self;

    flow_keeper_behind(&s->keeper);
}

struct train_negatives
train_service_negatives(struct train_service *s)
{
    return (struct train_negatives){
        .self = s, .weigh = weigh_step, .refused = on_refusal};
}

int
train_service_greet(struct train_service *s, struct err *err)
{
    int rc;

    while ((rc = flow_service_poll(s->service, err)) > 0)
        train_journal_say(s->journal, "%s", err->msg);
    return rc;
}

int
train_service_meet(struct train_service *s, struct err *err)
{
    enum flow_answer what;
    int rc;

    if (train_service_greet(s, err))
        return -1;
    if (!flow_service_joined(s->service))
        return 0;
    if (s->greetings != flow_service_greetings(s->service))
        flow_keeper_behind(&s->keeper);
    s->greetings = flow_service_greetings(s->service);
    if (!flow_keeper_meets(&s->keeper, version_met(s)))
        return 0;
    what = give_state(s, err);
    rc = flow_keeper_next(&s->keeper, what, version_met(s));
    // when it is gone again, it or the next one will be met
    return what == FLOW_REFUSED || what == FLOW_FAILED ||
                   (what == FLOW_NO_STATE && !rc)
               ? -1
               : 0;
}
