#ifndef SAMPLE_SAMPLER_H
#define SAMPLE_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "sample/emc2.h"
#include "util/param.h"

/*
 * Samplers: ways in which an objective gets its negatives.  Each is a row of a
 * table, which tools and pages are made of.  To add one: a source in lib/sample
 * that describes it, its name in the table of lib/sample/samplers.h, a test,
 * and the page of foil-negatives.
 */
struct sample_source;
struct sample_step;
struct sample_extras;
struct sample_weights;
struct sample_memory_form;
struct sample_sampler;

/* A sampler and what it is set to. */
struct sample_how {
    const struct sample_sampler *sampler;
    double value[PARAM_MOST]; /* of its parameters, in the order of its table */
    int brings;  /* 1: what is drawn from outside of the batch comes along */
    size_t most; /* bytes that a trainer keeps; 0: SAMPLE_STORE_MOST */
    uint64_t seed;
};

/*
 * Functions get the source (sample/source.h), whose ->how is theirs.  What a
 * call hands out is in an arena: the source's ->drawn of a draw, ->weighed of a
 * weighing.  NULL where a sampler has nothing to do.
 */
struct sample_sampler {
    const char *method;    /* the objective's word for it, loss/objective.h */
    const char *proposals; /* which of the method's samplers, where it has
                              several; else "" */
    const char *summary;
    const char
        *name; /* and version of what is kept, "emc2 1"; " stale" is added
                  where scores are, " bank" where chains and a bank */
    const struct param *params;
    enum sample_proposals kernel; /* with chains: what they get in a visit */
    int wants_outside;            /* 1: of no use where nothing comes along */
    int one_chain; /* 1: of an image for all of its views, which must not be
                      fixed ones */

    /* Sets what is remembered, and in which tables it is kept: all but size and
     * most of a form of zeros; NULL: nothing. */
    void (*tables)(const struct sample_how *how,
                   struct sample_memory_form *form);

    /* Refuses, with the reason, values that do not go together. */
    int (*check_how)(const struct sample_how *how, struct err *err);

    /* Makes and frees source->own, which is no more than a function of ->how
     * and the size of the data set. */
    void (*init)(struct sample_source *source);
    void (*release)(struct sample_source *source);

    /* Returns 1 when an item has to wait for images that are under way. */
    int (*waits)(const struct sample_how *how);

    /* Fills in the extra samples of a step; sample_source_draw(). */
    void (*draw)(struct sample_source *source, const struct sample_step *step,
                 int64_t number, struct sample_extras *extras);

    /* Refuses, with the reason, a step that it cannot weigh; nothing changes */
    int (*check_step)(const struct sample_source *source,
                      const struct sample_step *step, struct err *err);

    /* Fills in the weights of a step that was not refused, and points
     * source->state and ->score at what is to be remembered of its chains. */
    void (*weigh)(struct sample_source *source, const struct sample_step *step,
                  struct sample_weights *weights);
};

/* The table, ended by NULL; of each method the first is the default. */
extern const struct sample_sampler *const sample_samplers[];

/* sample_sampler_find() returns the sampler of a method with these proposals,
 * NULL: the method's first; or NULL with the list of those there are. */
const struct sample_sampler *
sample_sampler_find(const char *method, const char *proposals, struct err *err);

/* These return all methods, or all proposals, as the words of a choice,
 * "a|b|c", in the order of the table; they last until the next call. */
const char *sample_sampler_methods(void);
const char *sample_sampler_proposals(void);

/* sample_how_init() has the defaults. */
void sample_how_init(struct sample_how *how,
                     const struct sample_sampler *sampler);

/* sample_how_value() returns the value of a parameter, or 0 where the sampler
 * has none of that name; sample_how_set() sets one, if the sampler has it. */
double sample_how_value(const struct sample_how *how, const char *name);
void sample_how_set(struct sample_how *how, const char *name, double value);

/*
 * sample_how_read() sets parameters to numbers and words, "moves=16,horizon=4".
 * -1 with a sentence: not a parameter of the sampler, not a value of it.
 */
int sample_how_read(struct sample_how *how, const char *list, struct err *err);

#endif
