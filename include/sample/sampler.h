#ifndef SAMPLE_SAMPLER_H
#define SAMPLE_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "sample/emc2.h"
#include "util/param.h"

/*
 * Samplers: ways in which an objective gets its negatives.  Each is a row of a
 * table, from which options and --help follow.  To add one: a source in
 * lib/sample that describes it, its name in the table of lib/sample/samplers.h,
 * a test, and the page of foil-negatives.
 */
struct sample_source;
struct weights;
struct sample_memory_form;
struct sample_sampler;

/* A sampler and what it is set to. */
struct sample_how {
    const struct sample_sampler *sampler;
    double value[PARAM_MOST]; /* of its parameters, in the order of its table */
    int brings;  /* 1: samples drawn from outside of the batch come along */
    size_t most; /* bytes that a trainer keeps; 0: SAMPLE_STORE_MOST */
    uint64_t seed;
};

/*
 * A sampler.  Its functions get the source (sample/source.h), whose ->how has
 * its settings.  Arrays that draw() hands out are in the arena source->drawn,
 * those of weigh() in source->weighed.  A function is NULL where a sampler has
 * nothing to do; check_how() and check_step() return 0, or -1 with the reason.
 */
struct sample_sampler {
    const char *method;    /* the objective's word for it, loss/objective.h */
    const char *proposals; /* which of the method's samplers, where it has
                              several; else "" */
    const char *summary;
    const char
        *name; /* of the kept state, with its version, "emc2 1"; where scores
                  are kept " stale" is added, where chains and a bank " bank" */
    const struct param *params;
    enum sample_proposals kernel; /* with chains: what they get in a visit */
    int wants_outside;            /* 1: of no use where nothing comes along */
    int one_chain; /* 1: an image has one chain for all of its views, which
                      must not be fixed ones */

    /* Sets what is remembered: the members but size and most of a form of
     * zeros.  NULL: nothing is. */
    void (*tables)(const struct sample_how *how,
                   struct sample_memory_form *form);

    /* Refuses, with the reason, values that do not go together. */
    int (*check_how)(const struct sample_how *how, struct err *err);

    /* Make and free source->own, which depends on ->how and the size of the
     * data set alone. */
    void (*init)(struct sample_source *source);
    void (*release)(struct sample_source *source);

    /* Returns 1 when an item has to wait for images that are under way. */
    int (*waits)(const struct sample_how *how);

    /* Fills in the extra samples of a step; sample_source_draw(). */
    void (*draw)(struct sample_source *source, const struct batch *step,
                 int64_t number, struct batch_extra *extras);

    /* Refuses, with the reason, a step that it cannot weigh; nothing changes */
    int (*check_step)(const struct sample_source *source,
                      const struct batch *step, struct err *err);

    /* Fills in the weights of a step that was not refused, and points
     * source->state and ->score at what is to be remembered of its chains. */
    void (*weigh)(struct sample_source *source, const struct batch *step,
                  struct weights *weights);
};

/* The table, ended by NULL; of each method the first is the default. */
extern const struct sample_sampler *const sample_samplers[];

/* sample_sampler_find() returns the sampler of a method with these proposals
 * (NULL: the method's first); or NULL, with the names that there are in err. */
const struct sample_sampler *
sample_sampler_find(const char *method, const char *proposals, struct err *err);

/* These return all methods, or all proposals, as the words of a choice,
 * "a|b|c", in the order of the table; they last until the next call. */
const char *sample_sampler_methods(void);
const char *sample_sampler_proposals(void);

/* sample_how_init() sets a sampler and the defaults of its parameters. */
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
