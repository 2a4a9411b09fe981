/*
 * A sampler in C that replaces foil-negatives.  It weighs all other images of a
 * batch by softmax(beta cosine), and has no state, so that a trainer hands over
 * its place only.  flow/handover.h checks owner and place of that state;
 * flow/server.h handles repeated and late ids.
 *
 *     cc -D_POSIX_C_SOURCE=200809L -o sampler sampler.c \
 *         $(pkg-config --cflags --libs foil)
 *     ./sampler ipc://run/negatives
 *     foil-tap check negatives ipc://run/negatives
 *
 * Peers can make it use any amount of memory: wire/sock.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow/handover.h"
#include "flow/server.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/stop.h"
#include "wire/error.h"
#include "wire/negatives.h"

struct sampler {
    struct flow_server *server;
    struct flow_state_owner stand;
};

/* ---- mathematics ------------------------------------------------------- */

/* Products are cosines only if rows have unit length. */
static int
check_rows(size_t n, size_t d, const float *z, struct err *err)
{
    for (size_t r = 0; r < n; r++)
        if (!(fabs(num_dot(d, z + r * d, z + r * d) - 1) < 0.02))
            return err_set(err, "row %zu is not of unit length", r);
    return 0;
}

/* Turns rows of similarities into weights, in place; of the b images of a batch
 * the own one gets none. */
static void
softmax(size_t rows, size_t columns, size_t b, double beta, float *s)
{
    for (size_t r = 0; r < rows; r++, s += columns) {
        double sum = 0;

        for (size_t c = 0; c < columns; c++) {
            const int own = c < rows && c % b == r % b;

            s[c] = own ? 0 : (float)exp(beta * (s[c] - 1));
            sum += s[c];
        }
        for (size_t c = 0; c < columns; c++)
            s[c] = (float)(s[c] / sum);
    }
}

/* Returns the answer to a request, or NULL with the reason. */
static struct wire_msg *
weigh(const struct wire_weights_request *request, struct err *err)
{
    const struct batch *batch = &request->batch;
    const struct batch_extra *extra = &batch->extra;
    const size_t rows = batch->v * batch->b, d = batch->dim;
    const size_t columns = rows + extra->n + extra->n_texts;
    float *z = mem_array(columns * d, sizeof *z);
    float *w = mem_array(rows * columns, sizeof *w);
    struct wire_msg *msg = NULL;

    memcpy(z, batch->z, rows * d * sizeof *z);
    if (extra->n)
        memcpy(z + rows * d, extra->z, extra->n * d * sizeof *z);
    if (extra->n_texts)
        memcpy(z + (rows + extra->n) * d, request->extra_text_z,
               extra->n_texts * d * sizeof *z);
    if (!check_rows(columns, d, z, err)) {
        num_gemm_nt(rows, columns, d, 1, z, z, 0, w);
        softmax(rows, columns, batch->b, batch->beta, w);
        msg = wire_weights_put(&(struct wire_weights){
            .id = request->id,
            .weights = {
                .accepted = 1, .rows = rows, .columns = columns, .w = w}});
    }
    free(z);
    free(w);
    return msg;
}

/* ---- requests: 0, or -1 if the message is refused ----------------------- */

/* Sends the answer to a request, or with NULL an error; with `need_state` the
 * trainer has to send its state, and then the request again. */
static int
send_answer(struct sampler *s, uint64_t peer, int64_t id, struct wire_msg *msg,
            int need_state, const struct err *why)
{
    struct wire_error error = {.id = id, .need_state = need_state};

    if (!msg) {
        memcpy(error.reason, why->msg, sizeof error.reason - 1);
        msg = wire_error_put(&error);
    }
    flow_server_answer(s->server, peer, id, msg);
    wire_msg_free(msg);
    return 0;
}

/* Checks that a peer may use us in a session: not while another one does. */
static int
check_peer(const struct sampler *s, uint64_t peer, int64_t session,
           struct err *err)
{
    const uint64_t owner = s->stand.owner;
    const struct wire_hello *there = NULL;

    if (wire_session_check(session, err))
        return -1;
    if (owner && owner != peer && flow_server_ping(s->server, owner))
        there = flow_server_peer_hello(s->server, owner);
    return flow_state_owner_check(&s->stand, peer, session, there, err);
}

static int
take_pairs(struct sampler *s, uint64_t peer,
           const struct wire_weights_request *p, struct err *err)
{
    const struct wire_place at = {p->session, p->batch.epoch, p->batch.step};
    struct wire_msg *weights;

    if (check_peer(s, peer, p->session, err))
        return -1;
    if (!flow_state_owner_fits(&s->stand, &at)) {
        err_set(err, "this sampler is at another step");
        return send_answer(s, peer, p->id, NULL, 1, err);
    }
    weights = weigh(p, err);
    if (weights)
        flow_state_owner_advance(&s->stand, &at, peer,
                                 flow_server_peer_hello(s->server, peer)->peer);
    return send_answer(s, peer, p->id, weights, 0, err);
}

static int
take_state(struct sampler *s, uint64_t peer, const struct wire_state *state,
           struct err *err)
{
    const struct wire_ok ok = {state->id, state->session, state->epoch,
                               state->step};

    if (check_peer(s, peer, state->session, err))
        return -1;
    if (state->n) {
        err_set(err, "this sampler has no state: that one is of '%s'",
                state->sampler);
        return send_answer(s, peer, state->id, NULL, 0, err);
    }
    if (flow_state_owner_check_piece(&s->stand, state, err) < 0)
        return send_answer(s, peer, state->id, NULL, 1, err);
    flow_state_owner_add_piece(&s->stand, state, peer,
                               flow_server_peer_hello(s->server, peer)->peer);
    flow_state_owner_commit(&s->stand); // without tables one piece is complete
    return send_answer(s, peer, state->id, wire_ok_put(&ok), 0, err);
}

static int
handle_message(struct sampler *s, const struct flow_event *event,
               struct err *err)
{
    const int64_t size = flow_server_hello(s->server)->size;
    struct wire_state state;
    struct wire_weights_request request;
    int refused;

    if (wire_msg_kind(event->msg) == WIRE_WEIGHTS_GET) {
        if (wire_weights_request_get(&request, event->msg, size, err))
            return -1;
        refused = take_pairs(s, event->peer, &request, err);
        wire_weights_request_release(&request);
    } else {
        if (wire_state_get(&state, event->msg, err))
            return -1;
        refused = take_state(s, event->peer, &state, err);
        wire_state_release(&state);
    }
    return refused;
}

/* ---- the stage ---------------------------------------------------------- */

static void
handle_event(struct sampler *s, struct flow_event *event)
{
    if (event->kind == FLOW_JOINED)
        flow_state_owner_on_hello(
            &s->stand, event->peer,
            flow_server_peer_hello(s->server, event->peer)->peer);
    if (event->kind == FLOW_REPORT ||
        (event->kind == FLOW_MESSAGE && handle_message(s, event, &event->why) &&
         flow_server_refuse(s->server, event)))
        log_message("%s", event->why.msg);
}

int
main(int argc, char **argv)
{
    static const struct opt none[] = {{0}};
    static const struct opt_tool tool = {
        "sampler", "weigh negatives by their softmax", "ENDPOINT", 1, 1, none};
    const struct flow_server_config config = {
        .endpoint = *opt_parse(&tool, argc, argv),
        .edge = WIRE_EDGE_NEGATIVES,
        .hello = {.stage = "negatives",
                  .version = WIRE_VERSION,
                  .sampler = "softmax 1"},
    };
    struct sampler s = {0};
    struct err err;
    struct wire *wire = wire_open(NULL, &err);
    struct flow_event event;
    int stop = -1;

    flow_state_owner_init(&s.stand);
    if (wire)
        s.server = flow_server_open(wire, &config, &err);
    if (s.server)
        stop = stop_fd(&err);
    if (stop < 0)
        die("%s", err.msg);
    while (wire_wait(wire, stop, 1, &err) > 0)
        while (flow_server_next(s.server, &event))
            handle_event(&s, &event);
    flow_server_close(s.server);
    wire_close(wire);
    return EXIT_OK;
}
