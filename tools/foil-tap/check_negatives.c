#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tap.h"
#include "wire/negatives.h"

/* A service of negatives: the checks play a trainer with batches of eight
 * images out of 64. */
enum { B = 8, D = 16, SIZE = 64, ROWS = 2 * B, FLOOD = 64 };

static const char digest[] = "c0ffee00c0ffee00c0ffee00c0ffee00";

struct checked {
    struct check *check;
    struct check_actor a;
    int64_t id, step;
    size_t tables; /* of its state, which the trainer stores */
    float z[ROWS * D];
    int64_t ids[B];
};

/* Makes unit rows that differ at each step. */
static void
make_rows(struct checked *s)
{
    for (size_t r = 0; r < ROWS; r++) {
        double square = 0;

        for (size_t k = 0; k < D; k++) {
            const uint32_t bits =
                (uint32_t)((r % B * D + k + 977 * (size_t)s->step + r) *
                           2654435761u);

            s->z[r * D + k] = (float)(bits >> 8) / 8388608.f - 1;
            square += s->z[r * D + k] * s->z[r * D + k];
        }
        for (size_t k = 0; k < D; k++)
            s->z[r * D + k] /= (float)sqrt(square);
    }
    for (size_t i = 0; i < B; i++)
        s->ids[i] = (s->step * B + (int64_t)i) % SIZE;
}

static struct wire_msg *
request_of(const struct checked *s)
{
    return wire_weights_request_put(&(struct wire_weights_request){
        .id = s->id,
        .session = s->check->session,
        .batch = {.step = s->step,
                  .beta = 5,
                  .b = B,
                  .v = 2,
                  .dim = D,
                  .ids = s->ids,
                  .z = s->z},
    });
}

/* A state after so many steps, of one table; NULL: of none. */
static struct wire_msg *
state_of(const struct checked *s, const char *sampler, int64_t total, int empty,
         struct table_rows *table)
{
    struct wire_state state = {
        .id = s->id,
        .session = s->check->session,
        .step = s->step,
        .total = total,
        .empty = empty,
        .n = table != NULL,
        .last = 1,
        .tables = table,
    };

    snprintf(state.sampler, sizeof state.sampler, "%s", sampler);
    return wire_state_put(&state);
}

/* Sends a request and waits for an answer of that kind: it, or NULL. */
static struct wire_msg *
await_answer(struct checked *s, struct wire_msg *request, enum wire_kind kind)
{
    s->a.errors = 0;
    check_send(&s->a, request);
    return check_await(&s->a, kind, kind == WIRE_ERROR ? 3 : 10);
}

/* 1 if the request is refused by its id, or by its kind if the id is unread. */
static int
is_refused(struct checked *s, struct wire_msg *request)
{
    check_expect(s->check, "an error with id %" PRId64 ", or with its kind",
                 s->id);
    wire_msg_free(await_answer(s, request, WIRE_ERROR));
    return s->a.errors && (s->a.error.id == s->id || *s->a.error.of.kind);
}

/* 1 if rows sum to 1, or to less if partial, and no row weighs its own
 * image. */
static int
are_correct(const struct checked *s, const struct wire_weights *answer)
{
    const struct weights *w = &answer->weights;
    int correct = answer->id == s->id && w->rows == ROWS &&
                  w->columns == ROWS + w->n_outside;

    for (size_t r = 0; correct && r < ROWS; r++) {
        double sum = 0;

        for (size_t c = 0; c < w->columns; c++) {
            const float x = w->w[r * w->columns + c];

            sum += x;
            correct &= c >= ROWS || c % B != r % B || x == 0;
        }
        correct &= sum < 1.001 && (w->partial || sum > 0.999);
    }
    return correct;
}

static void
requires_a_state_first(struct checked *s)
{
    struct check *check = s->check;
    struct wire_msg *msg;

    check_require(check, check_greet(&s->a, "train", "", digest, SIZE),
                  "it answers a hello with its own");
    check_rule(check, *s->a.hello.sampler && *s->a.hello.peer,
               "its hello has its name and that of its sampler");
    check->table = "STATES, Service";
    make_rows(s);
    s->id = 1;
    check_rule(
        check, is_refused(s, request_of(s)) && s->a.error.need_state,
        "weights.get before a state is answered with an error that asks for "
        "a state");
    s->id = 2;
    msg = await_answer(s, state_of(s, s->a.hello.sampler, 0, 1, NULL), WIRE_OK);
    check_require(check, msg != NULL, "an empty state is accepted");
    wire_msg_free(msg);
}

static void
check_weights(struct checked *s)
{
    struct check *check = s->check;
    struct wire_msg *one, *two;
    struct wire_weights w;
    struct err err;

    s->id = 3;
    one = await_answer(s, request_of(s), WIRE_WEIGHTS);
    check_require(check, one && !wire_weights_get(&w, one, SIZE, &err),
                  "weights.get is answered with weights");
    check_rule(check, are_correct(s, &w),
               "their rows sum to 1, and none weighs its own image");
    s->tables = w.weights.n_tables;
    wire_weights_release(&w);
    two = await_answer(s, request_of(s), WIRE_WEIGHTS);
    check_rule(check,
               two && wire_msg_bytes(one) == wire_msg_bytes(two) &&
                   !memcmp(wire_msg_part(one, 2).data,
                           wire_msg_part(two, 2).data,
                           wire_msg_part(one, 2).len),
               "the same request gets the same answer");
    wire_msg_free(one);
    wire_msg_free(two);
    for (s->step = 1; s->step < 20; s->step++) {
        s->id++;
        make_rows(s);
        one = await_answer(s, request_of(s), WIRE_WEIGHTS);
        if (!one || wire_weights_get(&w, one, SIZE, &err) ||
            !are_correct(s, &w))
            break;
        wire_weights_release(&w);
        wire_msg_free(one);
    }
    check_rule(check, s->step == 20, "19 further steps get correct weights");
}

static void
refuses_with_a_reason(struct checked *s)
{
    static const uint8_t row[4] = {1};
    struct table_rows table = {
        .name = "x", .rows = 1, .width = 4, .n = 1, .row = row};
    const float long_row[] = {3};
    const int64_t outside[] = {SIZE};
    struct check *check = s->check;
    struct wire_msg *msg;

    s->id++;
    make_rows(s);
    check_rule(check,
               is_refused(s, check_spoil(request_of(s), "ids", outside,
                                         sizeof outside)),
               "an id outside of the data set is answered with an error");
    s->id++;
    check_rule(check,
               is_refused(s, check_spoil(request_of(s), "z", long_row,
                                         sizeof long_row)),
               "a row that is not of unit length is answered with an error");
    s->id++;
    msg = await_answer(s, request_of(s), WIRE_WEIGHTS);
    check_rule(check, msg != NULL,
               "after errors the next request is answered as before");
    wire_msg_free(msg);
    s->id++;
    // a sampler without tables accepts every state
    check_rule(check,
               is_refused(s, state_of(s, s->a.hello.sampler, 100, 0, NULL)) ||
                   !s->tables,
               "a state after 100 steps without its tables is refused");
    s->id++;
    check_rule(check, is_refused(s, state_of(s, "nobody 1", 5, 0, &table)),
               "the state of another sampler is refused");
}

static void
serves_one_trainer(struct checked *s)
{
    struct check *check = s->check;
    struct checked other = {.check = check, .id = 1};
    struct wire_msg *msg;

    check_connect(check, &other.a, s->a.endpoint, "check-2");
    check_greet(&other.a, "train", "", digest, SIZE);
    if (!other.a.errors)
        wire_msg_free(await_answer(
            &other, state_of(&other, s->a.hello.sampler, 0, 1, NULL), WIRE_OK));
    check_rule(check, other.a.errors > 0,
               "a second trainer is refused while the first is connected");
    check_close(&other.a);
    s->id++;
    s->step++;
    make_rows(s);
    msg = await_answer(s, request_of(s), WIRE_WEIGHTS);
    check_rule(check, msg || s->a.error.need_state,
               "the first of two trainers is answered as before");
    wire_msg_free(msg);
}

/* Repeats the last request many times, then sends an older one. */
static void
answers_once(struct checked *s)
{
    struct check *check = s->check;
    size_t same = 0;

    for (int i = 0; i < FLOOD; i++)
        check_send(&s->a, request_of(s));
    for (int i = 0; i < FLOOD; i++) {
        struct wire_msg *msg = check_await(&s->a, WIRE_WEIGHTS, 10);
        struct wire_weights w;
        struct err err;

        if (msg && !wire_weights_get(&w, msg, SIZE, &err)) {
            same += w.id == s->id;
            wire_weights_release(&w);
        }
        wire_msg_free(msg);
    }
    check_rule(check, same == FLOOD,
               "%d requests at once with the same id are all answered", FLOOD);
    s->id--;
    check_rule(check, is_refused(s, request_of(s)),
               "an id below that of the last answer is late: an error");
}

void
check_negatives(struct check *check, const char *const *endpoint)
{
    struct checked s = {.check = check};

    check_connect(check, &s.a, *endpoint, "check-1");
    requires_a_state_first(&s);
    check_weights(&s);
    refuses_with_a_reason(&s);
    serves_one_trainer(&s);
    answers_once(&s);
    check_close(&s.a);
}
