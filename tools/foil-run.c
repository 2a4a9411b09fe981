/* foil-run: starts the stages of a list, writes a log for each, restarts them,
 * and ends them all when the run ends, in whatever way; or runs the script of a
 * pipeline. */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foil-run/list.h"
#include "foil-run/pipeline.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

static const char *run;
static double grace = 10;
static int dry_run, resume;
static struct opt_list commands;

static const struct opt opts[] = {
    {"run", 'r', OPT_TEXT, &run, 0, 0, "RUN",
     "run directory, with logs in RUN/log; run/NAME for NAME.list by default"},
    {"resume", 0, OPT_FLAG, &resume, 0, 0, NULL,
     "continue the run of RUN, by its own list without LIST"},
    {"command", 0, OPT_LIST, &commands, 0, 0, "STAGE=COMMAND",
     "replace the first word of that stage's command"},
    {"grace", 0, OPT_REAL, &grace, 0, 86400, "S",
     "seconds between SIGTERM and SIGKILL"},
    {"dry-run", 0, OPT_FLAG, &dry_run, 0, 0, NULL,
     "check the list and start nothing"},
    {0},
};

static const struct opt_tool tool = {
    "foil-run", "start, log, restart and end the stages of a list",
    "[LIST]",   0,
    1,          opts,
};

static void
read_list(struct list *list, const char *path)
{
    const char *name = path ? path : "standard input";
    struct err err;
    size_t len;
    char *text =
        file_read(path ? path : "/dev/stdin", LIST_MAX_BYTES, &len, &err);

    if (text && strlen(text) != len)
        die("'%s' is no list of stages: it has a zero byte", name);
    or_die(!text || list_read(list, name, text, &err), &err);
    free(text);
    for (size_t i = 0; i < commands.n; i++)
        or_die(list_replace(list, commands.item[i], &err), &err);
    or_die(list_check_commands(list, name, &err), &err);
}

/* Runs a pipeline, by `foil run` unless that has set its environment. */
_Noreturn static void
run_pipeline(int argc, char **argv)
{
    char **words = mem_array((size_t)argc + 2, sizeof *words), *folder;
    struct err err;

    if (getenv("FOIL_PIPELINES"))
        pipeline_main(argv);
    folder = file_own_folder(&err);
    or_die(!folder, &err);
    words[0] = mem_keep_format("%s/foil", folder);
    words[1] = mem_keep_format("run");
    words[2] =
        mem_keep_format("%s%s", strchr(argv[1], '/') ? "" : "./", argv[1]);
    memcpy(words + 3, argv + 2, (size_t)(argc - 2) * sizeof *words);
    execv(words[0], words);
    die("cannot run '%s': %s", words[0], strerror(errno));
}

int
main(int argc, char **argv)
{
    char *logs = NULL;
    struct list list = {0};
    const char *path;
    int alone;

    if (argc > 1)
        commands_main(argv);
    if (argc > 1 && pipeline_is(argv[1]))
        run_pipeline(argc, argv);
    path = opt_parse(&tool, argc, argv)[0];
    if (!run && path)
        run = folder_of_run(basename(mem_keep_format("%s", path)));
    if (resume && !run)
        opt_misuse("--resume needs the run directory, -r RUN");
    if (resume && !path)
        path = mem_keep_format("%s/list", run);
    if (run)
        export_variable("RUN", run);
    read_list(&list, path);
    alone = list.n == 1 && list.stage[0].is_main;
    if (!run && !alone)
        opt_misuse("more than one process needs -r, for logs");
    if (!alone && !dry_run) {
        folder_lock(run);
        logs = mem_keep_format("%s/log", run);
        folder_make(logs);
        folder_lock_logs(logs);
        folder_write_list(run, &list);
    }
    if (resume)
        list_resume(&list);
    export_variable("RESUME", resume ? "yes" : "");
    return dry_run ? EXIT_OK : supervise(&list, logs, grace);
}
