#ifndef TRAIN_SETTINGS_H
#define TRAIN_SETTINGS_H

#include <stddef.h>

#include "util/err.h"
#include "util/json.h"
#include "util/opt.h"

/*
 * The options that were given, as a checkpoint remembers them: options of the
 * command line (util/opt.h), by name.  A run that goes on takes the remembered
 * values; an option that is given with another value is refused, unless an
 * override names it.  So it is with some facts that are no options, as the data
 * set.
 *
 * For one thread, at the beginning of a process.
 */
struct train_settings {
    const struct opt *opt; /* [n] that are remembered; lent */
    size_t n;
    const char *const *others; /* [n_others] what can be overridden
                                  besides; lent */
    size_t n_others;
    const struct opt_list *override; /* names that may differ; lent */
    json_t *defaults;                /* what opt was set to at first */
};

/* train_settings_init() looks at the defaults: before opt_parse(). */
void train_settings_init(struct train_settings *settings, const struct opt *opt,
                         size_t n, const char *const *others, size_t n_others,
                         const struct opt_list *override);
void train_settings_release(struct train_settings *settings);

/* train_settings_put() returns the values of now as an object; null where an
 * option has no default and was not given. */
json_t *train_settings_put(const struct train_settings *settings);

/*
 * train_settings_take() takes the values of such an object, which must stay:
 * texts are not copied.  One that is not in it (it is younger than the
 * checkpoint), or that counts() says does not count, has the value that it had
 * at first.  -1 with the option that differs, or that is of another type.
 *   counts  1: the saved value of that name counts; NULL: all do
 */
int train_settings_take(const struct train_settings *settings,
                        const json_t *saved,
                        int (*counts)(const char *name, const void *data),
                        const void *data, struct err *err);

/* train_settings_knows() returns 1 when that can be overridden,
 * train_settings_overridden() when it is. */
int train_settings_knows(const struct train_settings *settings,
                         const char *key);
int train_settings_overridden(const struct train_settings *settings,
                              const char *key);

#endif
