#pragma once

#include <stddef.h>

/*
 * The word that was probably meant by a misspelt one: the word with the fewest
 * changes, if these are at most two and fewer than half of its letters.  A
 * change inserts, removes or replaces a letter, or swaps two neighbours; other
 * capitals count as one, and letters that miss at the end as two.
 *
 *     struct guess guess = {.word = "epohcs"};
 *     guess_try(&guess, "epochs");
 *     guess_try(&guess, "batch");
 *     opt_misuse("no option '%s'%s", guess.word, guess_words(&guess));
 */
struct guess {
    const char *word, *lead; /* prefix of suggestions, "--", or NULL */
    char best[64], words[96];
    size_t changes;
};

/* guess_try() compares with a valid word; it ignores one of 64 bytes or
 * more. */
void guess_try(struct guess *guess, const char *word);

/* guess_words() returns ": did you mean 'epochs'?", or "" if no word is close;
 * it lives as long as the guess. */
const char *guess_words(struct guess *guess);

/*
 * guess_other() returns what to do about an option that other programs, such as
 * those of PyTorch, have, "it is --lr" for "learning_rate", or NULL; it lives
 * until the next call.
 *
 *     spell   returns how the tool spells an option of foil, "--lr", or NULL if
 *             it has none of that name
 */
const char *guess_other(const char *word,
                        const char *(*spell)(void *self, const char *name),
                        void *self);
