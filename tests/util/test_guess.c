/* Suggestions for misspelt words. */
#include <string.h>

#include "t.h"
#include "util/guess.h"

static void
changes_are_counted(void)
{
    static const struct {
        const char *a, *b;
        size_t changes;
    } pairs[] = {
        {"", "", 0},
        {"", "abc", 3},
        {"abc", "abc", 0},
        {"abc", "abd", 1},
        {"abc", "acb", 1},
        {"abc", "bc", 1},
        {"abc", "xabc", 1},
        {"train", "trian", 1},
        {"kitten", "sitting", 3},
        {"simclr", "vicreg", 5},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *a = pairs[i].a, *b = pairs[i].b;

        T(guess_changes(a, b) == pairs[i].changes &&
              guess_changes(b, a) == pairs[i].changes,
          "'%s' and '%s': %zu", a, b, guess_changes(a, b));
    }
}

/* Returns the suggestion for a word among these. */
static const char *
suggested(const char *word)
{
    static const char *const words[] = {"epochs", "epoch", "batch", "k", "lr"};
    static struct guess guess;

    guess = (struct guess){.word = word};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        guess_try(&guess, words[i]);
    return guess_words(&guess);
}

int
main(void)
{
    char longest[200];

    changes_are_counted();
    T(!strcmp(suggested("epohcs"), ": did you mean 'epochs'?"), "two swapped");
    T(!strcmp(suggested("epoc"), ": did you mean 'epoch'?"),
      "the nearest wins");
    T(!*suggested("x") && !*suggested("lx"),
      "fewer than half of the letters may change");
    T(!*suggested("nonsense") && !*suggested(""),
      "distant words are not suggested");
    memset(longest, 'e', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    T(!*suggested(longest), "a very long word is not compared");
    return t_done();
}
