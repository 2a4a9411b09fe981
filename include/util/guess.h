#ifndef UTIL_GUESS_H
#define UTIL_GUESS_H

#include <stddef.h>

/*
 * The word that was probably meant by a wrong one: the word with the fewest
 * changes, if these are at most two, and fewer than half of its letters.
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

/* guess_try() compares with a valid word; one of 64 bytes or more is left
 * out. */
void guess_try(struct guess *guess, const char *word);

/* guess_words() returns ": did you mean 'epochs'?", or "" where nothing is
 * near; it lives as long as the guess. */
const char *guess_words(struct guess *guess);

/*
 * guess_other() returns foil's name of an option that other programs call
 * `word`, "lr" for "learning_rate", or NULL; "" is a device, which foil has no
 * choice of.
 */
const char *guess_other(const char *word);

/* What to do about a device, as the end of a sentence. */
extern const char guess_device[];

/*
 * guess_changes() returns how many letters have to be inserted, removed,
 * changed or swapped with the next one to turn a into b (the optimal string
 * alignment distance); both must have less than 64 bytes.
 */
size_t guess_changes(const char *a, const char *b);

#endif
