#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow/client.h"
#include "num/vec.h"
#include "select.h"
#include "util/dtype.h"
#include "util/mem.h"
#include "wire/features.h"
#include "wire/negatives.h"

enum { VIEWS = 2 };

void
select_history_release(struct select_history *history)
{
    mem_free(history->rows, history->known);
    *history = (struct select_history){0};
}

/* Asks as stage_terminate(), and adds a hint if nobody answers. */
static enum flow_answer
ask_trainer(struct flow_client *service, int stop, struct wire_msg *request,
            int64_t id,
            int (*take)(void *self, struct wire_msg *answer, struct err *why),
            void *self, struct err *why)
{
    const enum flow_answer what =
        stage_terminate(service, stop, request, id, -1, take, self, why);
    struct err was;

    if (what == FLOW_UNREACHED) {
        was = *why;
        err_set(why,
                "%.300s: start the trainer with --keep-features, so that it "
                "sends features",
                was.msg);
    }
    return what;
}

/* A request for features. */
struct fetch {
    struct wire_features_request request;
    size_t size; // of the data set
    struct select_history *history;
};

/* Stores a piece; samples without unit rows stay unknown, as a diverged run may
 * send any numbers and strategies need unit rows. */
static int
put_piece(struct select_history *history, const struct wire_features *piece,
          size_t size, struct err *why)
{
    const struct batch *batch = &piece->batch;
    const size_t d = batch->dim;

    if (!history->rows) {
        history->rows = mem_aligned(VIEWS * size * d, sizeof *history->rows);
        history->known = mem_array(size, 1);
        history->features = (struct select_features){
            d, history->rows, history->rows + size * d, history->known};
    }
    if (d != history->features.d || batch->v != VIEWS)
        return err_set(why, "features of another shape than the first ones");
    for (size_t i = 0; i < batch->b; i++) {
        const size_t id = (size_t)batch->ids[i];
        uint8_t known = 1;

        for (size_t v = 0; v < VIEWS; v++) {
            const size_t from = (v * batch->b + i) * d;
            float *row = history->rows + (v * size + id) * d;

            if (batch->z)
                memcpy(row, batch->z + from, d * sizeof *row);
            else
                half_widen(d, piece->half + from, row);
            known &= fabs(num_dot(d, row, row) - 1) < 0.01;
        }
        history->n += known && !history->known[id];
        history->known[id] = known;
    }
    history->eval = piece->mode[0] == 'e';
    return 0;
}

/* Takes the requested piece, and requests the next one from now on. */
static int
take_piece(void *self, struct wire_msg *answer, struct err *why)
{
    struct fetch *fetch = self;
    struct wire_features piece;
    int rc;

    if (wire_msg_kind(answer) != WIRE_FEATURES)
        return err_set(why, "features.get is answered with %s",
                       wire_kind_name(wire_msg_kind(answer)));
    if (wire_features_get(&piece, answer, (int64_t)fetch->size, why))
        return -1;
    if (piece.batch.epoch != fetch->request.epoch ||
        piece.next_id <= fetch->request.from)
        rc = err_set(why, "features: not the requested piece");
    else
        rc = put_piece(fetch->history, &piece, fetch->size, why);
    if (!rc)
        fetch->request.from = piece.next_id;
    wire_features_release(&piece);
    return rc;
}

enum flow_answer
select_fetch(struct flow_client *service, int stop,
             const struct wire_features_request *wanted, size_t size,
             struct select_history *history, struct err *why)
{
    struct fetch fetch = {*wanted, size, history};
    enum flow_answer what = FLOW_ANSWERED;

    *history = (struct select_history){0};
    fetch.request.from = 0;
    while (what == FLOW_ANSWERED && fetch.request.from < (int64_t)size) {
        fetch.request.id = flow_client_next_id(service);
        what = ask_trainer(service, stop,
                           wire_features_request_put(&fetch.request),
                           fetch.request.id, take_piece, &fetch, why);
    }
    if (what != FLOW_ANSWERED)
        select_history_release(history);
    return what;
}

static int
take_ok(void *self, struct wire_msg *answer, struct err *why)
{
    const enum wire_kind kind = wire_msg_kind(answer);

    (void)self;
    return kind == WIRE_OK
               ? 0
               : err_set(why, "plan is answered with %s", wire_kind_name(kind));
}

enum flow_answer
select_send_plan(struct flow_client *service, int stop, struct wire_plan *about,
                 struct err *why)
{
    about->id = flow_client_next_id(service);
    return ask_trainer(service, stop, wire_plan_put(about), about->id, take_ok,
                       NULL, why);
}
