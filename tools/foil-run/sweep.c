#include <stdlib.h>
#include <string.h>

#include "pipeline.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

void
sweep_take_pipeline(struct pipeline *p, const char *name)
{
    const char *folder = strchr("./", *name) ? "" : getenv("FOIL_PIPELINES");
    char *own = p->path, *text;
    struct err err;
    size_t len;

    p->path = mem_keep_format("%s%s%s", folder, *folder ? "/" : "", name);
    text = file_read(p->path, LIST_MAX_BYTES, &len, &err);
    if (!text || !strstr(text, "\n#:"))
        pipeline_misuse(p,
                        "no pipeline '%s': a sweep wants one with a header, "
                        "'foil' lists them",
                        name);
    set_var(p, "PIPELINE", name);
    p->described = "";
    header_read(p, name, text);
    p->is_fresh = 0;
    p->path = own;
    free(text);
}

/* Whether an option has one value, which may have commas. */
static int
takes_commas(const struct pipeline *p, int stage, const char *name)
{
    const struct pipeline_row *row = pipeline_row_find(p, name);
    const char *arg =
        row ? row->arg
            : json_string_value(json_object_get(
                  stage < 0 ? NULL : option_of_stage(stage, name), "argument"));

    return !arg || opt_index("LIST|COMMAND|R,G,B", arg) >= 0;
}

int
sweep_take_option(struct pipeline *p, int stage, const char *word,
                  const char *name, const char *value)
{
    const int whole = takes_commas(p, stage, name);
    const char *option, *at = value;
    struct word_list values = {0};

    for (size_t i = p->sweep_rows[0]; i < p->sweep_rows[1]; i++)
        if (!strcmp(p->row[i].name, name))
            return 0;
    if (opt_index("run|seed|override", name) >= 0)
        return 0;
    for (size_t n; at; at = at[n] ? at + n + 1 : NULL) {
        const char *part;

        n = whole ? strlen(at) : strcspn(at, ",");
        part = mem_keep_format("%.*s", (int)n, at);
        if (values.n && is_parameter(stage < 0 ? TRAIN : stage, name, part))
            values.word[values.n - 1] =
                mem_keep_format("%s,%s", values.word[values.n - 1], part);
        else
            word_list_add(&values, check_value(p, name, part));
    }
    option = mem_keep_format("%.*s", (int)strcspn(word, "="), word);
    if (word_list_has(&p->swept, option) ||
        (values.n > 1 && word_list_has(&p->fixed, option)))
        pipeline_misuse(p, "%s is given twice", option);
    if (values.n > 1)
        word_list_add(&p->swept, option);
    for (size_t i = 0; values.n > 1 && i < values.n; i++)
        set_var(p, "FOIL_GRID",
                mem_keep_format("%s%s\t%s\t%s\n", var(p, "FOIL_GRID"), option,
                                values.word[i],
                                word_list_text(values.word + i, 1)));
    if (values.n > 1)
        return 1;
    word_list_add(&p->fixed, option);
    word_list_join(&p->fixed, &values);
    if (pipeline_row_find(p, name) && stage < 0)
        set_var(p, name, value); // for the script
    return 1;
}
