#include <stdlib.h>
#include <string.h>

#include "loss/rows.h"
#include "num/gemm.h"
#include "train.h"
#include "util/clock.h"
#include "util/mem.h"

/* Seconds for which a service that was not there is not asked again. */
static const double pause_without = 10;

/* Chains of our own: the service's kernels without the service. */
static void
open_inside(struct train *t)
{
    const char *scores = t->options->sampler;
    const struct sample_how how = {
        .proposals = SAMPLE_ONCE,
        .scores = !strcmp(scores, "stale")   ? SAMPLE_STALE
                  : !strcmp(scores, "reset") ? SAMPLE_RESET
                                             : SAMPLE_FRESH,
        .burn = -1,
        .horizon = 1,
        .seed = (uint64_t)t->options->seed,
    };

    t->inside = mem_array(1, sizeof *t->inside);
    sample_source_init(t->inside, &how, (size_t)t->shape.size);
    t->service_behind = 1;
}

static int
open_service(struct train *t, struct err *err)
{
    const struct wire_hello *mine = wire_server_hello(t->source.inlet->server);
    struct wire_service_config config = {
        .role = "negatives",
        .hello = {.stage = "train",
                  .version = WIRE_VERSION,
                  .size = t->shape.size},
        .limits = {.part_bytes = WIRE_MOST_PART},
        .deadline = t->options->deadline,
    };
    char *endpoint =
        wire_endpoint(t->options->negatives, t->options->run, "negatives");

    if (!strcmp(t->options->policy, "in-batch")) {
        // a step is worth a short wait, not the whole deadline
        config.timeout = 1;
        config.deadline = 2;
    }
    memcpy(config.hello.run, mine->run, sizeof config.hello.run);
    memcpy(config.hello.digest, t->shape.digest, sizeof config.hello.digest);
    config.endpoint = endpoint;
    t->service = wire_service_open(t->wire, &config, err);
    t->service_behind = 1;
    free(endpoint);
    return t->service ? 0 : -1;
}

int
train_negatives_open(struct train *t, struct err *err)
{
    if (t->service || t->inside)
        return 0;
    if (!strcmp(t->options->sampler, "service"))
        return open_service(t, err);
    open_inside(t);
    return 0;
}

void
train_negatives_close(struct train *t)
{
    wire_service_close(t->service);
    wire_weights_release(&t->answer);
    if (t->inside)
        sample_source_release(t->inside);
    free(t->inside);
}

static void
ask(struct train *t, struct wire_msg *request, int64_t id)
{
    wire_service_ask(t->service, request, id);
    wire_msg_free(request);
}

/* Waits for what comes of a request; what will not do is said. */
static enum wire_answer
hear(struct train *t, struct wire_msg **answer, struct err *err)
{
    enum wire_answer what;

    while ((what = wire_service_wait(t->service, t->stop, answer, err)) ==
           WIRE_ODD)
        train_report_say(t, "%s", err->msg);
    return what;
}

/* Lets go of an answer that will not do: a better one may come. */
static void
refuse(struct train *t, struct wire_msg *answer, struct err *why)
{
    wire_msg_free(answer);
    if (wire_service_bad(t->service, why))
        train_report_say(t, "%s", why->msg);
}

/* 1 when it says that the state was taken. */
static int
is_taken(struct wire_msg *answer, const struct wire_state *state,
         struct err *err)
{
    struct wire_state ok;
    int same;

    if (wire_msg_kind(answer) != WIRE_STATE_OK) {
        err_set(err, "state.put is answered with %s",
                wire_kind_name(wire_msg_kind(answer)));
        return 0;
    }
    if (wire_state_get(&ok, answer, err))
        return 0;
    same = ok.session == state->session && ok.epoch == state->epoch &&
           ok.step == state->step;
    if (!same)
        err_set(err, "state.ok is of another place");
    wire_state_release(&ok);
    return same;
}

/* Gives the service our mirror of what it remembers. */
static enum wire_answer
give_state(struct train *t, struct err *err)
{
    struct sample_array array[SAMPLE_MEMORY_ARRAYS];
    struct wire_tensor tensor[SAMPLE_MEMORY_ARRAYS];
    struct wire_state state = {
        .session = t->state.at.session,
        .epoch = t->state.at.epoch,
        .step = t->state.at.step,
        .tensors = tensor,
    };
    struct wire_msg *answer;
    enum wire_answer what;
    int taken = 0;

    t->samples.memory.total = t->state.total;
    state.n = sample_memory_list(&t->samples.memory, array);
    state.fresh =
        !t->samples.memory.chains.state && !t->samples.memory.bank.rows;
    if (t->inside) {
        t->service_behind = sample_source_load(t->inside, state.n, array, err);
        return t->service_behind ? WIRE_FAILED : WIRE_ANSWERED;
    }
    for (size_t i = 0; i < state.n; i++)
        wire_tensor_init(&tensor[i], array[i].name, array[i].dtype,
                         array[i].rank, array[i].shape, array[i].data);
    state.id = wire_service_id(t->service);
    ask(t, wire_state_put(WIRE_STATE_PUT, &state), state.id);
    while (!taken && (what = hear(t, &answer, err)) == WIRE_ANSWERED) {
        taken = is_taken(answer, &state, err);
        if (!taken)
            refuse(t, answer, err);
        else
            wire_msg_free(answer);
    }
    t->service_behind = what != WIRE_ANSWERED;
    return what;
}

static double
beta_of(const struct train *t)
{
    return 1 / t->param.value[LOSS_TAU];
}

/* Decodes the weights of a batch; -1 where they are those of no such one. */
static int
get_weights(struct wire_weights *weights, struct wire_msg *answer,
            const struct train *t, const struct wire_batch *b, struct err *err)
{
    const int64_t A = b->variants.augmentations, views = A ? A : 2;
    const size_t anchors = 2 * b->n;
    int rc = 0;

    if (wire_msg_kind(answer) != WIRE_WEIGHTS)
        return err_set(err, "pairs are answered with %s",
                       wire_kind_name(wire_msg_kind(answer)));
    if (wire_weights_get(weights, answer, t->shape.size, err))
        return -1;
    if (weights->rows != anchors || weights->columns != anchors + b->n_extra)
        rc = err_set(err, "weights: %zu x %zu of them, want %zu x %zu",
                     weights->rows, weights->columns, anchors,
                     anchors + b->n_extra);
    for (size_t i = 0; weights->keep && i < anchors && !rc; i++)
        if (weights->keep[2 * i + 1] >= views)
            rc =
                err_set(err, "weights: row %zu of keep names view %jd of %jd",
                        i, (intmax_t)weights->keep[2 * i + 1], (intmax_t)views);
    if (rc)
        wire_weights_release(weights);
    return rc;
}

/* A batch that was encoded, as the samplers see it. */
static struct sample_step
step_of(const struct train *t, const struct wire_batch *b)
{
    const struct wire_extra *of = &b->of_extra;
    const size_t d = nn_net_dim(t->encoder.net);

    return (struct sample_step){
        .epoch = (uint64_t)b->at.epoch,
        .step = (uint64_t)b->at.step,
        .beta = beta_of(t),
        .v = 2,
        .b = b->n,
        .extra = b->n_extra,
        .dim = d,
        .fixed = (size_t)b->variants.augmentations,
        .ids = b->ids,
        .variants = b->variants.variant,
        .extra_ids = b->extra_ids,
        .extra_view = of->view,
        .z = t->v,
        .extra_z = t->v + 2 * b->n * d,
        .hints = {of->hint_row, of->hint_view, of->hint_log_q},
    };
}

/* The same for the service. */
static struct wire_msg *
pairs_of(const struct train *t, const struct wire_batch *b, int64_t id)
{
    const struct sample_step step = step_of(t, b);
    const struct wire_pairs pairs = {
        .id = id,
        .session = t->state.at.session,
        .epoch = b->at.epoch,
        .step = b->at.step,
        .beta = step.beta,
        .n = step.b,
        .n_views = step.v,
        .dim = step.dim,
        .n_extra = step.extra,
        .ids = step.ids,
        .z = step.z,
        .extra_ids = step.extra_ids,
        .extra_z = step.extra_z,
        .of_extra = b->of_extra,
        .variants = b->variants,
    };

    return wire_pairs_put(&pairs);
}

/* The answer of the service; it stays until the next one. */
static void
take(struct train *t, struct sample_weights *weights)
{
    const struct wire_weights *answer = &t->answer;

    *weights = (struct sample_weights){
        .rows = answer->rows,
        .columns = answer->columns,
        .w = answer->w,
        .scale = answer->scale,
        .accepted = answer->accepted,
        .moved = (size_t)answer->moved,
        .update = {(const struct sample_state *)answer->keep,
                   answer->keep_score, answer->bank},
        .n_values = answer->n_values,
    };
    _Static_assert((int)WIRE_VALUES_MAX <= (int)SAMPLE_VALUES_MAX,
                   "room for all values of a service");
    for (size_t i = 0; i < answer->n_values; i++)
        weights->values[i] = (struct sample_value){answer->values[i].name,
                                                   answer->values[i].value};
}

/* Asks for the weights of a batch, once. */
static enum wire_answer
ask_weights(struct train *t, const struct wire_batch *b,
            struct sample_weights *weights, struct err *err)
{
    const struct sample_step step = step_of(t, b);
    struct wire_msg *answer;
    enum wire_answer what;
    int64_t id;

    if (t->inside)
        return sample_source_weigh(t->inside, &step, weights, err)
                   ? WIRE_FAILED
                   : WIRE_ANSWERED;
    id = wire_service_id(t->service);
    ask(t, pairs_of(t, b, id), id);
    while ((what = hear(t, &answer, err)) == WIRE_ANSWERED) {
        wire_weights_release(&t->answer);
        if (!get_weights(&t->answer, answer, t, b, err)) {
            wire_msg_free(answer);
            take(t, weights);
            break;
        }
        refuse(t, answer, err);
    }
    return what;
}

/* Without the service: the softmax over the other images of the batch, which
 * is what chains that have mixed within it would say. */
static void
in_batch(struct train *t, const struct wire_batch *b,
         struct sample_weights *weights)
{
    const size_t n = 2 * b->n, rows = n + b->n_extra,
                 d = nn_net_dim(t->encoder.net);

    num_gemm_nt(n, rows, d, 1, t->v, t->v, 0, t->weights);
    loss_partition(b->n, rows, beta_of(t), LOSS_FAMILY, t->weights, t->weights);
    *weights =
        (struct sample_weights){.rows = n, .columns = rows, .w = t->weights};
}

/* A service that lost its state is given ours, and asked again. */
static enum wire_answer
ask_until_answered(struct train *t, const struct wire_batch *b,
                   struct sample_weights *weights, struct err *err)
{
    enum wire_answer what;
    int tries = 3;

    do {
        what = t->service_behind ? give_state(t, err) : WIRE_ANSWERED;
        if (what == WIRE_ANSWERED)
            what = ask_weights(t, b, weights, err);
        t->service_behind |= what == WIRE_NO_STATE;
    } while (what == WIRE_NO_STATE && --tries);
    if (what == WIRE_ANSWERED && t->service)
        memcpy(t->service_met, wire_service_who(t->service)->peer,
               sizeof t->service_met);
    return what;
}

int
train_negatives(struct train *t, const struct wire_batch *b,
                struct train_result *result, struct sample_weights *weights,
                struct err *err)
{
    enum wire_answer what = WIRE_UNREACHED;

    if (clock_now() >= t->service_again)
        what = ask_until_answered(t, b, weights, err);
    if (what == WIRE_ANSWERED) {
        result->accepted = weights->accepted;
        result->moved = (int64_t)weights->moved;
        result->n_more = weights->n_values;
        memcpy(result->more, weights->values, sizeof result->more);
        return 1;
    }
    if (what == WIRE_UNREACHED && !strcmp(t->options->policy, "in-batch")) {
        if (clock_now() >= t->service_again) {
            t->service_again = clock_now() + pause_without;
            train_report_say(t, "%s: training without it", err->msg);
        }
        in_batch(t, b, weights);
        result->alone = 1;
        t->service_behind = 1;
        return 1;
    }
    return what == WIRE_STOPPED ? 0 : -1;
}

void
train_negatives_keep(struct train *t, const struct wire_batch *b,
                     const struct sample_weights *weights)
{
    const struct sample_step step = step_of(t, b);

    t->samples.memory.total = t->state.total;
    sample_memory_step(&t->samples.memory, &step, &weights->update);
}

int
train_negatives_meet(struct train *t, struct err *err)
{
    const char *who;
    int rc;

    while ((rc = wire_service_poll(t->service, err)) > 0)
        train_report_say(t, "%s", err->msg);
    if (rc)
        return -1;
    who = wire_service_who(t->service)->peer;
    if (!wire_service_joined(t->service) || !strcmp(who, t->service_met))
        return 0;
    memcpy(t->service_met, who, sizeof t->service_met);
    switch (give_state(t, err)) {
    case WIRE_REFUSED:
    case WIRE_FAILED:
        return -1;
    default: // when it is gone again, the next one will be met
        return 0;
    }
}
