#include <stdlib.h>
#include <string.h>

#include "loss/rows.h"
#include "num/gemm.h"
#include "train.h"
#include "util/clock.h"
#include "util/mem.h"
#include "wire/negatives.h"

/* Seconds until a request to a service that did not answer is repeated. */
static const double ask_retry_s = 10;

int
train_service_open(struct train *t, struct err *err)
{
    const struct train_options *o = t->options;
    struct flow_client_config config = {
        .role = "negatives",
        .edge = WIRE_EDGE_NEGATIVES,
        .hello = stage_hello("train", t->shape.digest, t->shape.size),
        .deadline = o->deadline,
    };

    if (!t->objective->needs_weights || t->service.service ||
        o->sampler != TRAIN_SERVICE)
        return 0;
    config.endpoint = stage_endpoint(&t->stage, o->negatives, "negatives");
    if (o->in_batch) {
        // wait for a short time in a step, not until the deadline
        config.timeout = 1;
        config.deadline = 2;
    }
    snprintf(config.hello.run, sizeof config.hello.run, "%s",
             flow_server_hello(t->source.inlet->server)->run);
    config.hello.width =
        (int64_t)(t->encoder.ops ? t->encoder.dim : nn_head_width(o->head));
    t->service.service = flow_client_open(t->stage.wire, &config, err);
    return t->service.service ? 0 : -1;
}

void
train_service_close(struct train_service *s)
{
    flow_client_close(s->service);
    wire_weights_release(&s->answer);
    free(s->in_batch);
}

/* Waits for the answer to a request and prints refused messages.  If the clock
 * was set back, the service always refuses the session: returns FLOW_STOPPED,
 * and the step is repeated in a new session. */
static enum flow_answer
wait_for_answer(struct train *t, struct wire_msg **answer, struct err *err)
{
    enum flow_answer what;
    struct err why;

    while ((what = flow_client_wait(t->service.service, t->stage.stop, answer,
                                    err)) == FLOW_BAD_MESSAGE) {
        log_message("%s", err->msg);
        if (wire_session_check(t->session, &why))
            return FLOW_STOPPED;
    }
    return what;
}

/* Returns 1 if the answer confirms the state. */
static int
is_taken(struct wire_msg *answer, const struct wire_state *state,
         struct err *err)
{
    struct wire_ok ok;
    int same;

    if (wire_msg_kind(answer) != WIRE_OK) {
        err_set(err, "state.put is answered with %s",
                wire_kind_name(wire_msg_kind(answer)));
        return 0;
    }
    if (wire_ok_get(&ok, answer, err))
        return 0;
    same = ok.session == state->session && ok.epoch == state->epoch &&
           ok.step == state->step;
    if (!same)
        err_set(err, "state.ok has another place");
    return same;
}

/* Sends one piece of the stored state. */
static enum flow_answer
send_piece(struct train *t, const struct sample_piece *piece, int last,
           struct err *err)
{
    const struct sample_store *store = &t->samples.store;
    struct table_rows tables[TABLES_MAX];
    struct wire_state state = {
        .id = flow_client_next_id(t->service.service),
        .session = t->session,
        .epoch = t->state.epoch,
        .step = t->state.step,
        .total = t->state.total,
        .empty = !store->n,
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
    stage_ask(t->service.service, wire_state_put(&state), state.id);
    while (!taken &&
           (what = wait_for_answer(t, &answer, err)) == FLOW_ANSWERED) {
        taken = is_taken(answer, &state, err);
        if (!taken)
            stage_refuse_answer(t->service.service, answer, err);
        else
            wire_msg_free(answer);
    }
    return what;
}

/* Sends the service its stored state. */
static enum flow_answer
send_state(struct train *t, struct err *err)
{
    struct sample_piece piece = {.n = 0};
    enum flow_answer what;
    int more;

    do {
        more = sample_store_next(&t->samples.store, &piece);
        what = send_piece(t, &piece, !more, err);
    } while (more && what == FLOW_ANSWERED);
    return what;
}

/* Decodes the weights of a batch; returns -1 if they do not fit it. */
static int
get_weights(struct train *t, struct wire_msg *answer, const struct batch *step,
            struct err *err)
{
    const size_t anchors = step->v * step->b, pairs = anchors + step->extra.n;
    const struct weights *w = &t->service.answer.weights;
    struct err why;
    int rc = 0;

    if (wire_msg_kind(answer) != WIRE_WEIGHTS)
        return err_set(err, "weights.get is answered with %s",
                       wire_kind_name(wire_msg_kind(answer)));
    if (wire_weights_get(&t->service.answer, answer, t->shape.size, err))
        return -1;
    if (w->rows != anchors || w->columns != pairs + w->n_outside)
        rc = err_set(err, "weights: %zu x %zu of them, want %zu x %zu", w->rows,
                     w->columns, anchors, pairs + w->n_outside);
    else if (w->n_outside && w->dim != step->dim)
        rc = err_set(err, "weights: 'outside' has %zu columns, want %zu",
                     w->dim, step->dim);
    else if (sample_store_check(&t->samples.store, w->n_tables, w->tables,
                                &why))
        rc = err_set(err, "weights: %s", why.msg);
    if (rc)
        wire_weights_release(&t->service.answer);
    return rc;
}

/* The request of a step; with captions, extra samples are texts. */
static struct wire_msg *
pairs_of(const struct train *t, const struct batch *batch, int64_t id)
{
    struct wire_weights_request request = {
        .id = id, .session = t->session, .batch = *batch};

    if (batch->tokens) {
        snprintf(request.kind, sizeof request.kind, "pair");
        request.extra_text_z = batch->extra.z;
        batch_captions_undo(&request.batch);
    }
    return wire_weights_request_put(&request);
}

/* Requests the weights of a batch, once. */
static enum flow_answer
ask_weights(struct train *t, const struct batch *step, struct weights *weights,
            struct err *err)
{
    const int64_t id = flow_client_next_id(t->service.service);
    struct wire_msg *answer;
    enum flow_answer what;

    stage_ask(t->service.service, pairs_of(t, step, id), id);
    while ((what = wait_for_answer(t, &answer, err)) == FLOW_ANSWERED) {
        wire_weights_release(&t->service.answer);
        if (!get_weights(t, answer, step, err)) {
            wire_msg_free(answer);
            *weights = t->service.answer.weights;
            weights->sampler =
                flow_client_binder_hello(t->service.service)->sampler;
            break;
        }
        stage_refuse_answer(t->service.service, answer, err);
    }
    return what;
}

/* Weights without the service: the softmax over the other images of the batch,
 * the distribution to which chains in it converge. */
static void
in_batch(struct train *t, const struct batch *step, struct weights *weights)
{
    const size_t n = step->v * step->b, rows = n + step->extra.n;

    mem_grow(&t->service.in_batch, &t->service.in_batch_room, n * rows,
             sizeof *t->service.in_batch);
    num_gemm_nt(n, rows, step->dim, 1, step->z, step->z, 0,
                t->service.in_batch);
    loss_partition(step->b, rows, step->beta,
                   t->samples.objective->cross_weights_only
                       ? LOSS_CROSS_NEGATIVES
                       : LOSS_NEGATIVES,
                   t->service.in_batch, t->service.in_batch);
    *weights =
        (struct weights){.rows = n, .columns = rows, .w = t->service.in_batch};
}

static const char *
service_version(const struct train *t)
{
    return flow_client_binder_hello(t->service.service)->peer;
}

/* Sends the stored state to a service that lost it, and repeats the request. */
static enum flow_answer
ask_until_answered(struct train *t, const struct batch *step,
                   struct weights *weights, struct err *err)
{
    enum flow_answer what;

    do
        what = t->service.state_copy.ready ? ask_weights(t, step, weights, err)
                                           : send_state(t, err);
    while (flow_state_copy_on_answer(&t->service.state_copy, what,
                                     service_version(t)));
    return what;
}

static int
find_weights(struct train *t, const struct batch *step, struct weights *weights,
             int *without_service, struct err *err)
{
    enum flow_answer what = FLOW_UNREACHED;

    *without_service = 0;
    if (clock_now() >= t->service.retry_at)
        what = ask_until_answered(t, step, weights, err);
    if (what == FLOW_ANSWERED)
        return 1;
    if (what == FLOW_UNREACHED && t->options->in_batch) {
        if (clock_now() >= t->service.retry_at) {
            t->service.retry_at = clock_now() + ask_retry_s;
            log_message("%s: training without it", err->msg);
        }
        in_batch(t, step, weights);
        *without_service = 1;
        flow_state_copy_mark_stale(&t->service.state_copy);
        return 1;
    }
    return what == FLOW_STOPPED ? 0 : -1;
}

/* Called in a step, while the I/O thread has the lock. */
static int
weigh_step(void *self, const struct batch *step, struct weights *weights,
           int *without_service, struct err *err)
{
    struct train *t = self;
    int rc;

    stage_io_lock(&t->io);
    rc = find_weights(t, step, weights, without_service, err);
    stage_io_unlock(&t->io);
    return rc;
}

/* The service has advanced, the stored state has not. */
static void
undo_step(void *self)
{
    struct train *t = self;

    flow_state_copy_mark_stale(&t->service.state_copy);
}

struct train_negatives
train_service_negatives(struct train *t)
{
    return (struct train_negatives){
        .self = t, .weigh = weigh_step, .undo = undo_step};
}

int
train_service_greet(struct train *t, struct err *err)
{
    int rc;

    while ((rc = flow_client_poll(t->service.service, err)) > 0)
        log_message("%s", err->msg);
    return rc;
}

int
train_service_restore(struct train *t, struct err *err)
{
    enum flow_answer what;
    int rc;

    if (train_service_greet(t, err))
        return -1;
    if (!flow_client_joined(t->service.service))
        return 0;
    if (t->service.greetings != flow_client_greetings(t->service.service))
        flow_state_copy_mark_stale(&t->service.state_copy);
    t->service.greetings = flow_client_greetings(t->service.service);
    if (!flow_state_copy_needs_handover(&t->service.state_copy,
                                        service_version(t)))
        return 0;
    what = send_state(t, err);
    rc = flow_state_copy_on_answer(&t->service.state_copy, what,
                                   service_version(t));
    // if it has disconnected again, the next hello repeats this
    return what == FLOW_REFUSED || what == FLOW_FAILED ||
                   (what == FLOW_NO_STATE && !rc)
               ? -1
               : 0;
}
