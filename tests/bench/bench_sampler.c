#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/client.h"
#include "num/vec.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/rng.h"
#include "wire/negatives.h"

/*
 * bench_sampler ENDPOINT STEPS: the median time, in ms, from a batch of
 * features to its weights, as foil-train asks for them: 256 images in two
 * views of 128 numbers, and one row more for each chain.
 */
enum { SIZE = 50000, B = 256, V = 2, N = V * B, EXTRA = N, DIM = 128 };

struct bench {
    struct flow_client *service;
    struct rng rng;
    int64_t *ids, *extra;
    float *z;
};

static struct wire_msg *
ask(struct bench *b, struct wire_msg *request, int64_t id)
{
    struct wire_msg *answer = NULL;
    struct err err;
    enum flow_answer what;

    flow_client_ask(b->service, request, id);
    what = flow_client_wait(b->service, -1, &answer, &err);
    wire_msg_free(request);
    if (what != FLOW_ANSWERED)
        die("%s", err.msg);
    return answer;
}

/* A trainer that begins: nothing is remembered. */
static void
begin(struct bench *b)
{
    const struct wire_state state = {
        .id = flow_client_next_id(b->service), .session = 1, .last = 1};

    wire_msg_free(ask(b, wire_state_put(&state), state.id));
}

static void
make_batch(struct bench *b)
{
    for (size_t i = 0; i < B; i++)
        b->ids[i] = (int64_t)rng_below(&b->rng, SIZE);
    for (size_t i = 0; i < EXTRA; i++)
        b->extra[i] = (int64_t)rng_below(&b->rng, SIZE);
    for (size_t i = 0; i < (N + EXTRA) * DIM; i++)
        b->z[i] = (float)rng_normal(&b->rng);
    num_unit_rows(N + EXTRA, DIM, b->z, b->z, NULL);
}

/* Request, answer, and all that both sides do to write and judge them. */
static double
visit(struct bench *b, int64_t step)
{
    const struct wire_weights_request pairs = {
        .id = flow_client_next_id(b->service),
        .session = 1,
        .batch.step = step,
        .batch.beta = 5,
        .batch.b = B,
        .batch.v = V,
        .batch.dim = DIM,
        .batch.extra.n = EXTRA,
        .batch.ids = b->ids,
        .batch.z = b->z,
        .batch.extra.ids = b->extra,
        .batch.extra.z = b->z + N * DIM,
    };
    const double start = clock_now();
    struct wire_msg *answer =
        ask(b, wire_weights_request_put(&pairs), pairs.id);
    struct wire_weights weights;
    struct err err;

    if (wire_weights_get(&weights, answer, 0, &err))
        die("%s", err.msg);
    wire_weights_release(&weights);
    wire_msg_free(answer);
    return 1e3 * (clock_now() - start);
}

static int
by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int
main(int argc, char **argv)
{
    struct flow_client_config config = {
        .role = "negatives",
        .edge = WIRE_EDGE_NEGATIVES,
        .hello = {.stage = "train",
                  .digest = "00000000000000000000000000000000",
                  .size = SIZE},
    };
    const int steps = argc == 3 ? atoi(argv[2]) : 0;
    struct bench b = {0};
    struct wire *wire;
    struct err err;
    double *ms;

    if (steps < 1)
        die("usage: bench_sampler ENDPOINT STEPS");
    config.endpoint = argv[1];
    wire = wire_open(NULL, &err);
    b.service = wire ? flow_client_open(wire, &config, &err) : NULL;
    if (!b.service)
        die("%s", err.msg);
    b.ids = mem_array(B, sizeof *b.ids);
    b.extra = mem_array(EXTRA, sizeof *b.extra);
    b.z = mem_aligned((N + EXTRA) * DIM, sizeof *b.z);
    ms = mem_array((size_t)steps, sizeof *ms);
    rng_init(&b.rng, 1, RNG_TEST, 0, 0, 0);
    begin(&b);
    for (int i = -1; i < steps; i++) { // the first is not counted
        make_batch(&b);
        ms[i < 0 ? 0 : i] = visit(&b, i + 1);
    }
    qsort(ms, (size_t)steps, sizeof *ms, by_size);
    printf("%.2f\n", ms[steps / 2]);
    flow_client_close(b.service);
    wire_close(wire);
    free(b.ids);
    free(b.extra);
    free(b.z);
    free(ms);
    return 0;
}
