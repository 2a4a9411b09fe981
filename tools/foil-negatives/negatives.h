#ifndef FOIL_NEGATIVES_H
#define FOIL_NEGATIVES_H

#include "flow/consumer.h"
#include "flow/handover.h"
#include "sample/source.h"
#include "stage/stage.h"
#include "wire/negatives.h"

/*
 * The parts of foil-negatives, one file each:
 *
 *   options.c   the command line
 *   sampler.c   the sampler, asked by messages
 *   service.c   requests of the trainer, and their answers
 *   filter.c    items on their way from the selector to the augmenters
 *   passage.c   which item is next, which are under way
 *   command.c   weights by a program of the user's
 */
struct negatives_options {
    struct stage_options stage;
    const char *negatives, *items, *plan;
    const char *command; /* that weighs, in place of --method; or NULL */
    double limit;        /* seconds that it has for a step */
    int filter;
    struct sample_settings settings;
    long augmentations, seed;
    double lease;
};

const struct negatives_options *negatives_options_get(int argc, char **argv);

/*
 * command.c: the program of --weigh-command.  Ends the tool where it cannot be
 * started.
 *   stop  a descriptor that ends a wait for it, and the tool with it
 */
struct weigher;
struct weigher *weigher_open(const struct negatives_options *options, int stop);
void weigher_close(struct weigher *weigher);

/* weigher_weigh() fills in weights, which last until the next call.  A program
 * that is lost is started again once. */
int weigher_weigh(struct weigher *weigher, const struct wire_pairs *pairs,
                  struct weights *weights, struct err *err);

/* The sampler, and where it stands. */
struct sampler {
    struct sample_source source;   /* begun once the data set is known */
    struct weigher *weigher;       /* weighs in its place; or NULL */
    int known;                     /* the data set is */
    struct flow_state_owner stand; /* its owner is a peer of */
    struct flow_server *server;    /* the service */
    struct sample_store arrival;   /* what has come of a state on its way in */
    int64_t *views;                /* of the last pairs with captions */
    size_t views_room;
};

/*
 * sampler.c: sampler_init() makes one that stands nowhere.  sampler_know()
 * begins, once, with a data set; sampler_begin() forgets all, for a trainer
 * that begins too, unless it belongs to one that is there.
 */
void sampler_init(struct sampler *sampler);
void sampler_know(struct sampler *sampler, const struct negatives_options *o,
                  const struct wire_hello *hello);
void sampler_begin(struct sampler *sampler, const struct wire_place *at);
void sampler_release(struct sampler *sampler);

/*
 * sampler_weigh() answers `pairs` of a peer and moves on behind their step;
 * NULL, and nothing has changed, with the reason where it cannot.
 */
struct wire_msg *sampler_weigh(struct sampler *sampler, uint64_t peer,
                               const struct wire_pairs *pairs, struct err *err);

/*
 * sampler_load() takes a piece of what a trainer, that peer, hands over; with
 * the last one the sampler stands at its place.  -1, and it stands where it
 * did, with the reason where that will not do: `again` is 1 where the trainer
 * has to begin with the first piece.
 */
int sampler_load(struct sampler *sampler, uint64_t peer,
                 const struct wire_state *state, int *again, struct err *err);

/* service.c */
struct service {
    const struct negatives_options *options;
    struct sampler *sampler;
    struct flow_server *server;
};

void service_open(struct service *service,
                  const struct negatives_options *options, struct stage *stage);

/* service_turn() reads and answers what has come; `service` is the service.
 * Returns 1, as a turn of a stage that goes on (stage/stage.h). */
int service_turn(void *service);

/* An item from when it comes until its step is trained. */
struct passage_item {
    struct wire_place at;
    int64_t steps;        /* in its epoch */
    struct wire_msg *msg; /* as it came; once drawn for, as it goes out */
    int look;             /* features are wanted: it is not weighed */
    int drawn;            /* for */
    int busy;             /* its images' chains are not weighed yet */
    size_t n;             /* of these */
    int64_t *ids;         /* [n] */
};

/*
 * The items of a run in the order of the plan, held by a consumer whose place
 * is the trainer's.  What was drawn for is kept, too, so that a peer that asks
 * again gets the same.
 */
struct passage {
    struct flow_consumer *consumer;
    struct wire_place next; /* that is to be drawn for */
    int64_t session;        /* that `number` is of; -1: not known */
    int64_t number;         /* in the run, of the step at `next` */
    size_t size;            /* of the data set */
    uint32_t *busy;         /* [size] items that use an image's chains */
};

/* passage_init(): serial, of the first snapshot that the selector gets. */
void passage_init(struct passage *passage, size_t size, int64_t serial);
void passage_release(struct passage *passage);

/* passage_begin() forgets all items: a trainer was started at a place, or is
 * at an earlier one than was said. */
void passage_begin(struct passage *passage, const struct wire_place *at);

/* passage_add() takes an item that came, unless it is late or there. */
void passage_add(struct passage *passage, const struct wire_item *item);

/*
 * passage_move() learns how far the sampler has weighed and the trainer has
 * trained; trained items are forgotten.
 */
void passage_move(struct passage *passage, const struct sampler *sampler,
                  const struct wire_place *trained);

/* passage_due() returns the item whose turn it is, or NULL: it has not come,
 * or has to wait for what is under way. */
struct passage_item *passage_due(const struct passage *passage,
                                 const struct sampler *sampler);

/* passage_pass() puts msg in the place of the item that was due. */
void passage_pass(struct passage *passage, struct wire_msg *msg);

/* passage_find() returns the item of a place where it was drawn for, or NULL;
 * passage_behind() the place behind an item. */
struct passage_item *passage_find(const struct passage *passage,
                                  const struct wire_place *at);
struct wire_place passage_behind(const struct passage_item *item);

/* filter.c */
struct filter {
    const struct negatives_options *options;
    struct sampler *sampler;
    struct stage *stage;
    struct flow_client *plan;  /* selector */
    struct flow_outlet *items; /* augmenters; NULL until the data are known */
    struct passage passage;
    struct wire_place end; /* nothing is at or after it, when ended */
    int ended;
    double begins; /* when the sampler may try to begin a session */
    int over;      /* the selector has been sent that the run is over */
    int64_t *variant;
    size_t variant_room;
    uint64_t seed; /* of the choice of fixed views */
};

void filter_open(struct filter *filter, const struct negatives_options *options,
                 struct stage *stage);

/*
 * filter_turn() reads and hands on what has come.  filter_pause() returns for
 * how many seconds to wait for more at most, filter_waits() for whom the filter
 * waits (stage/stage.h); `filter` is the filter.
 */
void filter_turn(struct filter *filter);
double filter_pause(void *filter);
int filter_waits(void *filter, struct stage_waiting *waiting, double now,
                 struct err who[STAGE_WAITS]);

/* filter_close() takes a last turn.  At the end of a plan augmenters may be
 * about to say that the run is over, which the selector learns from us alone:
 * for that it waits for a second. */
void filter_close(struct filter *filter);

#endif
