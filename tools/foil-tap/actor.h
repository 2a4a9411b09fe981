#ifndef FOIL_TAP_ACTOR_H
#define FOIL_TAP_ACTOR_H

#include "tap.h"
#include "wire/error.h"
#include "wire/hello.h"
#include "wire/item.h"
#include "wire/next.h"

/*
 * The conformance kit: plays the other side of a stage and says, rule by rule,
 * whether the stage keeps to foil-wire(5).  A file for each role; here is what
 * they share.
 *
 * An actor is one end that the kit plays, message by message: a DEALER that
 * connects to the stage, or a ROUTER that the stage connects to.
 */
enum { CHECK_SEEN = 6 }; /* messages of which a broken rule tells */

struct check {
    struct tap *tap;
    long lease;   /* seconds, of a stage that hands out items */
    size_t rules; /* said so far */
    size_t broken;
    int64_t session;
    const char *table; /* of foil-wire(5): what the next rules are of */
    char wanted[160];  /* by the next rule, where it does not say all; or "" */
    struct wire_msg *seen[CHECK_SEEN]; /* the last that came since a rule */
    size_t n_seen;                     /* all of them */
};

struct check_actor {
    struct check *check;
    struct wire_sock *sock;
    char *endpoint;
    char name[64];           /* of the kit's end */
    int binds, met;          /* met: `peer` is the stage, which said hello; */
    int unmet;               /* it said something else before */
    struct wire_id peer;     /* of a ROUTER */
    struct wire_hello hello; /* what the stage said last */
    struct wire_error error; /* what it said last, and how many */
    size_t errors;
};

/* Prints whether a rule is kept; `rule` is a whole sentence.  Behind one that
 * is broken stands what was wanted, what came instead since the rule before,
 * and the table of foil-wire(5) that has it. */
void check_rule(struct check *check, int kept, const char *rule, ...)
    __attribute__((format(printf, 3, 4)));

/* Says what the next rule wants to see. */
void check_wants(struct check *check, const char *what, ...)
    __attribute__((format(printf, 2, 3)));

/* Ends the tool where a stage cannot be checked as it was started, which breaks
 * no rule: by TAP's "Bail out!", with 1. */
_Noreturn void check_bail(struct check *check, const char *why, ...)
    __attribute__((format(printf, 2, 3)));

/* Ends the tool, with the plan of the lines that were printed; 1 where a rule
 * is broken. */
_Noreturn void check_finish(struct check *check);

/* What a rule rests on: says so, and ends the tool where it is not there. */
void check_need(struct check *check, int there, const char *rule);

/* check_connect() opens a DEALER, and check_bind() a ROUTER; they end the tool
 * where that fails. */
void check_connect(struct check *check, struct check_actor *actor,
                   const char *endpoint, const char *name);
void check_bind(struct check *check, struct check_actor *actor,
                const char *endpoint);
void check_close(struct check_actor *actor);

/* Sends, and frees, a message; waits for room in the queue for a while. */
void check_say(struct check_actor *actor, struct wire_msg *msg);

/*
 * Waits for a message of a kind: it, to be freed, or NULL when it has not come
 * in so many seconds.  Hellos and errors that come meanwhile are kept in the
 * actor, others of no use are passed over.  A ROUTER answers the first hello
 * of the stage with `answer`.
 */
struct wire_msg *check_await(struct check_actor *actor, enum wire_kind kind,
                             double seconds);

/* Counts the messages of a kind that come in so many seconds. */
size_t check_count(struct check_actor *actor, enum wire_kind kind,
                   double seconds);

/* Sends a hello as a stage of that name, and waits for the answer: 1 or 0. */
int check_greet(struct check_actor *actor, const char *stage,
                const char *recipe, const char *digest, int64_t size);

/* Answers hellos of the stage from now on, and waits for the first: 1 or 0. */
int check_greeted(struct check_actor *actor, const char *stage, double seconds);

/* A copy of a message with the key of a field renamed, or with the first bytes
 * of a tensor replaced: what no sound stage sends. */
struct wire_msg *check_rename(struct wire_msg *msg, const char *key,
                              const char *other);
struct wire_msg *check_spoil(struct wire_msg *msg, const char *tensor,
                             const void *bytes, size_t n);

/* An end for that place, over, is said, and the stage goes: a rule. */
void check_ending(struct check_actor *actor, int64_t epoch, int64_t step);

/* Nanoseconds since 1970. */
int64_t check_now(void);

/* A snapshot of a consumer, to be sent. */
struct wire_msg *check_next(const struct check *check, int64_t step,
                            int64_t serial, int64_t window, int64_t room,
                            size_t n_have, const int64_t *have);

#endif
