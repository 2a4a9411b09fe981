#include <math.h>
#include <signal.h>
#include <sys/wait.h>

#include "child.h"
#include "flow/client.h"
#include "t.h"
#include "wire/negatives.h"

#include "ends.h"

/* epochs with a meaning to the child */
enum { WANTS_STATE = 9, BREAKS = 8, LARGE = 7, NO_NUMBER = 6 };

static void
answer_pairs(struct flow_server *server, const struct flow_event *event,
             int has_state)
{
    static const float w[] = {1}, nan[] = {NAN};
    static float large[8192 * 8193]; // 256 MiB and a row
    static size_t answered;
    struct wire_weights answer = {.weights = {.rows = 1, .columns = 1, .w = w}};
    struct weights *weights = &answer.weights;
    struct wire_error error = {.reason = "cannot"};
    struct wire_weights_request request;
    struct wire_msg *msg;
    struct err err;

    if (wire_weights_request_get(&request, event->msg, 0, &err))
        return;
    answer.id = error.id = request.id;
    weights->moved = ++answered;
    error.need_state = request.batch.epoch == WANTS_STATE;
    if (request.batch.epoch == NO_NUMBER)
        weights->w = nan;
    if (request.batch.epoch == LARGE) {
        weights->w = large;
        weights->rows = 8193;
        weights->columns = 8192;
    }
    msg = (error.need_state && !has_state) || request.batch.epoch == BREAKS
              ? wire_error_put(&error)
              : wire_weights_put(&answer);
    flow_server_answer(server, event->peer, request.id, msg);
    wire_msg_free(msg);
    wire_weights_request_release(&request);
}

/* The service: weights that count, and a state to be put. */
static pid_t
start_service(const char *endpoint)
{
    struct flow_server_config config = {
        .endpoint = endpoint,
        .edge = WIRE_EDGE_NEGATIVES,
        .hello = hello_of("negatives", "", "", 0),
    };
    struct flow_server *server;
    struct wire_state state;
    struct flow_event event;
    struct wire_msg *msg;
    struct wire *wire;
    struct err err;
    int has_state = 0;
    pid_t pid = fork();

    if (pid)
        return pid;
    wire = wire_open(NULL, &err);
    server = flow_server_open(wire, &config, &err);
    while (wire_wait(wire, -1, 1, &err) > 0) {
        while (flow_server_next(server, &event) > 0) {
            if (event.kind != FLOW_MESSAGE)
                continue;
            if (wire_msg_kind(event.msg) == WIRE_WEIGHTS_GET) {
                answer_pairs(server, &event, has_state);
                continue;
            }
            if (wire_state_get(&state, event.msg, &err))
                continue;
            has_state = 1;
            msg = wire_ok_put(&(struct wire_ok){state.id, state.session,
                                                state.epoch, state.step});
            flow_server_answer(server, event.peer, state.id, msg);
            wire_msg_free(msg);
            wire_state_release(&state);
        }
    }
    _exit(0);
}

static void
end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static struct flow_client_config
config_of(const char *endpoint, const char *peer)
{
    struct flow_client_config config = {
        .endpoint = endpoint,
        .edge = WIRE_EDGE_NEGATIVES,
        .hello = hello_of("train", "", digest_a, 10),
        .timeout = 0.3,
        .deadline = 20,
    };

    snprintf(config.hello.peer, sizeof config.hello.peer, "%s", peer);
    return config;
}

static void
ask(struct flow_client *service, int64_t id, int64_t epoch)
{
    static const int64_t ids[] = {1};
    static const float z[] = {1};
    struct wire_weights_request request = {.id = id,
                                           .batch.epoch = epoch,
                                           .batch.beta = 1,
                                           .batch.b = 1,
                                           .batch.v = 1,
                                           .batch.dim = 1,
                                           .batch.ids = ids,
                                           .batch.z = z};
    struct wire_msg *msg = wire_weights_request_put(&request);

    flow_client_ask(service, msg, id);
    wire_msg_free(msg);
}

/* The weights that came, and in *moved the count of the service. */
static enum flow_answer
wait_for(struct flow_client *service, int64_t *moved, struct err *err)
{
    struct wire_weights weights;
    struct wire_msg *answer;
    enum flow_answer what = flow_client_wait(service, -1, &answer, err);

    *moved = -1;
    if (what != FLOW_ANSWERED)
        return what;
    if (!wire_weights_get(&weights, answer, 0, err)) {
        *moved = (int64_t)weights.weights.moved;
        wire_weights_release(&weights);
    }
    wire_msg_free(answer);
    return what;
}

static void
requests(const char *endpoint)
{
    struct flow_client_config config = config_of(endpoint, "t1");
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);
    struct flow_client *service = flow_client_open(wire, &config, &err);
    const int64_t id = flow_client_next_id(service);
    int64_t first, second;

    ask(service, id, 0);
    T(wait_for(service, &first, &err) == FLOW_ANSWERED && first == 1,
      "answered: %s", err.msg);
    T(!strcmp(flow_client_binder_hello(service)->stage, "negatives"),
      "by the service");
    T(flow_client_next_id(service) == id + 1, "ids rise");

    flow_client_close(service);
    service = flow_client_open(wire, &config, &err);
    ask(service, id, 0);
    T(wait_for(service, &second, &err) == FLOW_ANSWERED && second == first,
      "the same request on a new socket: the same answer");
    ask(service, id + 1, 0);
    T(wait_for(service, &second, &err) == FLOW_ANSWERED && second == first + 1,
      "another one: another");
    ask(service, id + 2, BREAKS);
    T(wait_for(service, &second, &err) == FLOW_FAILED, "an error: %s", err.msg);
    flow_client_close(service);
    wire_close(wire);
}

static void
state(const char *endpoint)
{
    struct flow_client_config config = config_of(endpoint, "t2");
    struct wire_state empty = {.id = 501};
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);
    struct flow_client *service = flow_client_open(wire, &config, &err);
    struct wire_msg *msg = wire_state_put(&empty), *answer;
    int64_t moved;

    ask(service, 500, WANTS_STATE);
    T(wait_for(service, &moved, &err) == FLOW_NO_STATE, "it has no state");
    flow_client_ask(service, msg, 501);
    T(flow_client_wait(service, -1, &answer, &err) == FLOW_ANSWERED &&
          wire_msg_kind(answer) == WIRE_OK,
      "it accepts one");
    wire_msg_free(answer);
    ask(service, 502, WANTS_STATE);
    T(wait_for(service, &moved, &err) == FLOW_ANSWERED,
      "with a state it answers");
    ask(service, 500, 0);
    T(wait_for(service, &moved, &err) == FLOW_FAILED,
      "[an id below that] an earlier request is late: %s", err.msg);
    wire_msg_free(msg);
    flow_client_close(service);
    wire_close(wire);
}

/* Polls for 5 seconds until the connected service is not `other`. */
static int
connects(struct wire *wire, struct flow_client *service, const char *other)
{
    struct err err;

    for (int i = 0; i < 100; i++) {
        if (flow_client_poll(service, &err))
            return 0;
        if (flow_client_joined(service) &&
            strcmp(flow_client_binder_hello(service)->peer, other))
            return 1;
        wire_wait(wire, -1, 0.05, &err);
    }
    return 0;
}

/* A client without a request sees which service it would use. */
static void
meeting(const char *endpoint, pid_t *pid)
{
    struct flow_client_config config = config_of(endpoint, "t4");
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);
    struct flow_client *service = flow_client_open(wire, &config, &err);
    char first[64];
    int64_t moved;

    T(connects(wire, service, ""), "a service connects");
    snprintf(first, sizeof first, "%s",
             flow_client_binder_hello(service)->peer);
    ask(service, 1, 0);
    T(wait_for(service, &moved, &err) == FLOW_ANSWERED &&
          !strcmp(flow_client_binder_hello(service)->peer, first),
      "the service answers a request");
    end(*pid);
    *pid = start_service(endpoint);
    T(connects(wire, service, first), "after a restart it is another");
    ask(service, 2, 0);
    flow_client_poll(service, &err);
    ask(service, 3, 0);
    T(wait_for(service, &moved, &err) == FLOW_ANSWERED, "the request is "
                                                        "cancelled");
    flow_client_close(service);
    wire_close(wire);
}

/* A stopped service does not answer; a restarted one does. */
static void
stopped_or_killed(struct wire *wire, struct flow_client_config config,
                  pid_t *pid)
{
    struct err err = {""};
    struct flow_client *service;
    int64_t moved;

    config.deadline = 2;
    service = flow_client_open(wire, &config, &err);
    ask(service, 1, 0);
    T(wait_for(service, &moved, &err) == FLOW_ANSWERED, "at work");
    kill(*pid, SIGSTOP);
    ask(service, 2, 0);
    T(wait_for(service, &moved, &err) == FLOW_UNREACHED, "stopped: %s",
      err.msg);
    kill(*pid, SIGCONT);
    flow_client_close(service);

    config.deadline = 20;
    service = flow_client_open(wire, &config, &err);
    ask(service, 3, 0);
    T(wait_for(service, &moved, &err) == FLOW_ANSWERED, "continues");
    end(*pid);
    ask(service, 4, 0);
    *pid = start_service(config.endpoint);
    T(wait_for(service, &moved, &err) == FLOW_ANSWERED && moved == 1,
      "killed and restarted: %s", err.msg);
    flow_client_close(service);
}

/* There is no service, or one that does nothing. */
static void
reports_waiting(struct wire *wire, struct flow_client_config config,
                const char *endpoint)
{
    struct err err = {""};
    struct flow_client *service;
    struct wire_msg *answer;
    int reports = 0;

    config.endpoint = endpoint;
    config.report_every_s = 0.03;
    config.deadline = 60;
    service = flow_client_open(wire, &config, &err);
    ask(service, 5, 0);
    while (reports < 2 &&
           flow_client_wait(service, -1, &answer, &err) == FLOW_BAD_MESSAGE &&
           strstr(err.msg, "no answer from") && strstr(err.msg, endpoint))
        reports++;
    T(reports == 2, "reports repeatedly that it waits: %s", err.msg);
    flow_client_close(service);
}

/* A service with bad answers has not ended: no advice to start it again. */
static void
reports_bad_answers(const char *endpoint)
{
    struct flow_client_config config = config_of(endpoint, "t5");
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);
    struct flow_client *service;
    struct wire_msg *answer;
    const char *words = "no usable answer";
    enum flow_answer what;
    int reports = 0;

    config.report_every_s = 0.2;
    config.deadline = 2;
    service = flow_client_open(wire, &config, &err);
    ask(service, 6, NO_NUMBER);
    while ((what = flow_client_wait(service, -1, &answer, &err)) ==
           FLOW_BAD_MESSAGE)
        reports |= strstr(err.msg, words) && strstr(err.msg, "not finite");
    T(reports, "an answer with NaN: the wait reports the sender");
    T(what == FLOW_UNREACHED && strstr(err.msg, words) &&
          strstr(err.msg, "not finite") && strstr(err.msg, endpoint),
      "the end of the wait reports the sender: %s", err.msg);
    flow_client_close(service);
    wire_close(wire);
}

/* A client that waits for a stopped service can be stopped. */
static void
asked_to_stop(struct wire *wire, const struct flow_client_config *config,
              pid_t pid)
{
    struct err err = {""};
    struct flow_client *service = flow_client_open(wire, config, &err);
    struct wire_msg *answer;
    int fd[2];

    if (pipe(fd) || write(fd[1], "", 1) != 1)
        abort();
    kill(pid, SIGSTOP);
    ask(service, 5, 0);
    T(flow_client_wait(service, fd[0], &answer, &err) == FLOW_STOPPED,
      "asked to stop");
    kill(pid, SIGCONT);
    close(fd[0]);
    close(fd[1]);
    flow_client_close(service);
}

/* Stopped, killed, restarted: the answer comes, or a sentence. */
static void
faults(const char *endpoint, pid_t *pid)
{
    struct flow_client_config config = config_of(endpoint, "t3");
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);
    struct flow_client *service;
    int64_t moved;

    stopped_or_killed(wire, config, pid);
    asked_to_stop(wire, &config, *pid);
    kill(*pid, SIGSTOP);
    reports_waiting(wire, config, endpoint);
    kill(*pid, SIGCONT);
    reports_waiting(wire, config, at("nobody"));
    config.hello.size++;
    service = flow_client_open(wire, &config, &err);
    ask(service, 7, 0);
    T(wait_for(service, &moved, &err) == FLOW_REFUSED, "others not: %s",
      err.msg);
    flow_client_close(service);
    wire_close(wire);
}

/* Under the limits of another edge an answer might be too large, and not
 * arrive. */
static void
no_edge(const void *arg)
{
    struct flow_client_config config = config_of(arg, "t4");
    struct err err;

    config.edge = (enum wire_edge)0;
    ask(flow_client_open(wire_open(NULL, &err), &config, &err), 1, 0);
}

static void
wants_an_edge(const char *endpoint)
{
    struct child c = child_run(no_edge, endpoint);

    T(c.signal == SIGABRT && strstr(c.err, "wire_edge_is_service"),
      "a request has the limits of its edge: %s", c.err);
}

/* A message too large for the edge would be lost silently. */
static void
too_large(const char *endpoint)
{
    enum { ROWS = 8193, DIM = 2048 }; // 64 MiB and a row
    struct flow_client_config config = config_of(endpoint, "t9");
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);
    struct flow_client *service;
    int64_t *ids = calloc(ROWS, sizeof *ids), moved;
    float *z = calloc((size_t)ROWS * DIM, sizeof *z);
    const struct wire_weights_request request = {.id = 901,
                                                 .batch.beta = 1,
                                                 .batch.b = ROWS,
                                                 .batch.v = 1,
                                                 .batch.dim = DIM,
                                                 .batch.ids = ids,
                                                 .batch.z = z};
    struct wire_msg *msg = wire_weights_request_put(&request);

    // 256 MiB take their time, and a retried request for an error starts
    // again
    config.timeout = config.report_every_s = 60;
    config.deadline = 120;
    service = flow_client_open(wire, &config, &err);
    ask(service, 900, 0);
    T(wait_for(service, &moved, &err) == FLOW_ANSWERED, "one that fits");
    flow_client_ask(service, msg, 901);
    T(wait_for(service, &moved, &err) == FLOW_REFUSED &&
          strstr(err.msg,
                 "weights.get of 67117056 bytes in one part, edge negatives "
                 "takes at most 67108864: use smaller"),
      "a request: %s", err.msg);
    ask(service, 902, LARGE);
    T(wait_for(service, &moved, &err) == FLOW_FAILED &&
          strstr(err.msg, "weights of 268468224 bytes in one part"),
      "an answer: %s", err.msg);
    ask(service, 903, 0);
    T(wait_for(service, &moved, &err) == FLOW_ANSWERED, "the next one fits");
    wire_msg_free(msg);
    free(ids);
    free(z);
    flow_client_close(service);
    wire_close(wire);
}

int
main(void)
{
    const char *endpoint;
    pid_t pid;

    scratch_open();
    endpoint = at("service");
    wants_an_edge(endpoint);
    pid = start_service(endpoint);
    requests(endpoint);
    state(endpoint);
    too_large(endpoint);
    reports_bad_answers(endpoint);
    faults(endpoint, &pid);
    meeting(endpoint, &pid);
    end(pid);
    scratch_close();
    return t_done();
}
