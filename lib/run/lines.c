#include <stdlib.h>
#include <string.h>

#include "run/lines.h"
#include "util/file.h"
#include "util/mem.h"

enum { LINE_MOST = 1 << 20 }; // bytes; a file with a longer one is none of ours

/* Whether the last line that was returned is at its offset. */
static int
holds_last(const struct run_lines *steps)
{
    const long n = (long)steps->len;

    return !n ||
           (!fseek(steps->file, steps->offset - n, SEEK_SET) &&
            fread(steps->next, 1, steps->len, steps->file) == steps->len &&
            !memcmp(steps->next, steps->last, steps->len - 1) &&
            steps->next[n - 1] == '\n');
}

/* Opens the file; 1 where its lines are to be returned from the first on. */
static int
open_again(struct run_lines *steps, const char *run)
{
    char *path = mem_format("%s/metrics.jsonl", run);
    struct err ignored;
    int again;

    steps->file = file_open(path, 0, &ignored);
    free(path);
    again = steps->file ? !holds_last(steps) : steps->len > 0;
    if (again) {
        steps->offset = 0;
        steps->len = 0;
    }
    if (steps->file && fseek(steps->file, steps->offset, SEEK_SET)) {
        fclose(steps->file);
        steps->file = NULL;
    }
    return again;
}

int
run_lines_next(struct run_lines *steps, const char *run, const char **line)
{
    char *next;
    size_t n = 0;

    *line = NULL;
    if (!steps->next) {
        steps->last = mem_array(LINE_MOST, 1);
        steps->next = mem_array(LINE_MOST, 1);
    }
    if (!steps->file && open_again(steps, run))
        return 1;
    next = steps->next;
    if (steps->file && fgets(next, LINE_MOST, steps->file))
        n = strlen(next);
    if (!n || next[n - 1] != '\n') { // it has no end yet
        if (steps->file)
            fclose(steps->file);
        steps->file = NULL;
        return 0;
    }
    steps->next = steps->last;
    steps->last = next;
    steps->len = n;
    steps->offset += (long)n;
    next[n - 1] = 0;
    *line = next;
    return 1;
}

void
run_lines_release(struct run_lines *steps)
{
    if (steps->file)
        fclose(steps->file);
    free(steps->last);
    free(steps->next);
    *steps = (struct run_lines){0};
}
