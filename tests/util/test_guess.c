/* Suggestions for misspelt words. */
#include <string.h>

#include "t.h"
#include "util/guess.h"

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

    T(!strcmp(suggested("epohcs"), ": did you mean 'epochs'?"), "two swapped");
    T(!strcmp(suggested("bach"), ": did you mean 'batch'?") &&
          !strcmp(suggested("baatch"), ": did you mean 'batch'?") &&
          !strcmp(suggested("patch"), ": did you mean 'batch'?"),
      "one left out, one too many, one replaced");
    T(!strcmp(suggested("pacth"), ": did you mean 'batch'?") &&
          !*suggested("pacthe"),
      "up to two changes");
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
