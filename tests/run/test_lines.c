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

/* All that is told, with '|' behind each line, and '!' where it begins anew. */
static const char *
tell(struct run_lines *lines)
{
    static char told[256];
    const char *line;

    told[0] = 0;
    while (run_lines_next(lines, folder, "metrics.jsonl", &line)) {
        strncat(told, line ? line : "!", 100);
        if (line)
            strcat(told, "|");
    }
    return told;
}

static void
tells_what_is_new(void)
{
    struct run_lines lines = {0};

    T(!strcmp(tell(&lines), ""), "no file: no line");
    write_text("w", "one\ntwo\nthr");
    T(!strcmp(tell(&lines), "one|two|"), "two lines that are whole");
    write_text("a", "ee\n\nfour\n");
    T(!strcmp(tell(&lines), "three||four|"), "the others when they are");
    T(!strcmp(tell(&lines), ""), "each of them once");
    run_lines_release(&lines);
    T(!strcmp(tell(&lines), "one|two|three||four|"),
      "all of them to another reader");
    run_lines_release(&lines);
    lines.offset = 5;
    T(!strcmp(tell(&lines), "wo|three||four|"), "those from an offset on");
    run_lines_release(&lines);
}

static void
begins_anew_where_lines_are_cut_off(void)
{
    struct run_lines lines = {0};

    write_text("w", "one\ntwo\nthree\n");
    tell(&lines);
    write_text("w", "one\n");
    T(!strcmp(tell(&lines), "!one|"), "a file that is shorter");
    tell(&lines);
    write_text("w", "one\nTWO\nTHREE\nFOUR\n");
    T(!strcmp(tell(&lines), "TWO|THREE|FOUR|"), "what was told is there still");
    write_text("w", "one\nTWO\nanother and longer\nfive\n");
    T(!strcmp(tell(&lines), "!one|TWO|another and longer|five|"),
      "one that has grown beyond");
    write_text("w", "");
    T(!strcmp(tell(&lines), "!"), "one that is empty");
    write_text("w", "one\ntwo\n");
    tell(&lines);
    write_text("w", "one\ntwo and more\n");
    T(!strcmp(tell(&lines), "!one|two and more|"),
      "one of which the last line goes on");
    unlink(path);
    T(!strcmp(tell(&lines), "!") && !strcmp(tell(&lines), ""),
      "one that is away, once");
    run_lines_release(&lines);
}

static void
reads_files_alone(void)
{
    enum { LONG = 1 << 20 };
    struct run_lines lines = {0};
    char *text = malloc(LONG + 6);

    T(!mkfifo(path, 0600) && !strcmp(tell(&lines), ""),
      "a pipe has no line, and is not waited for");
    unlink(path);
    T(!symlink("/dev/zero", path) && !strcmp(tell(&lines), ""),
      "nor has a device");
    unlink(path);
    memset(text, 'x', LONG);
    strcpy(text + LONG, "\ntwo\n");
    write_text("w", "one\n");
    write_text("a", text);
    T(!strcmp(tell(&lines), "one|"), "a line of 1 MiB has no end");
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
    tells_what_is_new();
    begins_anew_where_lines_are_cut_off();
    reads_files_alone();
    rmdir(folder);
    return t_done();
}
