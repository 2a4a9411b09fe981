#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/file.h"
#include "util/guess.h"
#include "util/mem.h"
#include "util/opt.h"

#include "pipelines.h"
#include "run.h"

/* Prints the usage of `foil run`. */
static void
print_run(const char *folder, FILE *out)
{
    fputs(
        "usage: foil run NAME [ARG ...]    'foil run NAME --help' lists them\n"
        "       foil run --resume -r RUN\n"
        "       foil run ./PIPELINE [ARG ...]  one of your own, or a list of "
        "stages:\n"
        "                                      'foil help run'\n",
        out);
    pipelines_print(folder, out);
}

/* The argument of -r or --run if --resume is present, else NULL. */
static const char *
run_to_resume(char **argv)
{
    const char *run = NULL;
    int resume = 0;

    for (; *argv && strcmp(*argv, "--"); argv++) {
        resume |= !strcmp(*argv, "--resume");
        if (!strncmp(*argv, "--run=", strlen("--run=")))
            run = *argv + strlen("--run=");
        else if (argv[1] && (!strcmp(*argv, "-r") || !strcmp(*argv, "--run")))
            run = *++argv;
    }
    return resume ? run : NULL;
}

int
run_is_path(const char *name)
{
    return *name == '/' || !strncmp(name, "./", 2) || !strncmp(name, "../", 3);
}

/* Reports that there is no such pipeline, with a hint. */
_Noreturn static void
refuse_pipeline(const char *folder, const char *name)
{
    struct guess guess = {.word = name};

    if (*name == '/')
        die("the run's pipeline, '%s', does not exist any more", name);
    if (file_exists(name))
        opt_misuse("no pipeline '%s': a list of stages, or a script, is run by "
                   "a path, 'foil run ./%s'",
                   name, name);
    pipelines_guess(folder, &guess);
    opt_misuse("no pipeline '%s'%s", name,
               *guess_words(&guess) ? guess_words(&guess)
                                    : ": 'foil' lists them");
}

/* Executes a script; does not return. */
_Noreturn static void
run_script(char *script, char **argv)
{
    argv[0] = script;
    execv(script, argv);
    if (errno == EACCES)
        die("cannot run the script '%s': 'chmod +x %s' allows it", script,
            script);
    die("cannot run '%s': %s", script, strerror(errno));
}

/* Executes a pipeline's script, or foil-run with its list, with the arguments
 * after argv[0]; does not return. */
_Noreturn static void
run_file(const char *folder, char *path, char **argv)
{
    char **words;
    size_t n = 1;

    pipelines_export(folder);
    if (pipelines_is_script(path))
        run_script(path, argv);
    while (argv[n])
        n++;
    words = mem_array(n + 2, sizeof *words);
    memcpy(words + 2, argv + 1, (n - 1) * sizeof *words);
    words[0] = mem_text("foil-run");
    words[1] = path;
    execvp(words[0], words);
    die("cannot run 'foil-run': %s", strerror(errno));
}

/* `foil run --resume RUN`, without -r. */
static void
refuse_bare_run(const char *run)
{
    if (run && *run != '-')
        opt_misuse("--resume wants its run by -r: 'foil run --resume -r %s'",
                   run);
}

_Noreturn void
run_pipeline(const char *folder, char **argv)
{
    const char *run = run_to_resume(argv + 1);
    const int named = argv[1] && argv[1][0] != '-';
    static char *name; // static: no leak if a wrong name ends the process
    char *path;

    if (argv[1] && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        print_run(folder, stdout);
        close_stdout();
        exit(EXIT_OK);
    }
    if (argv[1] && !strcmp(argv[1], "--version")) {
        printf("foil (foil) %s\n", FOIL_VERSION);
        close_stdout();
        exit(EXIT_OK);
    }
    if (!named && !run) {
        refuse_bare_run(argv[1] && !strcmp(argv[1], "--resume") ? argv[2]
                                                                : NULL);
        log_message("run wants the name of a pipeline, or --resume -r RUN");
        print_run(folder, stderr);
        exit(EXIT_USAGE);
    }
    if (named && run_is_path(argv[1]))
        run_file(folder, argv[1], argv + 1);
    name = named ? mem_text(argv[1]) : pipelines_remembered(run);
    path = pipelines_find(folder, name);
    if (path) {
        free(name);
        run_file(folder, path, argv + named);
    }
    refuse_pipeline(folder, name);
}
