#pragma once

#include <stdio.h>

#include "stage/stage.h"
#include "wire/record.h"
#include "wire/show.h"

/* The verbs of foil-tap; see tools/foil-tap.1.  All end the tool
 * on error. */
struct tap {
    /* the command line */
    struct stage_options options;
    const char *record, *kinds, *role, *to, *vocabulary, *tensorboard;
    int full, quiet, follow;
    long count, lease;

    struct stage stage;
    FILE *out;                    /* the recording, or NULL */
    struct tap_board *board;      /* for TensorBoard, or NULL */
    struct wire_token_text words; /* of the vocabulary, if any */
    long seen;                    /* messages printed */
};

/* `operand` has those after the verb, and ends with NULL. */
void tap_events(struct tap *tap, char **operand);
void tap_proxy(struct tap *tap, char **operand);
void tap_show(struct tap *tap, char **operand);
void tap_replay(struct tap *tap, char **operand);

/* tap_open() opens sockets and the recording, tap_close() closes them. */
void tap_open(struct tap *tap);
void tap_close(struct tap *tap);

/*
 * The conformance checks: play the other side of a stage and report, rule by
 * rule, whether the stage obeys foil-wire(5).
 *
 * An actor is a socket that the checks use: a DEALER that connects to the
 * stage, or a ROUTER that the stage connects to.
 */
enum { CHECK_SEEN = 6 }; /* maximum messages shown for a broken rule */

struct check {
    struct tap *tap;
    long lease;   /* seconds, of a stage that sends items */
    size_t rules; /* checked so far */
    size_t broken;
    int64_t session;
    const char *table; /* of foil-wire(5), with the next rules */
    char wanted[160];  /* details of the next rule; or "" */
    struct wire_msg *seen[CHECK_SEEN]; /* the last since a rule */
    size_t n_seen;                     /* all since a rule */
};

struct check_actor {
    struct check *check;
    struct wire_sock *sock;
    char *endpoint;
    char name[64];           /* ours, in our hello */
    int binds;               /* 1: a ROUTER */
    int greeted;             /* 1: `peer` is the stage, which sent a hello; */
    int skipped_hello;       /* it sent another message before */
    struct wire_id peer;     /* of a ROUTER */
    struct wire_hello hello; /* the last of the stage */
    struct wire_error error; /* its last error, and how many */
    size_t errors;
    double heartbeat_at;
};

/* Prints whether the stage obeys a rule; `rule` is a whole sentence.  For a
 * broken rule, also prints what was expected, the messages since the rule
 * before, and the table of foil-wire(5) with the rule. */
void check_rule(struct check *check, int holds, const char *rule, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets what the next rule expects. */
void check_expect(struct check *check, const char *what, ...)
    __attribute__((format(printf, 2, 3)));

/* Ends the tool by TAP's "Bail out!" with exit code 1 if a stage cannot be
 * checked with its options; that breaks no rule. */
_Noreturn void check_bail(struct check *check, const char *why, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints TAP's plan and ends the tool; with 1 if a rule is broken. */
_Noreturn void check_finish(struct check *check);

/* A rule that later rules depend on: ends the tool if it is broken. */
void check_require(struct check *check, int there, const char *rule);

/* check_connect() opens a DEALER, and check_bind() a ROUTER; end the tool on
 * error. */
void check_connect(struct check *check, struct check_actor *actor,
                   const char *endpoint, const char *name);
void check_bind(struct check *check, struct check_actor *actor,
                const char *endpoint);
void check_close(struct check_actor *actor);

/* Sends and frees a message; waits up to 5 s for room in the queue. */
void check_send(struct check_actor *actor, struct wire_msg *msg);

/* Waits for a message of a kind and returns it, to be freed, or NULL after
 * `seconds`.  Stores other hellos and errors in the actor, and skips other
 * messages. */
struct wire_msg *check_await(struct check_actor *actor, enum wire_kind kind,
                             double seconds);

/* Counts the messages of a kind that arrive within `seconds`. */
size_t check_count(struct check_actor *actor, enum wire_kind kind,
                   double seconds);

/* Sends a hello as a stage of that name, and waits for the answer: 1 or 0. */
int check_greet(struct check_actor *actor, const char *stage,
                const char *recipe, const char *digest, int64_t size);

/* Waits for a hello of the stage, and answers it: 1 or 0. */
int check_await_hello(struct check_actor *actor, const char *stage,
                      double seconds);

/* A copy of a message with the key of a field renamed, or with the first bytes
 * of a tensor replaced, as no correct stage sends. */
struct wire_msg *check_rename(struct wire_msg *msg, const char *key,
                              const char *other);
struct wire_msg *check_spoil(struct wire_msg *msg, const char *tensor,
                             const void *bytes, size_t n);

/* Checks the rule that the stage ends after an end of the run at that place. */
void check_ending(struct check_actor *actor, int64_t epoch, int64_t step);

/* A snapshot of a consumer, to be sent. */
struct wire_msg *check_want(const struct check *check, int64_t step,
                            int64_t serial, int64_t window, int64_t room,
                            size_t n_have, const int64_t *have);

/* Sends a message that no correct peer sends, and checks the rule that the
 * stage answers within `seconds` with an error that names the kind. */
void check_refusal(struct check_actor *actor, struct wire_msg *msg,
                   double seconds, const char *rule);

/* The roles, a file each: each plays the other side of a stage at that
 * endpoint. */
void check_select(struct check *check, const char *const *endpoint);
void check_augment(struct check *check, const char *const *endpoint);
void check_train(struct check *check, const char *const *endpoint);
void check_negatives(struct check *check, const char *const *endpoint);
