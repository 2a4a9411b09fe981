#include <stdlib.h>
#include <string.h>

#include "pipeline.h"
#include "run/settings.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

static int
is_operand(const char *name)
{
    return *name >= 'A' && *name <= 'Z';
}

static int
is_stage(const char *name)
{
    return stage_named(name, strlen(name)) >= 0;
}

/* Returns the value of a key for RUN/command. */
static const char *
look_up(const struct pipeline *p, const char *key)
{
    const char *value = var(p, key);

    return is_operand(key) && *value ? pipeline_absolute(value) : value;
}

/* Returns the lines of settings, and frees these. */
static char *
settings_to_text(struct settings *all)
{
    char *text = mem_keep(setting_text(all));

    setting_release(all);
    return text;
}

char *
run_command_text(const struct pipeline *p)
{
    const struct word_list keys = pipeline_keys(p);
    struct settings all = {0};

    setting_set(&all, "pipeline", p->known);
    for (size_t i = 0; i < keys.n; i++)
        setting_set(&all, keys.word[i], look_up(p, keys.word[i]));
    return settings_to_text(&all);
}

/*
 * Returns the text of STUDY/settings: the arguments of `study`, the primary
 * measures, the operands and the options of each stage.
 *   old  1: as older versions wrote it, without names
 */
static const char *
study_text(const struct pipeline *p, char **value, int old)
{
    struct settings all = {0};
    const char *operands = "", *text = "";

    for (int i = 0; value[i]; i++)
        setting_set(&all, mem_keep_format("%d", i + 1), value[i]);
    setting_set(&all, "primary", var(p, "primary"));
    for (size_t i = 0; i < p->operand.n; i++) {
        const char *name = p->operand.word[i];
        const char *is = old ? var(p, name) : look_up(p, name);

        operands = mem_keep_format("%s%s%s", operands, i && *is ? " " : "", is);
    }
    setting_set(&all, "operands", operands);
    for (int i = 0; i < N_STAGES; i++) {
        const char *name = pipeline_stages[i], *options = var(p, name);

        setting_set(
            &all, name,
            mem_keep_format("%s%s", old && *options ? " " : "", options));
    }
    if (!old)
        return settings_to_text(&all);
    for (size_t i = 0; i < all.n; i++)
        text = mem_keep_format("%s%s\n", text, all.item[i].value);
    setting_release(&all);
    return text;
}

void
study_settings(struct pipeline *p, char **value)
{
    const char *text = study_text(p, value, 0), *study = getenv("STUDY");
    char *path = mem_keep_format("%s/settings", study), *was = NULL;
    struct err err;
    size_t n;

    if (file_exists(path) && !(was = file_read(path, LIST_MAX_BYTES, &n, &err)))
        die("%s", err.msg);
    if (was && strcmp(was, text) && strcmp(was, study_text(p, value, 1)))
        die("'%s' has a study with other settings: name another folder by -r",
            study);
    free(was);
    fputs(text, stdout);
    close_stdout();
    exit(EXIT_OK);
}

/* Refuses a value that differs from the stored one, unless it may differ. */
static void
check_difference(struct pipeline *p, const char *key, const char *was,
                 const char *is)
{
    if (opt_index("augmenters|restarts|ranks|hosts|embed", key) >= 0)
        return; // the result is the same
    if (!strcmp(key, "TEST") && (!*was || is_overridden(p, key)))
        set_var(p, "anew", "yes");
    else if (!is_overridden(p, key))
        die("%s%s is %s, but %s in this run: leave it out, or add --override "
            "%s",
            is_operand(key) ? "" : "--", key, *is ? is : "empty",
            *was ? was : "empty", key);
}

static int
compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns the items of a list sorted, to compare them. */
static char *
sort_items(const struct word_list *list)
{
    struct word_list items = {0};

    for (size_t i = 0, end; i < list->n; i = end) {
        end = item_end(list, i);
        word_list_add(&items, word_list_text(list->word + i, end - i));
    }
    if (items.n)
        qsort(items.word, items.n, sizeof *items.word, compare_texts);
    return word_list_text(items.word, items.n);
}

/* Merges the stored options of a stage with those of the command line, which
 * replace them; foil-train itself checks which of its options may differ. */
static void
merge_stage_options(struct pipeline *p, const char *stage, const char *was)
{
    struct word_list old = {0}, new = {0}, both = {0};
    const char *text;

    pipeline_split(p, &old, stage, was);
    pipeline_split(p, &new, stage, var(p, stage));
    merge_items(stage_named(stage, strlen(stage)), &both, &old, &new);
    text = word_list_text(both.word, both.n);
    if (strcmp(stage, "train") && strcmp(sort_items(&both), sort_items(&old)))
        check_difference(p, stage, was, text);
    set_var(p, stage, text);
}

/* Applies a stored setting; the command line may not differ. */
static void
merge_saved_setting(struct pipeline *p, const char *key, const char *was)
{
    const char *is, *cli;

    if (!strcmp(key, "pipeline")) {
        if (strcmp(was, p->known))
            die("'%s' is a run of '%s'", var(p, "RUN"), was);
        return;
    }
    if (!pipeline_is_key(p, key))
        die("'%s/command' has '%s', which is no option of this version of foil",
            var(p, "RUN"), key);
    is = look_up(p, key);
    cli = setting_get(&p->cli, key);
    if (cli && !strcmp(key, "objective") && same_method(cli, was)) {
        set_var(p, key, merge_parameters(was, cli)); // foil-train checks them
        return;
    }
    if (!cli && !strcmp(key, "objective") && strcmp(was, p->usual))
        setting_set(&p->cli, key, was); // chosen when the run began
    if (!cli)
        set_var(p, key, was);
    else if (is_stage(key))
        merge_stage_options(p, key, was);
    else if (strcmp(is, was))
        check_difference(p, key, was, is);
}

/* Replaces old spellings in the stored settings. */
static void
respell_settings(const struct pipeline *p, struct settings *was)
{
    if (setting_get(was, "objective"))
        setting_set(was, "objective",
                    update_objective(setting_get(was, "objective"), 0));
    for (int i = 0; i < N_STAGES; i++) {
        const char *name = pipeline_stages[i], *text = setting_get(was, name);
        const char *objective = setting_get(was, "objective");
        struct word_list list = {0};
        const char *of_train;

        if (!text || !runs_foil_tool(p, i))
            continue;
        pipeline_split(p, &list, name, text);
        update_spelling(i, &list, 0);
        of_train =
            i == TRAIN && objective ? take_item(&list, "--objective") : NULL;
        if (of_train)
            setting_set(was, "objective",
                        merge_parameters(objective, of_train));
        setting_set(was, name, word_list_text(list.word, list.n));
    }
}

void
load_run(struct pipeline *p)
{
    const int has_command = run_has(p, "command");
    struct settings was = {0};
    struct err err;

    if (!has_command && !run_has(p, "latest") && file_exists(var(p, "RUN")))
        die("'%s' is no run: it has neither 'command' nor a checkpoint; "
            "correct -r, or start a run without --resume",
            var(p, "RUN"));
    if (!has_command && run_has(p, "latest"))
        log_message(
            "'%s' was made by an older version of foil, without its command: "
            "it continues with the options of this command line",
            var(p, "RUN"));
    else if (has_command && run_command_read(&was, var(p, "RUN"), &err))
        die("%s", err.msg);
    respell_settings(p, &was);
    for (size_t i = 0; i < was.n; i++)
        merge_saved_setting(p, was.item[i].name, was.item[i].value);
    setting_release(&was);
}

/* Takes an option of a file, unless the command line has it. */
static void
configure_option(void *self, const char *name, const char *value)
{
    struct pipeline *p = self;
    const char *cli = setting_get(&p->cli, name);

    if (cli && !strcmp(name, "objective"))
        set_var(p, name, merge_parameters(value, cli));
    if (!strcmp(name, "pipeline") || cli)
        return;
    if (!pipeline_is_key(p, name))
        pipeline_misuse(p, "'%s' is no option of %s", name, p->name);
    if (is_operand(name) ? *value : is_stage(name))
        set_var(p, name, value);
    else if (!is_operand(name))
        pipeline_take(p, name, value);
}

void
configure_run(struct pipeline *p)
{
    opt_config(p->config, configure_option, p);
}
