#ifndef FOIL_RUN_WORDS_H
#define FOIL_RUN_WORDS_H

#include "util/err.h"

/*
 * The words of a text, quoted as for a shell: 'as it is', "with $NAME and \",
 * and \ before a single character.  $NAME and ${NAME} outside of single quotes
 * are the value in the environment, which stays one word.  # where a word may
 * begin starts a comment; \ at the end of a line goes on with the next one.
 */
struct words {
    const char *name; /* of the text, for errors */
    const char *at;   /* what is to be read next */
    int line;         /* where that is, from 1 */
};

/*
 * words_next() returns the next word of this line, to be given to free(); NULL
 * at its end, and on error, when *failed is set and the sentence begins with
 * "NAME:LINE: ".
 */
char *words_next(struct words *words, int *failed, struct err *err);

/* words_line() goes to the next line: 1, or 0 at the end of the text. */
int words_line(struct words *words);

#endif
