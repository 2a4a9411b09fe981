#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/json.h"
#include "util/mem.h"

#include "opt_help.h"

const char *
opt_word(const char *words, int index, int *length)
{
    for (; index > 0; index--)
        words += strcspn(words, "|") + 1;
    *length = (int)strcspn(words, "|");
    return words;
}

int
opt_index(const char *words, const char *word)
{
    const size_t n = strlen(word);

    for (int index = 0; n; index++) {
        const size_t len = strcspn(words, "|");

        if (len == n && !memcmp(words, word, n))
            return index;
        words += len;
        if (!*words++)
            break;
    }
    return -1;
}

const struct opt *
opt_named(const struct opt_tool *tool, const char *name)
{
    for (const struct opt *o = tool->opts; o->name; o++)
        if (!strcmp(o->name, name))
            return o;
    return NULL;
}

const struct opt *
opt_common(const struct opt_tool *tool)
{
    static int flag, choice = -1;
    static const char *text;
    static const struct opt common[] = {
        {"list", 0, OPT_CHOICE, &choice, 0, 0, "options",
         "print these options as JSON, one a line, and end"},
        {"config", 0, OPT_TEXT, &text, 0, 0, "FILE",
         "file of options, a line 'NAME VALUE' each"},
        {"help", 'h', OPT_FLAG, &flag, 0, 0, NULL, "this text"},
        {"version", 0, OPT_FLAG, &flag, 0, 0, NULL, "the version of foil"},
        {0},
    };

    return opt_named(tool, "list") ? common + 1 : common;
}

const char *
opt_verb_name(const struct opt_tool *verb)
{
    return strrchr(verb->name, ' ') + 1;
}

json_t *
opt_json(const struct opt *opt)
{
    const struct opt_list *list = opt->value;
    json_t *array;
    const char *text;
    int length;

    switch (opt->kind) {
    case OPT_FLAG:
        return json_boolean(*(const int *)opt->value);
    case OPT_WHOLE:
        return *(const long *)opt->value == LONG_MIN
                   ? json_null()
                   : json_integer(*(const long *)opt->value);
    case OPT_REAL:
        return isnan(*(const double *)opt->value)
                   ? json_null()
                   : json_real(*(const double *)opt->value);
    case OPT_CHOICE:
        if (*(const int *)opt->value < 0)
            return json_null();
        text = opt_word(opt->arg, *(const int *)opt->value, &length);
        return json_stringn(text, (size_t)length);
    case OPT_LIST:
        array = json_array();
        for (size_t i = 0; i < list->n; i++)
            json_array_append_new(array, json_string(list->item[i]));
        return array;
    case OPT_TEXT:
    case OPT_METHOD:
        break;
    }
    text = *(const char *const *)opt->value;
    return text ? json_string(text) : json_null();
}

static struct opt_parameter parameters[OPT_MOST];
static size_t n_parameters;

void
opt_parameters(const struct opt_parameter *rows)
{
    for (; rows->value; rows++) {
        REQUIRE(n_parameters < OPT_MOST);
        parameters[n_parameters++] = *rows;
    }
}

const struct opt_parameter *
opt_parameter(const struct opt *o)
{
    for (size_t i = 0; i < n_parameters; i++)
        if (parameters[i].value == o->value)
            return &parameters[i];
    return NULL;
}

int
opt_is_parameter_of(const struct opt *o, const struct opt *of)
{
    const struct opt_parameter *p = opt_parameter(o);

    return p && opt_index(p->of, of->name) >= 0;
}

int
opt_has_parameters(const struct opt_tool *tool, const struct opt *of)
{
    for (const struct opt *o = tool->opts; o->name; o++)
        if (opt_is_parameter_of(o, of))
            return 1;
    return 0;
}

const struct opt *
opt_parameter_named(const struct opt_tool *tool, const struct opt *of,
                    const char *word)
{
    const size_t n = strcspn(word, "=,");

    for (const struct opt *o = tool->opts; o->name; o++) {
        const char *name =
            opt_is_parameter_of(o, of) ? opt_parameter(o)->name : "";

        if (strlen(name) == n && !memcmp(name, word, n))
            return o;
    }
    return NULL;
}

char *
opt_parameters_of(char *text)
{
    char *list = text;

    do
        list = strchr(list, ',');
    while (list && !islower((unsigned char)*++list));
    if (list)
        list[-1] = 0;
    return list;
}

char *
opt_parameter_cut(const struct opt_tool *tool, const struct opt *of, char *list)
{
    const struct opt *row = opt_parameter_named(tool, of, list);
    char *at = strchr(list, ',');

    while (at && row && row->kind == OPT_TEXT &&
           !opt_parameter_named(tool, of, at + 1))
        at = strchr(at + 1, ',');
    if (at)
        *at++ = 0;
    return at;
}

const char *
opt_spelled(const struct opt *o)
{
    static char text[128];
    const struct opt_parameter *p = opt_parameter(o);

    if (p)
        snprintf(text, sizeof text, "--%.*s: %s", (int)strcspn(p->of, "|"),
                 p->of, p->name);
    else
        snprintf(text, sizeof text, "--%s", o->name);
    return text;
}

const char *
opt_respell(const struct opt_tool *tool, const struct opt *o, const char *no,
            const char *value)
{
    const struct opt_parameter *p = opt_parameter(o);
    const char *of = mem_keep_format("%.*s", (int)strcspn(p->of, "|"), p->of);
    json_t *method = opt_json(opt_named(tool, of));
    const char *name = json_string_value(method);
    const char *text =
        mem_keep_format("--%s %s,%s%s%s%s", of, name ? name : "", no, p->name,
                        value ? "=" : "", value ? value : "");

    json_decref(method);
    return text;
}

/* Deprecated spellings, which 1.0.0 accepts. */
static const struct opt_old olds[] = {
    {"foil-train", "sampler", "fresh", "--sampler trainer"},
    {"foil-train", "sampler", "stale",
     "--sampler trainer --proposals ,scores=stale"},
    {"foil-train", "sampler", "reset",
     "--sampler trainer --proposals ,scores=reset"},
    {"foil-train", "sampler", "bank",
     "--sampler trainer --proposals ,outside=bank"},
    {"foil-train", "objective", "own", "--objective external"},
    {"foil-train", "objective", "own-weighed", "--objective external-weighed"},
    {"foil-train", "lock", NULL, "--freeze"},
    {"foil-train", "nan", NULL, "--nonfinite"},
    {"foil-train", "average", NULL, "--average-last"},
    {"foil-view", "beside", NULL, "--compare"},
    {"foil-eval false-negatives", "epochs", NULL, "--replicas"},
    {"foil-eval follow", "judge-command", NULL, "--eval-command"},
    {0},
};

const struct opt_old *
opt_old_find(const char *tool, const char *name, const char *value)
{
    const size_t n = value ? strcspn(value, ",") : 0;

    for (const struct opt_old *old = olds; old->tool; old++)
        if (!strcmp(old->tool, tool) && !strcmp(old->name, name) &&
            (old->is && value
                 ? strlen(old->is) == n && !memcmp(old->is, value, n)
                 : old->is == value))
            return old;
    return NULL;
}

const char *
opt_old_name(const char *name)
{
    for (const struct opt_old *old = olds; old->tool; old++)
        if (!old->is && !strcmp(old->now + 2, name))
            return old->name;
    return NULL;
}
