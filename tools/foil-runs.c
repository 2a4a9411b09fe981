/* foil-runs: lists runs, with their progress, the options in which they
 * differ, and their results. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foil-runs/runs.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/terminal.h"

static int as_json, all;
static const char *board, *picture;
static struct opt_list names;
static enum runs_axis by = RUNS_BY_STEPS;

static const struct opt opts[] = {
    {"all", 'a', OPT_FLAG, &all, 0, 0, NULL,
     "also show options that are equal in all runs"},
    {"json", 0, OPT_FLAG, &as_json, 0, 0, NULL,
     "print a line of JSON for each run, also on a terminal"},
    {"tensorboard", 0, OPT_TEXT, &board, 0, 0, "DIR",
     "write metrics, results and temperatures for TensorBoard into DIR"},
    {"plot", 0, OPT_TEXT, &picture, 0, 0, "FILE",
     "draw curves of all runs as PNG, by gnuplot"},
    {"of", 0, OPT_LIST, &names, 0, 0, "NAME",
     "metric or measure to draw, such as 'knn 10' [loss]"},
    {"by", 0, OPT_CHOICE, &by, 0, 0, "steps|images|time", "the x axis"},
    {0},
};

static const struct opt_tool tool = {
    "foil-runs", "list and compare runs", "[DIR ...]", 0, 1 << 20, opts,
};

enum { DEEPEST = 4 };

static int
has_file(const char *folder, const char *name)
{
    return file_exists(mem_temp("%s/%s", folder, name));
}

static void
find_runs(const char *dir, int depth, json_t *paths)
{
    glob_t found;

    if (has_file(dir, "metrics.jsonl") || has_file(dir, "command")) {
        json_array_append_new(paths, json_string_nocheck(dir)); // any bytes
        return; // no runs inside of a run
    }
    if (depth == DEEPEST)
        return;
    if (!glob(mem_temp("%s/*/", dir), GLOB_NOESCAPE, NULL, &found)) { // folders
        for (size_t i = 0; i < found.gl_pathc; i++) {
            found.gl_pathv[i][strlen(found.gl_pathv[i]) - 1] = 0;
            find_runs(found.gl_pathv[i], depth + 1, paths);
        }
        globfree(&found);
    }
}

/* Appends the paths of runs, in order: `dir` itself, or folders up to four
 * levels below it. */
static void
add_runs(const char *dir, json_t *paths)
{
    size_t n = strlen(dir);
    char *copy = mem_text(dir);

    while (n > 1 && copy[n - 1] == '/')
        copy[--n] = 0;
    find_runs(copy, 0, paths);
    free(copy);
}

/* Paths of the runs in the given folders, or in run/. */
static json_t *
find_paths(char **dir)
{
    json_t *paths = json_array();

    if (!*dir)
        add_runs("run", paths);
    for (; *dir; dir++) {
        if (!file_exists(*dir))
            die("there is no '%s'", *dir);
        add_runs(*dir, paths);
    }
    return paths;
}

static void
print_runs(const json_t *paths)
{
    const int width = as_json ? 0 : terminal_size(STDOUT_FILENO, NULL);
    json_t *runs = json_array(), *path;
    size_t i;

    json_array_foreach(paths, i, path)
    {
        json_t *run = runs_gather(json_string_value(path));

        if (width)
            json_array_append_new(runs, run);
        else
            json_print(run);
    }
    if (width)
        runs_show(runs, all, width);
    json_decref(runs);
}

int
main(int argc, char **argv)
{
    char **dir = opt_parse(&tool, argc, argv);
    json_t *paths, *path;
    size_t i;

    if (!picture && (names.n || opt_is_set(&by)))
        opt_misuse("--of and --by belong to a picture: --plot FILE");
    if (!names.n)
        names.item[names.n++] = "loss";
    end_when_stopped();
    paths = find_paths(dir);
    if (!json_array_size(paths))
        log_message("there is no run in '%s'", *dir ? *dir : "run");
    else if (!board && !picture)
        print_runs(paths);
    if (picture && json_array_size(paths))
        runs_draw(picture, &(struct runs_drawing){names.item, names.n, by},
                  paths);
    json_array_foreach(board ? paths : NULL, i, path)
    {
        runs_write_events(board, json_string_value(path));
    }
    json_decref(paths);
    close_stdout();
    return EXIT_OK;
}
