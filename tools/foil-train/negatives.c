#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/gemm.h"
#include "num/vec.h"
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

/* Takes an answer that confirms the state, struct wire_state. */
static int
take_ok(void *self, struct wire_msg *answer, struct err *err)
{
    const struct wire_state *state = self;
    struct wire_ok ok;

    if (wire_msg_kind(answer) != WIRE_OK)
        return err_set(err, "state.put is answered with %s",
                       wire_kind_name(wire_msg_kind(answer)));
    if (wire_ok_get(&ok, answer, err))
        return -1;
    return ok.session == state->session && ok.epoch == state->epoch &&
                   ok.step == state->step
               ? 0
               : err_set(err, "state.ok has another place");
}

/* Sends the service its stored state, piece by piece. */
static enum flow_answer
send_state(struct train *t, struct err *err)
{
    const struct sample_store *store = &t->samples.store;
    struct flow_client *service = t->service.service;
    struct table_rows tables[TABLES_MAX];
    struct sample_piece piece = {.n = 0};
    struct wire_state state = {
        .session = t->session,
        .epoch = t->state.epoch,
        .step = t->state.step,
        .total = t->state.total,
        .empty = !store->n,
        .n = store->n,
        .tables = tables,
    };
    enum flow_answer what;

    memcpy(state.sampler, store->sampler, sizeof state.sampler);
    do {
        state.last = !sample_store_next(store, &piece);
        state.from = (int64_t)piece.from;
        state.id = flow_client_next_id(service);
        sample_store_piece(store, &piece, tables);
        what = stage_terminate(service, t->stage.stop, wire_state_put(&state),
                               state.id, t->session, take_ok, &state, err);
    } while (!state.last && what == FLOW_ANSWERED);
    return what;
}

/* Decodes the weights of the batch; returns -1 if they do not fit it. */
static int
take_weights(void *self, struct wire_msg *answer, struct err *err)
{
    struct train *t = self;
    const struct batch *step = t->service.asked;
    const size_t anchors = step->v * step->b, pairs = anchors + step->extra.n;
    const struct weights *w = &t->service.answer.weights;
    struct err why;
    int rc = 0;

    wire_weights_release(&t->service.answer);
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

/* Requests the weights of a batch, once; with captions, extra samples are
 * texts. */
static enum flow_answer
ask_weights(struct train *t, const struct batch *step, struct weights *weights,
            struct err *err)
{
    struct flow_client *service = t->service.service;
    struct wire_weights_request request = {.id = flow_client_next_id(service),
                                           .session = t->session,
                                           .batch = *step};
    enum flow_answer what;

    if (step->tokens) {
        snprintf(request.kind, sizeof request.kind, "pair");
        request.extra_text_z = step->extra.z;
        batch_captions_undo(&request.batch);
    }
    t->service.asked = step;
    what = stage_terminate(service, t->stage.stop,
                           wire_weights_request_put(&request), request.id,
                           t->session, take_weights, t, err);
    if (what == FLOW_ANSWERED) {
        *weights = t->service.answer.weights;
        weights->sampler = flow_client_binder_hello(service)->sampler;
    }
    return what;
}

/* Weights without the service: the softmax over the other images of the batch,
 * the distribution to which chains in it converge. */
static void
in_batch(struct train *t, const struct batch *step, struct weights *weights)
{
    const size_t n = step->v * step->b, rows = n + step->extra.n;
    const int cross = t->samples.objective->cross_weights_only;
    float *w;

    mem_grow(&t->service.in_batch, &t->service.in_batch_room, n * rows,
             sizeof *w);
    w = t->service.in_batch;
    num_gemm_nt(n, rows, step->dim, 1, step->z, step->z, 0, w);
    for (size_t r = 0; r < n; r++, w += rows) {
        double sum = 0;
        float max;

        for (size_t c = 0; c < rows; c++)
            if (c >= n || c % step->b == r % step->b ||
                (cross && c / step->b == r / step->b))
                w[c] = -INFINITY;
        max = num_max(rows, w);
        for (size_t c = 0; c < rows; c++) {
            w[c] = (float)exp(step->beta * ((double)w[c] - max));
            sum += w[c];
        }
        num_scale(rows, (float)(1 / sum), w);
    }
    *weights =
        (struct weights){.rows = n, .columns = rows, .w = t->service.in_batch};
}

static const char *
service_version(const struct train *t)
{
    return flow_client_binder_hello(t->service.service)->peer;
}

/* Sends the stored state to a service that lost it, and repeats the request. */
static int
find_weights(struct train *t, const struct batch *step, struct weights *weights,
             int *without_service, struct err *err)
{
    struct train_service *s = &t->service;
    const int asks = clock_now() >= s->retry_at;
    enum flow_answer what = FLOW_UNREACHED;

    *without_service = 0;
    if (asks)
        do
            what = s->state_copy.ready ? ask_weights(t, step, weights, err)
                                       : send_state(t, err);
        while (flow_state_copy_on_answer(&s->state_copy, what,
                                         service_version(t)));
    if (what == FLOW_ANSWERED)
        return 1;
    if (what == FLOW_UNREACHED && t->options->in_batch) {
        if (asks) {
            s->retry_at = clock_now() + ask_retry_s;
            log_message("%s: training without it", err->msg);
        }
        in_batch(t, step, weights);
        *without_service = 1;
        flow_state_copy_mark_stale(&s->state_copy);
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
