#pragma once

#include <stddef.h>

#include "util/err.h"

/*
 * The words of a text, quoted as for a shell: 'literal', "with $NAME and \",
 * and \ before a single character.  $NAME and ${NAME} outside of single quotes
 * are replaced by the value of an environment variable, as one word.  # at the
 * start of a word begins a comment; \ at the end of a line continues it on the
 * next.
 */
struct words {
    const char *name; /* of the text, for errors */
    const char *at;   /* the next character to read */
    int line;         /* its line, from 1 */
    int literal;      /* 1: $ and # are ordinary characters */
};

/* A list of words; like all returned here, never freed (mem_keep()). */
struct word_list {
    char **word; /* ends with NULL; or NULL if empty */
    size_t n, room;
};

/*
 * words_next() returns the next word of this line; NULL at its end, and on
 * error, when *failed is set and the message begins with "NAME:LINE: ".
 * words_rest() adds the remaining words of the line; -1 on error: words already
 * added stay.  words_line() goes to the next line: 1, or 0 at the end of the
 * text.
 */
char *words_next(struct words *words, int *failed, struct err *err);
int words_rest(struct words *words, struct word_list *list, struct err *err);
int words_line(struct words *words);

/* word_list_add() adds a copy of a word, word_list_put() of several, and
 * word_list_join() of those of another list. */
void word_list_add(struct word_list *list, const char *word);
void word_list_put_all(struct word_list *list, ...) __attribute__((sentinel));
#define word_list_put(...) word_list_put_all(__VA_ARGS__, (char *)NULL)
void word_list_join(struct word_list *list, const struct word_list *more);

/* word_list_split() adds the words of all lines of a text; $ and # are
 * ordinary characters.  -1 if a quote is not closed. */
int word_list_split(struct word_list *list, const char *text, struct err *err);

/* word_list_text() returns n words as a text, quoted as needed, separated by
 * blanks. */
char *word_list_text(char *const *word, size_t n);

/*
 * A list of options consists of items: an option and the words up to the next
 * option, such as --lr 0.1.  item_end() returns the index after the item that
 * begins at `at`; item_find() the index of the item of that name, "--lr" or
 * "--lr=0.2", or the number of words if there is none; word_list_has() returns
 * 1 if there is one.  word_list_merge() adds the items of `own` that `theirs`
 * does not name, then `theirs`.
 */
size_t item_end(const struct word_list *list, size_t at);
size_t item_find(const struct word_list *list, const char *item);
int word_list_has(const struct word_list *list, const char *item);
void word_list_merge(struct word_list *list, const struct word_list *own,
                     const struct word_list *theirs);
