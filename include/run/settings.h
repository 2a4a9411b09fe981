#ifndef RUN_SETTINGS_H
#define RUN_SETTINGS_H

#include <stddef.h>

#include "util/err.h"
#include "util/json.h"
#include "util/opt.h"
#include "util/setting.h"

/*
 * The options that were given, as a checkpoint remembers them: options of the
 * command line (util/opt.h), by name.  A run that goes on takes the remembered
 * values; an option that is given with another value is refused, unless an
 * override names it.  An override may also name some facts that are no options,
 * such as the data set; their owners check these.
 *
 * For one thread, at the beginning of a process.
 */
struct run_settings {
    const struct opt *opt; /* [n] that are remembered; lent */
    size_t n;
    const char *const *others; /* [n_others] names of these facts; lent */
    size_t n_others;
    const struct opt_list *override; /* names that may differ; lent */
    json_t *defaults;                /* the values before opt_parse() */
};

/* run_settings_init() notes the defaults: call it before opt_parse(). */
void run_settings_init(struct run_settings *settings, const struct opt *opt,
                       size_t n, const char *const *others, size_t n_others,
                       const struct opt_list *override);
void run_settings_release(struct run_settings *settings);

/* run_settings_put() returns the current values as an object, to be given to
 * json_decref(); null where an option has no default and was not given. */
json_t *run_settings_put(const struct run_settings *settings);

/*
 * run_settings_take() sets options to the values of such an object, which
 * must stay: texts are not copied.  An option that is not in it (newer than the
 * checkpoint), or for which counts() returns 0, counts as saved with its
 * default.  -1 with a sentence about an option that differs, or is of another
 * type.
 *
 *     counts   returns 1 where the saved value of that name counts; NULL: all
 * do
 */
int run_settings_take(const struct run_settings *settings, const json_t *saved,
                      int (*counts)(const char *name, const void *data),
                      const void *data, struct err *err);

/* run_settings_knows() returns 1 when an override may name `key`,
 * run_settings_overridden() when one does. */
int run_settings_knows(const struct run_settings *settings, const char *key);
int run_settings_overridden(const struct run_settings *settings,
                            const char *key);

/* run_config_newest() returns the config of the newest checkpoint of a run
 * (nn/checkpoint.h), or of RUN/latest where a trainer of another kind wrote
 * that alone, to be given to json_decref(); NULL with a sentence where there is
 * none. */
json_t *run_config_newest(const char *run, struct err *err);

/* run_config_done() returns 1 where all epochs of the run are done.
 *   config  of its checkpoint, or NULL: 0 */
int run_config_done(const json_t *config);

/*
 * run_settings_read() returns what a run was told, by name, to be given to
 * json_decref(): the options that its newest checkpoint remembers, and those of
 * RUN/command (run_command_read()) that the former has not, as texts.  {} where
 * nothing is known.
 *   config  of its newest checkpoint, or NULL
 */
json_t *run_settings_read(const char *run, const json_t *config);

/* run_command_read() adds RUN/command, which foil run writes, to settings
 * (util/setting.h): 0, or -1 where there is none. */
int run_command_read(struct settings *settings, const char *run,
                     struct err *err);

#endif
