/* Words with variables of our own, and as a list reads them again. */
#include <stdlib.h>
#include <string.h>

#include "foil-run/words.h"
#include "t.h"

static const char *
value_of(const void *of, const char *name)
{
    return !strcmp(name, "list")   ? of
           : !strcmp(name, "a-b")  ? "dashed"
           : !strcmp(name, "none") ? ""
                                   : NULL;
}

/* Returns 1 when these are the words of a text, as a list reads them. */
static int
are(const char *text, const char *want)
{
    struct words words = {.name = "l",
                          .at = text,
                          .line = 1,
                          .value = value_of,
                          .of = "one 'two three' $x # y"};
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
variables_are_ours(void)
{
    setenv("FOIL_A", "x  y", 1);
    T(are("$none ${a-b} $FOIL_A", "'' dashed 'x  y'"),
      "a variable is ours, or the environment's");
    T(are("$list", "'one '\\''two three'\\'' $x # y'"), "it is one word");
    T(are("a $list... b", "a one 'two three' '$x' '#' y b"),
      "with three dots it is its words, in which nothing is replaced");
    T(are("$none...", ""), "of which there may be none");
    T(are("$list...b", "'one '\\''two three'\\'' $x # y...b'"),
      "dots in a word are dots");
    T(are("$nobody... b", "l:1: '$nobody' is not in the environment"),
      "one that is not there is named");
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
    T(!strcmp(text, "--a 'b c' '$d' 'e#f'"), "and quoted where it has to be");
    T(word_list_split(&list, "a 'b", &err),
      "a quote that stays open is refused");
    text = word_list_text(NULL, 0);
    T(!*text, "no words are an empty text");
}

int
main(void)
{
    variables_are_ours();
    texts_are_split_and_quoted();
    return t_done();
}
