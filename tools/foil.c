/*
 * foil: the dispatcher.  `foil train` runs foil-train, `foil run NAME` runs
 * pipelines/NAME.sh and `foil run ./LIST` gives foil-run a list of stages, each
 * with the folder of this program first on PATH, so that a checkout, an
 * installation and a copy never mix.
 */
#include <errno.h>
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

static const struct {
    const char *name, *what;
} commands[] = {
    {"select", "decide which samples share a mini-batch"},
    {"augment", "turn ids into decoded, augmented views"},
    {"train", "train an encoder by contrast"},
    {"negatives", "answer which negatives an anchor meets"},
    {"embed", "turn a data set into features"},
    {"eval", "say how good features are"},
    {"data", "make, import, index and split data sets"},
    {"tap", "watch, record and replay a stream"},
};

static const struct opt opts[] = {{0}};

static const struct opt_tool tool = {
    "foil",
    "learn representations by contrast, as a dataflow of small tools",
    "[COMMAND [ARG ...]]",
    0,
    0,
    opts,
};

/* Returns the folder of this program, to be given to free(). */
static char *
own_folder(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    if (n < 0)
        die("cannot read '/proc/self/exe': %s", strerror(errno));
    path[n] = 0;
    return mem_text(dirname(path));
}

/* Put the folder before all others, where execvp() and scripts look. */
static void
lead_path(const char *folder)
{
    const char *path = getenv("PATH");
    char *longer = mem_format("%s:%s", folder, path ? path : "/usr/bin:/bin");

    if (setenv("PATH", longer, 1))
        die("cannot set PATH: %s", strerror(errno));
    free(longer);
}

/*
 * Returns the folder of the pipelines, to be given to free(): that of the
 * installation, or of the checkout that has this program in build/x/bin.
 */
static char *
pipelines_near(const char *folder)
{
    static const char *const places[] = {
        "../share/foil/pipelines",
        "../../../pipelines",
    };

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *path = mem_format("%s/%s", folder, places[i]);
        char *lib = mem_format("%s/lib.sh", path);
        int found = file_exists(lib);

        free(lib);
        if (found)
            return path;
        free(path);
    }
    die("no pipelines near '%s'", folder);
}

/* Print a pipeline's name and its second line, which says what it does. */
static void
print_pipeline(char *path)
{
    FILE *file = fopen(path, "r");
    char line[128] = "", *name = basename(path);

    if (!file)
        return;
    for (int i = 0; i < 2; i++)
        if (!fgets(line, sizeof line, file))
            *line = 0;
    fclose(file);
    line[strcspn(line, "\n")] = 0;
    printf("  %-20.*s%s\n", (int)strcspn(name, "."), name,
           strncmp(line, "# ", 2) ? "" : line + 2);
}

static void
print_pipelines(const char *folder)
{
    char *pipelines = pipelines_near(folder);
    char *pattern = mem_format("%s/*.sh", pipelines);
    glob_t found;

    puts("\npipelines, each run as 'foil run NAME':");
    if (!glob(pattern, 0, NULL, &found)) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (!strstr(found.gl_pathv[i], "lib.sh"))
                print_pipeline(found.gl_pathv[i]);
        globfree(&found);
    }
    free(pattern);
    free(pipelines);
}

static void
print_overview(const char *folder)
{
    puts("usage: foil [COMMAND [ARG ...]]\n\n"
         "commands, each with --help and a man page:");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        printf("  %-12s%s\n", commands[i].name, commands[i].what);
    puts("  run         run a pipeline");
    print_pipelines(folder);
    close_stdout();
}

/* What stands behind -r or --run, or NULL; with --resume only. */
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

/* Returns the pipeline that a run remembers, to be given to free(). */
static char *
pipeline_of(const char *run)
{
    static const char key[] = "pipeline ";
    char *path = mem_format("%s/command", run), *name;
    struct err err;
    size_t len;
    char *text = file_read(path, 1 << 20, &len, &err);

    free(path);
    if (text && strncmp(text, key, strlen(key)))
        die("'%s/command' does not begin with the pipeline of the run", run);
    if (text) {
        text[strcspn(text, "\n")] = 0;
        name = mem_text(text + strlen(key));
        free(text);
        return name;
    }
    die("%s: name the pipeline of the run", err.msg);
}

/* Returns the script of a pipeline, to be given to free(). */
static char *
script_of(const char *folder, const char *name)
{
    char *pipelines = pipelines_near(folder);
    char *script = mem_format("%s/%s.sh", pipelines, name);

    free(pipelines);
    if (strchr(name, '/') || !strcmp(name, "lib") || !file_exists(script)) {
        free(script);
        return NULL;
    }
    return script;
}

/* Returns 1 for what is the path of a list of stages: ./LIST, ../LIST, /LIST.
 */
static int
is_path(const char *name)
{
    return *name == '/' || !strncmp(name, "./", 2) || !strncmp(name, "../", 3);
}

/* Become foil-run with the list argv[1]; does not return. */
_Noreturn static void
run_list(char **argv)
{
    argv[0] = mem_text("foil-run");
    execvp(argv[0], argv);
    die("cannot run 'foil-run': %s", strerror(errno));
}

/*
 * Become a pipeline, that of argv[1] or of the run that is to be resumed; does
 * not return.
 */
_Noreturn static void
run_pipeline(const char *folder, char **argv)
{
    const char *run = run_to_resume(argv + 1);
    const int named = argv[1] && argv[1][0] != '-';
    static char *name; // not lost where a wrong one ends us
    char *script;

    if (!named && !run)
        opt_misuse("run wants the name of a pipeline, which 'foil' lists, or "
                   "--resume -r RUN");
    if (named && is_path(argv[1]))
        run_list(argv);
    name = named ? mem_text(argv[1]) : pipeline_of(run);
    script = script_of(folder, name);
    if (!script)
        opt_misuse("no pipeline '%s': 'foil' lists them", name);
    free(name);
    argv += named;
    argv[0] = script;
    execv(script, argv);
    die("cannot run '%s': %s", script, strerror(errno));
}

/* Become foil-COMMAND; does not return. */
_Noreturn static void
run_command(char **argv)
{
    char *const name = argv[0];

    if (!strchr(name, '/')) {
        argv[0] = mem_format("foil-%s", name);
        execvp(argv[0], argv);
        if (errno != ENOENT)
            die("cannot run '%s': %s", argv[0], strerror(errno));
        free(argv[0]);
    }
    opt_misuse("no command '%s': 'foil' lists them", name);
}

int
main(int argc, char **argv)
{
    char *folder;

    if (argc > 1 && argv[1][0] == '-')
        opt_parse(&tool, argc, argv);
    folder = own_folder();
    if (argc < 2 || argv[1][0] == '-') {
        print_overview(folder);
        free(folder);
        return EXIT_OK;
    }
    lead_path(folder);
    if (!strcmp(argv[1], "run"))
        run_pipeline(folder, argv + 1);
    run_command(argv + 1);
}
