#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sample/emc2.h"
#include "util/param.h"

/* Samplers: ways to get the negatives of an objective.  Each is a row of a
 * table; options and --help derive from it.  lib/README.md 5 says how to add
 * one. */
struct sample_source;
struct weights;
struct sample_memory_form;
struct sample_sampler;

/* A sampler and its settings. */
struct sample_settings {
    const struct sample_sampler *sampler;
    double value[PARAM_MOST]; /* of its parameters, in the order of its table */
    int draws_outside;        /* 1: may add samples from outside to the batch
                                 (--filter) */
    size_t most; /* bytes that a trainer stores; 0: SAMPLE_STORE_MOST */
    uint64_t seed;
};

/*
 * A sampler.  Its functions get the source (sample/source.h); source->settings
 * has the settings.  draw() allocates its results in the arena source->drawn,
 * weigh() in source->weighed.  A function may be NULL.  check_settings() and
 * check_step() return 0, or -1 with the reason in err.
 */
struct sample_sampler {
    const char *method;    /* its name in an objective, loss/objective.h */
    const char *proposals; /* name of this variant of the method; "": it has
                              no variants */
    const char *summary;
    const char *name; /* of the stored state, with a version: "emc2 1".  With
                         scores " stale" is appended, with chains and a bank
                         " bank" */
    const struct param *params;
    enum sample_proposals kernel; /* with chains: proposals of a visit */
    int needs_outside;            /* 1: useless without outside samples */
    int one_chain; /* 1: an image has one chain for all of its views, and views
                      are not fixed */

    /* Sets what is remembered: all members but size and most, of a form of
     * zeros.  NULL: nothing is remembered. */
    void (*tables)(const struct sample_settings *how,
                   struct sample_memory_form *form);

    /* Refuses values that do not go together. */
    int (*check_settings)(const struct sample_settings *how, struct err *err);

    /* Make and free source->own, which depends only on ->settings and the size
     * of the data set. */
    void (*init)(struct sample_source *source);
    void (*release)(struct sample_source *source);

    /* Returns 1 if a draw must wait until all earlier steps are weighed. */
    int (*waits)(const struct sample_settings *how);

    /* Fills in the extra samples of a step; see sample_source_draw(). */
    void (*draw)(struct sample_source *source, const struct batch *step,
                 int64_t number, struct batch_extra *extras);

    /* Refuses a step that it cannot weigh, and changes nothing. */
    int (*check_step)(const struct sample_source *source,
                      const struct batch *step, struct err *err);

    /* Fills in the weights of a step that check_step() accepted, and points
     * source->state and ->score at the new states of its chains. */
    void (*weigh)(struct sample_source *source, const struct batch *step,
                  struct weights *weights);
};

/* The table, terminated by NULL; the first of each method is the default. */
extern const struct sample_sampler *const sample_samplers[];

/* sample_sampler_find() returns the sampler of a method with these proposals
 * (NULL: the method's first); or NULL with the valid names in err. */
const struct sample_sampler *
sample_sampler_find(const char *method, const char *proposals, struct err *err);

/* These return all methods, or all proposals, as "a|b|c" in the order of the
 * table; valid until the next call. */
const char *sample_sampler_methods(void);
const char *sample_sampler_proposals(void);

/* sample_settings_init() sets a sampler and the defaults of its parameters. */
void sample_settings_init(struct sample_settings *how,
                          const struct sample_sampler *sampler);

/* sample_settings_value() returns the value of a parameter, or 0 if the sampler
 * has no such parameter; sample_settings_set() sets one if the sampler has it.
 */
double sample_settings_value(const struct sample_settings *how,
                             const char *name);
void sample_settings_set(struct sample_settings *how, const char *name,
                         double value);

/* sample_settings_read() sets parameters from a list, "moves=16,horizon=4".
 * Returns -1 with the reason for an unknown parameter or an invalid value. */
int sample_settings_read(struct sample_settings *how, const char *list,
                         struct err *err);
