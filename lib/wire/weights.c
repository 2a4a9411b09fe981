#include <math.h>

#include "wire/views.h"
#include "wire/weights.h"

#include "values.h"

/* How far from 1 a row of f4 may sum. */
static const double slack = 1e-3;

struct wire_msg *
wire_weights_put(const struct wire_weights *x)
{
    struct wire_writer w;

    REQUIRE(x->rows >= 1 && x->columns >= 1);
    wire_write_start(&w, WIRE_WEIGHTS);
    wire_write_whole(&w, "id", x->id);
    wire_write_real(&w, "accepted", x->accepted);
    wire_write_whole(&w, "moved", x->moved);
    wire_write_tensor(&w, "w", WIRE_F4, x->w, 2,
                      (size_t[]){x->rows, x->columns});
    if (x->keep)
        wire_write_tensor(&w, "keep", WIRE_I8, x->keep, 2,
                          (size_t[]){x->rows, 2});
    if (x->keep_score)
        wire_write_tensor(&w, "keep_score", WIRE_F4, x->keep_score, 1,
                          &x->rows);
    if (x->scale)
        wire_write_tensor(&w, "scale", WIRE_F4, x->scale, 2,
                          (size_t[]){x->rows, 2});
    if (x->bank)
        wire_write_whole(&w, "bank", x->bank);
    if (x->n_values)
        wire_values_write(&w, "values", x->values, x->n_values);
    return wire_write_end(&w);
}

static void
judge_rows(struct wire_reader *r, const struct wire_weights *x, int may_drop)
{
    for (size_t i = 0; i < x->rows; i++) {
        const float *row = x->w + i * x->columns;
        double sum = 0;
        int negative = 0;

        for (size_t j = 0; j < x->columns; j++) {
            negative |= row[j] < 0;
            sum += row[j];
        }
        if (!negative && sum <= 1 + slack && (may_drop || sum >= 1 - slack))
            continue;
        wire_read_fail(r, "row %zu of w is no set of weights: sum %g", i, sum);
        return;
    }
}

/* What there may be for each row besides. */
static void
judge_more(struct wire_reader *r, struct wire_weights *x)
{
    const struct wire_tensor *score, *scale;

    score = wire_read_tensor_if(r, "keep_score", WIRE_F4, 1);
    scale = wire_read_tensor_if(r, "scale", WIRE_F4, 2);
    if (score && (!wire_msg_find(r->msg, "keep") || score->count != x->rows))
        wire_read_fail(r, "keep_score does not fit keep");
    if (scale && (scale->shape[0] != x->rows || scale->shape[1] != 2))
        wire_read_fail(r, "scale does not fit w");
    x->keep_score = score ? score->data : NULL;
    x->scale = scale ? scale->data : NULL;
    for (size_t i = 0; scale && !r->rc && i < scale->count; i++)
        if (x->scale[i] < 0)
            wire_read_fail(r, "a factor of %g in scale", (double)x->scale[i]);
    if (wire_read_has(r, "bank"))
        x->bank = wire_read_whole(r, "bank", 1, WIRE_BANK_MAX);
    if (wire_read_has(r, "values"))
        x->n_values = wire_values_read(r, "values", x->values, WIRE_VALUES_MAX);
}

static void
judge_keep(struct wire_reader *r, const struct wire_weights *x,
           const struct wire_tensor *keep, int64_t size)
{
    if (keep->shape[0] != x->rows || keep->shape[1] != 2) {
        wire_read_fail(r, "keep does not fit w");
        return;
    }
    for (size_t i = 0; i < x->rows; i++) {
        const int64_t *state = (const int64_t *)keep->data + 2 * i;

        if (state[0] < -1 || (size && state[0] >= size) || state[1] < -1 ||
            state[1] >= WIRE_VIEW_MAX || (state[0] == -1) != (state[1] == -1))
            wire_read_fail(r, "row %zu of keep is no chain state", i);
    }
}

int
wire_weights_get(struct wire_weights *weights, struct wire_msg *msg,
                 int64_t size, struct err *err)
{
    struct wire_reader r = wire_read_start(msg, err);
    const struct wire_tensor *w, *keep;
    struct wire_weights got = {0};

    *weights = got;
    got.id = wire_read_whole(&r, "id", 0, INT64_MAX);
    got.accepted = wire_read_real(&r, "accepted", 0, 1);
    got.moved = wire_read_whole(&r, "moved", 0, INT64_MAX);
    w = wire_read_tensor(&r, "w", WIRE_F4, 2);
    keep = wire_read_tensor_if(&r, "keep", WIRE_I8, 2);
    if (r.rc)
        return -1;
    got.rows = w->shape[0];
    got.columns = w->shape[1];
    got.w = w->data;
    if (!w->count)
        wire_read_fail(&r, "w is empty");
    judge_more(&r, &got);
    judge_rows(&r, &got, got.keep_score != NULL);
    if (keep) {
        judge_keep(&r, &got, keep, size);
        got.keep = keep->data;
    }
    if (r.rc)
        return -1;
    *weights = got;
    weights->msg = wire_msg_hold(msg);
    return 0;
}

void
wire_weights_release(struct wire_weights *weights)
{
    wire_msg_free(weights->msg);
    *weights = (struct wire_weights){0};
}
