/* Parameters of methods. */
#include "child.h"
#include "t.h"
#include "util/mem.h"
#include "util/param.h"

enum { SHARE, COUNT, FAST, KIND };

static const struct param one[] = {
    [SHARE] = {PARAM_REAL("share", 0.5, 0, 1, "share"),
               .schedule = PARAM_TO_END, .end = NAN},
    [COUNT] = {PARAM_WHOLE("count", 3, 1, 9, "so many")},
    [FAST] = {PARAM_FLAG("fast", "be quick")},
    [KIND] = {PARAM_CHOICE("kind", 1, "a|bc|d", "which kind")},
    {0},
};
static const struct param two[] = {
    {PARAM_REAL("share", 0.25, 0.1, 2, "share"), .schedule = PARAM_LEARNT},
    {0},
};
static const struct param three[] = {
    {PARAM_WHOLE("count", 3, 1, 20, "how many")},
    {0},
};

static struct param_set set;
static struct opt opts[OPT_MOST];
static const char *way = "any";
static const struct opt ways[] = {
    {"way", 0, OPT_METHOD, &way, 0, 0, "NAME[,PARAM=X]...", "of doing it"},
    {"how", 0, OPT_METHOD, &way, 0, 0, "NAME[,PARAM=X]...", "it is done"},
    {0},
};
static const struct opt_tool tool = {
    "foil-test", "try parameters", NULL, 0, 0, opts,
};

/* Parses "METHOD OPTION...", prints the values of the method. */
static void
parse(const void *line)
{
    static const struct param *const methods[] = {one, two, three};
    static const char *const names[] = {"one", "two", "three"};
    static char copy[256];
    char *argv[32], *rest = copy;
    double value[PARAM_MOST];
    struct err err;
    int argc = 0;
    size_t i = 0;

    snprintf(copy, sizeof copy, "%s", (const char *)line);
    for (char *word; (word = strtok_r(rest, " ", &rest));)
        argv[argc++] = word;
    argv[argc] = NULL;
    for (size_t k = 0; k < 3; k++)
        param_set_add(&set, k < 2 ? "way" : "how", names[k], methods[k]);
    opt_append(opts, 0, ways);
    param_set_opts(&set, opts, 2);
    while (strcmp(names[i], argv[0]))
        i++;
    opt_parse(&tool, argc, argv);
    if (param_set_check(&set, names[i], methods[i], &err))
        opt_misuse("%s", err.msg);
    param_set_get(&set, methods[i], value);
    for (size_t k = 0; methods[i][k].name; k++)
        printf("%s%g", k ? " " : "", value[k]);
    printf(" %s", param_set_find(&set, "share")->schedule);
}

static void
prints(const char *line, const char *want)
{
    struct child c = child_run(parse, line);

    T(c.code == 0 && strstr(c.out, want), "'%s' prints '%s'", line, want);
}

static void
refuses(const char *line, const char *sentence)
{
    struct child c = child_run(parse, line);

    T(c.code == EXIT_USAGE && strstr(c.err, sentence), "'%s' is refused: '%s'",
      line, sentence);
}

static void
a_table_has_names_defaults_and_ranges(void)
{
    double value[PARAM_MOST];
    json_t *list;
    char *text;
    struct err err;

    T(param_find(one, "fast") == one + FAST && !param_find(one, "fas"),
      "a parameter is found by its whole name");
    param_defaults(one, value);
    T(value[SHARE] == 0.5 && value[COUNT] == 3 && value[FAST] == 0 &&
          value[KIND] == 1 && value[4] == 0,
      "defaults are in the order of the table");
    T(!param_check(one, value, &err), "defaults are within their ranges");
    value[COUNT] = 10;
    T(param_check(one, value, &err) && strstr(err.msg, "count 10") &&
          strstr(err.msg, "1 .. 9"),
      "a number beyond its range is refused: %s", err.msg);
    value[COUNT] = NAN;
    T(param_check(one, value, &err), "NaN is refused");
    list = param_list(one);
    text = json_line(list);
    T(!strcmp(text, "{\"share\":0.5,\"count\":3,\"fast\":false,"
                    "\"kind\":\"bc\"}\n"),
      "a list has each default in its kind");
    free(text);
    json_decref(list);
}

/* Returns 1 if a text sets these values. */
static int
reads(const char *text, double share, double count, double fast, double kind)
{
    double value[PARAM_MOST];
    struct err err;

    param_defaults(one, value);
    return !param_read(one, text, value, &err) && value[0] == share &&
           value[1] == count && value[2] == fast && value[3] == kind;
}

static int
does_not_read(const char *text, const char *why)
{
    double value[PARAM_MOST];
    struct err err = {""};

    param_defaults(one, value);
    return param_read(one, text, value, &err) && strstr(err.msg, why);
}

static void
objects_are_read(void)
{
    T(reads("", 0.5, 3, 0, 1) && reads(NULL, 0.5, 3, 0, 1) &&
          reads("{}", 0.5, 3, 0, 1),
      "an empty object changes nothing");
    T(reads("{\"share\": 1, \"count\": 7, \"fast\": true, \"kind\": \"d\"}", 1,
            7, 1, 2),
      "an object sets each in its kind");
    T(does_not_read("{\"share\": 3}", "0 .. 1"), "ranges are checked");
    T(does_not_read("{\"count\": 1.5}", "whole"), "a whole number is required");
    T(does_not_read("{\"fast\": 1}", "true or false"),
      "a flag is true or false");
    T(does_not_read("{\"kind\": \"b\"}", "a|bc|d"),
      "a choice is one of its words");
    T(does_not_read("{\"x\": 1}", "no parameter 'x'"),
      "an unknown name is refused");
    T(does_not_read("[1]", "object") && does_not_read("{", "JSON"),
      "anything but an object is refused");
}

int
main(void)
{
    objects_are_read();
    a_table_has_names_defaults_and_ranges();
    prints("one", "0.5 3 0 1 constant");
    prints("two", "0.25 constant");
    prints("three", "3 constant");
    prints("one --way ,share=0.7,count=5,fast,kind=d", "0.7 5 1 2");
    prints("one --way ,share-schedule=linear,share-end=0.1",
           "0.5 3 0 1 linear");
    prints("three --how ,count=20", "20 constant");
    prints("two --share 2", "2 constant");
    prints("one --help way",
           "  share=X                 one, two: share, 0 .. 2\n");
    prints("one --help way",
           "  share-end=X             value of share at the end "
           "of its schedule, 0");
    prints(
        "one --help how",
        "count=N                 one: so many; three: how many, 1 .. 20 [3]");
    prints("one --help way", "kind=a|bc|d             one: which kind [bc]");
    refuses("two --way ,count=4", "two has no parameter 'count': it has share");
    refuses("three --way ,kind=a", "three has no parameter 'kind'");
    refuses("three --how ,kind=a", "--how has no parameter 'kind'");
    refuses("three --way ,share-end=1", "three has no parameter 'share-end'");
    refuses("two --way ,share-schedule=linear",
            "two learns its shares: it has no parameter 'share-schedule'");
    refuses("one --way ,kind=b", "--way: kind 'b': want one of a|bc|d");
    refuses("one --way ,share=3", "--way: share '3': want a number in 0 .. 2");
    return t_done();
}
