/*
 * foil: the dispatcher.  `foil train` runs foil-train, `foil run NAME` runs
 * pipelines/NAME, `foil run ./SCRIPT` runs a user's script and `foil run
 * ./LIST` passes a list of stages to foil-run.  The folder of this program
 * comes first on PATH, so a checkout, an installation and a copy never mix;
 * that of foil.py comes last on PYTHONPATH.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foil/pipelines.h"
#include "util/file.h"
#include "util/guess.h"
#include "util/mem.h"
#include "util/opt.h"

static const struct {
    const char *name, *what;
} commands[] = {
    {"select", "decide which samples share a mini-batch"},
    {"augment", "turn plan items into batches of augmented views"},
    {"train", "train an encoder by contrast"},
    {"negatives", "draw and weigh the negatives of a batch"},
    {"embed", "turn the images of a data set into features"},
    {"eval", "measure how good features are"},
    {"runs", "list and compare runs"},
    {"top", "watch a run: stages, rates, queues, curves"},
    {"view", "show a run as a page in a browser"},
    {"stop", "end a run after its step, and save it"},
    {"data", "make, import, index, split, corrupt and list data sets"},
    {"sweep", "train a pipeline with several values of options, and compare"},
    {"doctor", "check whether a run can start here, and time an epoch of DATA"},
    {"tap", "watch, record and replay the messages between stages"},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static const struct opt opts[] = {{0}};

static const struct opt_tool tool = {
    "foil",
    "learn representations by contrast, as a dataflow of small tools",
    "[COMMAND [ARG ...]]",
    0,
    0,
    opts,
};

static void
print_overview(const char *folder)
{
    puts("usage: foil [COMMAND [ARG ...]]\n\n"
         "commands, each with --help and a man page:");
    for (size_t i = 0; i < N_COMMANDS; i++)
        opt_row(stdout, commands[i].name, commands[i].what);
    opt_row(stdout, "run", "run a pipeline");
    opt_row(stdout, "help",
            "show the man page of a command, of a verb, as 'eval knn', or of "
            "'wire', 'checkpoint', "
            "'python', 'recipes', 'studies' or 'foil'; the --help of a "
            "pipeline");
    pipelines_print(folder, stdout);
    close_stdout();
}

static int
is_command(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (!strcmp(name, commands[i].name))
            return 1;
    return 0;
}

/* Other programs' names of a command, and verbs without their tool. */
static const char *const others[][2] = {
    {"evaluate|test|validate|val|score|benchmark|metrics", "eval"},
    {"knn|classify", "eval knn"},
    {"probe|linear|finetune", "eval probe"},
    {"neighbours|neighbors|search|query|similar", "eval neighbours"},
    {"map|tsne|umap|plot", "eval map"},
    {"predict|infer|inference|extract|encode|features|transform|export",
     "embed"},
    {"fit|pretrain|learn|start|launch", "run simclr"},
    {"resume|continue|restart", "run --resume"},
    {"index|prepare|preprocess|dataset", "data index"},
    {"import|download|convert", "data import"},
    {"generate", "data generate"},
    {"split", "data split"},
    {"info|stats|inspect", "data info"},
    {"status|ps|monitor|watch|log|logs", "top"},
    {"show|dashboard|serve|ui|web", "view"},
    {"kill|cancel|end|quit", "stop"},
    {"list|ls|compare|history", "runs"},
    {"tensorboard", "runs --tensorboard DIR"},
    {"man|usage", "help"},
};

/* Returns a hint for a wrong command, ": ..." */
static const char *
guess_command(struct guess *guess)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (opt_index(others[i][0], guess->word) >= 0) {
            snprintf(guess->words, sizeof guess->words, ": it is 'foil %s'",
                     others[i][1]);
            return guess->words;
        }
    for (size_t i = 0; i < N_COMMANDS; i++)
        guess_try(guess, commands[i].name);
    guess_try(guess, "run");
    guess_try(guess, "help");
    return *guess_words(guess) ? guess_words(guess) : ": 'foil' lists them";
}

/* Finds a page of that name in the installation, perhaps compressed, or in the
 * checkout of this program; or NULL. */
static const char *
find_page_file(const char *folder, char section, const char *name)
{
    const char *where[] = {
        mem_keep_format("%s/../share/man/man%c/%s", folder, section, name),
        mem_keep_format("%s/../share/man/man%c/%s.gz", folder, section, name),
        mem_keep_format("%s/../../../tools/%s", folder, name),
    };

    for (size_t i = 0; i < sizeof where / sizeof *where; i++)
        if (file_exists(where[i]))
            return where[i];
    return NULL;
}

/* Returns the path of the man page of a topic, "train", "foil-train" or "wire",
 * relative to the program's folder; NULL if there is none. */
static const char *
find_page(const char *folder, const char *topic)
{
    static const char sections[] = "157";
    const char *page = NULL;

    for (const char *in = sections; *in && !page && !strchr(topic, '/'); in++)
        for (int lead = 1; lead >= 0 && !page; lead--)
            page = find_page_file(
                folder, *in,
                mem_keep_format("%s%s.%c", lead ? "foil-" : "", topic, *in));
    return page;
}

/* Returns the topic of "help COMMAND VERB" if it has a page, else of "help
 * COMMAND". */
static char *
find_topic(const char *folder, char **words)
{
    char *verb = words[0] && words[1]
                     ? mem_keep_format("%s-%s", words[0], words[1])
                     : NULL;

    if (verb && find_page(folder, verb))
        return verb;
    return words[0] ? words[0] : mem_keep_format("foil");
}

/* Executes man(1) with the page of a topic, or a pipeline with --help, also a
 * user's pipeline by its path; does not return. */
_Noreturn static void
exec_help(const char *folder, char *topic)
{
    struct guess guess = {.word = topic};
    char *help[] = {mem_keep_format("run"), topic, mem_keep_format("--help"),
                    NULL};
    const char *page =
        find_page(folder, strcmp(topic, "help") ? topic : "foil");

    if (run_is_path(topic) && !file_exists(topic))
        die("no pipeline '%s': no such file", topic);
    if (run_is_path(topic) || (!page && pipelines_find(folder, topic)))
        run_pipeline(folder, help);
    if (!page && is_command(topic))
        die("the manual is not installed here; 'foil %s --help' has the "
            "options",
            topic);
    if (!page)
        opt_misuse("no page about '%s'%s", topic, guess_command(&guess));
    setenv("MANROFFOPT", "-Wbreak", 0); // for long lists of choices
    execlp("man", "man", "-l", page, (char *)NULL);
    execlp("mandoc", "mandoc", "-a", page, (char *)NULL);
    die("cannot show '%s' without 'man' or 'mandoc': as root, 'apt-get install "
        "man-db'; --help has the options",
        page);
}

_Noreturn static void
run_command(const char *folder, char **argv)
{
    char *const name = argv[0];
    struct guess guess = {.word = name};

    if (!strchr(name, '/')) {
        argv[0] = mem_keep_format("foil-%s", name);
        execvp(argv[0], argv);
        if (errno != ENOENT)
            die("cannot run '%s': %s", argv[0], strerror(errno));
    }
    if (pipelines_find(folder, name))
        opt_misuse("no command '%s': a pipeline is run by 'foil run %s'", name,
                   name);
    opt_misuse("no command '%s'%s", name, guess_command(&guess));
}

int
main(int argc, char **argv)
{
    struct err err;
    char *folder;

    if (argc > 1 && argv[1][0] == '-')
        opt_parse(&tool, argc, argv);
    folder = mem_keep(file_own_folder(&err));
    or_die(!folder, &err);
    if (argc < 2 || argv[1][0] == '-') {
        print_overview(folder);
        return EXIT_OK;
    }
    // first, for execvp() and scripts
    export_variable("PATH",
                    mem_keep_format("%s:%s", folder, file_search_path()));
    pipelines_export_python(folder);
    if (!strcmp(argv[1], "help"))
        exec_help(folder, find_topic(folder, argv + 2));
    if (!strcmp(argv[1], "run"))
        run_pipeline(folder, argv + 1);
    if (!strcmp(argv[1], "sweep")) // which is a pipeline
        run_pipeline(folder, argv);
    run_command(folder, argv + 1);
}
