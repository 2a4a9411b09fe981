/*
 * A sampler of one's own in C: stands in the place of foil-negatives.  It
 * weighs the other images of a batch by softmax(beta cosine) and keeps no
 * state.
 *
 *     cc -D_POSIX_C_SOURCE=200809L -o sampler sampler.c \
 *         $(pkg-config --cflags --libs foil-static)
 *     ./sampler ipc://run/negatives
 *
 * foil-static: a stage that binds has libfoil.a in it, since only functions of
 * the program itself can bound what peers make it hold (wire/sock.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/gemm.h"
#include "util/opt.h"
#include "util/stop.h"
#include "wire/pairs.h"
#include "wire/server.h"
#include "wire/state.h"
#include "wire/weights.h"

static void
softmax(float *s, size_t rows, size_t b, double beta)
{
    for (size_t r = 0; r < rows; r++, s += rows) {
        double sum = 0;

        for (size_t c = 0; c < rows; c++)
            sum += s[c] = c % b == r % b ? 0 : expf((float)beta * (s[c] - 1));
        for (size_t c = 0; c < rows; c++)
            s[c] /= (float)sum;
    }
}

static struct wire_msg *
weigh(const struct wire_pairs *p)
{
    const size_t rows = p->n_views * p->n;
    float *w = calloc(rows * rows, sizeof *w);
    struct wire_weights weights = {
        .id = p->id, .accepted = 1, .rows = rows, .columns = rows, .w = w};
    struct wire_msg *msg;

    num_gemm_nt(rows, rows, p->dim, 1, p->z, p->z, 0, w);
    softmax(w, rows, p->n, p->beta);
    msg = wire_weights_put(&weights);
    free(w);
    return msg;
}

/* Takes one message; -1 where it is none for us. */
static int
take(struct wire_server *server, const struct wire_news *news, struct err *err)
{
    const int64_t size = wire_server_hello(server)->size;
    struct wire_msg *answer;
    struct wire_state state;
    struct wire_pairs pairs;
    int64_t id;

    if (wire_msg_kind(news->msg) == WIRE_PAIRS) {
        if (wire_pairs_get(&pairs, news->msg, size, err))
            return -1;
        id = pairs.id;
        answer = weigh(&pairs);
        wire_pairs_release(&pairs);
    } else {
        if (wire_state_get(&state, news->msg, err))
            return -1;
        id = state.id;
        answer = wire_state_ok_put(&(struct wire_state_ok){
            id, state.session, state.epoch, state.step});
        wire_state_release(&state);
    }
    wire_server_answer(server, news->peer, id, answer);
    wire_msg_free(answer);
    return 0;
}

int
main(int argc, char **argv)
{
    static const struct opt none[] = {{0}};
    static const struct opt_tool tool = {
        "sampler", "weigh negatives by their softmax", "ENDPOINT", 1, 1, none};
    struct wire_server_config config = {
        .endpoint = *opt_parse(&tool, argc, argv),
        .edge = WIRE_EDGE_NEGATIVES,
        .hello = {.stage = "negatives",
                  .version = WIRE_VERSION,
                  .sampler = "softmax 1"},
    };
    struct err err;
    struct wire *wire = wire_open(NULL, &err);
    struct wire_server *server =
        wire ? wire_server_open(wire, &config, &err) : NULL;
    const int stop = server ? stop_fd(&err) : -1;
    struct wire_news news;

    if (stop < 0)
        die("%s", err.msg);
    while (wire_wait(wire, stop, 1, &err) > 0)
        while (wire_server_next(server, &news, &err) > 0)
            if (news.what == WIRE_REPORT ||
                (news.what == WIRE_MESSAGE && take(server, &news, &news.why) &&
                 wire_server_refuse(server, news.peer, &news.why)))
                say("%s", news.why.msg);
    wire_server_close(server);
    wire_close(wire);
    return EXIT_OK;
}
