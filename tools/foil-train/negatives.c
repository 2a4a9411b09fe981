#include <stdlib.h>
#include <string.h>

#include "loss/rows.h"
#include "num/gemm.h"
#include "train.h"
#include "util/clock.h"
#include "util/mem.h"

/* Seconds for which a service that was not there is not asked again. */
static const double pause_without = 10;

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
    if (t->service || strcmp(t->options->sampler, "service"))
        return 0;
    return open_service(t, err);
}

void
train_negatives_close(struct train *t)
{
    wire_service_close(t->service);
    wire_weights_release(&t->answer);
    train_inside_release(&t->inside);
    free(t->in_batch);
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
        .session = t->session,
        .epoch = t->state.epoch,
        .step = t->state.step,
        .tensors = tensor,
    };
    struct wire_msg *answer;
    enum wire_answer what;
    int taken = 0;

    t->samples.memory.total = t->state.total;
    state.n = sample_memory_list(&t->samples.memory, array);
    state.fresh =
        !t->samples.memory.chains.state && !t->samples.memory.bank.rows;
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

/* Decodes the weights of a batch; -1 where they are those of no such one. */
static int
get_weights(struct wire_weights *weights, struct wire_msg *answer,
            const struct train *t, const struct sample_step *step,
            struct err *err)
{
    const int64_t views = (int64_t)sample_step_views(step);
    const size_t anchors = step->v * step->b;
    int rc = 0;

    if (wire_msg_kind(answer) != WIRE_WEIGHTS)
        return err_set(err, "pairs are answered with %s",
                       wire_kind_name(wire_msg_kind(answer)));
    if (wire_weights_get(weights, answer, t->shape.size, err))
        return -1;
    if (weights->rows != anchors || weights->columns != anchors + step->extra)
        rc = err_set(err, "weights: %zu x %zu of them, want %zu x %zu",
                     weights->rows, weights->columns, anchors,
                     anchors + step->extra);
    for (size_t i = 0; weights->keep && i < anchors && !rc; i++)
        if (weights->keep[2 * i + 1] >= views)
            rc =
                err_set(err, "weights: row %zu of keep names view %jd of %jd",
                        i, (intmax_t)weights->keep[2 * i + 1], (intmax_t)views);
    if (rc)
        wire_weights_release(weights);
    return rc;
}

/* What the service is asked of a step. */
static struct wire_msg *
pairs_of(const struct train *t, const struct sample_step *step, int64_t id)
{
    const struct wire_pairs pairs = {
        .id = id,
        .session = t->session,
        .epoch = (int64_t)step->epoch,
        .step = (int64_t)step->step,
        .beta = step->beta,
        .n = step->b,
        .n_views = step->v,
        .dim = step->dim,
        .n_extra = step->extra,
        .ids = step->ids,
        .z = step->z,
        .extra_ids = step->extra_ids,
        .extra_z = step->extra_z,
        .of_extra = t->batch->of_extra,
        .variants = t->batch->variants,
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
ask_weights(struct train *t, const struct sample_step *step,
            struct sample_weights *weights, struct err *err)
{
    const int64_t id = wire_service_id(t->service);
    struct wire_msg *answer;
    enum wire_answer what;

    ask(t, pairs_of(t, step, id), id);
    while ((what = hear(t, &answer, err)) == WIRE_ANSWERED) {
        wire_weights_release(&t->answer);
        if (!get_weights(&t->answer, answer, t, step, err)) {
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
in_batch(struct train *t, const struct sample_step *step,
         struct sample_weights *weights)
{
    const size_t n = step->v * step->b, rows = n + step->extra;

    mem_grow(&t->in_batch, &t->in_batch_room, n * rows, sizeof *t->in_batch);
    num_gemm_nt(n, rows, step->dim, 1, step->z, step->z, 0, t->in_batch);
    loss_partition(step->b, rows, step->beta, LOSS_FAMILY, t->in_batch,
                   t->in_batch);
    *weights =
        (struct sample_weights){.rows = n, .columns = rows, .w = t->in_batch};
}

/* A service that lost its state is given ours, and asked again. */
static enum wire_answer
ask_until_answered(struct train *t, const struct sample_step *step,
                   struct sample_weights *weights, struct err *err)
{
    enum wire_answer what;
    int tries = 3;

    do {
        what = t->service_behind ? give_state(t, err) : WIRE_ANSWERED;
        if (what == WIRE_ANSWERED)
            what = ask_weights(t, step, weights, err);
        t->service_behind |= what == WIRE_NO_STATE;
    } while (what == WIRE_NO_STATE && --tries);
    if (what == WIRE_ANSWERED)
        memcpy(t->service_met, wire_service_who(t->service)->peer,
               sizeof t->service_met);
    return what;
}

static int
weigh(void *self, const struct sample_step *step,
      struct sample_weights *weights, int *alone, struct err *err)
{
    struct train *t = self;
    enum wire_answer what = WIRE_UNREACHED;

    *alone = 0;
    if (clock_now() >= t->service_again)
        what = ask_until_answered(t, step, weights, err);
    if (what == WIRE_ANSWERED)
        return 1;
    if (what == WIRE_UNREACHED && !strcmp(t->options->policy, "in-batch")) {
        if (clock_now() >= t->service_again) {
            t->service_again = clock_now() + pause_without;
            train_report_say(t, "%s: training without it", err->msg);
        }
        in_batch(t, step, weights);
        *alone = 1;
        t->service_behind = 1;
        return 1;
    }
    return what == WIRE_STOPPED ? 0 : -1;
}

/* Its chains have moved, our mirror has not. */
static void
refused(void *self)
{
    struct train *t = self;

    t->service_behind = 1;
}

struct train_negatives
train_negatives_of(struct train *t)
{
    const char *scores = t->options->sampler;

    if (!strcmp(scores, "service"))
        return (struct train_negatives){t, weigh, refused};
    train_inside_init(&t->inside, &t->samples,
                      !strcmp(scores, "stale")   ? SAMPLE_STALE
                      : !strcmp(scores, "reset") ? SAMPLE_RESET
                                                 : SAMPLE_FRESH,
                      (uint64_t)t->options->seed);
    return train_inside_negatives(&t->inside);
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
