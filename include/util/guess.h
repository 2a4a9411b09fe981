#ifndef UTIL_GUESS_H
#define UTIL_GUESS_H

#include <stddef.h>

/*
 * The word that was meant by a wrong one: the one of the fewest changes, where
 * that are at most two, and fewer than half of its letters.
 *
 *     struct guess guess = {.word = "epohcs"};
 *     guess_try(&guess, "epochs");
 *     guess_try(&guess, "batch");
 *     opt_misuse("no option '%s'%s", guess.word, guess_words(&guess));
 */
struct guess {
    const char *word, *lead; /* before it, "--"; NULL: nothing */
    char best[64], words[96];
    size_t changes;
};

/* guess_try() compares with a word that there is; one of 64 bytes or more is
 * never meant. */
void guess_try(struct guess *guess, const char *word);

/* guess_words() returns ": did you mean 'epochs'?", or "" where nothing is
 * near; it lives as long as the guess. */
const char *guess_words(struct guess *guess);

/*
 * guess_changes() counts the letters that have to be inserted, removed, changed
 * or swapped with the next one to make b of a (the optimal string alignment
 * distance); both of less than 64 bytes.
 */
size_t guess_changes(const char *a, const char *b);

#endif
