#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/mem.h"

#include "labels.h"

int
data_names_find(struct names *names, const char *name, size_t n, size_t *where)
{
    size_t low = 0, high = names->n, middle = names->last;

    while (low < high) {
        const size_t at = middle < high ? middle : low;
        const char *own = names->name[at];
        const int order = strncmp(own, name, n);

        if (!order && !own[n]) {
            *where = names->last = at;
            return 1;
        }
        if (order < 0)
            low = at + 1;
        else
            high = at;
        middle = low + (high - low) / 2;
    }
    *where = low;
    return 0;
}

void
data_names_add(struct names *names, const char *name, size_t n)
{
    size_t where;

    if (data_names_find(names, name, n, &where))
        return;
    mem_grow(&names->name, &names->room, names->n + 1, sizeof *names->name);
    memmove(names->name + where + 1, names->name + where,
            (names->n - where) * sizeof *names->name);
    names->name[where] = mem_format("%.*s", (int)n, name);
    names->n++;
}

void
data_names_release(struct names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->name[i]);
    free(names->name);
    *names = (struct names){0};
}

size_t
data_labels_common(const struct layout_parts *parts, size_t first, size_t n)
{
    const char *model = NULL;
    size_t common = 0;

    for (size_t i = first; i < first + n; i++) {
        const char *name = parts->text + parts->sample[i].name;
        size_t folders = data_kind_folders(name), same = 0;

        if (!folders)
            return 0;
        if (!model) {
            model = name;
            common = folders;
        }
        for (size_t j = 0; j < common && model[j] == name[j]; j++)
            if (name[j] == '/' && j + 1 < folders)
                same = j + 1;
        common = same;
    }
    return common;
}

void
data_labels_from_folders(struct layout_parts *parts, size_t first, size_t n,
                         uint64_t *class)
{
    size_t common = data_labels_common(parts, first, n), last_len = 0;
    uint64_t last = 0;

    for (size_t i = first; i < first + n; i++) {
        const char *name = parts->text + parts->sample[i].name + common;
        const char *slash = strchr(name, '/');
        size_t len = slash ? (size_t)(slash - name) : 0;

        if (len && (len != last_len || memcmp(name, parts->text + last, len))) {
            char *copy = mem_text(name); // the text may move as it grows

            last = data_layout_text(parts, copy, len);
            last_len = len;
            free(copy);
        }
        class[i] = len ? last : 0;
    }
}

enum { NONE = -1, TOO_SMALL = -2, TOO_LARGE = -3, NO_NUMBER = -4, KINDS = 4 };

/* Reads a whole number below the limit, with "1.0" and "+1" for 1, as in tables
 * that were converted from other types of numbers; or returns one of the
 * above. */
static long
parse_label(const char *text)
{
    const int negative = *text == '-';
    const char *digit = text + (negative || *text == '+');
    size_t n = strspn(digit, "0123456789");
    const char *end = digit + n;
    long x;

    if (n && *end == '.')
        end += 1 + strspn(end + 1, "0");
    if (!n || *end)
        return NO_NUMBER;
    for (; n > 1 && *digit == '0'; n--)
        digit++;
    x = n > 9 ? LONG_MAX : strtol(digit, NULL, 10);
    if (negative && x)
        return x == 1 ? NONE : TOO_SMALL;
    return x < (long)LAYOUT_MAX_CLASSES ? x : TOO_LARGE;
}

/* Returns 1 if labels are numbers, 0 if they are names, -1 if neither; the
 * highest number plus one goes to *classes. */
static int
are_numbers(const struct names *names, size_t *classes,
            struct data_notes *notes, struct err *err)
{
    const char *first[KINDS] = {NULL}; // [0] a number or NONE, then the kinds
    const char *number, *word, *small, *large;

    *classes = 0;
    for (size_t i = 0; i < names->n; i++) {
        const long x = parse_label(names->name[i]);
        const size_t kind = x < NONE ? (size_t)(NONE - x) : 0;

        if (!first[kind])
            first[kind] = names->name[i];
        if (x >= 0 && (size_t)x >= *classes)
            *classes = (size_t)x + 1;
    }
    number = first[0];
    word = first[NONE - NO_NUMBER];
    small = first[NONE - TOO_SMALL];
    large = first[NONE - TOO_LARGE];
    if (word && number)
        data_notes_add(notes,
                       mem_format("labels are numbers (such as '%s') and words "
                                  "(such as '%s'): all are names, and classes "
                                  "have the numbers of their order",
                                  number, word));
    if (word || !number)
        return 0;
    if (small || large)
        return err_set(
            err,
            "the label '%s' is out of range: labels that are whole numbers "
            "are 0 to %zu, or -1 for none; with a letter in front they are "
            "names",
            small ? small : large, (size_t)LAYOUT_MAX_CLASSES - 1);
    return 1;
}

/* Takes labels as numbers, which become the names of classes, used or not. */
static void
number_classes(struct layout_parts *parts, const uint64_t *class,
               size_t classes)
{
    for (size_t i = 0; i < parts->samples; i++)
        parts->sample[i].label =
            class[i] ? (int32_t)parse_label(parts->text + class[i]) : NONE;
    parts->class = mem_array(classes, sizeof *parts->class);
    for (size_t i = 0; i < classes; i++) {
        char name[24];
        int n = snprintf(name, sizeof name, "%zu", i);

        parts->class[i] = data_layout_text(parts, name, (size_t)n);
    }
    parts->classes = classes;
}

static void
rank_classes(struct layout_parts *parts, const uint64_t *class,
             struct names *names)
{
    for (size_t i = 0; i < parts->samples; i++) {
        size_t where = 0;

        if (class[i])
            data_names_find(names, parts->text + class[i],
                            strlen(parts->text + class[i]), &where);
        parts->sample[i].label = class[i] ? (int32_t)where : -1;
    }
    parts->class = mem_array(names->n, sizeof *parts->class);
    parts->classes = names->n;
    for (size_t i = 0; i < names->n; i++) // together, in few parts of the index
        parts->class[i] =
            data_layout_text(parts, names->name[i], strlen(names->name[i]));
}

/* Warns about folders that are called as parts of a data set: their parent
 * folder was probably indexed by mistake. */
static void
note_splits(const struct names *names, struct data_notes *notes)
{
    static const char *const split[] = {
        "train", "training", "test", "testing", "val", "validation", "valid"};
    const char *found[2];
    size_t n = 0;

    for (size_t i = 0; i < names->n && n < 2; i++)
        for (size_t k = 0; k < sizeof split / sizeof *split && n < 2; k++)
            if (!strcasecmp(names->name[i], split[k]))
                found[n++] = names->name[i];
    if (n == 2)
        data_notes_add(
            notes, mem_format("the classes '%s' and '%s' look like parts of a "
                              "data set: index each folder by itself if they "
                              "are",
                              found[0], found[1]));
}

int
data_labels_assign(struct layout_parts *parts, const uint64_t *class,
                   int explicit, struct data_notes *notes, struct err *err)
{
    struct names names = {0};
    size_t classes = 0;
    int rc = 0;

    REQUIRE(!parts->class);
    for (size_t i = 0; names.n <= LAYOUT_MAX_CLASSES && i < parts->samples; i++)
        if (class[i])
            data_names_add(&names, parts->text + class[i],
                           strlen(parts->text + class[i]));
    if (names.n > LAYOUT_MAX_CLASSES)
        rc = err_set(err, "there are more than %zu classes",
                     (size_t)LAYOUT_MAX_CLASSES);
    if (!rc && !explicit)
        note_splits(&names, notes);
    if (!rc && explicit)
        rc = are_numbers(&names, &classes, notes, err);
    if (rc > 0)
        number_classes(parts, class, classes);
    else if (!rc)
        rank_classes(parts, class, &names);
    data_names_release(&names);
    return rc < 0 ? rc : 0;
}
