#include <limits.h>
#include <math.h>
#include <string.h>

#include "util/json.h"

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

static json_t *
items_of(const struct opt_list *list)
{
    json_t *array = json_array();

    for (size_t i = 0; i < list->n; i++)
        json_array_append_new(array, json_string(list->item[i]));
    return array;
}

json_t *
opt_json(const struct opt *opt)
{
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
        return items_of(opt->value);
    case OPT_TEXT:
    case OPT_METHOD:
        break;
    }
    text = *(const char *const *)opt->value;
    return text ? json_string(text) : json_null();
}
