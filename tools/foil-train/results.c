#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "train.h"
#include "util/file.h"
#include "util/mem.h"

static char *
name_results(const struct train *t)
{
    return mem_format("%s/results.jsonl", t->options->stage.run);
}

void
train_results_open(struct train *t)
{
    char *path = name_results(t);
    struct stat file;

    t->results = stat(path, &file) ? 0 : (int64_t)file.st_size;
    free(path);
}

/* A whole line with its end; one that is too long is left out. */
static void
tell_line(struct train *t, const char *line, size_t size)
{
    struct wire_event event = {
        .what = "result", .epoch = t->stood.epoch, .step = t->stood.step};

    if (size > sizeof event.line || memchr(line, 0, size))
        return;
    memcpy(event.line, line, size - 1);
    wire_feed_event(t->feed, &event);
}

void
train_results_tell(struct train *t)
{
    char *path = name_results(t), *line = NULL;
    FILE *file = NULL;
    struct stat now;
    struct err ignored;
    size_t room = 0;
    ssize_t n;

    if (!stat(path, &now) && now.st_size > t->results)
        file = file_open(path, 0, &ignored);
    if (file && !fseeko(file, t->results, SEEK_SET))
        while ((n = getline(&line, &room, file)) > 0 && line[n - 1] == '\n') {
            tell_line(t, line, (size_t)n);
            t->results += n;
        }
    if (file)
        fclose(file);
    free(line);
    free(path);
}
