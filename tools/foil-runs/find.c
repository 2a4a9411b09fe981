#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "runs.h"
#include "util/file.h"
#include "util/mem.h"

enum { DEEPEST = 4 };

static int
has_file(const char *folder, const char *name)
{
    char *path = mem_format("%s/%s", folder, name);
    const int there = file_exists(path);

    free(path);
    return there;
}

static void
find_runs(const char *dir, int depth, json_t *paths)
{
    char *pattern;
    glob_t found;

    if (has_file(dir, "metrics.jsonl") || has_file(dir, "command")) {
        json_array_append_new(paths, json_string_nocheck(dir)); // not printed
        return; // no runs inside of a run
    }
    if (depth == DEEPEST)
        return;
    pattern = mem_format("%s/*/", dir); // folders only
    if (!glob(pattern, GLOB_NOESCAPE, NULL, &found)) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            found.gl_pathv[i][strlen(found.gl_pathv[i]) - 1] = 0;
            find_runs(found.gl_pathv[i], depth + 1, paths);
        }
        globfree(&found);
    }
    free(pattern);
}

void
runs_find(const char *dir, json_t *paths)
{
    size_t n = strlen(dir);
    char *copy = mem_text(dir);

    while (n > 1 && copy[n - 1] == '/')
        copy[--n] = 0;
    find_runs(copy, 0, paths);
    free(copy);
}
