#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

void
pipeline_misuse(const struct pipeline *p, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (p->line)
        die("%s: %s", p->line, text);
    opt_misuse("%s", text);
}

const char *
var(const struct pipeline *p, const char *name)
{
    const char *value = setting_get(&p->vars, name);

    return value ? mem_keep_format("%s", value) : "";
}

long
whole_var(const struct pipeline *p, const char *name)
{
    return strtol(var(p, name), NULL, 10);
}

void
set_var(struct pipeline *p, const char *name, const char *value)
{
    setting_set(&p->vars, name, value);
}

/* Returns the name of a variable in the environment: those of stages begin
 * with FOIL_, as TRAIN may be an operand. */
static char *
environment_name(const char *name)
{
    const int of_stage = stage_named(name, strcspn(name, "-")) >= 0;
    char *whole = mem_keep_format("%s%s", of_stage ? "FOIL_" : "", name);

    for (char *at = whole; *at; at++)
        *at = *at == '-' ? '_' : (char)toupper((unsigned char)*at);
    return whole;
}

void
variables_export(const struct pipeline *p)
{
    const char *text = "";

    for (int i = 0; i < N_STAGES; i++)
        export_variable(environment_name(pipeline_stages[i]), "");
    for (size_t i = 0; i < p->vars.n; i++)
        export_variable(environment_name(p->vars.item[i].name),
                        p->vars.item[i].value);
    for (size_t i = 0; i < p->cli.n; i++)
        text = mem_keep_format("%s %s", text, p->cli.item[i].name);
    export_variable("FOIL_SAID", text);
    export_variable("FOIL_OVERRIDE",
                    word_list_text(p->override.word, p->override.n));
    export_variable("RESUME", p->resume ? "yes" : "");
    export_variable("STAGES", p->lists ? "yes" : "");
    export_variable("COMPARE", p->no_compare ? "" : "yes");
}

static const char *
get_variable(const char *name)
{
    const char *value = getenv(name);

    return value ? mem_keep_format("%s", value) : "";
}

void
variables_import(struct pipeline *p)
{
    struct word_list names = {0};

    for (size_t i = 0; i < p->vars.n; i++)
        word_list_add(&names, p->vars.item[i].name);
    for (int i = 0; i < N_STAGES; i++)
        word_list_add(&names, pipeline_stages[i]);
    for (size_t i = 0; i < names.n; i++)
        set_var(p, names.word[i],
                get_variable(environment_name(names.word[i])));
    names.n = 0;
    pipeline_split(p, &names, "override", get_variable("FOIL_SAID"));
    for (size_t i = 0; i < names.n; i++)
        setting_set(&p->cli, names.word[i], "");
    pipeline_split(p, &p->override, "override", get_variable("FOIL_OVERRIDE"));
    p->resume = *get_variable("RESUME") != 0;
    p->lists = *get_variable("STAGES") != 0;
    p->no_compare = !*get_variable("COMPARE");
}

char *
run_path(const struct pipeline *p, const char *name)
{
    return mem_keep_format("%s/%s", var(p, "RUN"), name);
}

int
run_has(const struct pipeline *p, const char *name)
{
    return file_exists(run_path(p, name));
}

void
pipeline_split(const struct pipeline *p, struct word_list *list,
               const char *option, const char *text)
{
    struct err err;

    if (word_list_split(list, text, &err))
        pipeline_misuse(p, "--%s '%s': a quote is not closed", option, text);
}

int
stage_named(const char *name, size_t n)
{
    for (int i = 0; i < N_STAGES; i++)
        if (strlen(pipeline_stages[i]) == n &&
            !memcmp(pipeline_stages[i], name, n))
            return i;
    return -1;
}

char *
pipeline_absolute(const char *path)
{
    char *here = *path == '/' ? NULL : getcwd(NULL, 0);
    char *all = mem_format("%s/%s", here ? here : "", path);
    char *whole = mem_keep(file_resolve(all));

    mem_free(all, here);
    return whole;
}

void
pipeline_row_add(struct pipeline *p, const char *name, const char *arg,
                 const char *what)
{
    mem_grow(&p->row, &p->row_room, p->rows + 1, sizeof *p->row);
    p->row[p->rows++] = (struct pipeline_row){name, arg, what};
}

struct word_list
pipeline_keys(const struct pipeline *p)
{
    struct word_list keys = {0};

    word_list_join(&keys, &p->operand);
    for (size_t i = 0; i < p->rows; i++)
        word_list_add(&keys, p->row[i].name);
    for (int i = 0; i < N_STAGES; i++)
        word_list_add(&keys, pipeline_stages[i]);
    for (int i = 0; i < N_STAGES; i++)
        if (i != EMBED) // runs as a command of the script
            word_list_add(&keys,
                          mem_keep_format("%s-command", pipeline_stages[i]));
    return keys;
}

int
pipeline_is_key(const struct pipeline *p, const char *name)
{
    const struct word_list keys = pipeline_keys(p);

    for (size_t i = 0; i < keys.n; i++)
        if (!strcmp(keys.word[i], name))
            return 1;
    return 0;
}

const struct pipeline_row *
pipeline_row_find(const struct pipeline *p, const char *name)
{
    for (size_t i = 0; i < p->rows; i++)
        if (!strcmp(p->row[i].name, name))
            return &p->row[i];
    return NULL;
}

const char *
check_value(const struct pipeline *p, const char *name, const char *value)
{
    const struct pipeline_row *row = pipeline_row_find(p, name);
    const size_t n = strspn(value, "0123456789");
    const int whole = row && (!strcmp(row->arg, "N") || !strcmp(row->arg, "S"));

    if (whole && (!n || n > 9 || value[n]))
        pipeline_misuse(p, "--%s '%s': want a whole number", name, value);
    if (row && strchr(row->arg, '|') && opt_index(row->arg, value) < 0)
        pipeline_misuse(p, "--%s '%s': want one of %s", name, value, row->arg);
    return whole ? mem_keep_format("%ld", strtol(value, NULL, 10)) : value;
}

/* Takes an option of a command of the script: options of a stage follow the
 * header's; a program for a stage counts only if the user has named none. */
static void
take_in_script(struct pipeline *p, const char *name, const char *value)
{
    const int stage = stage_named(name, strlen(name));

    if (!strcmp(name, "objective"))
        word_list_put(&p->more[TRAIN], "--objective", value);
    if (stage >= 0)
        pipeline_split(p, &p->more[stage], name, value);
    else if (!strstr(name, "-command") || !setting_get(&p->cli, name))
        set_var(p, name, check_value(p, name, value));
}

void
pipeline_take(struct pipeline *p, const char *name, const char *value)
{
    const char *before = var(p, name);

    if (p->in_script) {
        take_in_script(p, name, value);
        return;
    }
    if (!strcmp(name, "objective") && *value == ',') { // of any objective
        pipeline_take(p, "train", mem_keep_format("--objective %s", value));
        return;
    }
    if (!strcmp(name, "objective"))
        value = update_objective(value, 1);
    if (!strcmp(name, "override"))
        word_list_add(&p->override, value);
    else if (!strcmp(name, "config"))
        p->config = value;
    else if (!strcmp(name, "run"))
        set_var(p, "RUN", value);
    else if (stage_named(name, strlen(name)) >= 0)
        set_var(p, name,
                mem_keep_format("%s%s%s", before, *before ? " " : "", value));
    else if (!pipeline_is_key(p, name))
        pipeline_misuse(p, "no option '--%s'", name);
    else if (!strcmp(name, "objective"))
        set_var(p, name, merge_parameters(before, value));
    else
        set_var(p, name, check_value(p, name, value));
    setting_set(&p->cli, name, value);
}

int
is_overridden(const struct pipeline *p, const char *name)
{
    for (size_t i = 0; i < p->override.n; i++)
        if (!strcmp(p->override.word[i], name))
            return 1;
    return 0;
}

/* Returns the objective of a method or its options for a stage, or NULL. */
static const char *
method_get(const struct pipeline *p, const char *method, const char *what)
{
    return setting_get(&p->methods, mem_keep_format("%s.%s", method, what));
}

void
method_check(const struct pipeline *p, const char *method)
{
    if (!method_get(p, method, "objective"))
        pipeline_misuse(p, "no method '%s'", method);
}

void
method_apply(struct pipeline *p, const char *method)
{
    method_check(p, method);
    set_var(p, "objective", method_get(p, method, "objective"));
    for (int i = 0; i < N_STAGES; i++) {
        const char *text = method_get(p, method, pipeline_stages[i]);
        struct words words = {.name = method, .at = text, .line = 1};
        struct word_list theirs = {0}, both = {0};
        struct err err;

        or_die(text && words_rest(&words, &theirs, &err), &err);
        if (i == TRAIN)
            word_list_put(&theirs, "--objective", var(p, "objective"));
        update_spelling(i, &theirs, 1);
        merge_items(i, &both, &p->defaults[i], &theirs);
        p->defaults[i] = both;
    }
}
