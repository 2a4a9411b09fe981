#include <math.h>
#include <stdio.h>
#include <string.h>

#include "request.h"

static const double pause_min_s = 0.1, pause_max_s = 5;

/* ---- the requesting end ------------------------------------------------- */

int64_t
flow_request_id(struct flow_request *request)
{
    return ++request->last_id;
}

void
flow_request_begin(struct flow_request *request, int64_t id, double now)
{
    request->id = id;
    request->waits = 1;
    request->begun = request->sent = now;
    request->pause = pause_min_s;
}

int
flow_request_receive(struct flow_request *request, int64_t id,
                     const struct wire_error *error, enum flow_answer *what)
{
    if (id != request->id || !request->waits)
        return 0;
    request->waits = 0;
    *what = !error              ? FLOW_ANSWERED
            : error->need_state ? FLOW_NO_STATE
                                : FLOW_FAILED;
    return 1;
}

int
flow_request_turn(const struct flow_request *request, double now, double *until)
{
    const double end = request->begun + request->deadline,
                 due = request->sent + request->timeout;

    *until = fmin(due, end);
    if (now >= end)
        return -1;
    return now >= due;
}

double
flow_request_pause(struct flow_request *request)
{
    const double pause = request->pause;

    request->pause = fmin(2 * pause, pause_max_s);
    return pause;
}

/* ---- the answering end -------------------------------------------------- */

/* The last answer to a peer, or NULL. */
static struct flow_answer_last *
find_last(struct flow_answer_cache *cache, const char *name)
{
    for (size_t i = 0; i < FLOW_ANSWER_CACHE_MAX; i++)
        if (cache->answer[i].msg && !strcmp(cache->answer[i].name, name))
            return &cache->answer[i];
    return NULL;
}

struct wire_msg *
flow_answer_cache_find(struct flow_answer_cache *cache, const char *name,
                       int64_t id)
{
    const struct flow_answer_last *last = find_last(cache, name);

    return last && last->id == id ? last->msg : NULL;
}

int
flow_answer_cache_late(struct flow_answer_cache *cache, const char *name,
                       int64_t id)
{
    const struct flow_answer_last *last = find_last(cache, name);

    return last && last->id > id;
}

void
flow_answer_cache_put(struct flow_answer_cache *cache, const char *name,
                      int64_t id, struct wire_msg *msg)
{
    struct flow_answer_last *last = find_last(cache, name),
                            *oldest = cache->answer;

    for (size_t i = 1; i < FLOW_ANSWER_CACHE_MAX; i++)
        if (cache->answer[i].turn < oldest->turn) // a free one has turn 0
            oldest = &cache->answer[i];
    if (!last)
        last = oldest;
    wire_msg_hold(msg);
    wire_msg_free(last->msg);
    snprintf(last->name, sizeof last->name, "%s", name);
    last->id = id;
    last->turn = ++cache->turn;
    last->msg = msg;
}

void
flow_answer_cache_release(struct flow_answer_cache *cache)
{
    for (size_t i = 0; i < FLOW_ANSWER_CACHE_MAX; i++)
        wire_msg_free(cache->answer[i].msg);
    *cache = (struct flow_answer_cache){0};
}
