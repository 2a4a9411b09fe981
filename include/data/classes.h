#ifndef DATA_CLASSES_H
#define DATA_CLASSES_H

#include <stddef.h>
#include <stdint.h>

#include "data/set.h"
#include "util/err.h"

/*
 * The names of classes: a label i means the class called name[i].  Labels are
 * numbers within one set alone, so those of two sets are matched by name.
 *
 * As text each name has a line, the one of label 0 first.  Within a name, a
 * line end is \n, a return \r, a tab \t and a backslash \\.
 */
struct data_classes {
    size_t n;          /* 0: labels have no names */
    const char **name; /* [n] */
    char *text;        /* what the names point into, if this struct owns it */
};

/* data_classes_of() copies the names of a set; to be released. */
struct data_classes data_classes_of(const struct data_set *set);

/*
 * data_classes_parse() reads len bytes of such text; to be released.  Refused,
 * with the line: an empty name, a zero byte, a backslash before any character
 * but n, r, t and \, a name that was there before, more than 2^20 names; also
 * a text without any name.  O(n log n) time.
 */
int data_classes_parse(struct data_classes *classes, const char *text,
                       size_t len, struct err *err);

/* data_classes_text() returns that text, of *len bytes; to be given to free().
 */
char *data_classes_text(const struct data_classes *classes, size_t *len);

/* data_classes_numbers() returns 1 where the names are just the labels, "0",
 * "1", ..., zeros in front not counted; else 0. */
int data_classes_numbers(const struct data_classes *classes);

/*
 * data_classes_match() finds the classes of `from` by their names among those
 * of `to`.  Names are equal where all bytes are.  Where a name has no equal,
 * whole numbers are compared without the zeros in front: 07 is 7.
 *   label [from->n]  the label of `to`, or -1 where it has no such class
 * O(n log n) time.
 */
void data_classes_match(const struct data_classes *from,
                        const struct data_classes *to, int64_t *label);

void data_classes_release(struct data_classes *classes);

#endif
