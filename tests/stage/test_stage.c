#include "stage/stage.h"

#include <signal.h>
#include <unistd.h>

#include "flow/ends.h"
#include "t.h"

struct bench {
    struct stage stage;
    int turns, asked;
};

static double
short_pause(void *self)
{
    (void)self;
    return 0.001;
}

static int
three_turns(void *self)
{
    struct bench *b = self;

    return ++b->turns < 3;
}

static int
failing_turn(void *self)
{
    (void)self;
    return -1;
}

static int
waits_for_none(void *self, struct stage_waiting *waiting, double now,
               struct err who[STAGE_WAITS])
{
    struct bench *b = self;

    (void)who;
    b->asked += waiting->reported <= now;
    return 0;
}

static void
test_endpoints(struct bench *b)
{
    const char *in_run = stage_endpoint(&b->stage, NULL, "plan");
    const char *own = stage_endpoint(&b->stage, "tcp://host:1", "plan");

    T(!strcmp(in_run, at("plan")), "an endpoint is in the run directory");
    T(!strcmp(own, "tcp://host:1"), "an option's endpoint is used");
    T(!strcmp(in_run, at("plan")), "the first one stays valid");
}

static void
test_hello(void)
{
    const struct wire_hello hello = stage_hello("augment", digest_a, 7);

    T(!strcmp(hello.stage, "augment") && !strcmp(hello.digest, digest_a) &&
          hello.size == 7 && !*hello.peer,
      "a hello has stage and data set");
}

static void
test_run(struct bench *b)
{
    const struct stage_handlers handlers = {short_pause, three_turns,
                                            waits_for_none};

    const struct stage_handlers failing = {.turn = failing_turn,
                                           .pause_s = short_pause};
    struct err err = {""};

    stage_run(&b->stage, &handlers, b);
    T(b->turns == 3, "turn() is called until it returns 0");
    T(b->asked == 2, "waits_for() is called after each turn but the last");
    b->turns = 0;
    T(!stage_loop(&b->stage, &handlers, b, &err) && b->turns == 3,
      "stage_loop() returns 0 when turn() does");
    T(stage_loop(&b->stage, &failing, b, &err) == -1,
      "stage_loop() returns -1 when turn() does");
}

static void
test_outlet(struct bench *b)
{
    const struct flow_outlet_config config = {
        .server.endpoint = stage_endpoint(&b->stage, NULL, "items"),
        .server.hello = stage_hello("select", digest_a, 7),
        .lease = 10,
    };
    struct flow_event event;
    struct err err;
    struct flow_outlet *outlet = flow_outlet_open(b->stage.wire, &config, &err);

    T(outlet && !stage_outlet_next(outlet, &event), "there is no event");
    T(stage_outlet_waits(outlet, clock_now(), &err) &&
          !strcmp(err.msg, "augmenters: none is connected"),
      "an outlet without peers waits for augmenters");
    flow_outlet_close(outlet);
}

static void
test_watch(struct bench *b)
{
    char byte = 0;
    int fd[2];

    T(!pipe(fd), "a pipe is made");
    stage_watch(&b->stage, fd[0]);
    T(stage_wait(&b->stage, 0.01), "the time is over");
    T(write(fd[1], &byte, 1) == 1 && stage_wait(&b->stage, 600),
      "a readable descriptor ends the wait");
    T(read(fd[0], &byte, 1) == 1 && !kill(getpid(), SIGTERM) &&
          !stage_wait(&b->stage, 600),
      "a signal ends the wait");
    T(write(fd[1], &byte, 1) == 1 && !stage_wait(&b->stage, 600),
      "after a signal a readable descriptor changes nothing");
}

int
main(void)
{
    const struct stage_options options = {.run = scratch};
    struct bench b = {.turns = 0};

    scratch_open();
    stage_open(&b.stage, &options);
    test_endpoints(&b);
    test_hello();
    test_run(&b);
    test_outlet(&b);
    test_watch(&b);
    stage_close(&b.stage);
    scratch_close();
    return t_done();
}
