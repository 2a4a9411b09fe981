#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

static void
index_data(const char *data)
{
    char *word[] = {mem_keep_format("index"), mem_keep_format("%s", data),
                    NULL};

    step_run(word);
}

/* Refuses data sets that do not match, and prints notes about them, from the
 * lines that parts/fits.sh prints: "die SENTENCE" or "say SENTENCE". */
static void
check_fit(const struct pipeline *p, const char *data, const char *test)
{
    struct word_list words = {0};
    char *text, *rest;

    word_list_put(&words, mem_keep_format("%s/fits.sh", var(p, "parts")),
                  *var(p, "captions") ? "captions" : "labels", data,
                  *test ? test : NULL);
    text = step_capture(words.word);
    for (char *line = strtok_r(text, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        if (!strncmp(line, "die ", 4))
            die("%s", line + 4);
        log_message("%s", line + 4);
    }
}

/* Refuses what cannot work before anything is made.  Data that have moved are
 * only refused if they are the script's first operand, as RUN may be one of
 * several trainings. */
static void
check_run(const struct pipeline *p, const char *data)
{
    const char *run = var(p, "RUN"), *whole = getenv("FOIL_RUN");

    for (size_t i = 0; i < p->operand.n; i++)
        if (file_same(run, var(p, p->operand.word[i])))
            die("'%s' is the data: choose another folder for the run, -r RUN",
                run);
    if (run_has(p, "latest") && !p->resume)
        die("'%s' holds a run: add --resume to continue it, or choose another "
            "-r",
            run);
    if (p->resume && *data && p->operand.n && !p->is_study &&
        !strcmp(data, var(p, p->operand.word[0])) && !file_exists(data))
        die("there is no '%s', the data of the run: if they have moved, give "
            "the new place by 'foil run %s PLACE --resume -r %s --override %s'",
            data, p->name, whole ? whole : run, p->operand.word[0]);
}

/* Makes the run directory, and writes `command` into that of the pipeline. */
static void
make_run(const struct pipeline *p)
{
    const char *text = getenv("FOIL_COMMAND"), *whole = getenv("FOIL_RUN");
    struct err err;

    folder_lock_run(var(p, "RUN"));
    if (chmod(var(p, "RUN"), 0700))
        die("cannot change '%s': %s", var(p, "RUN"), strerror(errno));
    if (!p->is_study && whole && text &&
        file_write(mem_keep_format("%s/command", whole), text, strlen(text),
                   &err))
        die("%s", err.msg);
    folder_make(run_path(p, "log"));
}

/* Prepares a training on data; with "", only what does not need data.  The
 * encoder is evaluated on TEST if `data` is the main data set. */
static void
prepare_run(struct pipeline *p, const char *data, struct list *list)
{
    const char *run = getenv("FOIL_RUN");
    // the run of the pipeline itself, not one of several in it
    const int whole = !p->is_study && run && !strcmp(run, var(p, "RUN"));
    const char *test =
        whole && p->operand.n && !strcmp(data, var(p, p->operand.word[0]))
            ? var(p, "TEST")
            : "";
    const char *note;
    struct err err;

    if (!whole)
        p->resume = run_has(p, "latest");
    check_run(p, data);
    if (*data)
        index_data(data);
    if (*test)
        index_data(test);
    if (*data && (*test || *var(p, "captions")))
        check_fit(p, data, test);
    p->evaluates = *data && whole && !p->no_compare && !p->lists &&
                   runs_foil_tool(p, TRAIN) && !has_own_net(p);
    stages_dry_run(p, data);
    p->stages = *data ? stages_text(p, data, test) : NULL;
    if (p->stages && (list_read(list, "stages", p->stages, &err) ||
                      list_check_commands(list, "stages", &err)))
        die("%s", err.msg);
    if (p->lists && !*data)
        pipeline_misuse(p, "--stages needs the pipeline's data");
    if (p->lists) {
        fputs(p->stages, stdout);
        close_stdout();
        exit(EXIT_LISTED);
    }
    make_run(p);
    note = mem_keep_format("%s\n%s\n", data, test);
    if (p->evaluates && !p->trained && // for the comparison at the end
        file_write(run_path(p, "log/learnt"), note, strlen(note), &err))
        die("%s", err.msg);
}

static intmax_t
whole_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* Prints what the run trains, and from which step on. */
static void
announce_run(const struct pipeline *p, const char *data)
{
    const intmax_t least = whole_of(p->selects, "least");
    const intmax_t most = whole_of(p->selects, "largest");
    const intmax_t total = whole_of(p->trains, "total");

    log_message(
        "%s%s, %jd images of '%s' in batches of %s%jd%s, %s epoch%s, seed %s, "
        "%s thread%s",
        total
            ? mem_keep_format("continues after step %jd, in epoch %jd: ", total,
                              whole_of(p->trains, "epoch") + 1)
            : "",
        mem_keep_format("%.*s", (int)strcspn(var(p, "objective"), ","),
                        var(p, "objective")),
        whole_of(p->selects, "samples"), data,
        least == most ? "" : mem_keep_format("%jd or ", least), most,
        most == whole_var(p, "batch")
            ? ""
            : mem_keep_format(" (at most %s, evened out)", var(p, "batch")),
        var(p, "epochs"), plural((size_t)whole_var(p, "epochs")),
        var(p, "seed"), var(p, "threads"),
        plural((size_t)whole_var(p, "threads")));
}

/* [OPTION...] DATA */
_Noreturn static void
train_encoder(struct pipeline *p, char **argv)
{
    const char *data = pipeline_arguments(p, argv), *logs;
    struct list list;

    if (!*data)
        die("learn needs the data set to train on");
    prepare_run(p, data, &list);
    if (p->trained)
        exit(EXIT_OK);
    if (!p->is_study)
        announce_run(p, data);
    if (getenv("SHOW") && *getenv("SHOW"))
        step_show_list(&list);
    folder_write_list(var(p, "RUN"), &list);
    logs = run_path(p, "log");
    folder_lock_logs(logs);
    exit(supervise(&list, logs, strtod(var(p, "grace"), NULL)));
}

/* [OPTION...] [DATA] */
_Noreturn static void
prepare_only(struct pipeline *p, char **argv)
{
    struct list list;

    prepare_run(p, pipeline_arguments(p, argv), &list);
    exit(EXIT_OK);
}

/* STAGE [--method NAME] [-- OPTION...]: with the OPTIONs in place of its own;
 * STAGE.OPTION: the value of one option, "" if the stage does not get it */
_Noreturn static void
print_options(struct pipeline *p, char **argv)
{
    const size_t n = *argv ? strcspn(*argv, ".") : 0;
    const int stage = *argv ? stage_named(*argv, n) : -1;
    struct word_list own = {0}, last = {0}, all = {0};
    const char *value;
    char **more;

    if (stage < 0)
        die("options needs one of select, augment, negatives, train and embed");
    for (more = argv + 1; *more && strcmp(*more, "--"); more++)
        ;
    for (char **word = *more ? more + 1 : more; *word; word++)
        word_list_add(&last, *word);
    *more = NULL;
    pipeline_arguments(p, argv + 1);
    merge_options(p, stage, &p->defaults[stage], &own);
    merge_items(stage, &all, &own, &last);
    if ((*argv)[n]) {
        value = take_item(&all, mem_keep_format("--%s", *argv + n + 1));
        puts(value ? value : "");
    } else {
        puts(word_list_text(all.word, all.n));
    }
    close_stdout();
    exit(EXIT_OK);
}

/* COMMAND... */
_Noreturn static void
show_command(struct pipeline *p, char **argv)
{
    (void)p;
    if (!*argv)
        die("show needs a command");
    step_show(argv, "");
    execvp(*argv, argv);
    die("cannot run '%s': %s", *argv, strerror(errno));
}

static const struct {
    const char *name;
    void (*run)(struct pipeline *p, char **argv);
} commands[] = {
    {"--learn", train_encoder},     {"--prepare", prepare_only},
    {"--options", print_options},   {"--show", show_command},
    {"--settings", study_settings},
};

void
commands_main(char **argv)
{
    static struct pipeline p = {.in_script = 1};
    const char *path = getenv("FOIL_SCRIPT");

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(argv[1], commands[i].name))
            continue;
        if (!path)
            die("foil-run %s is a command of a pipeline's script", argv[1]);
        pipeline_load(&p, path);
        variables_import(&p);
        commands[i].run(&p, argv + 2);
    }
}
