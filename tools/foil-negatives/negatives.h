#pragma once

#include "flow/consumer.h"
#include "flow/handover.h"
#include "sample/source.h"
#include "stage/stage.h"
#include "wire/negatives.h"

/*
 * The parts of foil-negatives, one file each:
 *
 *   options.c   the command line
 *   sampler.c   the sampler: requests of the trainer, and their answers
 *   filter.c    items on their way from the selector to the augmenters
 *   passage.c   order of items, and items in progress
 *   command.c   weights by a program of the user's
 */
struct negatives_options {
    struct stage_options stage;
    const char *negatives, *items, *plan;
    const char *command; /* that weighs instead of --method; or NULL */
    double limit;        /* seconds for an answer */
    int filter;
    struct sample_settings settings;
    long augmentations, seed, keep;
    double lease;
};

const struct negatives_options *negatives_options_get(int argc, char **argv);

/*
 * command.c: the program of --weigh-command.  Ends the tool if it cannot be
 * started.
 *   stop  a descriptor that ends a wait for it, and the tool with it
 */
struct weigher;
struct weigher *weigher_open(const struct negatives_options *options, int stop);
void weigher_close(struct weigher *weigher);

/* weigher_load() loads the program's table of --keep; without tables in the
 * store it becomes zeros. */
int weigher_load(struct weigher *weigher, const struct sample_store *store,
                 struct err *err);

/* weigher_weigh() returns weights that are valid until the next call.  A
 * program that died is restarted once. */
int weigher_weigh(struct weigher *weigher,
                  const struct wire_weights_request *request,
                  struct weights *weights, struct err *err);

/* The sampler and its place. */
struct sampler {
    struct sample_source source; /* initialised once the data set is known */
    struct weigher *weigher;     /* weighs instead of it; or NULL */
    int known;                   /* 1: `source` is initialised */
    /* Its place, and the peer of `server` that owns it. */
    struct flow_state_owner owner_state;
    const struct negatives_options *options;
    struct flow_server *server;
    struct sample_store incoming; /* pieces of a state so far */
    int64_t *views;               /* of the last request with captions */
    size_t views_room;
};

/*
 * sampler.c: sampler_open() makes a sampler without a place and opens the
 * endpoint for trainers.  sampler_set_data() initialises it with a data set,
 * once; sampler_begin() resets it for a new run of a trainer, unless its owner
 * is still connected.  sampler_turn() reads and answers messages; it returns 1,
 * as a turn of a stage that continues (stage/stage.h).
 */
void sampler_open(struct sampler *sampler,
                  const struct negatives_options *options, struct stage *stage);
void sampler_set_data(struct sampler *sampler, const struct wire_hello *hello);
void sampler_begin(struct sampler *sampler, const struct wire_place *at);
int sampler_turn(void *sampler);
void sampler_release(struct sampler *sampler);

/* An item, from its arrival until its step is trained. */
struct passage_item {
    struct wire_place at;
    int64_t steps;        /* of its epoch */
    struct wire_msg *msg; /* as received; after passage_pass(), as sent */
    int encode_only;      /* 1: only to encode: it is not weighed */
    int drawn;            /* 1: extra samples were drawn for it */
    int busy;             /* 1: its images' chains are not weighed yet */
    size_t n;             /* images */
    int64_t *ids;         /* [n] */
};

/* The items of a run in the order of the plan, stored by a consumer; its place
 * is the trainer's.  Items with their extra samples are stored, too, so a peer
 * that requests one again gets the same. */
struct passage {
    struct flow_consumer *consumer;
    struct wire_place next; /* of the next item to draw for */
    int64_t session;        /* of `number`; -1: not known */
    int64_t number;         /* of the step at `next`, counted over the run */
    size_t size;            /* of the data set */
    uint32_t *busy;         /* [size] items that use an image's chains */
};

/* passage_init(): serial is that of the first snapshot for the selector. */
void passage_init(struct passage *passage, size_t size, int64_t serial);
void passage_release(struct passage *passage);

/* passage_begin() drops all items, because a trainer was started at a place or
 * went back to one. */
void passage_begin(struct passage *passage, const struct wire_place *at);

/* passage_add() stores an item, unless it is late or already stored. */
void passage_add(struct passage *passage, const struct wire_item *item);

/* passage_move() takes the places of sampler and trainer, and drops trained
 * items. */
void passage_move(struct passage *passage, const struct sampler *sampler,
                  const struct wire_place *trained);

/* passage_due() returns the next item to draw for, or NULL if it has not come
 * or has to wait for items in progress. */
struct passage_item *passage_due(const struct passage *passage,
                                 const struct sampler *sampler);

/* passage_pass() replaces the message of the item of passage_due() by msg, and
 * advances to the next item. */
void passage_pass(struct passage *passage, struct wire_msg *msg);

/* passage_find() returns the item of a place if passage_pass() was called for
 * it, or NULL; passage_after() returns the place after an item. */
struct passage_item *passage_find(const struct passage *passage,
                                  const struct wire_place *at);
struct wire_place passage_after(const struct passage_item *item);

/* filter.c */
struct filter {
    const struct negatives_options *options;
    struct sampler *sampler;
    struct stage *stage;
    struct flow_client *plan;  /* selector */
    struct flow_outlet *items; /* augmenters; NULL without a data set */
    struct passage passage;
    struct wire_place end; /* if `ended`: no item is at or after it */
    int ended;
    double begin_at; /* time of the next attempt to begin a session */
    int over;        /* 1: the selector was sent that the run has ended */
    int64_t *variant;
    size_t variant_room;
    uint64_t seed; /* of the choice of fixed views */
};

void filter_open(struct filter *filter, const struct negatives_options *options,
                 struct stage *stage);

/* filter_turn() reads messages and hands items on.  filter_pause() and
 * filter_waits() are handlers of a stage (stage/stage.h). */
void filter_turn(struct filter *filter);
double filter_pause(void *filter);
int filter_waits(void *filter, struct stage_waiting *waiting, double now,
                 struct err who[STAGE_WAITS]);

/* filter_close() takes a last turn.  At the end of a plan it waits up to a
 * second for augmenters to send that the run has ended, because only the filter
 * can forward that to the selector. */
void filter_close(struct filter *filter);
