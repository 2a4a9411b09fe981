#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/json.h"

#include "opt_help.h"

/* Returns a bound of a number, an integer without a point; NULL for other
 * kinds. */
static json_t *
bound_of(const struct opt *o, double bound)
{
    if (o->kind != OPT_WHOLE && o->kind != OPT_REAL)
        return NULL;
    return bound == floor(bound) && fabs(bound) < 1e18
               ? json_integer((json_int_t)bound)
               : json_real(bound);
}

static void
add_option(json_t *rows, const char *verb, const struct opt *o,
           const struct opt_group *group, int common)
{
    static const char *const kinds[] = {
        [OPT_FLAG] = "flag", [OPT_WHOLE] = "whole",   [OPT_REAL] = "real",
        [OPT_TEXT] = "text", [OPT_CHOICE] = "choice", [OPT_METHOD] = "method",
        [OPT_LIST] = "list",
    };
    const char letter[] = {o->letter, 0};
    const struct opt_parameter *p = opt_parameter(o);
    const char *was = p && strcmp(p->name, o->name) ? o->name : NULL;
    json_t *usual = opt_json(o);
    json_t *row = json_pack(
        "{s:s* s:s s:s* s:s s:s* s:o* s:o* s:o* s:s* s:s* s:s* s:o* s:s}",
        "verb", verb, "name", p ? p->name : o->name, "short",
        *letter ? letter : NULL, "kind", kinds[o->kind], "argument",
        o->kind == OPT_FLAG ? NULL : o->arg, "least", bound_of(o, o->min),
        "most", bound_of(o, o->max), "default",
        json_is_null(usual) ? NULL : usual, "group",
        group && !p ? group->title : NULL, "of", p ? p->of : NULL, "was", was,
        "common", common ? json_true() : NULL, "sentence", o->help);

    REQUIRE(row);
    json_array_append_new(rows, row);
}

static void
add_tool(json_t *rows, const char *verb, const struct opt_tool *tool)
{
    const struct opt_group *group = NULL;

    json_array_append_new(rows,
                          json_pack("{s:s* s:s* s:s}", "verb", verb, "operands",
                                    tool->operands, "sentence", tool->summary));
    for (const struct opt *o = tool->opts; o->name; o++) {
        group = opt_group_of(o, group);
        add_option(rows, verb, o, group, 0);
    }
    for (const struct opt *o = opt_common(tool); o->name; o++)
        add_option(rows, verb, o, NULL, 1);
}

_Noreturn void
opt_print_table(const struct opt_tool *tool, const struct opt_tool *verbs,
                const char *what)
{
    json_t *rows = json_array();

    if (strcmp(what, "options"))
        opt_misuse("--list '%s': want options", what);
    if (!verbs)
        add_tool(rows, NULL, tool);
    for (; verbs && verbs->name; verbs++)
        add_tool(rows, opt_verb_name(verbs), verbs);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        char *text = json_text(json_array_get(rows, i), JSON_COMPACT);

        printf("%s\n%s", i ? "," : "[", text);
        free(text);
    }
    puts("\n]");
    json_decref(rows);
    close_stdout();
    exit(EXIT_OK);
}
