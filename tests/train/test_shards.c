/* An encoder with batches cut into shards, by ranks that are threads: no bit
 * depends on the number of ranks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "num/threads.h"
#include "ranks/threads.h"
#include "t.h"
#include "tiny.h"
#include "train/shards.h"
#include "util/mem.h"

enum { ROWS = 13, STEPS = 7, MOST = 1 << 20, IDS = 50 };

static uint8_t images[ROWS * TINY_IMAGE];
static float dz[ROWS * 16];
static int32_t tokens[ROWS * 4];
static size_t offsets[ROWS + 1];

static void
fill(void)
{
    struct rng rng;

    tiny_images(images, ROWS, 1);
    rng_init(&rng, 2, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < sizeof dz / sizeof *dz; i++)
        dz[i] = (float)rng_normal(&rng);
    offsets[0] = 3; // a slice may begin anywhere
    for (size_t i = 0; i < ROWS; i++)
        offsets[i + 1] = offsets[i] + 1 + i % 3;
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        tokens[i] = (int32_t)(rng_u32(&rng) % IDS);
}

/* The state of rank 0 at the end, and embeddings of its steps. */
struct outcome {
    size_t n;
    float x[MOST];
};

struct job {
    struct train_encoder_spec spec[2]; /* the second is optional, of texts */
    struct outcome *outcome;
    size_t more; /* further steps, of 12 rows */
    size_t slow; /* a rank that is slower by 0.1 s a step or more */
    struct train_slowest slowest, again;
};

static void
record(struct outcome *outcome, const void *data, size_t bytes)
{
    REQUIRE(outcome->n + (bytes + 3) / 4 <= MOST);
    memcpy(outcome->x + outcome->n, data, bytes);
    outcome->n += (bytes + 3) / 4;
}

static void
record_state(struct outcome *outcome, const struct train_encoder *encoder)
{
    struct train_native *e = train_native(encoder);
    size_t n;
    const float *block = nn_net_statistics(e->net, &n);

    record(outcome, block, n * sizeof *block);
    block = nn_net_params(e->net, &n);
    record(outcome, block, n * sizeof *block);
    for (size_t k = 0; e->optim && k < nn_optim_moments(e->optim).n; k++)
        record(outcome, nn_optim_moments(e->optim).block[k], n * sizeof *block);
    if (e->average.mean)
        record(outcome, e->average.mean, n * sizeof *e->average.mean);
}

static struct nn_input
input_of(const struct train_encoder *encoder, size_t n)
{
    return (struct nn_input){.n = n,
                             .images = images,
                             .ids =
                                 encoder->kind == NN_IDS ? tokens + 3 : tokens,
                             .offsets = offsets};
}

/* Announces the next batch as a learner does: one of n rows; for 10 and 3 rows
 * a batch that will not come. */
static void
announce_next(struct train_encoder *encoder, size_t n)
{
    static uint8_t others[ROWS * TINY_IMAGE];
    const struct nn_input next = {.n = n == 10 ? ROWS : n,
                                  .images = n == 3 ? others : images};

    if (encoder->kind == NN_IMAGES && n > 1)
        train_encoder_prefetch(encoder, &next);
}

/* One step; rank 0 records its results.  If `undone`, a number in the last row,
 * of the last rank, is not finite, and the step is undone. */
static void
take_step(struct train_encoder *encoder, size_t n, int undone,
          struct outcome *outcome)
{
    float *last = dz + n * encoder->dim - 1, copy = *last;
    const struct nn_input input = input_of(encoder, n);
    float z[ROWS * 16];
    double length;
    struct err err;

    train_encoder_forward(encoder, &input, NN_TRAIN, z, &err);
    record(outcome, z, n * encoder->dim * sizeof *z);
    if (undone)
        *last = NAN;
    announce_next(encoder, n);
    train_encoder_backward(encoder, dz, &err);
    train_encoder_norm(encoder, &length, &err);
    *last = copy;
    if (undone) {
        T(encoder->frozen || !isfinite(length),
          "rank 0 detects that the gradient is not finite");
        train_encoder_undo(encoder);
        return;
    }
    record(outcome, &length, sizeof length);
    train_encoder_update(encoder, 0.1, &err);
    train_encoder_average(encoder, &err);
}

static void
lead(struct train_encoder *encoder, const struct job *job)
{
    static const size_t rows[STEPS] = {ROWS, 10, 3, 3, 1, ROWS, ROWS};
    const int two = job->spec[1].rows > 0;
    float z[ROWS * 16];
    struct err err;

    for (size_t i = 0; i < STEPS; i++)
        for (int k = 0; k <= two; k++)
            take_step(encoder + k, rows[i], i == 1, job->outcome);
    for (size_t i = 0; i < job->more; i++)
        take_step(encoder, 12, 0, job->outcome);
    for (int k = 0; k <= two; k++) {
        const struct nn_input input = input_of(encoder + k, ROWS);
        struct nn_weights blocks;

        train_encoder_forward(encoder + k, &input, NN_ENCODE, z, &err);
        record(job->outcome, z, ROWS * encoder[k].dim * sizeof *z);
        train_encoder_get(encoder + k, &blocks, &err);
        blocks.params[1] += 1; // followers must get this
        train_encoder_put(encoder + k, &err);
        take_step(encoder + k, ROWS, 0, job->outcome);
        record_state(job->outcome, encoder + k);
    }
}

/* Runs in several threads at once, so it uses no T(). */
static void
open_shards(struct train_encoder *encoder,
            const struct train_encoder_spec *spec, const struct ranks *ranks,
            int number)
{
    struct err err;

    if (train_shards_open(encoder, spec, ranks, number, &err)) {
        printf("# %s\n", err.msg);
        exit(1);
    }
}

static void
work(const struct ranks *ranks, void *data)
{
    const struct job *job = data;
    struct train_encoder encoder[2] = {{.ops = NULL}};

    num_threads(1);
    for (int k = 0; k < 2 && job->spec[k].rows; k++)
        open_shards(encoder + k, job->spec + k, ranks, k);
    if (ranks->rank) {
        train_shards_follow(encoder, ranks);
    } else {
        lead(encoder, job);
        train_shards_order(ranks, TRAIN_ORDER_END);
    }
    train_encoder_close(encoder);
    train_encoder_close(encoder + 1);
}

static int
swap_slowly(void *self, void *swap)
{
    const struct timespec pause = {.tv_nsec = 10000000};

    nanosleep(&pause, NULL);
    return threads_swap_done(self, swap);
}

/* A few steps with one rank that is slow in the gradient. */
static void
work_slowly(const struct ranks *ranks, void *data)
{
    struct job *job = data;
    struct train_encoder encoder[2] = {{.ops = NULL}};
    struct ranks own = *ranks;

    if (ranks->rank == job->slow)
        own.swap_done = swap_slowly;
    num_threads(1);
    open_shards(encoder, job->spec, &own, 0);
    if (ranks->rank) {
        train_shards_follow(encoder, &own);
    } else {
        for (int i = 0; i < 4; i++)
            take_step(encoder, 12, 0, job->outcome);
        job->slowest = train_shards_slowest(encoder, encoder + 1);
        job->again = train_shards_slowest(encoder, encoder + 1);
        train_shards_order(&own, TRAIN_ORDER_END);
    }
    train_encoder_close(encoder);
}

static struct outcome one, other;

static void
check_ranks(const char *name, struct job job)
{
    void *const jobs[] = {&job, &job, &job, &job};

    for (size_t size = 1; size <= 4; size *= 2) {
        job.outcome = size == 1 ? &one : &other;
        job.outcome->n = 0;
        T(threads_run(size, work, jobs) != (size_t)-1,
          "%s: %zu ranks agree on all lengths", name, size);
        T(job.outcome->n == one.n && one.n > 0 &&
              !memcmp(job.outcome->x, one.x, one.n * sizeof *one.x),
          "%s: with %zu ranks no bit differs", name, size);
    }
}

static struct train_encoder_spec
shard_spec(const char *norm, const char *optim, size_t shards)
{
    struct train_encoder_spec spec = tiny_spec(norm, ROWS, 0);

    spec.shards = shards;
    spec.optim.name = optim;
    spec.optim.weight_decay = 1e-3;
    return spec;
}

static struct train_encoder_spec
text_spec(void)
{
    struct train_encoder_spec spec = shard_spec("batch", "adamw", 4);

    spec.optim.momentum = 0;
    spec.net = (struct nn_spec){.arch = "clip:8x1",
                                .stem = "small",
                                .norm = "batch",
                                .head = "project:6",
                                .vocabulary = IDS,
                                .context = 16};
    return spec;
}

static void
bits_do_not_depend_on_ranks(void)
{
    struct job job = {.spec = {shard_spec("batch", "sgd", 4)}};

    job.spec->average = 1;
    check_ranks("batch norm, mean of weights", job);
    job.spec->whole = 1;
    check_ranks("norms over the batch", job);
    job.spec[0] = shard_spec("batch", "lars-a", 8);
    job.spec->net.head = "12-6-bn";
    check_ranks("LARS, 8 shards", job);
    job.spec->whole = 1;
    check_ranks("LARS, 8 shards, norms over the batch", job);
    job.spec[0] = shard_spec("group", "adam", 4);
    job.spec->optim.momentum = 0;
    job.spec->optim.accumulate = 2;
    check_ranks("Adam, sums of two gradients", job);
    job.spec[0] = shard_spec("batch", "sgd", 4);
    job.spec->net.arch = "table";
    job.spec->net.hidden = 8;
    job.spec->net.head = "none";
    job.spec->net.samples = IDS;
    job.spec->net.views = 1;
    check_ranks("a table", job);
    job.spec[0] = shard_spec("batch", "sgd", 4);
    job.spec[1] = text_spec();
    check_ranks("images and texts", job);
    job.spec[0].whole = 1;
    check_ranks("images and texts, norms over the batch", job);
    job.spec[0].frozen = 1;
    check_ranks("a frozen encoder and one of texts", job);
}

static void
the_slowest_rank_is_returned(void)
{
    for (size_t slow = 0; slow < 4; slow++) {
        struct job job = {.spec = {shard_spec("batch", "sgd", 4)},
                          .slow = slow,
                          .outcome = &other};
        void *const jobs[] = {&job, &job, &job, &job};

        other.n = 0;
        threads_run(4, work_slowly, jobs);
        T(job.slowest.rank == slow && job.slowest.excess > 0,
          "rank %zu is slow: rank %zu is returned, by %g s", slow,
          job.slowest.rank, job.slowest.excess);
        T_NEAR(job.again.excess, 0, 0, "no rank has been slow since");
    }
}

/* Pixels, z and dz between rank 0 and others, gradients between all, and batch
 * statistics: foil-ranks(7).  Orders are less than one percent. */
static void
bytes_of_a_step_match_the_formula(int over_batch)
{
    struct job job = {.spec = {shard_spec("batch", "sgd", 4)},
                      .outcome = &other};
    void *const jobs[] = {&job, &job, &job, &job};
    struct train_encoder whole = tiny_open("batch", ROWS, 0);
    size_t params, running;

    job.spec->whole = over_batch;

    nn_net_params(train_native(&whole)->net, &params);
    nn_net_running(train_native(&whole)->net, &running);
    for (size_t w = 2; w <= 4; w *= 2) {
        const double
            share = (double)(w - 1) / (double)w,
            rows = 12 * (TINY_IMAGE + 8 * TINY_DIM),
            gradient = (double)w * 2 * 4 * (double)params,
            statistics = 4 * 4 * (double)running,
            // sums of 2 c doubles, forward and backward; running is 2 c
            norms = (double)w * log2((double)w) * 16 * (double)running;
        double before, after;

        job.more = 0;
        before = (double)threads_run(w, work, jobs);
        job.more = 10;
        job.outcome->n = 0;
        after = (double)threads_run(w, work, jobs);
        job.outcome->n = 0;
        T_NEAR((after - before) / 10 /
                   (share * (rows + gradient) +
                    (over_batch ? norms : share * statistics)),
               1, 0.01, "bytes of a step by %zu ranks", w);
    }
    train_encoder_close(&whole);
}

/* With a norm by row, shards have the gradient of the whole batch.
 */
static void
shards_have_the_gradient_of_the_whole(void)
{
    const struct train_encoder_spec spec = shard_spec("group", "sgd", 4);
    struct train_encoder whole = tiny_open("group", ROWS, 0), cut;
    const struct nn_input input = {.n = ROWS, .images = images};
    float z[2][ROWS * TINY_DIM];
    double a, b;
    struct err err;

    T(!train_shards_open(&cut, &spec, NULL, 0, &err), "opens without ranks");
    train_encoder_forward(&whole, &input, NN_TRAIN, z[0], &err);
    train_encoder_forward(&cut, &input, NN_TRAIN, z[1], &err);
    train_encoder_backward(&whole, dz, &err);
    train_encoder_backward(&cut, dz, &err);
    train_encoder_norm(&whole, &a, &err);
    train_encoder_norm(&cut, &b, &err);
    T_NEAR(b / a, 1, 1e-5, "the length of the gradient of the whole batch");
    train_encoder_close(&whole);
    train_encoder_close(&cut);
}

/* Compares embeddings, gradient and running statistics of one net with those of
 * shards with norms over the batch. */
static void
compare_whole(const char *head, size_t shards, size_t rows)
{
    struct train_encoder_spec spec = shard_spec("batch", "sgd", shards);
    const struct nn_input input = {.n = rows, .images = images};
    struct train_encoder e[2];
    float z[2][ROWS * TINY_DIM];
    const float *grads[2], *running[2];
    double off = 0, norm = 0, moved = 0, apart = 0;
    size_t params, statistics;
    struct err err;

    spec.whole = 1;
    spec.net.head = head;
    T(!train_shards_open(e + 1, &spec, NULL, 0, &err), "opens without ranks");
    spec.shards = 1;
    T(!train_native_open(e, &spec, &err), "opens without shards");
    for (int k = 0; k < 2; k++) {
        train_encoder_forward(e + k, &input, NN_TRAIN, z[k], &err);
        train_encoder_backward(e + k, dz, &err);
        nn_net_params(train_native(e + k)->net, &params);
        grads[k] = nn_net_grads(train_native(e + k)->net);
        running[k] = nn_net_running(train_native(e + k)->net, &statistics);
    }
    for (size_t i = 0; i < rows * TINY_DIM; i++)
        apart = fmax(apart, fabs(z[0][i] - z[1][i]));
    for (size_t i = 0; i < params; i++) {
        off += pow(grads[1][i] - grads[0][i], 2);
        norm += pow(grads[0][i], 2);
    }
    for (size_t i = 0; i < statistics; i++)
        moved = fmax(moved, fabs(running[1][i] / running[0][i] - 1));
    T_NEAR(apart, 0, 2e-5, "%s, %zu shards: embeddings of the whole batch",
           head, shards);
    T_NEAR(sqrt(off / norm), 0, 2e-5, "the gradient of the whole batch");
    T_NEAR(moved, 0, 1e-5,
           "running statistics are updated once, by the whole batch");
    train_encoder_close(e);
    train_encoder_close(e + 1);
}

static void
norms_over_the_batch_match_one_net(void)
{
    compare_whole("12-6", 2, ROWS);
    compare_whole("12-6-bn", 8, ROWS);
    compare_whole("12-6-bn", 4, 4);
}

static void
wrong_numbers_are_refused(void)
{
    struct err err;

    T(train_shards_check(6, 1, &err) && strstr(err.msg, "no power of two"),
      "6 shards are refused");
    T(train_shards_check(4, 3, &err) && strstr(err.msg, "evenly"),
      "4 shards by 3 ranks are refused");
    T(train_shards_check(0, 2, &err) && train_shards_check(2, 4, &err),
      "fewer shards than ranks are refused");
    T(!train_shards_check(0, 1, &err) && !train_shards_check(1, 1, &err) &&
          !train_shards_check(8, 4, &err),
      "numbers that fit are accepted");
}

int
main(void)
{
    fill();
    num_threads(1);
    wrong_numbers_are_refused();
    shards_have_the_gradient_of_the_whole();
    norms_over_the_batch_match_one_net();
    bits_do_not_depend_on_ranks();
    the_slowest_rank_is_returned();
    bytes_of_a_step_match_the_formula(0);
    bytes_of_a_step_match_the_formula(1);
    return t_done();
}
