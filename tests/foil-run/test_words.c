/* Words with variables, and words quoted for a list. */
#include <stdlib.h>
#include <string.h>

#include "foil-run/words.h"
#include "t.h"

/* Returns 1 if the words of a text are `want`, or the error is. */
static int
are(const char *text, const char *want)
{
    struct words words = {.name = "l", .at = text, .line = 1};
    struct word_list list = {0};
    struct err err = {""};
    char *got = NULL;
    int same = 0;

    if (words_rest(&words, &list, &err))
        printf("# %s\n", err.msg);
    else
        got = word_list_text(list.word, list.n);
    same = got ? !strcmp(got, want) : !strcmp(err.msg, want);
    if (!same)
        printf("# %s\n", got ? got : err.msg);
    return same;
}

static void
variables_are_replaced(void)
{
    setenv("FOIL_A", "x  y", 1);
    setenv("FOIL_B", "", 1);
    T(are("$FOIL_B a-${FOIL_A}", "'' 'a-x  y'"), "a variable is one word");
    T(are("'$FOIL_A' \"$FOIL_A\" # c", "'$FOIL_A' 'x  y'"),
      "not in single quotes");
    T(are("$unknown b", "l:1: '$unknown' is not in the environment"),
      "an unknown variable is named");
    T(are("${FOIL_A", "l:1: '$' without a name: add one, or quote it"),
      "an open brace is refused");
}

static void
texts_are_split_and_quoted(void)
{
    struct word_list list = {0};
    struct err err;
    char *text;

    T(!word_list_split(&list, "--a 'b c'\n\"$d\" e#f", &err) && list.n == 4 &&
          !strcmp(list.word[2], "$d") && !list.word[4],
      "a text is split over its lines");
    text = word_list_text(list.word, list.n);
    T(!strcmp(text, "--a 'b c' '$d' 'e#f'"),
      "the words of a list are quoted as needed");
    T(word_list_split(&list, "a 'b", &err), "an open quote is refused");
    text = word_list_text(NULL, 0);
    T(!*text, "no words are an empty text");
}

int
main(void)
{
    variables_are_replaced();
    texts_are_split_and_quoted();
    return t_done();
}
