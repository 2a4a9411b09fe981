#include "run/lines.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t.h"

static char folder[] = "/tmp/lines-XXXXXX", path[64];

static void
write_text(const char *how, const char *text)
{
    FILE *file = fopen(path, how);

    if (file) {
        fputs(text, file);
        fclose(file);
    }
}

/* All lines returned, with '|' after each, and '!' where it starts over. */
static const char *
read_all(struct run_lines *lines)
{
    static char text[256];
    const char *line;

    text[0] = 0;
    while (run_lines_next(lines, folder, "metrics.jsonl", &line)) {
        strncat(text, line ? line : "!", 100);
        if (line)
            strcat(text, "|");
    }
    return text;
}

static void
returns_new_lines(void)
{
    struct run_lines lines = {0};

    T(!strcmp(read_all(&lines), ""), "no file: no line");
    write_text("w", "one\ntwo\nthr");
    T(!strcmp(read_all(&lines), "one|two|"), "two complete lines");
    write_text("a", "ee\n\nfour\n");
    T(!strcmp(read_all(&lines), "three||four|"), "the others once they are "
                                                 "complete");
    T(!strcmp(read_all(&lines), ""), "each of them once");
    run_lines_release(&lines);
    T(!strcmp(read_all(&lines), "one|two|three||four|"),
      "all of them for another reader");
    run_lines_release(&lines);
    lines.offset = 5;
    T(!strcmp(read_all(&lines), "wo|three||four|"), "those from an offset on");
    run_lines_release(&lines);
}

static void
starts_over_if_lines_are_truncated(void)
{
    struct run_lines lines = {0};

    write_text("w", "one\ntwo\nthree\n");
    read_all(&lines);
    write_text("w", "one\n");
    T(!strcmp(read_all(&lines), "!one|"), "a file that is shorter");
    read_all(&lines);
    write_text("w", "one\nTWO\nTHREE\nFOUR\n");
    T(!strcmp(read_all(&lines), "TWO|THREE|FOUR|"), "the returned line is "
                                                    "still there");
    write_text("w", "one\nTWO\nanother and longer\nfive\n");
    T(!strcmp(read_all(&lines), "!one|TWO|another and longer|five|"),
      "a file with other lines, now longer");
    write_text("w", "");
    T(!strcmp(read_all(&lines), "!"), "an empty file");
    write_text("w", "one\ntwo\n");
    read_all(&lines);
    write_text("w", "one\ntwo and more\n");
    T(!strcmp(read_all(&lines), "!one|two and more|"),
      "a file with a longer last line");
    unlink(path);
    T(!strcmp(read_all(&lines), "!") && !strcmp(read_all(&lines), ""),
      "a removed file, once");
    run_lines_release(&lines);
}

static void
reads_only_files(void)
{
    enum { LONG = 1 << 20 };
    struct run_lines lines = {0};
    char *text = malloc(LONG + 6);

    T(!mkfifo(path, 0600) && !strcmp(read_all(&lines), ""),
      "a pipe has no lines, and does not block");
    unlink(path);
    T(!symlink("/dev/zero", path) && !strcmp(read_all(&lines), ""),
      "a device has no lines");
    unlink(path);
    memset(text, 'x', LONG);
    strcpy(text + LONG, "\ntwo\n");
    write_text("w", "one\n");
    write_text("a", text);
    T(!strcmp(read_all(&lines), "one|"), "a line of 1 MiB has no end");
    unlink(path);
    run_lines_release(&lines);
    free(text);
}

int
main(void)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/metrics.jsonl", folder);
    returns_new_lines();
    starts_over_if_lines_are_truncated();
    reads_only_files();
    rmdir(folder);
    return t_done();
}
