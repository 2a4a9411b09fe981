#pragma once

#include <stddef.h>
#include <stdint.h>

#include "data/set.h"
#include "util/err.h"

/*
 * The names of classes: label i is the class name[i].  Labels are numbers of
 * one set only; the labels of two sets are matched by name.
 *
 * As text each name has a line, label 0 first.  Within a name, \n, \r, \t and
 * \\ are escapes of a newline, a carriage return, a tab and a backslash.
 */
struct data_classes {
    size_t n;          /* 0: labels have no names */
    const char **name; /* [n] */
    char *text;        /* storage of the names, if this struct owns it */
};

/* data_classes_of() copies the names of a set; the caller releases them. */
struct data_classes data_classes_of(const struct data_set *set);

/*
 * data_classes_parse() reads len bytes of such text; the caller releases the
 * names.  Errors, with the line: an empty name, a zero byte, a backslash before
 * a character other than n, r, t and \, a repeated name, more than 2^20 names;
 * also a text without any name.  O(n log n) time.
 */
int data_classes_parse(struct data_classes *classes, const char *text,
                       size_t len, struct err *err);

/* data_classes_text() returns that text, of *len bytes, which the caller
 * frees. */
char *data_classes_text(const struct data_classes *classes, size_t *len);

/* data_classes_numbers() returns 1 if the names are just the labels, "0", "1",
 * ..., without regard to leading zeros; else 0. */
int data_classes_numbers(const struct data_classes *classes);

/*
 * data_classes_match() finds the classes of `from` by their names among those
 * of `to`.  Names match if all bytes are equal; otherwise whole numbers match
 * without leading zeros: 07 is 7.
 *   label [from->n]  the label in `to`, or -1 if it has no such class
 * O(n log n) time.
 */
void data_classes_match(const struct data_classes *from,
                        const struct data_classes *to, int64_t *label);

void data_classes_release(struct data_classes *classes);
