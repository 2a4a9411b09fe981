/*
 * foil-runs: which runs there are, how far they are, what they differ in and
 * what was measured of them.
 */
#include <stdio.h>
#include <unistd.h>

#include "foil-runs/runs.h"
#include "util/file.h"
#include "util/opt.h"
#include "util/terminal.h"

static int as_json, all;
static const char *board;

static const struct opt opts[] = {
    {"all", 'a', OPT_FLAG, &all, 0, 0, NULL,
     "show options that are the same in all runs, too"},
    {"json", 0, OPT_FLAG, &as_json, 0, 0, NULL,
     "print a line of JSON for each run on a terminal, too"},
    {"tensorboard", 0, OPT_TEXT, &board, 0, 0, "DIR",
     "write DIR for TensorBoard instead: numbers, results, temperatures"},
    {0},
};

static const struct opt_tool tool = {
    "foil-runs", "list and compare runs", "[DIR ...]", 0, 1 << 20, opts,
};

/* Paths of the runs in the given folders, or in run/. */
static json_t *
find_paths(char **dir)
{
    json_t *paths = json_array();

    if (!*dir)
        runs_find("run", paths);
    for (; *dir; dir++) {
        if (!file_exists(*dir))
            die("there is no '%s'", *dir);
        runs_find(*dir, paths);
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

    end_when_stopped();
    paths = find_paths(dir);
    if (!json_array_size(paths))
        say("there is no run in '%s'", *dir ? *dir : "run");
    else if (!board)
        print_runs(paths);
    else
        json_array_foreach(paths, i, path)
        {
            runs_board(board, json_string_value(path));
        }
    json_decref(paths);
    close_stdout();
    return EXIT_OK;
}
