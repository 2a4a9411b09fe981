#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipelines.h"
#include "run/settings.h"
#include "util/file.h"
#include "util/guess.h"
#include "util/mem.h"
#include "util/opt.h"

/* The folders of pipelines, as prefixes of their names. */
static const char *const folders[] = {"", "studies/"};
enum { N_FOLDERS = sizeof folders / sizeof *folders };

/* Returns the folder of pipelines, that of the installation, or of the checkout
 * with this program in build/x/bin; NULL if there is none. */
static const char *
find_pipelines(const char *folder)
{
    const char *places[] = {
        mem_keep_format("%s/../share/foil/pipelines", folder),
        mem_keep_format("%s/../../../pipelines", folder)};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (file_exists(places[i]))
            return places[i];
    return NULL;
}

static const char *
require_pipelines(const char *folder)
{
    const char *pipelines = find_pipelines(folder);

    if (!pipelines)
        die("no pipelines near '%s'", folder);
    return pipelines;
}

void
pipelines_export_python(const char *folder)
{
    const char *before = getenv("PYTHONPATH");
    const char *pipelines = find_pipelines(folder), *python;

    if (!pipelines)
        return;
    python = mem_keep_format("%s/python", pipelines);
    if (!before || !*before)
        export_variable("PYTHONPATH", python);
    else if (!strstr(before, python))
        export_variable("PYTHONPATH", mem_keep_format("%s:%s", before, python));
}

/* Reads the first line of a file; 1 if it begins with #!. */
static int
read_shebang(const char *path, char line[128])
{
    FILE *file = fopen(path, "r");
    int begins;

    if (!file)
        return 0;
    begins = fgets(line, 128, file) && !strncmp(line, "#!", 2);
    fclose(file);
    return begins;
}

/* Prints the name of a pipeline, and the first line of its comment as a
 * summary. */
static void
print_pipeline(void *out, const char *path, const char *name)
{
    FILE *file = fopen(path, "r");
    char line[128] = "";

    if (!file)
        return;
    while (fgets(line, sizeof line, file) && !strncmp(line, "#!", 2))
        continue;
    fclose(file);
    line[strcspn(line, "\n")] = 0;
    opt_row(out, name, strncmp(line, "# ", 2) ? "" : line + 2);
}

/* Calls call() with the path and the name of each pipeline. */
static void
each_pipeline(const char *folder,
              void (*call)(void *data, const char *path, const char *name),
              void *data)
{
    const char *pipelines = require_pipelines(folder);
    const size_t n = strlen(pipelines) + 1;
    char line[128];
    glob_t found;

    for (int i = 0; i < N_FOLDERS; i++) {
        const char *pattern = mem_keep_format("%s/%s*", pipelines, folders[i]);

        if (!glob(pattern, 0, NULL, &found)) {
            for (size_t j = 0; j < found.gl_pathc; j++)
                if (read_shebang(found.gl_pathv[j], line))
                    call(data, found.gl_pathv[j], found.gl_pathv[j] + n);
            globfree(&found);
        }
    }
}

void
pipelines_print(const char *folder, FILE *out)
{
    fputs("\npipelines, each run as 'foil run NAME':\n", out);
    each_pipeline(folder, print_pipeline, out);
}

static void
try_pipeline(void *guess, const char *path, const char *name)
{
    (void)path;
    guess_try(guess, name);
}

/* Returns the name or path in RUN/command; dies if there is none. */
static const char *
saved_pipeline(const char *run)
{
    const char *path = mem_keep_format("%s/command", run);
    static struct settings was; // static, as the result points into it
    struct err err;

    if (access(run, F_OK))
        die("there is no run '%s'", run);
    if (access(path, F_OK))
        die("'%s' is no run of 'foil run': it has no 'command'; correct -r, "
            "or start a run with 'foil run PIPELINE DATA'",
            run);
    if (run_command_read(&was, run, &err))
        die("%s: name the pipeline of the run", err.msg);
    if (!setting_get(&was, "pipeline"))
        die("'%s' does not name the pipeline of the run", path);
    return setting_get(&was, "pipeline");
}

/* Returns RUN/list if the run is of a list of stages; or NULL. */
static char *
saved_list(const char *run)
{
    char *list = mem_keep_format("%s/list", run);

    return !file_exists(mem_keep_format("%s/command", run)) && file_exists(list)
               ? list
               : NULL;
}

char *
pipelines_find(const char *folder, const char *name)
{
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    int in_folder = 0;
    char *path, line[128];

    if (*name == '/')
        return file_exists(name) ? mem_keep_format("%s", name) : NULL;
    for (int i = 0; i < N_FOLDERS; i++)
        in_folder |= strlen(folders[i]) == (size_t)(last - name) &&
                     !strncmp(name, folders[i], (size_t)(last - name));
    path = mem_keep_format("%s/%s", require_pipelines(folder), name);
    return in_folder && *last && read_shebang(path, line) ? path : NULL;
}

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

/* Whether a name is that of a data set, not of a list of stages. */
static int
is_data(const char *name)
{
    static const char *const ends[] = {".tar", ".foil", ".csv", ".tsv"};
    const size_t n = strlen(name);
    struct stat st;

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (n > strlen(ends[i]) && !strcmp(name + n - strlen(ends[i]), ends[i]))
            return 1;
    return !stat(name, &st) && S_ISDIR(st.st_mode);
}

/* Reports that there is no such pipeline, with a hint. */
_Noreturn static void
refuse_pipeline(const char *folder, const char *name)
{
    struct guess guess = {.word = name};

    if (*name == '/')
        die("the run's pipeline, '%s', does not exist any more", name);
    if (is_data(name))
        opt_misuse("no pipeline '%s': a pipeline comes first, then its data, "
                   "'foil run simclr %s'",
                   name, name);
    if (file_exists(name))
        opt_misuse("no pipeline '%s': a list of stages, or a script, is run by "
                   "a path, 'foil run ./%s'",
                   name, name);
    each_pipeline(folder, try_pipeline, &guess);
    opt_misuse("no pipeline '%s'%s", name,
               *guess_words(&guess) ? guess_words(&guess)
                                    : ": 'foil' lists them");
}

/* Executes a pipeline's script, or foil-run with its list, with the arguments
 * after argv[0]; does not return. */
_Noreturn static void
run_file(const char *folder, char *path, char **argv)
{
    char **words, line[128];
    size_t n = 1;

    // where foil-run finds the commands of scripts
    export_variable("FOIL_PIPELINES", require_pipelines(folder));
    if (read_shebang(path, line) && !strstr(line, "foil-run")) {
        argv[0] = path;
        execv(path, argv);
        if (errno == EACCES)
            die("cannot run the script '%s': 'chmod +x %s' allows it", path,
                path);
        die("cannot run '%s': %s", path, strerror(errno));
    }
    while (argv[n])
        n++;
    words = mem_keep(mem_array(n + 2, sizeof *words));
    memcpy(words + 2, argv + 1, (n - 1) * sizeof *words);
    words[0] = mem_keep_format("foil-run");
    words[1] = path;
    execvp(words[0], words);
    die("cannot run 'foil-run': %s", strerror(errno));
}

_Noreturn void
run_pipeline(const char *folder, char **argv)
{
    const char *run = run_to_resume(argv + 1);
    const int named = argv[1] && argv[1][0] != '-';
    const char *name;
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
        if (argv[1] && !strcmp(argv[1], "--resume") && argv[2] &&
            *argv[2] != '-')
            opt_misuse(
                "--resume needs its run by -r: 'foil run --resume -r %s'",
                argv[2]);
        log_message("run needs the name of a pipeline, or --resume -r RUN");
        print_run(folder, stderr);
        exit(EXIT_USAGE);
    }
    if (named && run_is_path(argv[1]) && !file_exists(argv[1]) && argv[2] &&
        *argv[2] != '-')
        die("no pipeline '%s': no such file", argv[1]);
    if (named && run_is_path(argv[1]))
        run_file(folder, argv[1], argv + 1);
    path = named ? NULL : saved_list(run);
    if (path)
        run_file(folder, path, argv);
    name = named ? argv[1] : saved_pipeline(run);
    path = pipelines_find(folder, name);
    if (path)
        run_file(folder, path, argv + named);
    refuse_pipeline(folder, name);
}
