#pragma once

#include <stddef.h>

#include "util/err.h"
#include "util/json.h"
#include "util/opt.h"
#include "util/setting.h"

/*
 * The options of a run, as its checkpoint stores them: options of the command
 * line (util/opt.h), by name.  A resumed run takes the stored values; another
 * value on the command line is refused, unless an override names the option.
 * An override may also name facts that are no options, such as the data set;
 * the caller checks those.
 *
 * Not thread-safe; for the start of a process.
 */
struct run_settings {
    const struct opt *opt; /* [n] stored options; not owned */
    size_t n;
    const char *const *others; /* [n_others] names of the facts; not owned */
    size_t n_others;
    const struct opt_list *override; /* names that may differ; not owned */
    json_t *defaults; /* values before opt_parse(); never freed */
};

/* run_settings_init() saves the defaults: call it before opt_parse(). */
void run_settings_init(struct run_settings *settings, const struct opt *opt,
                       size_t n, const char *const *others, size_t n_others,
                       const struct opt_list *override);

/* run_settings_put() returns the current values as an object, which the caller
 * releases with json_decref(); null for an option without value. */
json_t *run_settings_put(const struct run_settings *settings);

/*
 * run_settings_take() sets options to the values of such an object, which must
 * outlive them: texts are not copied.  An option that is missing (newer than
 * the checkpoint), or for which counts() returns 0, counts as saved with its
 * default.  -1 with a message about an option with another value or type.
 *
 *     counts   returns 1 if the saved value of that name counts; NULL: all do
 */
int run_settings_take(const struct run_settings *settings, const json_t *saved,
                      int (*counts)(const char *name, const void *data),
                      const void *data, struct err *err);

/* run_settings_has() returns 1 if an override may name `key`;
 * run_settings_overridden() if one does. */
int run_settings_has(const struct run_settings *settings, const char *key);
int run_settings_overridden(const struct run_settings *settings,
                            const char *key);

/* run_check() returns 0 if a path may be a run directory, also an empty one
 * whose trainer has not started; -1 with a message if nothing in it is of a
 * run. */
int run_check(const char *path, struct err *err);

/* run_config_newest() returns the config of the newest checkpoint of a run
 * (nn/checkpoint.h), or of RUN/latest where a trainer of another kind wrote
 * that alone, to be given to json_decref(); NULL with a message where there is
 * none. */
json_t *run_config_newest(const char *run, struct err *err);

/* run_config_done() returns 1 if all epochs of the run are done.
 *   config  of its checkpoint; NULL: returns 0 */
int run_config_done(const json_t *config);

/*
 * run_settings_read() returns the settings of a run, by name, which the caller
 * releases with json_decref(): the options in its newest checkpoint, and as
 * texts those of RUN/command (run_command_read()) that are not in it; {} if it
 * has none.  Also `plan`, the plans of its batches in order (run/batches.h);
 * `foil` and `processor` of the checkpoint; and from RUN/origin.jsonl
 * (run/origin.h) `stages`, their names, `STAGE files`, names with digests, and
 * for a list of stages `STAGE`, their commands.
 *   config  of its newest checkpoint, or NULL
 */
json_t *run_settings_read(const char *run, const json_t *config);

/* run_command_read() adds RUN/command, which foil run writes, to settings: 0,
 * or -1 with a message if there is none. */
int run_command_read(struct settings *settings, const char *run,
                     struct err *err);
