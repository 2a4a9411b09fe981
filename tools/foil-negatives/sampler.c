#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "negatives.h"
#include "num/vec.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

void
sampler_set_data(struct sampler *sampler, const struct wire_hello *hello)
{
    const struct sample_settings *settings = &sampler->options->settings;

    if (sampler->known || !hello->size)
        return;
    sample_source_init(&sampler->source, settings, (size_t)hello->size);
    sampler->incoming.most = settings->most;
    sampler->known = 1;
}

void
sampler_begin(struct sampler *sampler, const struct wire_place *at)
{
    if (sampler->owner_state.owner &&
        flow_server_ping(sampler->server, sampler->owner_state.owner))
        return;
    sample_source_begin(&sampler->source, 0);
    flow_state_owner_begin(&sampler->owner_state, at);
}

void
sampler_release(struct sampler *sampler)
{
    flow_server_close(sampler->server);
    weigher_close(sampler->weigher);
    sample_store_release(&sampler->incoming);
    sample_source_release(&sampler->source);
    free(sampler->views);
}

/* The name by which a peer is recognised after a reconnect. */
static const char *
name_of(const struct sampler *sampler, uint64_t peer)
{
    const struct wire_hello *who =
        flow_server_peer_hello(sampler->server, peer);

    return who ? who->peer : "";
}

/* Refuses rows that are not of unit length, as their products are no cosines.
 * The square may differ by the error of half precision; a row of zeros is
 * accepted. */
static int
check_rows(size_t n, size_t d, const float *z, const char *what,
           struct err *err)
{
    for (size_t r = 0; r < n; r++) {
        const double square = num_dot(d, z + r * d, z + r * d);

        if (square > 0 && !(fabs(square - 1) < 0.02))
            return err_set(err, "row %zu of '%s' has length %g: want 1", r,
                           what, sqrt(square));
    }
    return 0;
}

/* Answers `weights.get` of a peer and advances by a step; on error returns NULL
 * and nothing has changed. */
static struct wire_msg *
weigh_request(struct sampler *sampler, uint64_t peer,
              const struct wire_weights_request *request, struct err *err)
{
    const struct batch *p = &request->batch;
    const struct wire_place at = wire_place_of(request->session, p);
    struct batch batch = *p;
    struct wire_weights answer = {.id = request->id};

    if (check_rows(p->v * p->b, p->dim, p->z, "z", err) ||
        check_rows(p->extra.n, p->dim, p->extra.z, "extra_z", err) ||
        check_rows(p->extra.n_texts, p->dim, request->extra_text_z,
                   "extra_text_z", err))
        return NULL;
    if (batch.captions) {
        mem_grow(&sampler->views, &sampler->views_room,
                 batch_captions_size(&batch), sizeof *sampler->views);
        batch_captions(&batch, sampler->views);
        batch.extra.z = request->extra_text_z;
    }
    if (sampler->weigher
            ? weigher_weigh(sampler->weigher, request, &answer.weights, err)
            : sample_source_weigh(&sampler->source, &batch, &answer.weights,
                                  err))
        return NULL;
    flow_state_owner_advance(&sampler->owner_state, &at, peer,
                             name_of(sampler, peer));
    return wire_weights_put(&answer);
}

/* Loads the state after its last piece. */
static int
take_all(struct sampler *sampler, const struct wire_state *state,
         struct err *err)
{
    const struct sample_store *store = &sampler->incoming;

    if (flow_state_owner_check_complete(&sampler->owner_state, state, err))
        return -1;
    if (sampler->weigher) {
        if (weigher_load(sampler->weigher, store, err))
            return -1;
    } else if (!state->empty && (state->total || store->n)) {
        if (sample_source_load(&sampler->source, store, state->total, err))
            return -1;
    } else {
        sample_source_begin(&sampler->source, state->total);
    }
    flow_state_owner_commit(&sampler->owner_state);
    return 0;
}

/* Takes a piece of the state that a trainer hands over.  The last piece sets
 * the sampler's place.  On error it returns -1, and the place is unchanged;
 * `again` is 1 if the trainer must start with the first piece. */
static int
load_piece(struct sampler *sampler, uint64_t peer,
           const struct wire_state *state, int *again, struct err *err)
{
    int rc;

    *again = 0;
    if (state->empty && state->n)
        return err_set(err,
                       "a state that is 'fresh' has no tables: this one "
                       "has %zu",
                       state->n);
    rc = flow_state_owner_check_piece(&sampler->owner_state, state, err);
    if (rc < 0) {
        *again = 1;
        return -1;
    }
    if (rc)
        sample_store_release(&sampler->incoming);
    for (size_t k = 0; k < state->n; k++)
        state->tables[k].from = (size_t)state->from;
    rc = sample_store_check(&sampler->incoming, state->n, state->tables, err);
    if (!rc) {
        sample_store_write(&sampler->incoming, state->sampler, state->n,
                           state->tables);
        flow_state_owner_add_piece(&sampler->owner_state, state, peer,
                                   name_of(sampler, peer));
    }
    if (!rc && !state->last)
        return 0;
    if (!rc)
        rc = take_all(sampler, state, err);
    sample_store_release(&sampler->incoming);
    flow_state_owner_discard(&sampler->owner_state);
    return rc;
}

/* ---------------------------------------------------------------- messages */

/* Checks that a peer may use or set the sampler in this session. */
static int
check_owner(struct sampler *sampler, uint64_t peer, int64_t session,
            struct err *err)
{
    const uint64_t owner = sampler->owner_state.owner;
    const struct wire_hello *there = NULL;
    struct err ahead;

    if (wire_session_check(session, err))
        return -1;
    if (owner && owner != peer && flow_server_ping(sampler->server, owner))
        there = flow_server_peer_hello(sampler->server, owner);
    // a session begun before the clock was set back has ended
    if (!there && wire_session_check(sampler->owner_state.next.session, &ahead))
        return 0;
    return flow_state_owner_check(&sampler->owner_state, peer, session, there,
                                  err);
}

static void
answer_request(struct sampler *sampler, uint64_t peer, int64_t id,
               struct wire_msg *msg)
{
    flow_server_answer(sampler->server, peer, id, msg);
    wire_msg_free(msg);
}

/* Refuses a request; it may succeed when repeated.
 *   state  1: the trainer must send its state first (wire/error.h) */
static void
refuse_request(struct sampler *sampler, uint64_t peer, int64_t id, int state,
               const char *reason)
{
    struct wire_error error = {.id = id, .need_state = state};

    snprintf(error.reason, sizeof error.reason, "%s", reason);
    answer_request(sampler, peer, id, wire_error_put(&error));
}

static int
take_pairs(struct sampler *sampler, uint64_t peer, struct wire_msg *msg,
           struct err *err)
{
    struct wire_msg *weights;
    struct wire_weights_request request;
    struct err why;

    if (wire_weights_request_get(
            &request, msg, (int64_t)sampler->source.memory.form.size, err))
        return -1;
    if (check_owner(sampler, peer, request.session, err)) {
        wire_weights_request_release(&request);
        return -1;
    }
    if (!flow_state_owner_fits(&sampler->owner_state,
                               &(struct wire_place){request.session,
                                                    request.batch.epoch,
                                                    request.batch.step})) {
        refuse_request(sampler, peer, request.id, 1,
                       "the sampler is not at the place of this step");
    } else if (!(weights = weigh_request(sampler, peer, &request, &why))) {
        refuse_request(sampler, peer, request.id, 0, why.msg);
    } else {
        answer_request(sampler, peer, request.id, weights);
    }
    wire_weights_request_release(&request);
    return 0;
}

static int
take_state_put(struct sampler *sampler, uint64_t peer, struct wire_msg *msg,
               struct err *err)
{
    struct wire_state state;
    struct err why;
    int again;

    if (wire_state_get(&state, msg, err))
        return -1;
    if (check_owner(sampler, peer, state.session, err)) {
        wire_state_release(&state);
        return -1;
    }
    if (load_piece(sampler, peer, &state, &again, &why)) {
        refuse_request(sampler, peer, state.id, again, why.msg);
    } else {
        const struct wire_ok ok = {state.id, state.session, state.epoch,
                                   state.step};

        answer_request(sampler, peer, state.id, wire_ok_put(&ok));
    }
    wire_state_release(&state);
    return 0;
}

static int
take_request(struct sampler *sampler, uint64_t peer, struct wire_msg *msg,
             struct err *err)
{
    if (!sampler->known)
        return err_set(err,
                       "no peer has named the data set: its size is unknown");
    switch (wire_msg_kind(msg)) {
    case WIRE_WEIGHTS_GET:
        return take_pairs(sampler, peer, msg, err);
    case WIRE_STATE_PUT:
        return take_state_put(sampler, peer, msg, err);
    default:
        return err_set(err, "a sampler takes no '%s'",
                       wire_kind_name(wire_msg_kind(msg)));
    }
}

int
sampler_turn(void *self)
{
    struct sampler *sampler = self;
    struct flow_event event;

    while (flow_server_next(sampler->server, &event)) {
        stage_report(&event);
        if (event.kind == FLOW_JOINED) {
            flow_state_owner_on_hello(
                &sampler->owner_state, event.peer,
                flow_server_peer_hello(sampler->server, event.peer)->peer);
            sampler_set_data(sampler, flow_server_hello(sampler->server));
        }
        if (event.kind == FLOW_MESSAGE &&
            take_request(sampler, event.peer, event.msg, &event.why))
            stage_refuse(sampler->server, &event);
    }
    return 1;
}

/* Refuses a trainer if its state would not fit, before any batch. */
static int
check_width(void *self, const struct wire_hello *hello, struct err *err)
{
    const struct negatives_options *o = self;

    return hello->width && hello->size
               ? sample_settings_fit(&o->settings, (size_t)hello->size,
                                     (size_t)o->augmentations,
                                     (size_t)hello->width, err)
               : 0;
}

void
sampler_open(struct sampler *sampler, const struct negatives_options *o,
             struct stage *stage)
{
    struct flow_server_config config = {
        .endpoint = stage_endpoint(stage, o->negatives, "negatives"),
        .edge = WIRE_EDGE_NEGATIVES,
        .hello = {.stage = "negatives"},
        .check = check_width,
        .self = (void *)o,
    };
    struct err err;

    *sampler = (struct sampler){.options = o};
    flow_state_owner_init(&sampler->owner_state);
    or_die(o->stage.run && file_mkdir(o->stage.run, 0700, &err), &err);
    if (o->command)
        snprintf(config.hello.sampler, sizeof config.hello.sampler, "command");
    else
        sample_source_name(&o->settings, config.hello.sampler);
    sampler->server = flow_server_open(stage->wire, &config, &err);
    or_die(!sampler->server, &err);
}
