/*
 * foil-negatives answers which negatives a row of a batch meets, and with
 * which weight: requests, the chains of EMC2, one loop.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num/gemm.h"
#include "num/threads.h"
#include "sample/chains.h"
#include "sample/emc2.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/stop.h"
#include "wire/pairs.h"
#include "wire/server.h"
#include "wire/state.h"
#include "wire/weights.h"

/* w of a batch is at most 1 GiB, as a part of a message is. */
enum { ROWS_MAX = 16384 };

static const char *run_dir, *endpoint, *key_file, *allow_dir;
static long seed, burn_in = -1;

static const struct opt opts[] = {
    {"run", 'r', OPT_TEXT, &run_dir, 0, 0, "DIR",
     "run directory: endpoints not given are inside"},
    {"negatives", 0, OPT_TEXT, &endpoint, 0, 0, "ENDPOINT",
     "where the trainer asks [ipc://DIR/negatives]"},
    {"burn-in", 0, OPT_WHOLE, &burn_in, -1, 1e6, "N",
     "proposals not recorded; -1: half of them"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N", "of the random numbers"},
    {"keys", 0, OPT_TEXT, &key_file, 0, 0, "FILE", "our own certificate"},
    {"allow", 0, OPT_TEXT, &allow_dir, 0, 0, "DIR",
     "certificates of those who may connect"},
    {0},
};

static const struct opt_tool tool = {
    "foil-negatives",
    "weigh the negatives of a batch by Markov chains",
    NULL,
    0,
    0,
    opts,
};

/*
 * The chains stand where they stood before the step `next`, the first that
 * they may be asked for, in the run of trainer `next.session`.  An earlier
 * step, or another trainer's, would move them from the wrong place: then the
 * trainer has to hand over its mirror first.
 */
struct sampler {
    struct wire_server *server;
    struct wire_place next;
    size_t size;                 /* of the data set; 0: not known yet */
    struct sample_chains chains; /* empty until they are asked for */

    /* for one batch, all grown together */
    struct sample_state *state; /* [n] */
    float *s, *w;               /* [n,n] */
    size_t rows;                /* n that there is room for */
};

static void
make_room(struct sampler *sampler, size_t n)
{
    if (n <= sampler->rows)
        return;
    free(sampler->state);
    free(sampler->s);
    free(sampler->w);
    sampler->state = mem_array(n, sizeof *sampler->state);
    sampler->s = mem_aligned(n * n, sizeof *sampler->s);
    sampler->w = mem_aligned(n * n, sizeof *sampler->w);
    sampler->rows = n;
}

static void
release(struct sampler *sampler)
{
    wire_server_close(sampler->server);
    sample_chains_release(&sampler->chains);
    free(sampler->state);
    free(sampler->s);
    free(sampler->w);
}

/* Say no to a request: asked again, all may be well. */
static void
refuse(struct sampler *sampler, uint64_t peer, int64_t id, int state,
       const char *reason)
{
    struct wire_error error = {.id = id, .state = state};
    struct wire_msg *msg;

    snprintf(error.reason, sizeof error.reason, "%s", reason);
    msg = wire_error_put(&error);
    wire_server_answer(sampler->server, peer, id, msg);
    wire_msg_free(msg);
}

/* 1 when the chains stand where they must before this step. */
static int
is_ready(const struct sampler *sampler, const struct wire_place *at)
{
    return at->session == sampler->next.session &&
           wire_place_cmp(at, &sampler->next) >= 0;
}

/* Refuse what the sampler cannot do; the burn-in goes to *burn. */
static int
judge(const struct sampler *sampler, const struct wire_pairs *pairs,
      size_t *burn, struct err *err)
{
    size_t v = pairs->n_views, b = pairs->n;

    if (!sampler->size)
        return err_set(err, "the data set was not named: its size is unknown");
    if (sampler->chains.state && v != sampler->chains.views)
        return err_set(err, "%zu views where the chains are for %zu", v,
                       sampler->chains.views);
    if (b < 2 || b > ROWS_MAX / v)
        return err_set(err,
                       "%zu views of %zu images: want 2 images or more "
                       "and %d rows at most",
                       v, b, ROWS_MAX);
    if (pairs->n_extra)
        return err_set(err, "rows from outside of the batch are not weighed");
    *burn = burn_in < 0 ? v * (b - 1) / 2 : (size_t)burn_in;
    if (*burn >= v * (b - 1))
        return err_set(err,
                       "a burn-in of %zu leaves nothing to record: a batch of "
                       "%zu images makes %zu proposals",
                       *burn, b, v * (b - 1));
    return 0;
}

static void
weigh(struct sampler *sampler, uint64_t peer, const struct wire_pairs *pairs,
      size_t burn)
{
    size_t v = pairs->n_views, b = pairs->n, n = v * b;
    struct wire_weights weights = {.id = pairs->id, .rows = n, .columns = n};
    struct sample_emc2_how how = {
        .beta = pairs->beta,
        .burn = burn,
        .seed = (uint64_t)seed,
        .epoch = (uint64_t)pairs->epoch,
        .step = (uint64_t)pairs->step,
    };
    struct sample_batch batch = {.v = v, .b = b, .ids = pairs->ids};
    struct sample_moves moves;
    struct wire_msg *msg;

    make_room(sampler, n);
    if (!sampler->chains.state)
        sample_chains_init(&sampler->chains, sampler->size, v);
    num_gemm_nt(n, n, pairs->dim, 1, pairs->z, pairs->z, 0, sampler->s);
    batch.s = sampler->s;
    sample_chains_get(&sampler->chains, v, b, pairs->ids, NULL, sampler->state,
                      NULL);
    moves = sample_emc2(&how, &batch, sampler->state, NULL, sampler->w);
    sample_chains_put(&sampler->chains, v, b, pairs->ids, NULL, sampler->state,
                      NULL);
    sampler->next.epoch = pairs->epoch;
    sampler->next.step = pairs->step + 1;

    weights.accepted = moves.accepted;
    weights.moved = (int64_t)moves.moved;
    weights.w = sampler->w;
    weights.keep = &sampler->state[0].id;
    msg = wire_weights_put(&weights);
    wire_server_answer(sampler->server, peer, pairs->id, msg);
    wire_msg_free(msg);
}

static int
take_pairs(struct sampler *sampler, uint64_t peer, struct wire_msg *msg,
           struct err *err)
{
    struct wire_pairs pairs;
    struct wire_place at;
    struct err why;
    size_t burn = 0;

    if (wire_pairs_get(&pairs, msg, (int64_t)sampler->size, err))
        return -1;
    at = (struct wire_place){pairs.session, pairs.epoch, pairs.step};
    if (!is_ready(sampler, &at))
        refuse(sampler, peer, pairs.id, 1,
               "the chains do not stand where this step begins");
    else if (judge(sampler, &pairs, &burn, &why))
        refuse(sampler, peer, pairs.id, 0, why.msg);
    else
        weigh(sampler, peer, &pairs, burn);
    wire_pairs_release(&pairs);
    return 0;
}

/* Chains from the trainer's mirror, or none begun; on error none is lost. */
static int
load(struct sampler *sampler, const struct wire_tensor *chain, struct err *err)
{
    struct sample_chains chains;

    if (!chain) {
        sample_chains_release(&sampler->chains);
        return 0;
    }
    if (chain->dtype != WIRE_I8 || chain->rank != 3 || chain->shape[1] < 1 ||
        chain->shape[2] != 2 ||
        (sampler->size && chain->shape[0] != sampler->size))
        return err_set(err, "tensor '%s' is not i8 [%zu, views, 2]",
                       SAMPLE_CHAINS, sampler->size);
    sample_chains_init(&chains, chain->shape[0], chain->shape[1]);
    if (sample_chains_load(&chains, chain->data, NULL, err)) {
        sample_chains_release(&chains);
        return -1;
    }
    sample_chains_release(&sampler->chains);
    sampler->chains = chains;
    sampler->size = chains.size;
    return 0;
}

static int
take_state_put(struct sampler *sampler, uint64_t peer, struct wire_msg *msg,
               struct err *err)
{
    struct wire_state state, ok;
    struct wire_msg *answer;
    struct err why;

    if (wire_state_get(&state, msg, err))
        return -1;
    if (load(sampler, wire_state_find(&state, SAMPLE_CHAINS), &why)) {
        refuse(sampler, peer, state.id, 0, why.msg);
    } else {
        sampler->next =
            (struct wire_place){state.session, state.epoch, state.step};
        ok = (struct wire_state){
            state.id, state.session, state.epoch, state.step, 0, NULL, NULL};
        answer = wire_state_put(WIRE_STATE_OK, &ok);
        wire_server_answer(sampler->server, peer, state.id, answer);
        wire_msg_free(answer);
    }
    wire_state_release(&state);
    return 0;
}

/* Hand out the chains as they stand. */
static int
take_state(struct sampler *sampler, uint64_t peer, struct wire_msg *msg,
           struct err *err)
{
    struct sample_chains *chains = &sampler->chains;
    struct wire_state state;
    struct wire_tensor chain = {
        .name = SAMPLE_CHAINS,
        .dtype = WIRE_I8,
        .rank = 3,
        .shape = {chains->size, chains->views, 2},
        .count = chains->size * chains->views * 2,
        .data = chains->state,
    };
    struct wire_msg *answer;

    if (wire_state_get(&state, msg, err))
        return -1;
    if (state.session != sampler->next.session) {
        refuse(sampler, peer, state.id, 1, "no chains for this trainer");
    } else {
        struct wire_state now = {
            .id = state.id,
            .session = sampler->next.session,
            .epoch = sampler->next.epoch,
            .step = sampler->next.step,
            .n = chains->state ? 1 : 0,
            .tensors = &chain,
        };

        answer = wire_state_put(WIRE_STATE, &now);
        wire_server_answer(sampler->server, peer, state.id, answer);
        wire_msg_free(answer);
    }
    wire_state_release(&state);
    return 0;
}

static int
take(struct sampler *sampler, uint64_t peer, struct wire_msg *msg,
     struct err *err)
{
    switch (wire_msg_kind(msg)) {
    case WIRE_PAIRS:
        return take_pairs(sampler, peer, msg, err);
    case WIRE_STATE_PUT:
        return take_state_put(sampler, peer, msg, err);
    case WIRE_STATE:
        return take_state(sampler, peer, msg, err);
    default:
        return err_set(err, "'%s' is nothing for a sampler",
                       wire_kind_name(wire_msg_kind(msg)));
    }
}

static void
handle(struct sampler *sampler, struct wire_news *news)
{
    switch (news->what) {
    case WIRE_JOINED:
        if (!sampler->size)
            sampler->size = (size_t)wire_server_hello(sampler->server)->size;
        break;
    case WIRE_CAME:
        if (take(sampler, news->peer, news->msg, &news->why) &&
            wire_server_bad(sampler->server, news->peer, &news->why))
            say("%s", news->why.msg);
        break;
    case WIRE_BAD:
        say("%s", news->why.msg);
        break;
    default:
        break;
    }
}

static int
serve(struct sampler *sampler, struct wire *wire, int stop, struct err *err)
{
    struct wire_news news;
    int rc = 1;

    while (rc > 0) {
        rc = wire_wait(wire, stop, 1, err);
        while (rc > 0 && wire_server_next(sampler->server, &news, err) > 0)
            handle(sampler, &news);
    }
    return rc;
}

static void
open_server(struct sampler *sampler, struct wire *wire)
{
    struct wire_server_config config = {
        .kind = WIRE_SERVES,
        .hello = {.stage = "negatives", .version = WIRE_VERSION},
    };
    char *at = wire_endpoint(endpoint, run_dir, "negatives");
    struct err err;

    if (!at)
        opt_misuse("wants -r DIR or --negatives ENDPOINT");
    if (run_dir && file_mkdir(run_dir, 0700, &err))
        die("%s", err.msg);
    config.endpoint = at;
    sampler->server = wire_server_open(wire, &config, &err);
    if (!sampler->server)
        die("%s", err.msg);
    free(at);
}

int
main(int argc, char **argv)
{
    struct sampler sampler = {.next.session = -1};
    struct wire_keys keys = {0};
    struct wire *wire;
    struct err err;
    int stop, rc;

    opt_parse(&tool, argc, argv);
    if (!key_file != !allow_dir)
        opt_misuse("--keys and --allow go together");
    // no priority_low(), unlike other stages: the trainer waits for us
    num_threads(1);
    stop = stop_fd(&err);
    if (stop < 0 ||
        (key_file && wire_keys_open(&keys, key_file, allow_dir, &err)))
        die("%s", err.msg);
    wire = wire_open(key_file ? &keys : NULL, &err);
    if (!wire)
        die("%s", err.msg);
    open_server(&sampler, wire);

    rc = serve(&sampler, wire, stop, &err);
    if (rc < 0)
        die("%s", err.msg);
    release(&sampler);
    wire_close(wire);
    wire_keys_release(&keys);
    return EXIT_OK;
}
