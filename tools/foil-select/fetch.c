#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow/client.h"
#include "num/vec.h"
#include "select.h"
#include "util/half.h"
#include "util/mem.h"
#include "util/opt.h"
#include "wire/features.h"
#include "wire/negatives.h"

enum { VIEWS = 2 };

static void
add_hint(struct err *why)
{
    const struct err was = *why;

    err_set(why,
            "%.300s: start the trainer with --keep-features, so that it sends "
            "features",
            was.msg);
}

/* Waits for the result of a request. */
static enum select_fetched
wait_for_trainer(struct flow_client *service, int stop,
                 struct wire_msg **answer, struct err *why)
{
    enum flow_answer what;

    while ((what = flow_client_wait(service, stop, answer, why)) ==
           FLOW_BAD_MESSAGE)
        log_message("%s", why->msg);
    switch (what) {
    case FLOW_ANSWERED:
        return FETCH_DONE;
    case FLOW_STOPPED:
        return FETCH_STOPPED;
    case FLOW_NO_STATE:
        return FETCH_NONE;
    case FLOW_REFUSED:
        return FETCH_FAILED;
    case FLOW_FAILED:
    case FLOW_BAD_MESSAGE:
        break;
    case FLOW_UNREACHED:
        add_hint(why);
        break;
    }
    return FETCH_AGAIN;
}

void
select_history_release(struct select_history *history)
{
    free(history->rows);
    free(history->known);
    *history = (struct select_history){0};
}

static void
allocate_history(struct select_history *history, size_t size, size_t d)
{
    history->rows = mem_aligned(VIEWS * size * d, sizeof *history->rows);
    history->known = mem_array(size, 1);
    history->features = (struct select_features){
        d, history->rows, history->rows + size * d, history->known};
}

static void
get_row(const struct wire_features *piece, size_t from, float *row)
{
    const struct batch *batch = &piece->batch;

    if (batch->z)
        memcpy(row, batch->z + from, batch->dim * sizeof *row);
    else
        half_widen(batch->dim, piece->half + from, row);
}

/* A diverged run may send any numbers; strategies need unit rows. */
static int
is_unit(size_t d, const float *row)
{
    return fabs(num_dot(d, row, row) - 1) < 0.01;
}

/* Stores a piece; samples without unit rows stay unknown. */
static int
put_piece(struct select_history *history, const struct wire_features *piece,
          size_t size, struct err *why)
{
    const struct batch *batch = &piece->batch;
    const size_t d = batch->dim;

    if (!history->rows)
        allocate_history(history, size, d);
    if (d != history->features.d || batch->v != VIEWS)
        return err_set(why, "features of another shape than the first ones");
    for (size_t i = 0; i < batch->b; i++) {
        const size_t id = (size_t)batch->ids[i];
        uint8_t known = 1;

        for (size_t v = 0; v < VIEWS; v++) {
            float *row = history->rows + (v * size + id) * d;

            get_row(piece, (v * batch->b + i) * d, row);
            known &= is_unit(d, row);
        }
        history->n += known && !history->known[id];
        history->known[id] = known;
    }
    history->eval = piece->mode[0] == 'e';
    return 0;
}

/* Decodes a piece; -1 if it is malformed, or another piece. */
static int
get_piece(struct wire_features *piece, struct wire_msg *answer,
          const struct wire_features_request *fetch, size_t size,
          struct err *why)
{
    if (wire_msg_kind(answer) != WIRE_FEATURES)
        return err_set(why, "features.get is answered with %s",
                       wire_kind_name(wire_msg_kind(answer)));
    if (wire_features_get(piece, answer, (int64_t)size, why))
        return -1;
    if (piece->batch.epoch == fetch->epoch && piece->next_id > fetch->from)
        return 0;
    wire_features_release(piece);
    return err_set(why, "features: not the requested piece");
}

/* Fetches the piece at *from, and sets *from to the start of the next. */
static enum select_fetched
next_piece(struct flow_client *service, int stop,
           const struct wire_features_request *wanted, size_t size,
           int64_t *from, struct select_history *history, struct err *why)
{
    struct wire_features_request fetch = *wanted;
    struct wire_features piece;
    struct wire_msg *answer;
    enum select_fetched what;

    fetch.id = flow_client_next_id(service);
    fetch.from = *from;
    stage_ask(service, wire_features_request_put(&fetch), fetch.id);
    while ((what = wait_for_trainer(service, stop, &answer, why)) ==
           FETCH_DONE) {
        int rc = get_piece(&piece, answer, &fetch, size, why);

        if (!rc) {
            rc = put_piece(history, &piece, size, why);
            *from = piece.next_id;
            wire_features_release(&piece);
        }
        if (!rc) {
            wire_msg_free(answer);
            break;
        }
        *from = fetch.from;
        stage_refuse_answer(service, answer, why);
    }
    return what;
}

enum select_fetched
select_fetch(struct flow_client *service, int stop,
             const struct wire_features_request *wanted, size_t size,
             struct select_history *history, struct err *why)
{
    enum select_fetched what = FETCH_DONE;
    int64_t from = 0;

    *history = (struct select_history){0};
    while (what == FETCH_DONE && from < (int64_t)size)
        what = next_piece(service, stop, wanted, size, &from, history, why);
    if (what != FETCH_DONE)
        select_history_release(history);
    return what;
}

enum select_fetched
select_send_plan(struct flow_client *service, int stop, struct wire_plan *about,
                 struct err *why)
{
    struct wire_msg *answer;
    enum select_fetched what;

    about->id = flow_client_next_id(service);
    stage_ask(service, wire_plan_put(about), about->id);
    while ((what = wait_for_trainer(service, stop, &answer, why)) ==
           FETCH_DONE) {
        const enum wire_kind kind = wire_msg_kind(answer);

        if (kind == WIRE_OK) {
            wire_msg_free(answer);
            break;
        }
        err_set(why, "plan is answered with %s", wire_kind_name(kind));
        stage_refuse_answer(service, answer, why);
    }
    return what;
}
