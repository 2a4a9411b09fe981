#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "util/mem.h"
#include "util/progress.h"

static const char *output;

const struct opt join_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE",
     "the list of indexes; required"},
    {0},
};

/* Adds the lines of standard input. */
static void
read_lines(char ***line, size_t *room, size_t *n)
{
    char *text = NULL;
    size_t text_room = 0;
    ssize_t len;

    while ((len = getline(&text, &text_room, stdin)) >= 0) {
        len -= len && text[len - 1] == '\n';
        text[len] = 0;
        if (!len)
            continue;
        mem_grow(line, room, *n + 1, sizeof **line);
        (*line)[(*n)++] = mem_keep(mem_text(text));
    }
    free(text);
}

char **
read_operands(char **operand, size_t *n)
{
    char **all = NULL;
    size_t room = 0;

    *n = 0;
    for (; *operand; operand++) {
        if (!strcmp(*operand, "-")) {
            read_lines(&all, &room, n);
            continue;
        }
        mem_grow(&all, &room, *n + 1, sizeof *all);
        all[(*n)++] = *operand;
    }
    return all;
}

void
join_add_or_die(struct data_join *join, const char *index, const char *place)
{
    struct err err;

    or_die(data_join_add(join, index, place, &err), &err);
}

void
join_write_or_die(struct data_join *join, const char *path)
{
    struct data_set *set;
    struct err err;
    char *note;

    or_die(data_join_write(join, path, &note, &err), &err);
    if (note)
        log_message("%s", note);
    set = data_open_parts_or_die(path, 0);
    log_message("'%s': %zu image%s in %zu index%s, %zu class%s", path,
                data_size(set), plural(data_size(set)), data_join_size(join),
                data_join_size(join) == 1 ? "" : "es", data_classes(set),
                data_classes(set) == 1 ? "" : "es");
    data_close(set);
    data_join_free(join);
    free(note);
}

void
run_join(char **operand)
{
    const char *path = require_output(output, "list");
    struct data_join *join = data_join_new();
    struct progress progress;
    size_t n;
    char **line = read_operands(operand, &n);

    refuse_overwriting(path);
    progress_start(&progress, "indexes", 0, (double)n);
    for (size_t i = 0; i < n; i++) {
        char *place = strchr(line[i], '\t');

        if (place)
            *place++ = 0;
        join_add_or_die(join, line[i], place);
        progress_show(&progress, (double)(i + 1), "");
    }
    progress_clear(&progress);
    join_write_or_die(join, path);
    free(line);
}
