#ifndef FOIL_RUN_WORDS_H
#define FOIL_RUN_WORDS_H

#include <stddef.h>

#include "util/err.h"

/*
 * The words of a text, quoted as for a shell: 'as it is', "with $NAME and \",
 * and \ before a single character.  $NAME and ${NAME} outside of single quotes
 * are the value of a variable of the environment, which stays one word.  #
 * where a word may begin starts a comment; \ at the end of a line goes on with
 * the next one.
 */
struct words {
    const char *name; /* of the text, for errors */
    const char *at;   /* what is to be read next */
    int line;         /* where that is, from 1 */
    int literal;      /* $ and # mean themselves */
};

/* Words, as all that is returned here kept until the process ends (keep.h). */
struct word_list {
    char **word; /* NULL behind the last, or for none NULL */
    size_t n, room;
};

/*
 * words_next() returns the next word of this line; NULL at its end, and on
 * error, when *failed is set and the sentence begins with "NAME:LINE: ".
 */
char *words_next(struct words *words, int *failed, struct err *err);

/*
 * words_rest() adds the words that are left of the line.  -1 on error, and what
 * was added stays.
 */
int words_rest(struct words *words, struct word_list *list, struct err *err);

/* word_list_add() adds a copy of a word, word_list_put() of several, up to a
 * NULL of type char *, word_list_join() of those of another list. */
void word_list_add(struct word_list *list, const char *word);
void word_list_put(struct word_list *list, ...) __attribute__((sentinel));
void word_list_join(struct word_list *list, const struct word_list *more);

/* word_list_split() adds the words of a text in which $ and # mean themselves,
 * over all of its lines.  -1 where a quote is not closed. */
int word_list_split(struct word_list *list, const char *text, struct err *err);

/* word_list_text() returns n words, quoted where they have to be, with a blank
 * between two. */
char *word_list_text(char *const *word, size_t n);

/*
 * A list of options is one of items: an option with the words behind it up to
 * the next one, as --lr 0.1.  item_end() returns the index behind the item that
 * begins at `at`; item_find() that of the item of that name, "--lr" or
 * "--lr=0.2", or the number of words where there is none; word_list_has() says
 * whether there is one.  word_list_merge() adds the items of `own` that
 * `theirs` does not name, and behind them `theirs`.
 */
size_t item_end(const struct word_list *list, size_t at);
size_t item_find(const struct word_list *list, const char *item);
int word_list_has(const struct word_list *list, const char *item);
void word_list_merge(struct word_list *list, const struct word_list *own,
                     const struct word_list *theirs);

/* words_line() goes to the next line: 1, or 0 at the end of the text. */
int words_line(struct words *words);

#endif
