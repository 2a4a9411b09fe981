#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"
#include "util/file.h"
#include "util/mem.h"
#include "words.h"

static const char *const restarts[] = {"optional", "never", "killed", "failed",
                                       "always"};
enum { N_RESTARTS = sizeof restarts / sizeof *restarts };

/* Returns the number in a word, or -1 if it is not in least .. most. */
static long
read_number(const char *word, long least, long most)
{
    const size_t n = strspn(word, "0123456789");
    const long value = strtol(word, NULL, 10);

    return !n || n > 9 || word[n] || value < least || value > most ? -1 : value;
}

static int
set_name(struct list_stage *stage, const char *word, const struct words *at,
         struct err *err)
{
    size_t n = 0;

    while (isalnum((unsigned char)word[n]) ||
           (n && word[n] && strchr("-_.", word[n])))
        n++;
    if (!n || word[n] || n > LIST_MAX_NAME)
        return err_set(err,
                       "%s:%d: '%s' is no name for a stage: want a letter or "
                       "digit, then letters, digits and - _ ., at most %d",
                       at->name, at->line, word, LIST_MAX_NAME);
    stage->name = mem_keep_format("%s", word);
    return 0;
}

static int
set_copies(struct list_stage *stage, const char *word, const struct words *at,
           struct err *err)
{
    const int by_user = !strcmp(word, "main,USR1");

    stage->signal = by_user ? SIGUSR1 : SIGTERM;
    stage->is_main = by_user || !strcmp(word, "main");
    stage->copies =
        stage->is_main ? 1 : (int)read_number(word, 1, LIST_MAX_COPIES);
    if (stage->copies < 0)
        return err_set(err,
                       "%s:%d: no number of copies '%s': want 1 .. %d, or "
                       "'main' or 'main,USR1' for the stage that ends the run",
                       at->name, at->line, word, LIST_MAX_COPIES);
    return 0;
}

static int
set_restart(struct list_stage *stage, const char *word, const struct words *at,
            struct err *err)
{
    const size_t n = strcspn(word, ",");

    stage->restarts = word[n] ? read_number(word + n + 1, 0, 999999999) : -1;
    for (int i = 0; i < N_RESTARTS; i++) {
        stage->restart = (enum list_restart)i;
        if (strlen(restarts[i]) == n && !memcmp(word, restarts[i], n) &&
            (!word[n] || (i > LIST_NEVER && stage->restarts >= 0)))
            return 0;
    }
    return err_set(err,
                   "%s:%d: no restart policy '%s': want optional, never, "
                   "killed, failed or always, the last three with a bound as "
                   "in killed,3",
                   at->name, at->line, word);
}

static int (*const columns[])(struct list_stage *, const char *,
                              const struct words *, struct err *) = {
    set_name, set_copies, set_restart};

/* Reads a line, whose rest is the command: 1 if it is a stage, 0 if it is
 * empty. */
static int
take_stage(struct list_stage *stage, struct words *words, struct err *err)
{
    struct word_list command = {0};

    *stage = (struct list_stage){0};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        int failed = 0;
        char *word = words_next(words, &failed, err);

        if (!word && (failed || !i))
            return failed ? -1 : 0;
        if (!word)
            break; // then there is no command, either
        if (columns[i](stage, word, words, err))
            return -1;
    }
    stage->line = words->line;
    if (words_rest(words, &command, err))
        return -1;
    stage->argv = command.word;
    if (!command.n || !*stage->argv[0])
        return err_set(err,
                       "%s:%d: a stage is a line of name, copies, restart "
                       "policy and command",
                       words->name, stage->line);
    return 1;
}

static int
has_process(const struct list_stage *stage, const char *name)
{
    const size_t n = strlen(stage->name);

    if (stage->copies == 1)
        return !strcmp(stage->name, name);
    return !strncmp(name, stage->name, n) && name[n] == '-' &&
           name[n + 1] != '0' &&
           read_number(name + n + 1, 1, stage->copies) > 0;
}

static int
share_name(const struct list_stage *a, const struct list_stage *b)
{
    return a->copies == 1   ? has_process(b, a->name)
           : b->copies == 1 ? has_process(a, b->name)
                            : !strcmp(a->name, b->name);
}

/* Checks that there is one main stage, and no name twice. */
static int
check_list(struct list *list, const char *name, struct err *err)
{
    int mains = 0;

    if (!list->n)
        return err_set(err, "'%s' has no stage", name);
    for (size_t i = 0; i < list->n; i++) {
        mains += list->stage[i].is_main;
        if (mains > 1)
            return err_set(err, "%s:%d: a second main stage", name,
                           list->stage[i].line);
        for (size_t j = 0; j < i; j++)
            if (share_name(&list->stage[j], &list->stage[i]))
                return err_set(err, "%s:%d: a second stage '%s'", name,
                               list->stage[i].line, list->stage[i].name);
    }
    if (list->n == 1 && list->stage->copies == 1)
        list->stage->is_main = mains = 1;
    if (!mains)
        return err_set(err,
                       "'%s' has no main stage: write 'main' instead of the "
                       "copies for the stage that ends the run",
                       name);
    return 0;
}

int
list_read(struct list *list, const char *name, const char *text,
          struct err *err)
{
    struct words words = {.name = name, .at = text, .line = 1};
    size_t room = 0;
    int rc;

    *list = (struct list){0};
    do {
        mem_grow(&list->stage, &room, list->n + 1, sizeof *list->stage);
        rc = take_stage(&list->stage[list->n], &words, err);
        list->n += rc > 0;
    } while (rc >= 0 && words_line(&words));
    mem_keep(list->stage);
    return rc < 0 ? -1 : check_list(list, name, err);
}

int
list_replace(struct list *list, const char *text, struct err *err)
{
    const size_t n = strcspn(text, "=");
    struct list_stage *stage = NULL;
    struct words words = {
        .name = "--command", .at = text + n + (text[n] == '='), .line = 1};
    struct word_list command = {0};

    for (size_t i = 0; i < list->n; i++)
        if (strlen(list->stage[i].name) == n &&
            !memcmp(list->stage[i].name, text, n))
            stage = &list->stage[i];
    if (!text[n] || !stage)
        return err_set(err,
                       "--command '%s': want STAGE=COMMAND, of a stage of "
                       "the list",
                       text);
    if (words_rest(&words, &command, err))
        return -1;
    if (!command.n || !*command.word[0] || *words.at)
        return err_set(err, "--command '%s': want a command in one line", text);
    for (char **word = stage->argv + 1; *word; word++)
        word_list_add(&command, *word);
    stage->argv = command.word;
    return 0;
}

/* Returns the place of a run directory in a word: at its start, or in an
 * endpoint after "//"; NULL if it has none. */
static char *
find_run(char *word, const char *run)
{
    const size_t n = strlen(run);
    char *at = strstr(word, "//");

    at = at ? at + 2 : word;
    return !strncmp(at, run, n) && (!at[n] || at[n] == '/') ? at : NULL;
}

static char *
quote_word(const char *word)
{
    char *copy = mem_keep_format("%s", word);

    return *word ? word_list_text(&copy, 1) : copy;
}

char *
list_command(const struct list_stage *stage, const char *run)
{
    char *text = mem_keep_format("%s", "");

    for (char **word = stage->argv; *word; word++) {
        char *at = find_run(*word, run);

        text = at ? mem_keep_format("%s %s$RUN%s", text,
                                    quote_word(mem_keep_format(
                                        "%.*s", (int)(at - *word), *word)),
                                    quote_word(at + strlen(run)))
                  : mem_keep_format("%s %s", text, word_list_text(word, 1));
    }
    return text + 1;
}

char *
list_text(const struct list *list, const char *run)
{
    char *text = mem_keep_format("# name     copies  restart   command\n");

    for (size_t i = 0; i < list->n; i++) {
        const struct list_stage *stage = &list->stage[i];
        const char *copies = mem_keep_format("%d", stage->copies);
        const char *most =
            stage->restarts < 0 ? "" : mem_keep_format(",%ld", stage->restarts);

        if (stage->is_main)
            copies = stage->signal == SIGUSR1 ? "main,USR1" : "main";
        text = mem_keep_format("%s%-10s %-7s %s%-*s %s\n", text, stage->name,
                               copies, restarts[stage->restart],
                               9 - (int)strlen(restarts[stage->restart]), most,
                               list_command(stage, run));
    }
    return text;
}

void
list_resume(struct list *list)
{
    struct word_list words = {0};
    struct list_stage *stage = list->stage;

    while (!stage->is_main)
        stage++;
    for (char **word = stage->argv; *word; word++) {
        const char *slash = strrchr(*word, '/'),
                   *name = slash ? slash + 1 : *word;

        if (!strcmp(*word, "--resume"))
            return;
        word_list_add(&words, *word);
        if (!strcmp(name, "foil-train") || !strcmp(name, "foil-train-mpi"))
            word_list_add(&words, "--resume");
    }
    stage->argv = words.word;
}

char *
list_process_name(const struct list_stage *stage, int copy)
{
    return stage->copies == 1 ? stage->name
                              : mem_keep_format("%s-%d", stage->name, copy + 1);
}

int
list_check_commands(const struct list *list, const char *name, struct err *err)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct list_stage *stage = &list->stage[i];

        if (!file_is_command(stage->argv[0]))
            return err_set(err, "%s:%d: no command '%s' for '%s'", name,
                           stage->line, stage->argv[0], stage->name);
    }
    return 0;
}
