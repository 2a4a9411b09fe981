#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "words.h"

/* A growing word. */
struct word {
    char *text;
    size_t n, room;
};

static void
append_word(struct word *word, const char *text, size_t n)
{
    mem_grow(&word->text, &word->room, word->n + n + 1, 1);
    memcpy(word->text + word->n, text, n);
    word->n += n;
    word->text[word->n] = 0;
}

/* Skips blanks, a comment, and continued line ends. */
static void
skip_blanks(struct words *words)
{
    for (;;) {
        if (*words->at == ' ' || *words->at == '\t' || *words->at == '\r') {
            words->at++;
        } else if (!strncmp(words->at, "\\\n", 2)) {
            words->at += 2;
            words->line++;
        } else {
            break;
        }
    }
    if (*words->at == '#' && !words->literal)
        words->at += strcspn(words->at, "\n");
}

static int
take_variable(struct words *words, struct word *word, struct err *err)
{
    const int braced = words->at[1] == '{';
    const char *first = words->at + 1 + braced, *value;
    size_t n = 0;
    char *name;

    while (isalnum((unsigned char)first[n]) || first[n] == '_')
        n++;
    if (!n || (braced && first[n] != '}'))
        return err_set(err, "%s:%d: '$' without a name: add one, or quote it",
                       words->name, words->line);
    name = mem_keep_format("%.*s", (int)n, first);
    value = getenv(name);
    if (!value)
        return err_set(err, "%s:%d: '$%s' is not in the environment",
                       words->name, words->line, name);
    append_word(word, value, strlen(value));
    words->at = first + n + braced;
    return 0;
}

/* Takes a quoted part; `at` is the opening quote. */
static int
take_quoted(struct words *words, struct word *word, struct err *err)
{
    const char quote = *words->at++;
    const int began = words->line;

    append_word(word, "", 0); // a word, even if there is nothing in it
    while (*words->at && *words->at != quote) {
        if (quote == '"' && *words->at == '$' && !words->literal) {
            if (take_variable(words, word, err))
                return -1;
            continue;
        }
        if (quote == '"' && *words->at == '\\' && words->at[1])
            words->at++;
        words->line += *words->at == '\n';
        append_word(word, words->at++, 1);
    }
    if (!*words->at)
        return err_set(err, "%s:%d: a quote is not closed", words->name, began);
    words->at++;
    return 0;
}

static int
take_word(struct words *words, struct word *word, struct err *err)
{
    if (*words->at == '\'' || *words->at == '"')
        return take_quoted(words, word, err);
    if (*words->at == '$' && !words->literal)
        return take_variable(words, word, err);
    if (*words->at == '\\' && words->at[1])
        words->at++;
    words->line += *words->at == '\n';
    append_word(word, words->at++, 1);
    return 0;
}

char *
words_next(struct words *words, int *failed, struct err *err)
{
    struct word word = {0};

    skip_blanks(words);
    while (*words->at && !strchr(" \t\r\n", *words->at) &&
           strncmp(words->at, "\\\n", 2)) {
        if (take_word(words, &word, err)) {
            *failed = 1;
            free(word.text);
            return NULL;
        }
    }
    return word.text ? mem_keep(word.text) : NULL;
}

int
words_rest(struct words *words, struct word_list *list, struct err *err)
{
    int failed = 0;
    char *word;

    while ((word = words_next(words, &failed, err)))
        word_list_add(list, word);
    return failed ? -1 : 0;
}

void
word_list_add(struct word_list *list, const char *word)
{
    if (list->n + 2 > list->room) { // a copy of the list may have the old array
        char **old = list->word;

        list->room = 2 * (list->n + 2);
        list->word = mem_keep(mem_array(list->room, sizeof *old));
        if (list->n)
            memcpy(list->word, old, list->n * sizeof *old);
    }
    list->word[list->n++] = mem_keep_format("%s", word);
    list->word[list->n] = NULL;
}

void
word_list_join(struct word_list *list, const struct word_list *more)
{
    for (size_t i = 0; i < more->n; i++)
        word_list_add(list, more->word[i]);
}

void
word_list_put_all(struct word_list *list, ...)
{
    va_list ap;

    va_start(ap, list);
    for (const char *word; (word = va_arg(ap, const char *));)
        word_list_add(list, word);
    va_end(ap);
}

int
word_list_split(struct word_list *list, const char *text, struct err *err)
{
    struct words words = {.name = text, .at = text, .line = 1, .literal = 1};

    do
        if (words_rest(&words, list, err))
            return -1;
    while (words_line(&words));
    return 0;
}

/* Returns 1 if the word needs no quotes. */
static int
is_plain(const char *word)
{
    static const char others[] = "_./:=,@%+-"; // not special in a shell

    for (const char *at = word; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr(others, *at))
            return 0;
    return *word != 0;
}

char *
word_list_text(char *const *word, size_t n)
{
    struct word text = {0};

    append_word(&text, "", 0);
    for (size_t i = 0; i < n; i++) {
        const int plain = is_plain(word[i]);

        append_word(&text, i ? " '" : "'", (size_t)(i > 0) + !plain);
        for (const char *at = word[i]; *at; at++)
            append_word(&text, *at == '\'' ? "'\\''" : at, *at == '\'' ? 4 : 1);
        append_word(&text, "'", !plain);
    }
    return mem_keep(text.text);
}

size_t
item_end(const struct word_list *list, size_t at)
{
    for (at++; at < list->n; at++) {
        const char *word = list->word[at];

        if (*word == '-' && (word[1] == '-' || islower((unsigned char)word[1])))
            break; // the next option
    }
    return at;
}

size_t
item_find(const struct word_list *list, const char *item)
{
    const size_t n = strcspn(item, "=");
    size_t i = 0;

    while (i < list->n && (strcspn(list->word[i], "=") != n ||
                           memcmp(list->word[i], item, n) != 0))
        i = item_end(list, i);
    return i;
}

int
word_list_has(const struct word_list *list, const char *item)
{
    return item_find(list, item) < list->n;
}

void
word_list_merge(struct word_list *list, const struct word_list *own,
                const struct word_list *theirs)
{
    for (size_t i = 0, end; i < own->n; i = end) {
        end = item_end(own, i);
        for (size_t j = i; j < end && !word_list_has(theirs, own->word[i]); j++)
            word_list_add(list, own->word[j]);
    }
    word_list_join(list, theirs);
}

int
words_line(struct words *words)
{
    if (!*words->at)
        return 0;
    words->at++;
    words->line++;
    return 1;
}
