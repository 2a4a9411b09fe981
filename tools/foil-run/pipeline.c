#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

static void
add_common(struct pipeline *p)
{
    static const struct {
        const char *name, *arg, *value, *what;
    } rows[] = {
        {"epochs", "N", "100", "epochs of the whole run"},
        {"batch", "N", "256", "images in a batch"},
        {"objective", "NAME", "simclr", "one of foil-train --list objectives"},
        {"augmenters", "N", "2", "number of augmenters"},
        {"threads", "N", NULL, "threads of the trainer"},
        {"seed", "N", "1", "seed of all random numbers"},
        {"restarts", "N", "3", "restart a killed feeder at most N times"},
        {"ranks", "N", "1",
         "processes of the trainer, by mpirun: foil-ranks(7)"},
        {"hosts", "FILE", "", "hostfile of mpirun, with the machines"},
    };
    const char *cores = mem_keep_format("%ld", sysconf(_SC_NPROCESSORS_ONLN));

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pipeline_row_add(p, rows[i].name, rows[i].arg, rows[i].what);
        set_var(p, rows[i].name, rows[i].value ? rows[i].value : cores);
    }
    set_var(p, "grace", "10");
    for (int i = 0; i < N_STAGES; i++)
        set_var(p, mem_keep_format("%s-command", pipeline_stages[i]),
                mem_keep_format("foil-%s", pipeline_stages[i]));
}

int
pipeline_is(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[256];
    int is = 0, begins = 1; // begins: at the start of a line

    while (file && !is && fgets(line, sizeof line, file) &&
           (!begins || *line == '#' || *line == '\n')) {
        is = begins && !strncmp(line, "#:", 2);
        begins = strchr(line, '\n') != NULL;
    }
    if (file && !is && !feof(file) && !strncmp(line, "pipeline", 8) &&
        strchr(" \t\n", line[8]))
        die("'%s' is a list of steps, which this version does not run: a "
            "pipeline is a shell script, see PIPELINES in foil-run(1)",
            path);
    if (file)
        fclose(file);
    return is;
}

/* Sets the folders, and the names: for `foil run`, and for RUN/command. */
static void
set_places(struct pipeline *p)
{
    const char *set = getenv("FOIL_PIPELINES"), *folder = set ? set : "";
    const size_t n = strlen(folder);

    if (!set)
        die("FOIL_PIPELINES is not set: 'foil run' sets it");
    if (!strncmp(p->path, folder, n) && p->path[n] == '/') {
        p->known = p->name = mem_keep_format("%s", p->path + n + 1);
    } else {
        p->name = mem_keep_format("%s", p->path);
        p->known = pipeline_absolute(p->path);
    }
    set_var(p, "parts", mem_keep_format("%s/parts", folder));
    set_var(p, "RUN",
            folder_of_run(*p->known == '/' ? strrchr(p->known, '/') + 1
                                           : p->known));
    p->command = mem_keep_format("foil run %s", p->name);
    set_tool_name(p->command);
}

/* Replaces old spellings in the options of the header. */
static void
spell_header(struct pipeline *p, int says)
{
    for (int i = 0; i < N_STAGES; i++)
        update_spelling(i, &p->defaults[i], says);
    update_spelling(TRAIN, &p->tuned, says);
}

void
pipeline_load(struct pipeline *p, const char *path)
{
    struct err err;
    size_t len;

    p->path = mem_keep_format("%s", path);
    p->described = "";
    p->text = file_read(path, LIST_MAX_BYTES, &len, &err);
    or_die(!p->text, &err);
    add_common(p);
    set_places(p);
    p->sweep_rows[0] = p->rows;
    header_read(p, p->name, p->text);
    p->sweep_rows[1] = p->rows;
    check_defaults(p);
    if (p->in_script)
        spell_header(p, 0);
    p->usual = var(p, "objective");
}

/* Chooses the first unused run directory, without -r. */
static void
take_fresh_run(struct pipeline *p)
{
    const char *first = var(p, "RUN");

    if (setting_get(&p->cli, "run") || p->resume)
        return;
    for (int i = 2; file_exists(var(p, "RUN")); i++)
        set_var(p, "RUN", mem_keep_format("%s-%d", first, i));
    log_message("the run directory is '%s'", var(p, "RUN"));
}

/* Returns the first missing folder of a path, or the path. */
static const char *
first_missing(const char *path)
{
    char *at = mem_keep_format("%s", path);

    for (char *slash = at; (slash = strchr(slash + 1, '/')); *slash = '/') {
        *slash = 0;
        if (!file_exists(at))
            break;
    }
    return at;
}

/* Removes empty folders, from a path up to its parent `above`. */
static void
remove_empty(const char *path, const char *above)
{
    char *at = mem_keep_format("%s", path), *slash;

    while (!rmdir(at) && strlen(at) > strlen(above) &&
           (slash = strrchr(at, '/')))
        *slash = 0;
}

static void
set_environment(const struct pipeline *p)
{
    const char *folder = getenv("FOIL_PIPELINES");

    variables_export(p);
    export_variable("FOIL_SCRIPT", p->path);
    export_variable("FOIL_NAME", p->command);
    export_variable("FOIL_RUN", var(p, "RUN"));
    export_variable("FOIL_COMMAND", run_command_text(p));
    export_variable("PATH",
                    mem_keep_format("%s/bin:%s", folder, file_search_path()));
    export_variable("FOIL_GRID", var(p, "FOIL_GRID"));
    export_variable("FOIL_FIXED", word_list_text(p->fixed.word, p->fixed.n));
    export_variable("STUDY", p->is_study ? var(p, "RUN") : "");
}

/* Returns the name of the newest checkpoint, or "". */
static const char *
newest_of(const struct pipeline *p)
{
    char name[256];
    const ssize_t n = readlink(run_path(p, "latest"), name, sizeof name);

    return n > 0 ? mem_keep_format("%.*s", (int)n, name) : "";
}

/* Prints what the run directory has, after a training. */
static void
conclude_run(const struct pipeline *p, const char *before)
{
    const char *now = newest_of(p);

    if (p->is_study || !run_has(p, "log"))
        return;
    log_message(
        "%s: '%s' has the encoder in latest/, its steps in metrics.jsonl%s%s%s",
        !*before || strcmp(now, before)
            ? "the run is over"
            : "the run was over before, and nothing is left to train",
        var(p, "RUN"), run_has(p, "results.jsonl") ? ", results.jsonl" : "",
        run_has(p, "loss.png") ? ", loss.png" : "",
        run_has(p, "near.png") ? ", near.png" : "");
}

/* Reports a stop by a signal, or by foil-stop(1). */
static void
report_stop(const struct pipeline *p, int code)
{
    char *run = mem_keep_format("%s", var(p, "RUN"));

    if (code != 128 + SIGINT && code != 128 + SIGTERM && code != 128 + SIGHUP)
        return;
    if (p->is_study)
        log_message("stopped; the same command continues");
    else if (run_has(p, "command"))
        log_message("stopped; 'foil run --resume -r %s' continues",
                    word_list_text(&run, 1));
    else
        log_message("stopped");
}

/* Runs a program in a session of its own; returns its exit code.  Signals reach
 * the whole session. */
static int
run_session(const struct pipeline *p, char **argv)
{
    struct list_stage stage = {.name = p->name,
                               .is_main = 1,
                               .is_script = 1,
                               .signal = SIGTERM,
                               .copies = 1,
                               .restart = LIST_NEVER,
                               .argv = argv};
    const struct list list = {&stage, 1};

    return supervise(&list, NULL, strtod(var(p, "grace"), NULL));
}

/* Runs the script; returns its exit code.  At a signal the shell first waits
 * for its current command to end, so traps of the script run. */
static int
run_script(const struct pipeline *p)
{
    char *argv[] = {
        mem_keep_format("sh"), mem_keep_format(p->traces ? "-euxc" : "-euc"),
        mem_keep_format(
            "trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM\n"
            "%s. \"$0\"",
            p->is_study ? ". \"$FOIL_PIPELINES/bin/study.sh\"\n" : ""),
        mem_keep_format("%s%s", strchr(p->path, '/') ? "" : "./", p->path),
        NULL};

    return run_session(p, argv);
}

/* Compares the encoder with raw pixels, by the data of the pipeline or of its
 * training; a failure has no effect on the run. */
static void
compare_run(const struct pipeline *p)
{
    char *argv[] = {mem_keep_format("compare"), mem_keep_format("--at-end"),
                    NULL, NULL, NULL};

    if (p->no_compare || p->is_study || !run_has(p, "latest"))
        return;
    if (p->operand.n)
        argv[2] = mem_keep_format("%s", var(p, p->operand.word[0]));
    if (p->operand.n && *var(p, "TEST"))
        argv[3] = mem_keep_format("%s", var(p, "TEST"));
    run_session(p, argv);
}

void
pipeline_main(char **argv)
{
    static struct pipeline p;
    const char *before, *above;
    int code;

    pipeline_load(&p, argv[1]);
    pipeline_command_line(&p, argv + 2);
    if (!p.lists)
        spell_header(&p, 1);
    if (p.is_fresh)
        take_fresh_run(&p);
    before = newest_of(&p);
    above = first_missing(var(&p, "RUN"));
    if (!p.lists && !p.is_study) // a study locks each of its trials
        folder_lock_run(var(&p, "RUN"));
    set_environment(&p);
    code = run_script(&p);
    if (p.lists)
        exit(code == EXIT_LISTED ? EXIT_OK : code);
    remove_empty(var(&p, "RUN"), above);
    if (code) {
        report_stop(&p, code);
    } else {
        compare_run(&p);
        conclude_run(&p, before);
    }
    exit(code);
}
