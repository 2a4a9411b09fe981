#include "wire/features.h"
#include "train.h"
#include "util/dtype.h"
#include "wire/hello.h"
#include "wire/negatives.h"

enum { VIEWS = 2, PIECE = 1 << 20 /* bytes of an answer, about */ };

/* Refuses a selector with another data set than the run's, if that is known. */
static int
check_peer(void *self, const struct wire_hello *hello, struct err *err)
{
    const struct train *t = self;
    const struct wire_hello mine =
        stage_hello("train", t->shape.digest, t->shape.size);

    return wire_hello_fits(&mine, hello, err);
}

int
train_features_open(struct train *t, struct err *err)
{
    const struct flow_server_config config = {
        .endpoint = stage_endpoint(&t->stage, t->options->features, "features"),
        .edge = WIRE_EDGE_FEATURES,
        .hello = stage_hello("train", t->shape.digest, t->shape.size),
        .check = check_peer,
        .self = t,
    };

    if (!t->options->keep_features)
        return 0;
    t->features.server = flow_server_open(t->stage.wire, &config, err);
    return t->features.server ? 0 : -1;
}

void
train_features_close(struct train_features *f)
{
    flow_server_close(f->server);
    arena_release(&f->arrays);
}

static struct wire_msg *
make_refusal(const char *reason, int64_t id, int state)
{
    struct wire_error error = {.id = id, .need_state = state};

    snprintf(error.reason, sizeof error.reason, "%s", reason);
    return wire_error_put(&error);
}

/* See wire/features.h. */
static struct wire_msg *
answer_fetch(struct train *t, const struct wire_features_request *fetch)
{
    const struct train_history *history = &t->history;
    struct arena *arrays = &t->features.arrays;
    const struct train_epoch *epoch;
    struct wire_features piece = {.id = fetch->id};
    struct batch *batch = &piece.batch;
    size_t most, n;
    int64_t *ids;
    float *z;

    if (!history->past || fetch->epoch >= t->state_before.epoch)
        return make_refusal("the epoch has not ended yet", fetch->id, 0);
    if (fetch->epoch + (int64_t)history->keep < t->state_before.epoch) {
        // the selector is late, or can never be served
        if (fetch->plan >= 0 && fetch->plan < t->state_before.epoch)
            return make_refusal("the epoch to plan has ended", fetch->id, 1);
        return make_refusal(
            "the trainer stores too few epochs of features: start it "
            "with --keep-features one above the selector's --lag",
            -1, 0);
    }
    most = PIECE / (VIEWS * history->dim * sizeof *z);
    most = most ? most : 1;
    n = VIEWS * most * history->dim;
    arena_begin(arrays);
    ids = arena_take(arrays, most, sizeof *ids);
    z = arena_take(arrays, n, sizeof *z);
    epoch = train_history_find(history, fetch->epoch);
    if (epoch && (size_t)fetch->from < history->size)
        piece.next_id = (int64_t)train_history_copy(
            history, epoch, (size_t)fetch->from, most, ids, z, &batch->b);
    if (!batch->b)
        return make_refusal("no features of that epoch are stored", fetch->id,
                            1);
    snprintf(piece.mode, sizeof piece.mode, "%s",
             epoch->about[TRAIN_EPOCH_EVAL] ? "eval" : "train");
    batch->epoch = fetch->epoch;
    batch->step = epoch->about[TRAIN_EPOCH_STEPS];
    batch->v = VIEWS;
    batch->dim = history->dim;
    batch->ids = ids;
    if (fetch->half) {
        uint16_t *half = arena_take(arrays, n, sizeof *half);

        half_round(VIEWS * batch->b * batch->dim, z, half);
        piece.half = half;
    } else {
        batch->z = z;
    }
    return wire_features_put(&piece);
}

/* Returns the answer to a request, or NULL with an error message. */
static struct wire_msg *
take_request(struct train *t, struct wire_msg *msg, int64_t *id,
             struct err *err)
{
    struct wire_ok ok = {.session = t->session,
                         .epoch = t->state_before.epoch,
                         .step = t->state_before.step};
    struct wire_features_request fetch;
    struct wire_plan plan;

    switch (wire_msg_kind(msg)) {
    case WIRE_FEATURES_GET:
        if (wire_features_request_get(&fetch, msg, err))
            return NULL;
        *id = fetch.id;
        return answer_fetch(t, &fetch);
    case WIRE_PLAN:
        if (wire_plan_get(&plan, msg, err))
            return NULL;
        t->features.plan[plan.epoch % 2] = plan;
        *id = ok.id = plan.id;
        return wire_ok_put(&ok);
    default:
        err_set(err, "a service of features takes no '%s'",
                wire_kind_name(wire_msg_kind(msg)));
        return NULL;
    }
}

void
train_features_serve(struct train *t)
{
    struct flow_server *server = t->features.server;
    struct wire_msg *msg;
    struct flow_event event;
    int64_t id;

    while (server && flow_server_next(server, &event)) {
        stage_report(&event);
        if (event.kind != FLOW_MESSAGE)
            continue;
        msg = take_request(t, event.msg, &id, &event.why);
        if (msg)
            flow_server_answer(server, event.peer, id, msg);
        else
            stage_refuse(server, &event);
        wire_msg_free(msg);
    }
}

int
train_features_plan(const struct train_features *f, int64_t epoch,
                    struct train_plan *plan)
{
    const struct wire_plan *sent = &f->plan[epoch % 2];

    if (!sent->id || sent->epoch != epoch)
        return 0;
    *plan = (struct train_plan){.strategy = sent->strategy};
    values_copy(&plan->values, sent->values, sent->n);
    return 1;
}
