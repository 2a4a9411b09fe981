#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/param.h"

const struct param *
param_find(const struct param *own, const char *name)
{
    for (; own->name; own++)
        if (!strcmp(own->name, name))
            return own;
    return NULL;
}

double *
param_at(const struct param *own, double *value, const char *name)
{
    const struct param *found = param_find(own, name);

    return found ? value + (found - own) : NULL;
}

void
param_defaults(const struct param *own, double *value)
{
    for (size_t i = 0; i < PARAM_MOST; i++)
        value[i] = 0;
    for (size_t i = 0; own[i].name; i++) {
        REQUIRE(i < PARAM_MOST);
        value[i] = own[i].value;
    }
}

int
param_check(const struct param *own, const double *value, struct err *err)
{
    for (size_t i = 0; own[i].name; i++) {
        const struct param *p = own + i;

        if (p->kind != OPT_REAL && p->kind != OPT_WHOLE)
            continue;
        if (!(value[i] >= p->min && value[i] <= p->max))
            return err_set(err, "%s %g: want a number in %g .. %g", p->name,
                           value[i], p->min, p->max);
    }
    return 0;
}

json_t *
param_json(const struct param *own, double value)
{
    const char *word;
    int length;

    switch (own->kind) {
    case OPT_FLAG:
        return json_boolean(value != 0);
    case OPT_WHOLE:
        return json_integer((json_int_t)value);
    case OPT_CHOICE:
        word = opt_word(own->arg, (int)value, &length);
        return json_stringn(word, (size_t)length);
    default:
        return json_real(value);
    }
}

/* Sets a parameter from "NAME=VALUE", or a flag from "NAME". */
static int
read_word(const struct param *own, const char *who, char *word, double *value,
          struct err *err)
{
    char *equals = strchr(word, '='), *end = NULL;
    const char *text = equals ? equals + 1 : "";
    const struct param *row;
    double x;

    if (equals)
        *equals = '\0';
    row = param_find(own, word);
    if (!row)
        return err_set(err, "%s has no parameter '%.40s'", who, word);
    if (row->kind == OPT_FLAG && !equals)
        text = "1";
    x = row->kind == OPT_CHOICE ? opt_index(row->arg, text)
                                : strtod(text, &end);
    if (row->kind == OPT_CHOICE ? x < 0 : end == text || *end)
        return err_set(err, "%s '%.40s': want %s", word, text,
                       row->kind == OPT_CHOICE ? row->arg : "a number");
    if (row->kind == OPT_WHOLE && x != (double)(long)x)
        return err_set(err, "%s %s: want a whole number", word, text);
    value[row - own] = x;
    return 0;
}

int
param_read_words(const struct param *own, const char *who, const char *words,
                 double *value, struct err *err)
{
    char *text = mem_text(words), *rest = text;
    int rc = 0;

    for (char *word; !rc && (word = strtok_r(rest, ",", &rest));)
        rc = read_word(own, who, word, value, err);
    free(text);
    return rc ? rc : param_check(own, value, err);
}

json_t *
param_list(const struct param *own)
{
    json_t *object = json_object();

    for (; own->name; own++)
        json_object_set_new(object, own->name, param_json(own, own->value));
    return object;
}

static int
read_one(const struct param *own, const json_t *from, double *value,
         struct err *err)
{
    const char *word = json_string_value(from);
    int index = -1;

    if (own->kind == OPT_CHOICE && word)
        index = opt_index(own->arg, word);
    if (own->kind == OPT_CHOICE && index < 0)
        return err_set(err, "%s: want one of %s", own->name, own->arg);
    if (own->kind == OPT_FLAG && !json_is_boolean(from))
        return err_set(err, "%s: want true or false", own->name);
    if (own->kind == OPT_WHOLE && !json_is_integer(from))
        return err_set(err, "%s: want a whole number", own->name);
    if (own->kind == OPT_REAL && !json_is_number(from))
        return err_set(err, "%s: want a number", own->name);
    *value = own->kind == OPT_CHOICE ? index
             : own->kind == OPT_FLAG ? json_is_true(from)
                                     : json_number_value(from);
    return 0;
}

int
param_read(const struct param *own, const char *text, double *value,
           struct err *err)
{
    json_t *object, *from;
    const char *name;
    int rc = 0;

    if (!text || !*text)
        return 0;
    object = json_parse(text, strlen(text), "parameters", err);
    if (!object)
        return -1;
    json_object_foreach(object, name, from)
    {
        const struct param *found = param_find(own, name);

        rc = found ? read_one(found, from, value + (found - own), err)
                   : err_set(err, "no parameter '%.80s'", name);
        if (rc)
            break;
    }
    json_decref(object);
    return rc ? rc : param_check(own, value, err);
}

const struct param_option *
param_set_find(const struct param_set *set, const char *name)
{
    for (size_t i = 0; i < set->n; i++)
        if (!strcmp(set->option[i].param.name, name))
            return set->option + i;
    return NULL;
}

void
param_set_add(struct param_set *set, const char *of, const char *method,
              const struct param *own)
{
    set->methods++;
    for (; own->name; own++) {
        struct param_option *option =
            (struct param_option *)param_set_find(set, own->name);
        struct param *all;

        if (!option) {
            REQUIRE(set->n < PARAM_SET);
            option = set->option + set->n++;
            option->param = *own;
            option->of = of;
        }
        if (opt_index(option->of, of) < 0)
            option->of = mem_format("%s|%s", option->of, of);
        // the widest range; no default, NaN, if the methods differ
        all = &option->param;
        REQUIRE(all->kind == own->kind);
        all->min = fmin(all->min, own->min);
        all->max = fmax(all->max, own->max);
        if (all->value != own->value)
            all->value = NAN;
        if (all->schedule < PARAM_TO_END) {
            all->schedule = own->schedule;
            all->end = own->end;
        }
        REQUIRE(option->n < PARAM_METHODS);
        option->method[option->n] = method;
        option->own[option->n++] = own;
    }
}

/* Returns the help of an option: each different text once, after the methods
 * that have it unless all do. */
static char *
help_of(const struct param_set *set, const struct param_option *option)
{
    char *help = mem_text("");

    for (size_t i = 0; i < option->n; i++) {
        const char *text = option->own[i]->help;
        char *methods = mem_text("");
        size_t same = 0, before = 0;

        for (size_t k = 0; k < option->n; k++)
            if (!strcmp(option->own[k]->help, text)) {
                before += k < i;
                same++;
                if (k && option->method[k] == option->method[k - 1])
                    continue;
                mem_append(&methods, "%s%s", *methods ? ", " : "",
                           option->method[k]);
            }
        if (!before)
            mem_append(&help, "%s%s%s%s", *help ? "; " : "",
                       same == set->methods ? "" : methods,
                       same == set->methods ? "" : ": ", text);
        free(methods);
    }
    return help;
}

/* Returns the variable that the command line sets, initialised to the
 * default. */
static void *
storage_of(struct param_option *option)
{
    const struct param *p = &option->param;

    if (p->kind == OPT_WHOLE)
        option->is.whole = isnan(p->value) ? LONG_MIN : (long)p->value;
    else if (p->kind == OPT_CHOICE)
        option->is.choice = isnan(p->value) ? -1 : (int)p->value;
    else if (p->kind == OPT_REAL)
        option->is.real = p->value;
    return &option->is;
}

static size_t
append_row(const struct param_option *option, struct opt *opts, size_t n,
           const struct opt row)
{
    const struct opt_parameter parameters[] = {
        {row.value, option->of, row.name}, {0}};
    const struct opt rows[] = {row, {0}};

    opt_parameters(parameters);
    return opt_append(opts, n, rows);
}

static size_t
append_schedule(struct param_option *option, struct opt *opts, size_t n)
{
    const struct param *p = &option->param;
    const int from_one = p->schedule == PARAM_FROM_ONE;

    if (p->schedule < PARAM_TO_END)
        return n;
    option->schedule = "constant";
    option->end = p->end;
    n = append_row(
        option, opts, n,
        (struct opt){
            .name = mem_format("%s-schedule", p->name),
            .kind = OPT_TEXT,
            .value = &option->schedule,
            .arg = "SPEC",
            .help = mem_format("schedule of %s%s", p->name,
                               from_one ? ", from 1 down to its value" : "")});
    if (from_one)
        return n;
    return append_row(
        option, opts, n,
        (struct opt){.name = mem_format("%s-end", p->name),
                     .kind = OPT_REAL,
                     .value = &option->end,
                     .min = p->min,
                     .max = p->max,
                     .arg = "X",
                     .help = mem_format(
                         "value of %s at the end of its schedule", p->name)});
}

size_t
param_set_opts(struct param_set *set, struct opt opts[OPT_MOST], size_t n)
{
    for (size_t i = 0; i < set->n; i++) {
        struct param_option *option = set->option + i;
        const struct param *p = &option->param;

        n = append_row(option, opts, n,
                       (struct opt){.name = p->name,
                                    .kind = p->kind,
                                    .value = storage_of(option),
                                    .min = p->min,
                                    .max = p->max,
                                    .arg = p->arg,
                                    .help = help_of(set, option)});
        n = append_schedule(option, opts, n);
    }
    return n;
}

void
param_set_get(const struct param_set *set, const struct param *own,
              double *value)
{
    param_defaults(own, value);
    for (size_t i = 0; own[i].name; i++) {
        const struct param_option *option = param_set_find(set, own[i].name);

        REQUIRE(option);
        if (own[i].kind == OPT_FLAG)
            value[i] = option->is.flag;
        else if (own[i].kind == OPT_WHOLE && option->is.whole != LONG_MIN)
            value[i] = (double)option->is.whole;
        else if (own[i].kind == OPT_CHOICE && option->is.choice >= 0)
            value[i] = option->is.choice;
        else if (own[i].kind == OPT_REAL && !isnan(option->is.real))
            value[i] = option->is.real;
    }
}

const char *
param_set_used(const struct param_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        if (opt_is_set(&set->option[i].is))
            return set->option[i].param.name;
    return NULL;
}

/* Explains why a method has no such parameter; returns -1. */
static int
refuse_option(const char *method, const struct param *params, const char *name,
              const char *suffix, struct err *err)
{
    const struct param *own = param_find(params, name);
    char has[256] = "";

    if (own && own->schedule == PARAM_LEARNT)
        return err_set(err, "%s learns its %ss: it has no parameter '%s%s'",
                       method, own->help, name, suffix);
    for (const struct param *p = own ? NULL : params; p && p->name; p++) {
        const size_t n = strlen(has);

        snprintf(has + n, sizeof has - n, "%s %s", n ? "," : "", p->name);
    }
    return err_set(err, "%s has no parameter '%s%s'%s%s", method, name, suffix,
                   *has ? ": it has" : "", has);
}

int
param_set_check(const struct param_set *set, const char *method,
                const struct param *params, struct err *err)
{
    for (size_t i = 0; i < set->n; i++) {
        const struct param_option *option = set->option + i;
        const char *name = option->param.name;
        const struct param *own = param_find(params, name);
        const int moves = own && own->schedule >= PARAM_TO_END;

        if (!own && opt_is_set(&option->is))
            return refuse_option(method, params, name, "", err);
        if (!moves && opt_is_set(&option->schedule))
            return refuse_option(method, params, name, "-schedule", err);
        if (!moves && opt_is_set(&option->end))
            return refuse_option(method, params, name, "-end", err);
    }
    return 0;
}
