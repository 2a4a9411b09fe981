#include <stdio.h>

#include "negatives.h"
#include "util/file.h"
#include "util/opt.h"
#include "wire/negatives.h"

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
answer_request(struct service *service, uint64_t peer, int64_t id,
               struct wire_msg *msg)
{
    flow_server_answer(service->server, peer, id, msg);
    wire_msg_free(msg);
}

/* Refuses a request; it may succeed when repeated.
 *   state  1: the trainer must send its state first (wire/error.h) */
static void
refuse_request(struct service *service, uint64_t peer, int64_t id, int state,
               const char *reason)
{
    struct wire_error error = {.id = id, .need_state = state};

    snprintf(error.reason, sizeof error.reason, "%s", reason);
    answer_request(service, peer, id, wire_error_put(&error));
}

static int
take_pairs(struct service *service, uint64_t peer, struct wire_msg *msg,
           struct err *err)
{
    struct sampler *sampler = service->sampler;
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
        refuse_request(service, peer, request.id, 1,
                       "the sampler is not at the place of this step");
    } else if (!(weights = sampler_weigh(sampler, peer, &request, &why))) {
        refuse_request(service, peer, request.id, 0, why.msg);
    } else {
        answer_request(service, peer, request.id, weights);
    }
    wire_weights_request_release(&request);
    return 0;
}

static int
take_state_put(struct service *service, uint64_t peer, struct wire_msg *msg,
               struct err *err)
{
    struct sampler *sampler = service->sampler;
    struct wire_state state;
    struct err why;
    int again;

    if (wire_state_get(&state, msg, err))
        return -1;
    if (check_owner(sampler, peer, state.session, err)) {
        wire_state_release(&state);
        return -1;
    }
    if (sampler_load(sampler, peer, &state, &again, &why)) {
        refuse_request(service, peer, state.id, again, why.msg);
    } else {
        const struct wire_ok ok = {state.id, state.session, state.epoch,
                                   state.step};

        answer_request(service, peer, state.id, wire_ok_put(&ok));
    }
    wire_state_release(&state);
    return 0;
}

static int
take_request(struct service *service, uint64_t peer, struct wire_msg *msg,
             struct err *err)
{
    if (!service->sampler->known)
        return err_set(err,
                       "no peer has named the data set: its size is unknown");
    switch (wire_msg_kind(msg)) {
    case WIRE_WEIGHTS_GET:
        return take_pairs(service, peer, msg, err);
    case WIRE_STATE_PUT:
        return take_state_put(service, peer, msg, err);
    default:
        return err_set(err, "a sampler takes no '%s'",
                       wire_kind_name(wire_msg_kind(msg)));
    }
}

int
service_turn(void *self)
{
    struct service *service = self;
    struct flow_news news;

    while (flow_server_next(service->server, &news)) {
        stage_report(&news);
        if (news.what == FLOW_JOINED) {
            flow_state_owner_on_hello(
                &service->sampler->owner_state, news.peer,
                flow_server_peer_hello(service->server, news.peer)->peer);
            sampler_set_data(service->sampler, service->options,
                             flow_server_hello(service->server));
        }
        if (news.what == FLOW_MESSAGE &&
            take_request(service, news.peer, news.msg, &news.why))
            stage_refuse(service->server, &news);
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
service_open(struct service *service, const struct negatives_options *o,
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

    service->options = o;
    if (o->stage.run && file_mkdir(o->stage.run, 0700, &err))
        die("%s", err.msg);
    if (o->command)
        snprintf(config.hello.sampler, sizeof config.hello.sampler, "command");
    else
        sample_source_name(&o->settings, config.hello.sampler);
    service->server = flow_server_open(stage->wire, &config, &err);
    if (!service->server)
        die("%s", err.msg);
    service->sampler->server = service->server;
}
