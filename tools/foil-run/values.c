#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline.h"
#include "util/mem.h"
#include "util/opt.h"

const char *const pipeline_stages[N_STAGES] = {"select", "negatives", "augment",
                                               "train", "embed"};

void
pipeline_misuse(const struct pipeline *p, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    say("%s", text);
    say("'foil run %s --help' lists the options", p->name);
    exit(EXIT_USAGE);
}

/* -------------------------------------------------------------- variables */

const char *
pipeline_value(const void *pipeline, const char *name)
{
    const struct pipeline *p = pipeline;
    const char *value = p->args ? setting_get(p->args, name) : NULL;

    return value ? value : setting_get(&p->vars, name);
}

const char *
var(const struct pipeline *p, const char *name)
{
    const char *value = setting_get(&p->vars, name);

    return value ? value : "";
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
    if (!strcmp(name, "RUN") && setenv("RUN", value, 1))
        die("cannot set RUN");
}

/* ------------------------------------------------------------------ words */

void
pipeline_split(const struct pipeline *p, struct word_list *list,
               const char *option, const char *text)
{
    struct err err;

    if (word_list_split(list, text, &err))
        pipeline_misuse(p, "--%s '%s': a quote is not closed", option, text);
}

int
is_option(const char *word)
{
    return *word == '-' && (word[1] == '-' || islower((unsigned char)word[1]));
}

size_t
item_end(const struct word_list *list, size_t at)
{
    for (at++; at < list->n && !is_option(list->word[at]);)
        at++;
    return at;
}

/* Returns the stage of that name, of `n` characters, or -1. */
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
    char *here = *path == '/' ? mem_text("") : getcwd(NULL, 0);
    char *all = mem_format("%s/%s", here ? here : "", path), *rest;
    char *whole = mem_array(strlen(all) + 2, 1);

    for (char *part = strtok_r(all, "/", &rest); part;
         part = strtok_r(NULL, "/", &rest)) {
        char *end = whole + strlen(whole);

        if (!strcmp(part, ".."))
            *(strrchr(whole, '/') ? strrchr(whole, '/') : whole) = 0;
        else if (strcmp(part, ".") != 0)
            snprintf(end, strlen(part) + 2, "/%s", part);
    }
    if (!*whole)
        *whole = '/';
    free(all);
    free(here);
    return whole;
}

/* ---------------------------------------------------------------- options */

void
pipeline_row_add(struct pipeline *p, const char *name, const char *arg,
                 const char *what)
{
    mem_grow(&p->row, &p->row_room, p->rows + 1, sizeof *p->row);
    p->row[p->rows++] =
        (struct pipeline_row){mem_text(name), mem_text(arg), mem_text(what)};
}

/* Stages, and those that another command may run, in the order of RUN/command.
 */
static const char *const stages[] = {"embed", "select", "train", "negatives",
                                     "augment"};
static const char *const commands[] = {"select-command", "train-command",
                                       "negatives-command", "augment-command"};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

size_t
pipeline_keys(const struct pipeline *p, const char **key, size_t most)
{
    size_t n = 0;

    for (size_t i = 0; i < p->operand.n && n < most; i++)
        key[n++] = p->operand.word[i];
    for (size_t i = 0; i < p->rows && n < most; i++)
        key[n++] = p->row[i].name;
    for (size_t i = 0; i < N_STAGES && n < most; i++)
        key[n++] = stages[i];
    for (size_t i = 0; i < N_COMMANDS && n < most; i++)
        key[n++] = commands[i];
    return n;
}

int
pipeline_is_key(const struct pipeline *p, const char *name)
{
    const char *key[128];
    const size_t n = pipeline_keys(p, key, 128);

    for (size_t i = 0; i < n; i++)
        if (!strcmp(key[i], name))
            return 1;
    return 0;
}

/* Returns the row of an option of the pipeline, or NULL. */
static const struct pipeline_row *
find_row(const struct pipeline *p, const char *name)
{
    for (size_t i = 0; i < p->rows; i++)
        if (!strcmp(p->row[i].name, name))
            return &p->row[i];
    return NULL;
}

static void
take_whole(struct pipeline *p, const char *name, const char *value)
{
    const size_t n = strspn(value, "0123456789");
    char *number;

    if (!n || n > 9 || value[n])
        pipeline_misuse(p, "--%s '%s': want a whole number", name, value);
    number = mem_format("%ld", strtol(value, NULL, 10));
    set_var(p, name, number);
    free(number);
}

void
pipeline_take(struct pipeline *p, const char *name, const char *value)
{
    const struct pipeline_row *row = find_row(p, name);
    const int stage = stage_named(name, strlen(name));

    if (!strcmp(name, "run")) {
        set_var(p, "RUN", value);
    } else if (!strcmp(name, "override")) {
        word_list_add(&p->override, value);
        return;
    } else if (!strcmp(name, "config")) {
        p->config = value;
        return;
    } else if (stage >= 0) {
        char *text =
            mem_format("%s%s%s", var(p, name), *var(p, name) ? " " : "", value);

        set_var(p, name, text);
        free(text);
    } else if (row && (!strcmp(row->arg, "N") || !strcmp(row->arg, "S"))) {
        take_whole(p, name, value);
    } else if (row && strchr(row->arg, '|') && opt_index(row->arg, value) < 0) {
        pipeline_misuse(p, "--%s '%s': want one of %s", name, value, row->arg);
    } else if (row || pipeline_is_key(p, name)) {
        set_var(p, name, value);
    } else {
        pipeline_misuse(p, "no option '--%s'", name);
    }
    setting_set(&p->said, name, "");
}

int
is_overridden(const struct pipeline *p, const char *name)
{
    for (size_t i = 0; i < p->override.n; i++)
        if (!strcmp(p->override.word[i], name))
            return 1;
    return 0;
}
