#include <stdlib.h>
#include <string.h>

#include "train/steps.h"
#include "util/mem.h"

/* The last line that was told is at its place still. */
static int
holds_last(const struct train_steps *steps)
{
    const long n = (long)steps->len;
    char *text;
    int holds;

    if (!steps->last)
        return 1;
    text = mem_array(steps->len, 1);
    holds = !fseek(steps->file, steps->offset - n, SEEK_SET) &&
            fread(text, 1, steps->len, steps->file) == steps->len &&
            !memcmp(text, steps->last, steps->len - 1) && text[n - 1] == '\n';
    free(text);
    return holds;
}

/* Opens the file; 1 where it is to be told from its first line again. */
static int
open_again(struct train_steps *steps, const char *run)
{
    char *path = mem_format("%s/metrics.jsonl", run);
    int again;

    steps->file = fopen(path, "r");
    free(path);
    again = steps->file ? !holds_last(steps) : steps->last != NULL;
    if (again) {
        free(steps->last);
        *steps = (struct train_steps){.file = steps->file};
    }
    if (steps->file && fseek(steps->file, steps->offset, SEEK_SET)) {
        fclose(steps->file);
        steps->file = NULL;
    }
    return again;
}

int
train_steps_next(struct train_steps *steps, const char *run, const char **line)
{
    char *next = NULL;
    size_t room = 0;
    ssize_t n = 0;

    *line = NULL;
    if (!steps->file && open_again(steps, run))
        return 1;
    if (steps->file)
        n = getline(&next, &room, steps->file);
    if (n <= 0 || next[n - 1] != '\n') { // it has no end yet
        free(next);
        if (steps->file)
            fclose(steps->file);
        steps->file = NULL;
        return 0;
    }
    free(steps->last);
    steps->last = next;
    steps->len = (size_t)n;
    steps->offset += n;
    next[n - 1] = 0;
    *line = next;
    return 1;
}

void
train_steps_release(struct train_steps *steps)
{
    if (steps->file)
        fclose(steps->file);
    free(steps->last);
    *steps = (struct train_steps){0};
}
