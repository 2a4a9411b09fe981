#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/lines.h"
#include "util/file.h"
#include "util/mem.h"

enum { LINE_MOST = 1 << 20 }; // bytes; foil writes no longer line

/* Whether the last returned line is still at its offset. */
static int
holds_last(const struct run_lines *lines)
{
    const long n = (long)lines->len;

    return !n ||
           (!fseek(lines->file, lines->offset - n, SEEK_SET) &&
            fread(lines->next, 1, lines->len, lines->file) == lines->len &&
            !memcmp(lines->next, lines->last, lines->len - 1) &&
            lines->next[n - 1] == '\n');
}

/* Opens the file; 1 if its lines must be returned from the first on. */
static int
open_again(struct run_lines *lines, const char *run, const char *name)
{
    struct err ignored;
    int again;

    lines->file = file_open(mem_temp("%s/%s", run, name), 0, &ignored);
    again = lines->file ? !holds_last(lines) : lines->len > 0;
    if (again) {
        lines->offset = 0;
        lines->len = 0;
    }
    if (lines->file)
        fseek(lines->file, lines->offset, SEEK_SET);
    return again;
}

int
run_lines_next(struct run_lines *lines, const char *run, const char *name,
               const char **line)
{
    char *next;
    size_t n = 0;

    *line = NULL;
    if (!lines->next) {
        lines->last = mem_array(LINE_MOST, 1);
        lines->next = mem_array(LINE_MOST, 1);
    }
    if (!lines->file && open_again(lines, run, name))
        return 1;
    next = lines->next;
    if (lines->file && fgets(next, LINE_MOST, lines->file))
        n = (size_t)(ftell(lines->file) - lines->offset); // may contain zeros
    if (!n || next[n - 1] != '\n') {                      // not complete yet
        if (lines->file)
            fclose(lines->file);
        lines->file = NULL;
        return 0;
    }
    lines->next = lines->last;
    lines->last = next;
    lines->len = n;
    lines->offset += (long)n;
    next[n - 1] = 0;
    *line = next;
    return 1;
}

void
run_lines_skip(struct run_lines *lines, const char *run, const char *name,
               long most)
{
    struct stat file;

    if (!stat(mem_temp("%s/%s", run, name), &file) && file.st_size > most)
        lines->offset = (long)file.st_size - most;
}

int
run_lines_append(const char *run, const char *name, const json_t *object,
                 struct err *err)
{
    const char *path = mem_temp("%s/%s", run, name);
    char *text = json_brief(object);
    const int file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    const off_t end = file < 0 ? 0 : lseek(file, 0, SEEK_END);
    char last = '\n', *line;
    ssize_t wrote;
    int rc = 0;

    if (end > 0 && pread(file, &last, 1, end - 1) < 0)
        last = '\n';
    line = mem_format("%s%s", last == '\n' ? "" : "\n", text);
    wrote = file < 0 ? -1 : write(file, line, strlen(line));
    if (wrote < 0)
        rc = err_sys(err, "cannot write '%s'", path);
    else if ((size_t)wrote < strlen(line))
        rc = err_set(err, "cannot write '%s': disk full", path);
    if (file >= 0 && close(file) && !rc)
        rc = err_sys(err, "cannot write '%s'", path);
    mem_free(line, text);
    return rc;
}

void
run_lines_release(struct run_lines *lines)
{
    if (lines->file)
        fclose(lines->file);
    mem_free(lines->last, lines->next);
    *lines = (struct run_lines){0};
}
