#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "run/lines.h"
#include "run/origin.h"
#include "util/clock.h"
#include "util/digest.h"
#include "util/file.h"
#include "util/isa.h"
#include "util/mem.h"
#include "util/opt.h"

#define ORIGIN "origin.jsonl"

enum { COPY_MOST = 1 << 20, DIGEST_MOST = 1 << 26 }; // bytes of a file

static const char *
file_name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static const char *
copy_path(const char *run, const char *path, const char *digest)
{
    return mem_temp("%s/files/%s-%s", run, digest, file_name_of(path));
}

/* Adds a word if it is the path of a file; secret keys are not copied. */
static void
add_file(json_t *files, const char *run, const char *path)
{
    const char *dot = strrchr(path, '.');
    char hex[DIGEST_HEX], *text;
    const char *copy;
    struct err ignored;
    struct stat st;
    size_t len;

    if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size > DIGEST_MOST ||
        (dot && !strcmp(dot, ".key_secret")))
        return;
    text = file_read(path, DIGEST_MOST, &len, &ignored);
    if (!text)
        return;
    digest_hex(digest_bytes(text, len), hex);
    json_object_set_new(files, path, json_string(hex));
    copy = copy_path(run, path, hex);
    if (len < COPY_MOST &&
        !file_mkdir(mem_temp("%s/files", run), 0700, &ignored) &&
        !file_exists(copy))
        file_write(copy, text, len, &ignored);
    free(text);
}

/* The files that a command names, by path. */
static json_t *
find_files(const char *run, const char *command)
{
    static const char ends[] = " \t\n'\"=;&|";
    char *words = mem_text(command), *rest;
    json_t *files = json_object();
    int is_tool = 0;

    for (char *word = strtok_r(words, ends, &rest); word && !is_tool;
         word = strtok_r(NULL, ends, &rest)) {
        is_tool = !strncmp(file_name_of(word), "foil-", strlen("foil-"));
        if (!is_tool)
            add_file(files, run, word);
    }
    if (is_tool)
        json_object_clear(files);
    free(words);
    return files;
}

json_t *
run_origin_read(const char *run)
{
    json_t *all = json_object();
    struct run_lines lines = {0};
    const char *text;

    while (run_lines_next(&lines, run, ORIGIN, &text)) {
        json_t *line = text ? json_loads(text, 0, NULL) : NULL;
        const char *of = json_string_value(json_object_get(line, "of"));

        if (of)
            json_object_set(all, of, line);
        json_decref(line);
    }
    run_lines_release(&lines);
    return all;
}

/* Returns 1 with a message if a file is not as in an earlier line. */
static int
find_change(const char *run, const json_t *was, const json_t *line,
            struct err *changed)
{
    json_t *before = json_object_get(was, "files"), *digest;
    const char *path;

    json_object_foreach(json_object_get(line, "files"), path, digest)
    {
        const char *old = json_string_value(json_object_get(before, path));
        const char *copy = old ? copy_path(run, path, old) : NULL;

        if (!old || !strcmp(old, json_string_value(digest)))
            continue;
        err_set(changed,
                "'%s' of '%s' has changed since this run last used it%s%s",
                path, json_string_value(json_object_get(line, "of")),
                file_exists(copy) ? "; as it was: " : "",
                file_exists(copy) ? copy : "");
        return 1;
    }
    return 0;
}

int
run_origin_note(const char *run, const char *of, const char *command,
                struct err *changed)
{
    json_t *all, *was, *line;
    char *processor;
    struct err ignored;
    int rc;

    if (!run || file_mkdir(run, 0700, &ignored))
        return 0;
    processor = util_processor();
    all = run_origin_read(run);
    was = json_object_get(all, of);
    line = json_pack("{s:s, s:o, s:o, s:s, s:s}", "of", of, "command",
                     json_name(command), "files", find_files(run, command),
                     "foil", FOIL_VERSION, "processor", processor);
    rc = find_change(run, was, line, changed);
    if (was)
        json_object_del(was, "time");
    if (!json_equal(was, line)) {
        json_object_set_new(line, "time",
                            json_real((double)clock_wall() * 1e-9));
        run_lines_append(run, ORIGIN, line, &ignored);
    }
    json_decref(line);
    json_decref(all);
    free(processor);
    return rc;
}
