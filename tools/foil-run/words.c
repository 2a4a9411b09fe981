#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "words.h"

/* A word that grows. */
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

/* Pass blanks, a comment, and lines that go on. */
static void
pass_blanks(struct words *words)
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
    if (*words->at == '#')
        words->at += strcspn(words->at, "\n");
}

static int
in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* $NAME or ${NAME}: the value of a variable. */
static int
take_variable(struct words *words, struct word *word, struct err *err)
{
    const int braced = words->at[1] == '{';
    const char *first = words->at + 1 + braced, *value;
    size_t n = 0;
    char *name;

    while (in_name(first[n]))
        n++;
    if (!n || (braced && first[n] != '}'))
        return err_set(err, "%s:%d: a '$' wants a name behind it, or quotes",
                       words->name, words->line);
    name = mem_format("%.*s", (int)n, first);
    value = getenv(name);
    if (!value)
        err_set(err, "%s:%d: '$%s' is not in the environment", words->name,
                words->line, name);
    free(name);
    if (!value)
        return -1;
    append_word(word, value, strlen(value));
    words->at = first + n + braced;
    return 0;
}

/* What stands in quotes, of which `at` is the first. */
static int
take_quoted(struct words *words, struct word *word, struct err *err)
{
    const char quote = *words->at++;
    const int began = words->line;

    append_word(word, "", 0); // a word, even if there is nothing in it
    while (*words->at && *words->at != quote) {
        if (quote == '"' && *words->at == '$') {
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
    if (*words->at == '$')
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

    pass_blanks(words);
    while (*words->at && !strchr(" \t\r\n", *words->at) &&
           strncmp(words->at, "\\\n", 2)) {
        if (take_word(words, &word, err)) {
            *failed = 1;
            free(word.text);
            return NULL;
        }
    }
    return word.text;
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
