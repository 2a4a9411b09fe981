#include <math.h>
#include <stdlib.h>

#include "negatives.h"
#include "num/vec.h"
#include "util/mem.h"

void
sampler_init(struct sampler *sampler)
{
    *sampler = (struct sampler){0};
    flow_state_owner_init(&sampler->owner_state);
}

void
sampler_set_data(struct sampler *sampler, const struct negatives_options *o,
                 const struct wire_hello *hello)
{
    if (sampler->known || !hello->size)
        return;
    sample_source_init(&sampler->source, &o->settings, (size_t)hello->size);
    sampler->incoming.most = o->settings.most;
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

struct wire_msg *
sampler_weigh(struct sampler *sampler, uint64_t peer,
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

int
sampler_load(struct sampler *sampler, uint64_t peer,
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
