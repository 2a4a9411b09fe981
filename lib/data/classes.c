#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/classes.h"
#include "util/mem.h"

#include "layout.h"

/* Bytes that are escaped in the text of a name, and their letters after a
 * backslash. */
static const char plain[] = "\n\r\t\\", escaped[] = "nrt\\";

struct data_classes
data_classes_of(const struct data_set *set)
{
    struct data_classes classes = {.n = data_classes(set)};
    size_t len = 0;
    char *at;

    for (size_t i = 0; i < classes.n; i++)
        len += strlen(data_class_name(set, i)) + 1;
    classes.name = mem_array(classes.n, sizeof *classes.name);
    at = classes.text = mem_array(len, 1);
    for (size_t i = 0; i < classes.n; i++) {
        const size_t n = strlen(data_class_name(set, i)) + 1;

        classes.name[i] = memcpy(at, data_class_name(set, i), n);
        at += n;
    }
    return classes;
}

void
data_classes_release(struct data_classes *classes)
{
    mem_free(classes->name, classes->text);
    *classes = (struct data_classes){0};
}

/* A name with its label, for the search. */
struct entry {
    const char *name;
    size_t label;
};

/* Skips the leading zeros of a whole number; returns other names unchanged. */
static const char *
skip_zeros(const char *name)
{
    const size_t digits = strspn(name, "0123456789");

    if (!digits || name[digits])
        return name;
    while (name[0] == '0' && name[1])
        name++;
    return name;
}

static int
by_bare_name(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return strcmp(skip_zeros(x->name), skip_zeros(y->name));
}

/* Sorts names of one number, such as 7 and 07, next to each other. */
static int
compare_class_names(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    const int order = by_bare_name(a, b);

    return order ? order : strcmp(x->name, y->name);
}

/* Returns the sorted names; the caller frees them. */
static struct entry *
sort_entries(const struct data_classes *classes)
{
    struct entry *entry = mem_array(classes->n, sizeof *entry);

    for (size_t i = 0; i < classes->n; i++)
        entry[i] = (struct entry){classes->name[i], i};
    if (classes->n)
        qsort(entry, classes->n, sizeof *entry, compare_class_names);
    return entry;
}

void
data_classes_match(const struct data_classes *from,
                   const struct data_classes *to, int64_t *label)
{
    struct entry *sorted = sort_entries(to);

    for (size_t i = 0; i < from->n; i++) {
        const struct entry want = {from->name[i], 0}, *found = NULL;

        if (to->n)
            found = bsearch(&want, sorted, to->n, sizeof *sorted,
                            compare_class_names);
        if (to->n && !found)
            found = bsearch(&want, sorted, to->n, sizeof *sorted, by_bare_name);
        label[i] = found ? (int64_t)found->label : -1;
    }
    free(sorted);
}

int
data_classes_numbers(const struct data_classes *classes)
{
    for (size_t i = 0; i < classes->n; i++) {
        char number[24];

        snprintf(number, sizeof number, "%zu", i);
        if (strcmp(skip_zeros(classes->name[i]), number))
            return 0;
    }
    return 1;
}

char *
data_classes_text(const struct data_classes *classes, size_t *len)
{
    size_t room = 1;
    char *text, *at;

    for (size_t i = 0; i < classes->n; i++)
        room += 2 * strlen(classes->name[i]) + 1;
    text = at = mem_array(room, 1);
    for (size_t i = 0; i < classes->n; i++) {
        for (const char *c = classes->name[i]; *c; c++) {
            const char *special = strchr(plain, *c);

            if (special)
                *at++ = '\\';
            *at++ = special ? escaped[special - plain] : *c;
        }
        *at++ = '\n';
    }
    *len = (size_t)(at - text);
    return text;
}

/* Unescapes a line of len bytes, in place; returns the fault, or NULL. */
static const char *
read_name(char *line, size_t len)
{
    char *to = line;

    if (!len)
        return "is empty";
    if (memchr(line, 0, len))
        return "has a zero byte";
    line[len] = 0; // the byte of the line end
    for (const char *from = line; *from; from++) {
        const char *special;

        if (*from != '\\') {
            *to++ = *from;
            continue;
        }
        special = *++from ? strchr(escaped, *from) : NULL;
        if (!special)
            return "has a backslash without n, r, t or another after it";
        *to++ = plain[special - escaped];
    }
    *to = 0;
    return NULL;
}

/* Reads the lines of classes->text. */
static int
read_lines(struct data_classes *classes, size_t len, struct err *err)
{
    char *text = classes->text, *end = text + len;
    size_t room = 0;

    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((stop ? stop : end) - text);
        size_t line = classes->n + 1;
        const char *why = line > LAYOUT_MAX_CLASSES ? "is one too many" : NULL;

        if (!why)
            why = read_name(text, n - (n && text[n - 1] == '\r'));
        if (why)
            return err_set(err, "line %zu %s", line, why);
        mem_grow(&classes->name, &room, line, sizeof *classes->name);
        classes->name[classes->n++] = text;
        text += n + 1;
    }
    return classes->n ? 0 : err_set(err, "there is no name");
}

int
data_classes_parse(struct data_classes *classes, const char *text, size_t len,
                   struct err *err)
{
    struct entry *sorted;
    int rc;

    *classes = (struct data_classes){.text = mem_array(len + 1, 1)};
    if (len)
        memcpy(classes->text, text, len);
    rc = read_lines(classes, len, err);
    sorted = sort_entries(classes);
    for (size_t i = 1; !rc && i < classes->n; i++)
        if (!strcmp(sorted[i - 1].name, sorted[i].name))
            rc = err_set(err, "two classes are called '%s'", sorted[i].name);
    free(sorted);
    if (rc)
        data_classes_release(classes);
    return rc;
}
