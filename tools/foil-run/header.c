#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

#define SET_BY "--%s is %s: '#: default %s VALUE' sets it"

/* Refuses a name that cannot be a variable of the script, or is reserved. */
static void
check_name(const struct pipeline *p, const char *name)
{
    static const char others[] =
        "path|home|ifs|env|pwd|oldpwd|ps1|ps2|ps4|run|study|stages|resume|"
        "parts|show|tmpdir|pipeline";
    char *lower = mem_keep_format("%s", name);

    for (char *at = lower; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    if (!islower((unsigned char)*lower) ||
        lower[strspn(lower, "abcdefghijklmnopqrstuvwxyz0123456789-")] ||
        opt_index(others, lower) >= 0)
        pipeline_misuse(
            p,
            "'%s' is no name for an option or an operand: want letters, digits "
            "and '-', and no name of a variable of the shell or of foil",
            name);
}

static void
take_operands(struct pipeline *p, const struct word_list *word)
{
    p->described = "";
    for (size_t i = 0; i < word->n; i++) {
        const char *operand = word->word[i];
        const int may = *operand == '[';
        const char *name = mem_keep_format(
            "%.*s", (int)strcspn(operand + may, "]"), operand + may);

        check_name(p, name);
        p->described =
            mem_keep_format("%s%s%s", p->described, i ? " " : "", operand);
        word_list_add(&p->operand, name);
        set_var(p, name, "");
        p->needed += !may;
    }
}

static void
take_option(struct pipeline *p, const struct word_list *word)
{
    const char *name = word->word[0];

    check_name(p, name);
    if (pipeline_is_key(p, name))
        pipeline_misuse(p, SET_BY, name, "an option already", name);
    pipeline_row_add(p, name, word->word[1], word->word[3]);
    set_var(p, name, check_value(p, name, word->word[2]));
}

/* The option may follow later, so check_defaults() sets it. */
static void
take_default(struct pipeline *p, const struct word_list *word)
{
    check_name(p, word->word[0]);
    setting_set(&p->set, word->word[0], word->word[1]);
    setting_set(&p->set_at, word->word[0], p->line);
}

static void
take_fresh(struct pipeline *p, const struct word_list *word)
{
    (void)word;
    p->is_fresh = 1;
}

static void
take_study(struct pipeline *p, const struct word_list *word)
{
    if (p->is_study)
        pipeline_misuse(
            p, "a study has seeds of its own and cannot be part of another");
    p->is_study = 1;
    if (!p->is_sweep)
        pipeline_row_add(p, "methods", "LIST", "methods, separated by commas");
    pipeline_row_add(p, "seeds", "N",
                     "number of seeds, from --seed on; a verdict needs five");
    if (word->n || p->is_sweep)
        pipeline_row_add(p, "primary", "LIST",
                         "measures to judge, separated by commas");
    set_var(p, "seeds", "5");
    set_var(p, "primary", word->n ? word->word[0] : "");
}

static void
take_sweep(struct pipeline *p, const struct word_list *word)
{
    p->is_sweep = 1;
    p->described = "PIPELINE [OPERAND ...]";
    p->command = mem_keep_format("foil %s", p->name);
    set_tool_name(p->command);
    take_study(p, word);
}

/* NAME OBJECTIVE [STAGE=OPTIONS]... */
static void
take_method(struct pipeline *p, const struct word_list *word)
{
    const char *name = word->word[0], *all = var(p, "methods");

    set_var(p, "methods",
            mem_keep_format("%s%s%s", all, *all ? "," : "", name));
    setting_set(&p->methods, mem_keep_format("%s.objective", name),
                word->word[1]);
    for (size_t i = 2; i < word->n; i++) {
        const char *item = word->word[i];
        const size_t n = strcspn(item, "=");

        if (!item[n] || stage_named(item, n) < 0)
            pipeline_misuse(p, "method '%s': want STAGE=OPTIONS, not '%s'",
                            name, item);
        setting_set(&p->methods, mem_keep_format("%s.%.*s", name, (int)n, item),
                    item + n + 1);
    }
}

/* Reads the header of another file, in parts/ of the script's folder or of
 * foil. */
static void
take_include(struct pipeline *p, const struct word_list *word)
{
    const char *slash = strrchr(p->path, '/'), *name = word->word[0];
    const int n = slash ? (int)(slash - p->path) + 1 : 0;
    const char *path = mem_keep_format("%.*sparts/%s", n, p->path, name);
    struct err err;
    size_t len;
    char *text;

    if (!file_exists(path))
        path = mem_keep_format("%s/%s", var(p, "parts"), name);
    text = file_read(path, LIST_MAX_BYTES, &len, &err);
    if (text)
        header_read(p, path, text);
    else
        pipeline_misuse(p, "%s", err.msg);
    free(text);
}

/* First words of header lines, and how many words may follow. */
static const struct {
    const char *name;
    size_t least, most;
    void (*take)(struct pipeline *, const struct word_list *);
} lines[] = {
    {"operands", 0, 9, take_operands}, {"option", 4, 4, take_option},
    {"default", 2, 2, take_default},   {"fresh", 0, 0, take_fresh},
    {"study", 0, 1, take_study},       {"method", 2, 9, take_method},
    {"include", 1, 1, take_include},   {"sweep", 0, 0, take_sweep},
};

/* Refuses options that the pipeline itself passes to a stage. */
static void
check_options(const struct pipeline *p, int stage, const struct word_list *list)
{
    static const char *const passed[N_STAGES][4] = {
        [EMBED] = {"threads"},         [SELECT] = {"seed", "batch", "epochs"},
        [TRAIN] = {"seed", "threads"}, [NEGATIVES] = {"seed"},
        [AUGMENT] = {"seed"},
    };

    for (const char *const *name = passed[stage]; *name; name++)
        if (word_list_has(list, mem_keep_format("--%s", *name)))
            pipeline_misuse(p, SET_BY, *name, "an option of every pipeline",
                            *name);
}

static void
take_line(struct pipeline *p, struct word_list *line)
{
    const char *name = line->word[0];
    const int is_tuned = !strcmp(name, "tuned");
    const int stage = is_tuned ? TRAIN : stage_named(name, strlen(name));
    const struct word_list rest = {line->word + 1, line->n - 1, 0};

    if (stage >= 0) {
        check_options(p, stage, &rest);
        word_list_join(is_tuned ? &p->tuned : &p->defaults[stage], &rest);
        return;
    }
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (strcmp(lines[i].name, name))
            continue;
        if (rest.n < lines[i].least || rest.n > lines[i].most)
            pipeline_misuse(p, "'%s' needs %s words after it", name,
                            lines[i].least == lines[i].most
                                ? mem_keep_format("%zu", lines[i].least)
                                : mem_keep_format("%zu to %zu", lines[i].least,
                                                  lines[i].most));
        lines[i].take(p, &rest);
        return;
    }
    pipeline_misuse(p, "no header line '%s'", name);
}

/* Returns the text after "#:" of each line of a script's leading comments, and
 * an empty line for each other line. */
static char *
header_of(const char *text)
{
    char *header = mem_keep_format("%s", text), *to = header;

    while (*text == '#' || *text == '\n') {
        const size_t n = strcspn(text, "\n");

        if (n > 1 && text[1] == ':') {
            memcpy(to, text + 2, n - 2);
            to += n - 2;
        }
        *to++ = '\n';
        text += n + (text[n] != 0);
    }
    *to = 0;
    return header;
}

void
header_read(struct pipeline *p, const char *name, const char *text)
{
    struct words words = {
        .name = name, .at = header_of(text), .line = 1, .literal = 1};
    struct err err;

    do {
        struct word_list line = {0};

        p->line = mem_keep_format("%s:%d", name, words.line);
        or_die(words_rest(&words, &line, &err), &err);
        if (line.n)
            take_line(p, &line);
    } while (words_line(&words));
}
