#include <glob.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "nn/checkpoint.h"
#include "run/batches.h"
#include "run/origin.h"
#include "run/settings.h"
#include "util/mem.h"

void
run_settings_init(struct run_settings *settings, const struct opt *opt,
                  size_t n, const char *const *others, size_t n_others,
                  const struct opt_list *override)
{
    *settings = (struct run_settings){.opt = opt,
                                      .n = n,
                                      .others = others,
                                      .n_others = n_others,
                                      .override = override};
    settings->defaults = run_settings_put(settings);
}

json_t *
run_settings_put(const struct run_settings *settings)
{
    json_t *object = json_object();

    for (size_t i = 0; i < settings->n; i++)
        json_object_set_new(object, settings->opt[i].name,
                            opt_json(&settings->opt[i]));
    return object;
}

int
run_settings_has(const struct run_settings *settings, const char *key)
{
    for (size_t i = 0; i < settings->n_others; i++)
        if (!strcmp(settings->others[i], key))
            return 1;
    for (size_t i = 0; i < settings->n; i++)
        if (!strcmp(settings->opt[i].name, key))
            return 1;
    return 0;
}

int
run_settings_overridden(const struct run_settings *settings, const char *key)
{
    for (size_t i = 0; i < settings->override->n; i++)
        if (!strcmp(settings->override->item[i], key))
            return 1;
    return 0;
}

static void
set_value(const struct opt *opt, const json_t *value)
{
    const char *text = json_string_value(value);
    const int none = json_is_null(value);
    struct opt_list *list = opt->value;

    switch (opt->kind) {
    case OPT_FLAG:
        *(int *)opt->value = json_is_true(value);
        break;
    case OPT_WHOLE:
        *(long *)opt->value = none ? LONG_MIN : (long)json_integer_value(value);
        break;
    case OPT_REAL:
        *(double *)opt->value = none ? NAN : json_real_value(value);
        break;
    case OPT_CHOICE:
        *(int *)opt->value = text ? opt_index(opt->arg, text) : -1;
        break;
    case OPT_LIST:
        list->n = json_array_size(value);
        for (size_t i = 0; i < list->n; i++)
            list->item[i] = json_string_value(json_array_get(value, i));
        break;
    case OPT_TEXT:
    case OPT_METHOD:
        *(const char **)opt->value = text;
        break;
    }
}

/* Whether an option can have a value: of its type, or none. */
static int
can_have(const struct opt *opt, const json_t *value)
{
    const struct opt_list *list = opt->value;
    const char *text = json_string_value(value);
    size_t n = json_array_size(value);

    if (json_is_null(value))
        return opt->kind != OPT_LIST;
    switch (opt->kind) {
    case OPT_FLAG:
        return json_is_boolean(value);
    case OPT_WHOLE:
        return json_is_integer(value);
    case OPT_REAL:
        return json_is_real(value);
    case OPT_CHOICE:
        return text && opt_index(opt->arg, text) >= 0;
    case OPT_LIST:
        if (n > sizeof list->item / sizeof *list->item)
            return 0;
        while (n && json_is_string(json_array_get(value, n - 1)))
            n--;
        return json_is_array(value) && !n;
    default:
        return text != NULL;
    }
}

/* Sets an option to the checkpoint's value; refuses another one on the command
 * line. */
static int
take_setting(const struct opt *opt, const json_t *value, struct err *err)
{
    const size_t readable = JSON_ENCODE_ANY | JSON_REAL_PRECISION(9);
    json_t *mine = opt_json(opt);
    char *is = json_dumps(mine, readable), *was = json_dumps(value, readable);
    int rc = 0;

    if (!can_have(opt, value))
        rc = err_set(err, "the checkpoint does not say %s", opt_spelled(opt));
    else if (!opt_is_set(opt->value) || json_equal(mine, value))
        set_value(opt, value);
    else
        rc = err_set(err,
                     "%s is %s, but %s in the checkpoint: leave it out, or add "
                     "--override %s",
                     opt_spelled(opt), is, was, opt->name);
    mem_free(is, was);
    json_decref(mine);
    return rc;
}

int
run_settings_take(const struct run_settings *settings, const json_t *saved,
                  int (*counts)(const char *name, const void *data),
                  const void *data, struct err *err)
{
    for (size_t i = 0; i < settings->n; i++) {
        const struct opt *opt = &settings->opt[i];
        const char *old = opt_old_name(opt->name);
        const json_t *value = json_object_get(saved, opt->name);

        if (run_settings_overridden(settings, opt->name))
            continue;
        if (!value && old)
            value = json_object_get(saved, old);
        if (!value || (counts && !counts(opt->name, data)))
            value = json_object_get(settings->defaults, opt->name);
        if (take_setting(opt, value, err))
            return -1;
    }
    return 0;
}

/* Whether a path below a folder matches a pattern. */
static int
has_match(const char *folder, const char *pattern)
{
    glob_t found = {0};
    const int has = !glob(mem_temp("%s/%s", folder, pattern), 0, NULL, &found);

    globfree(&found);
    return has;
}

int
run_check(const char *path, struct err *err)
{
    static const char *const names[] = {
        "metrics.jsonl", "command", "latest",      "events",        "lock",
        "session",       "log",     "stages.json", "batches.jsonl", "batch"};
    struct stat st;

    if (stat(path, &st))
        return err_set(err, "there is no run '%s'", path);
    if (!S_ISDIR(st.st_mode))
        return err_set(err,
                       "'%s' is a file: want RUN, the directory of a run; "
                       "'foil runs' lists them",
                       path);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (has_match(path, names[i]))
            return 0;
    if (has_match(path, "MANIFEST.json"))
        return err_set(err,
                       "'%s' is a checkpoint: want RUN, the directory of its "
                       "run",
                       path);
    if (has_match(path, "*/metrics.jsonl") || has_match(path, "*/command"))
        return err_set(err,
                       "'%s' is no run, but has some: 'foil runs %s' lists "
                       "them",
                       path, path);
    if (!has_match(path, "*"))
        return 0;
    return err_set(err, "'%s' is no run: 'foil runs' lists the runs in run/",
                   path);
}

json_t *
run_config_newest(const char *run, struct err *err)
{
    char *checkpoint;
    json_t *config;

    if (nn_checkpoint_find(run, &checkpoint, err) < 0)
        return NULL;
    if (!checkpoint)
        checkpoint = mem_format("%s/latest", run);
    config = nn_checkpoint_config(checkpoint, err);
    free(checkpoint);
    return config;
}

int
run_config_done(const json_t *config)
{
    const json_t *state = json_object_get(config, "state");
    const json_int_t epochs =
        json_integer_value(json_object_get(state, "epochs"));

    return epochs > 0 &&
           json_integer_value(json_object_get(state, "epoch")) >= epochs;
}

int
run_command_read(struct settings *settings, const char *run, struct err *err)
{
    return setting_read(settings, mem_temp("%s/command", run), err);
}

/* Adds the commands of stages, unless RUN/command has their options, and the
 * digests of their files. */
static void
add_origin(json_t *all, const char *run, int trained)
{
    json_t *origin = run_origin_read(run), *stages = json_array(), *line;
    const int remembers = json_object_get(all, "pipeline") != NULL;
    const char *of, *path;

    json_object_foreach(origin, of, line)
    {
        json_t *files = json_array(), *digest;

        if (!strchr(of, ' '))
            json_array_append_new(stages, json_string(of));
        if (!remembers && (!trained || strcmp(of, "train") != 0))
            json_object_set(all, of, json_object_get(line, "command"));
        json_object_foreach(json_object_get(line, "files"), path, digest)
        {
            json_array_append_new(
                files,
                json_sprintf("%s:%.8s", path, json_string_value(digest)));
        }
        if (json_array_size(files))
            json_object_set(all, mem_temp("%s files", of), files);
        json_decref(files);
    }
    if (json_array_size(stages))
        json_object_set(all, "stages", stages);
    json_decref(stages);
    json_decref(origin);
}

json_t *
run_settings_read(const char *run, const json_t *config)
{
    json_t *all = json_object(), *value, *plans;
    struct settings command = {0};
    struct err ignored;
    const char *name;
    int trained;

    json_object_foreach(json_object_get(config, "options"), name, value)
    {
        if (!json_is_null(value))
            json_object_set(all, name, value);
    }
    trained = json_object_size(all) > 0; // has the options of foil-train
    if (!run_command_read(&command, run, &ignored))
        for (size_t i = 0; i < command.n; i++) {
            name = command.item[i].name;
            if ((!trained || strcmp(name, "train")) &&
                !json_object_get(all, name))
                json_object_set_new(all, name,
                                    json_name(command.item[i].value));
        }
    setting_release(&command);
    add_origin(all, run, trained);
    json_object_set(all, "foil", json_object_get(config, "foil"));
    json_object_set(
        all, "processor",
        json_object_get(json_object_get(config, "engine"), "processor"));
    plans = run_batches_plans(run);
    if (json_array_size(plans))
        json_object_set(all, "plan", plans);
    json_decref(plans);
    return all;
}
