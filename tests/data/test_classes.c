#include <stdlib.h>
#include <string.h>

#include "data/classes.h"
#include "t.h"

static struct err err;

/* Parses a text of n bytes; returns how many names it has, or -1. */
static int
parse(const char *text, size_t n, struct data_classes *classes)
{
    return data_classes_parse(classes, text, n, &err) ? -1 : (int)classes->n;
}

static int
refuses(const char *text, size_t n, const char *why)
{
    struct data_classes classes;

    return parse(text, n, &classes) == -1 && !classes.n && !classes.name &&
           strstr(err.msg, why);
}

static void
names_come_back(void)
{
    const char *name[] = {
        "ant",          "a b", "line\nend", "\\n", "tab\tand\rreturn",
        "na\xc3\xafve", "\xff"};
    const struct data_classes in = {.n = sizeof name / sizeof *name,
                                    .name = name};
    struct data_classes out;
    size_t len, lines = 0, same = 0;
    char *text = data_classes_text(&in, &len);

    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    T(lines == in.n, "each name has one line");
    T(parse(text, len, &out) == (int)in.n, "the text can be read");
    for (size_t i = 0; i < out.n; i++)
        same += !strcmp(out.name[i], name[i]);
    T(same == in.n, "all names are unchanged");
    free(text);
    data_classes_release(&out);
    T(!out.n && !out.name, "the release empties them");
}

static void
texts_of_other_makers(void)
{
    struct data_classes classes;

    T(parse("ant\r\nbee", 8, &classes) == 2 && !strcmp(classes.name[0], "ant"),
      "returns before a line end, and no end of the last line, are taken");
    data_classes_release(&classes);
}

static void
bad_texts_are_refused(void)
{
    T(refuses("", 0, "there is no name"), "%s", err.msg);
    T(refuses("a\n\nb\n", 5, "line 2 is empty"), "%s", err.msg);
    T(refuses("a\nb\0c\n", 6, "line 2 has a zero byte"), "%s", err.msg);
    T(refuses("a\\x\n", 4, "line 1 has a backslash without"), "%s", err.msg);
    T(refuses("a\\", 2, "line 1 has a backslash without"), "%s", err.msg);
    T(refuses("a\\\0", 3, "line 1 has a zero byte"), "%s", err.msg);
    T(refuses("b\na\nb\n", 6, "two classes are called 'b'"), "%s", err.msg);
}

static void
names_are_found(void)
{
    const char *a[] = {"7", "x", "007", "10", "", "0"};
    const char *b[] = {"10", "7", "07", "y", "00", "x1"};
    const struct data_classes from = {.n = 6, .name = a},
                              to = {.n = 6, .name = b}, none = {.n = 0};
    int64_t label[6];

    data_classes_match(&from, &to, label);
    T(label[0] == 1 && label[3] == 0, "names are found");
    T(label[1] == -1 && label[4] == -1, "others are not");
    T(label[2] == 1 || label[2] == 2, "007 is 7 or 07");
    T(label[5] == 4, "0 is 00");
    data_classes_match(&from, &none, label);
    T(label[0] == -1, "without classes nothing is found");
}

static void
numbers_are_known(void)
{
    const char *a[] = {"0", "1", "2"}, *b[] = {"00", "01"}, *c[] = {"1", "2"};

    T(data_classes_numbers(&(struct data_classes){.n = 3, .name = a}),
      "0, 1, 2 are");
    T(data_classes_numbers(&(struct data_classes){.n = 2, .name = b}),
      "00, 01 are");
    T(!data_classes_numbers(&(struct data_classes){.n = 2, .name = c}),
      "1, 2 are none, for labels begin at 0");
    T(data_classes_numbers(&(struct data_classes){.n = 0, .name = NULL}),
      "labels without names are");
}

int
main(void)
{
    names_come_back();
    texts_of_other_makers();
    bad_texts_are_refused();
    names_are_found();
    numbers_are_known();
    return t_done();
}
