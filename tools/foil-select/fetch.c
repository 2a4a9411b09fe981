#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "select.h"
#include "util/half.h"
#include "util/mem.h"
#include "wire/features.h"
#include "wire/fetch.h"
#include "wire/service.h"
#include "wire/state.h"

enum { VIEWS = 2 };

static void
hint(struct err *why)
{
    const struct err was = *why;

    err_set(why,
            "%.300s: a trainer gives features when it is started with "
            "--keep-features",
            was.msg);
}

/* Sends a request, which it frees, and says what came of it. */
static enum select_fetched
ask(struct wire_service *service, int stop, struct wire_msg *request,
    int64_t id, struct wire_msg **answer, struct err *why)
{
    enum wire_answer what;

    wire_service_ask(service, request, id);
    what = wire_service_wait(service, stop, answer, why);
    wire_msg_free(request);
    switch (what) {
    case WIRE_ANSWERED:
        return FETCH_DONE;
    case WIRE_STOPPED:
        return FETCH_STOPPED;
    case WIRE_NO_STATE:
        return FETCH_NONE;
    case WIRE_REFUSED:
        return FETCH_FAILED;
    case WIRE_FAILED:
        break;
    case WIRE_UNREACHED:
        hint(why);
        break;
    }
    return FETCH_AGAIN;
}

void
select_table_release(struct select_table *table)
{
    free(table->rows);
    free(table->known);
    *table = (struct select_table){0};
}

static void
make_room(struct select_table *table, size_t size, size_t d)
{
    table->rows = mem_aligned(VIEWS * size * d, sizeof *table->rows);
    table->known = mem_array(size, 1);
    table->features = (struct select_features){
        d, table->rows, table->rows + size * d, table->known};
}

static void
get_row(const struct wire_features *piece, size_t from, float *row)
{
    if (piece->z)
        memcpy(row, piece->z + from, piece->dim * sizeof *row);
    else
        half_widen(piece->dim, piece->half + from, row);
}

/* A run that has come apart sends anything; strategies rely on unit rows. */
static int
is_unit(size_t d, const float *row)
{
    return fabs(num_dot(d, row, row) - 1) < 0.01;
}

/* Puts a piece into its place; what is no feature stays unknown. */
static int
put(struct select_table *table, const struct wire_features *piece, size_t size,
    struct err *why)
{
    const size_t d = piece->dim;

    if (!table->rows)
        make_room(table, size, d);
    if (d != table->features.d || piece->n_views != VIEWS)
        return err_set(why, "features of another shape than the first ones");
    for (size_t i = 0; i < piece->n; i++) {
        const size_t id = (size_t)piece->ids[i];

        uint8_t known = 1;

        for (size_t v = 0; v < VIEWS; v++) {
            float *row = table->rows + (v * size + id) * d;

            get_row(piece, (v * piece->n + i) * d, row);
            known &= is_unit(d, row);
        }
        table->n += known && !table->known[id];
        table->known[id] = known;
    }
    table->eval = piece->mode[0] == 'e';
    return 0;
}

/* One piece, from *from on, which becomes where to ask on. */
static enum select_fetched
next_piece(struct wire_service *service, int stop,
           const struct wire_fetch *wanted, size_t size, int64_t *from,
           struct select_table *table, struct err *why)
{
    struct wire_fetch fetch = *wanted;
    struct wire_features piece;
    struct wire_msg *answer;
    enum select_fetched what;

    fetch.id = wire_service_id(service);
    fetch.from = *from;
    what = ask(service, stop, wire_fetch_put(&fetch), fetch.id, &answer, why);
    if (what != FETCH_DONE)
        return what;
    if (wire_msg_kind(answer) != WIRE_FEATURES ||
        wire_features_get(&piece, answer, (int64_t)size, why)) {
        if (wire_msg_kind(answer) != WIRE_FEATURES)
            err_set(why, "the trainer answers features.get with %s",
                    wire_kind_name(wire_msg_kind(answer)));
        what = FETCH_AGAIN;
    } else {
        if (piece.epoch != fetch.epoch || piece.next <= *from)
            what = FETCH_AGAIN;
        if (what == FETCH_AGAIN)
            err_set(why, "the trainer answers with another piece");
        else if (put(table, &piece, size, why))
            what = FETCH_AGAIN;
        *from = piece.next;
        wire_features_release(&piece);
    }
    wire_msg_free(answer);
    return what;
}

enum select_fetched
select_fetch(struct wire_service *service, int stop,
             const struct wire_fetch *wanted, size_t size,
             struct select_table *table, struct err *why)
{
    enum select_fetched what = FETCH_DONE;
    int64_t from = 0;

    *table = (struct select_table){0};
    while (what == FETCH_DONE && from < (int64_t)size)
        what = next_piece(service, stop, wanted, size, &from, table, why);
    if (what != FETCH_DONE)
        select_table_release(table);
    return what;
}

enum select_fetched
select_tell(struct wire_service *service, int stop, struct wire_plan *about,
            struct err *why)
{
    struct wire_msg *answer;
    enum select_fetched what;

    about->id = wire_service_id(service);
    what = ask(service, stop, wire_plan_put(about), about->id, &answer, why);
    if (what == FETCH_DONE)
        wire_msg_free(answer);
    return what;
}
