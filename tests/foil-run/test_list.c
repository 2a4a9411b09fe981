#include <stdlib.h>
#include <string.h>

#include "foil-run/list.h"
#include "t.h"

/* Returns 1 if the text is refused with exactly this sentence. */
static int
refused(const char *text, const char *sentence)
{
    struct list list;
    struct err err = {""};

    if (!list_read(&list, "l", text, &err))
        return 0;
    if (!strcmp(err.msg, sentence))
        return 1;
    printf("# %s\n", err.msg);
    return 0;
}

/* Returns 1 if the command has these words, each followed by a comma. */
static int
words_are(const char *text, const char *want)
{
    struct list list;
    struct err err;
    char got[256] = "";

    if (list_read(&list, "l", text, &err)) {
        printf("# %s\n", err.msg);
        return 0;
    }
    for (char **word = list.stage[0].argv; *word; word++) {
        strncat(got, *word, sizeof got - strlen(got) - 1);
        strncat(got, ",", sizeof got - strlen(got) - 1);
    }
    if (strcmp(got, want))
        printf("# %s\n", got);
    return !strcmp(got, want);
}

static void
a_line_is_a_stage(void)
{
    static const char text[] = "# a list\n"
                               "\n"
                               "train   main  never     a b\n"
                               "  augment\t3 killed,2  c # d\n"
                               "select  1     failed    e\n"
                               "log     1     always,0  f";
    struct list list;
    struct err err;
    char *name;

    T(!list_read(&list, "l", text, &err) && list.n == 4,
      "a list has as many stages as lines that are not empty");
    T(list.stage[0].is_main && !list.stage[1].is_main,
      "the stage with 'main' is the main one");
    T(list.stage[1].copies == 3, "a stage has its number of copies");
    T(list.stage[1].restart == LIST_KILLED && list.stage[1].restarts == 2,
      "a limit follows the restart policy");
    T(list.stage[2].restart == LIST_FAILED && list.stage[2].restarts == -1,
      "restarts are unlimited by default");
    T(list.stage[3].restart == LIST_ALWAYS && !list.stage[3].restarts,
      "a limit may be 0");
    T(!strcmp(list.stage[1].argv[0], "c") && !list.stage[1].argv[1],
      "a comment ends a line");
    T(list.stage[1].line == 4, "a stage has its line number");
    name = list_process_name(&list.stage[1], 2);
    T(!strcmp(name, "augment-3"), "copies are numbered from 1");
    name = list_process_name(&list.stage[2], 0);
    T(!strcmp(name, "select"), "a single copy has no number");
    T(!list_read(&list, "l", "only 1 never a", &err) && list.stage[0].is_main,
      "a single stage is the main one");
}

static void
words_are_quoted(void)
{
    setenv("FOIL_A", "x  y", 1);
    unsetenv("FOIL_B");
    T(words_are("a main never a 'b c' \"d 'e'\" f\\ g ''", "a,b c,d 'e',f g,,"),
      "quotes and backslashes protect blanks in a word");
    T(words_are("a main never 'it'\\''s' a'b'c", "it's,abc,"),
      "adjacent parts are one word");
    T(words_are("a main never 'b\nc' d", "b\nc,d,"),
      "quotes may contain a new line");
    T(words_are("a main never b \\\n  c", "b,c,"),
      "a backslash at its end continues a line");
    T(words_are("a main never b#c #d", "b#c,"),
      "a comment begins at the start of a word");
    T(words_are(
          "a main never $FOIL_A ${FOIL_A}z '$FOIL_A' \\$FOIL_A \"$FOIL_A\"",
          "x  y,x  yz,$FOIL_A,$FOIL_A,x  y,"),
      "a variable is one word, and not replaced in single quotes");
    T(words_are("a main never b\r\n", "b,"), "lines may end with CR LF");
}

static void
errors_have_their_line(void)
{
    T(refused("", "'l' has no stage"), "an empty list is refused");
    T(refused("\n#\n", "'l' has no stage"), "a list of comments is refused");
    T(refused("a main never b\nc 2 never",
              "l:2: a stage is a line of name, "
              "copies, restart policy and command"),
      "a line without a command is refused");
    T(refused("a main never \\\n\n", "l:1: a stage is a line of name, copies, "
                                     "restart policy and command"),
      "a line continued by an empty one is refused");
    T(refused("\n-a main never b",
              "l:2: '-a' is no name for a stage: want a letter or digit, "
              "then letters, digits and - _ ., at most 64"),
      "a name that looks like an option is refused");
    T(refused("a/b main never b",
              "l:1: 'a/b' is no name for a stage: want a letter or "
              "digit, then letters, digits and - _ ., at most 64"),
      "a name that is a path is refused");
    T(refused("a 0 never b",
              "l:1: no number of copies '0': want 1 .. 1000, or "
              "'main' or 'main,USR1' for the stage that ends the run"),
      "no copies are refused");
    T(refused("a 2x never b",
              "l:1: no number of copies '2x': want 1 .. 1000, "
              "or 'main' or 'main,USR1' for the stage that ends the run"),
      "half a number is refused");
}

static void
restart_policies_and_words_have_their_line(void)
{
    T(refused("a main often b",
              "l:1: no restart policy 'often': want optional, "
              "never, killed, failed or always, the last three with a bound "
              "as in killed,3"),
      "an unknown restart policy is refused");
    T(refused(
          "a main never,3 b",
          "l:1: no restart policy 'never,3': want "
          "optional, never, killed, failed or always, the last three with a "
          "bound as in killed,3"),
      "'never' has no limit");
    T(refused(
          "a main never b\nc 1 optional,3 d",
          "l:2: no restart policy 'optional,3': want "
          "optional, never, killed, failed or always, the last three with a "
          "bound as in killed,3"),
      "'optional' has no limit");
    T(refused(
          "a main killed, b",
          "l:1: no restart policy 'killed,': want "
          "optional, never, killed, failed or always, the last three with a "
          "bound as in killed,3"),
      "a limit is a number");
    T(refused("a main never b\nc 1 never 'd\ne", "l:2: a quote is not closed"),
      "an open quote is refused at its line");
    T(refused("a main never $FOIL_B", "l:1: '$FOIL_B' is not in the "
                                      "environment"),
      "an unknown variable is refused");
    T(refused("a main never a$", "l:1: '$' without a name: add one, or "
                                 "quote it"),
      "a bare dollar is refused");
    T(refused("a main never ${FOIL_A", "l:1: '$' without a name: add one, or "
                                       "quote it"),
      "an open brace is refused");
}

static void
one_main_stage_and_no_name_twice(void)
{
    T(refused("a main never b\nc main never d", "l:2: a second main stage"),
      "two main stages are refused");
    T(refused("a 1 never b\nc 1 never d",
              "'l' has no main stage: write 'main' "
              "instead of the copies for the stage that ends the run"),
      "no main stage is refused");
    T(refused("a 2 never b", "'l' has no main stage: write 'main' instead of "
                             "the copies for the stage that ends the run"),
      "a stage with two copies is no main stage");
    T(refused("a main never b\na 1 never d", "l:2: a second stage 'a'"),
      "a name is refused the second time");
    T(refused("a-2 main never b\na 2 never d", "l:2: a second stage 'a'"),
      "the name of a copy is refused for a stage");
    T(refused("a 2 never b\na-1 main never d", "l:2: a second stage 'a-1'"),
      "the name of another stage's copy is refused");
}

/* Returns 1 if STAGE=COMMAND for 'a b c' is refused with this sentence. */
static int
not_replaced(const char *text, const char *sentence)
{
    struct list list;
    struct err err = {""};
    int rc = list_read(&list, "l", "a main never b c", &err) ||
             !list_replace(&list, text, &err) || strcmp(err.msg, sentence) ||
             strcmp(list.stage[0].argv[0], "b");

    if (rc)
        printf("# %s\n", err.msg);
    return !rc;
}

static void
a_command_is_replaced(void)
{
    struct list list;
    struct err err;
    int rc = list_read(&list, "l", "a main never b c 'd e'\nf 1 never g", &err);

    rc = rc || list_replace(&list, "a=x 'y z'", &err) ||
         list_replace(&list, "f=h", &err);
    T(!rc && !strcmp(list.stage[0].argv[0], "x") &&
          !strcmp(list.stage[0].argv[1], "y z"),
      "the first word of a command is replaced");
    T(!rc && !strcmp(list.stage[0].argv[2], "c") &&
          !strcmp(list.stage[0].argv[3], "d e") && !list.stage[0].argv[4],
      "its arguments stay");
    T(!rc && !strcmp(list.stage[1].argv[0], "h") && !list.stage[1].argv[1],
      "a command without arguments is replaced");
    T(not_replaced("b=x", "--command 'b=x': want STAGE=COMMAND, of a stage of "
                          "the list"),
      "an unknown stage is refused");
    T(not_replaced("a", "--command 'a': want STAGE=COMMAND, of a stage of the "
                        "list"),
      "a stage alone is refused");
    T(not_replaced("a=", "--command 'a=': want a command in one line"),
      "no command is refused");
    T(not_replaced("a='x", "--command:1: a quote is not closed"),
      "an open quote is refused");
}

int
main(void)
{
    a_line_is_a_stage();
    words_are_quoted();
    errors_have_their_line();
    restart_policies_and_words_have_their_line();
    one_main_stage_and_no_name_twice();
    a_command_is_replaced();
    return t_done();
}
