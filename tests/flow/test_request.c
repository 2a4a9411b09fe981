/* The tables of flow/request.h, row by row, as Client and Service of
 * foil-wire(5) have them. */
#include <stdio.h>

#include "flow/link.h"
#include "flow/request.h"
#include "t.h"
#include "wire/progress.h"

enum { DROPPED = 99 };

/* The result of an answer with that id, or DROPPED. */
static int
receives(struct flow_request *a, int64_t id)
{
    enum flow_answer what;

    return flow_request_receive(a, id, NULL, &what) ? (int)what : DROPPED;
}

/* The same for an error. */
static int
fails(struct flow_request *a, int64_t id, int state)
{
    const struct wire_error error = {.need_state = state};
    enum flow_answer what;

    return flow_request_receive(a, id, &error, &what) ? (int)what : DROPPED;
}

/* The subject of an error with that id. */
static enum flow_about
about(int again, int64_t id, const char *kind)
{
    struct wire_error error = {.rehello = again, .id = id};

    snprintf(error.of.kind, sizeof error.of.kind, "%s", kind);
    return flow_error_about(&error);
}

static void
request(void)
{
    struct flow_request a = {.timeout = 5, .deadline = 12, .last_id = 40};
    double until;

    T(flow_request_id(&a) == 41 && flow_request_id(&a) == 42, "ids rise");
    flow_request_begin(&a, 42, 100);
    T(a.waits && !flow_request_turn(&a, 104.9, &until) && until == 105,
      "[READY: there is a request] it waits for its answer");
    T(receives(&a, 41) == DROPPED && fails(&a, 41, 0) == DROPPED && a.waits,
      "[any: another id] it is dropped");
    T(about(0, -1, "weights.get") == FLOW_ABOUT_MESSAGE &&
          about(0, 42, "weights.get") == FLOW_ABOUT_MESSAGE,
      "[any: error with kind] it is no answer");
    T(about(1, 42, "weights.get") == FLOW_ABOUT_GREETING &&
          about(0, 0, "") == FLOW_ABOUT_REQUEST,
      "an error with `again` is about the greeting, one with an id an answer");
    T(flow_request_turn(&a, 105, &until) == 1 &&
          flow_request_pause(&a) == 0.1 && flow_request_pause(&a) == 0.2,
      "[any: no answer in time] a new connection, after pauses that double");
    a.sent = 105.1;
    T(!flow_request_turn(&a, 110, &until) && a.waits && a.id == 42,
      "the same request, with a new timeout");
    T(flow_request_turn(&a, 112, &until) == -1,
      "at the deadline a request fails");
    T(receives(&a, 42) == FLOW_ANSWERED && !a.waits,
      "[READY: answer with the id] done");
    T(receives(&a, 42) == DROPPED, "the same answer again is dropped");
    a.waits = 1;
    T(receives(&a, 42) == FLOW_ANSWERED,
      "[any: answer that does not fit] it continued waiting for a better one");
    flow_request_begin(&a, 43, 200);
    T(fails(&a, 43, 0) == FLOW_FAILED && !a.waits,
      "[READY: error with id] there is no answer");
    flow_request_begin(&a, 44, 200);
    T(fails(&a, 44, 1) == FLOW_NO_STATE,
      "[READY: error with id and need_state] it is distinguished");
    T(about(0, -1, "") == FLOW_ABOUT_US,
      "an error of nothing is about ourselves");
}

/* The last answer is sent again. */
static void
cached_answers(void)
{
    static struct flow_answer_cache cache;
    struct wire_msg *one = wire_heartbeat_put(&(struct wire_heartbeat){0}),
                    *two = wire_heartbeat_put(&(struct wire_heartbeat){0});
    char name[16];

    T(!flow_answer_cache_find(&cache, "a", 1), "empty");
    flow_answer_cache_put(&cache, "a", 1, one);
    T(flow_answer_cache_find(&cache, "a", 1) == one, "stored");
    T(!flow_answer_cache_find(&cache, "b", 1),
      "a cached answer is for its peer only");
    T(!flow_answer_cache_find(&cache, "a", 2),
      "a cached answer is for its request only");
    flow_answer_cache_put(&cache, "a", 2, two);
    T(flow_answer_cache_find(&cache, "a", 2) == two,
      "[the id that was answered last] the last one");
    T(!flow_answer_cache_find(&cache, "a", 1),
      "the answer before the last one is dropped");
    T(flow_answer_cache_late(&cache, "a", 1) &&
          !flow_answer_cache_late(&cache, "a", 3) &&
          !flow_answer_cache_late(&cache, "b", 1),
      "[an id below that] it is late, for that peer");
    for (int i = 1; i < FLOW_ANSWER_CACHE_MAX; i++) {
        snprintf(name, sizeof name, "n%d", i);
        flow_answer_cache_put(&cache, name, 1, one);
    }
    T(flow_answer_cache_find(&cache, "a", 2) == two,
      "the cache has as many peers as there is room");
    flow_answer_cache_put(&cache, "late", 1, one);
    T(!flow_answer_cache_find(&cache, "a", 2),
      "one more: the oldest is dropped");
    T(flow_answer_cache_find(&cache, "n1", 1) == one, "no other is");
    flow_answer_cache_release(&cache);
    flow_answer_cache_release(&cache);
    wire_msg_free(one);
    wire_msg_free(two);
}

int
main(void)
{
    request();
    cached_answers();
    return t_done();
}
