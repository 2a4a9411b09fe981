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

static const struct opt opts[] = {
    {"all", 'a', OPT_FLAG, &all, 0, 0, NULL,
     "show options that are the same in all runs, too"},
    {"json", 0, OPT_FLAG, &as_json, 0, 0, NULL,
     "print a line of JSON for each run on a terminal, too"},
    {0},
};

static const struct opt_tool tool = {
    "foil-runs", "list and compare runs", "[DIR ...]", 0, 1 << 20, opts,
};

/* The runs in the given folders, or in run/. */
static json_t *
gather_runs(char **dir)
{
    json_t *paths = json_array(), *runs = json_array(), *path;
    size_t i;

    if (!*dir)
        runs_find("run", paths);
    for (; *dir; dir++) {
        if (!file_exists(*dir))
            die("there is no '%s'", *dir);
        runs_find(*dir, paths);
    }
    json_array_foreach(paths, i, path)
    {
        json_array_append_new(runs, runs_gather(json_string_value(path)));
    }
    json_decref(paths);
    return runs;
}

int
main(int argc, char **argv)
{
    char **dir = opt_parse(&tool, argc, argv);
    const int width = terminal_size(STDOUT_FILENO, NULL);
    json_t *runs, *run;
    size_t i;

    end_when_stopped();
    runs = gather_runs(dir);
    if (!json_array_size(runs))
        say("there is no run in '%s'", *dir ? *dir : "run");
    else if (width && !as_json)
        runs_show(runs, all, width);
    else
        json_array_foreach(runs, i, run)
        {
            json_print(json_incref(run));
        }
    json_decref(runs);
    close_stdout();
    return EXIT_OK;
}
