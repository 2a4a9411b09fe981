#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "kind.h"
#include "labels.h"

/* The text places of the classes, without doubles, in byte order. */
struct names {
    const char *text;
    uint64_t *at;
    size_t n, room;
    size_t last; // where the last search ended: neighbours are often alike
};

/* Find the name, or where it belongs.  1 when it is there. */
static int
find(struct names *names, const char *name, size_t *where)
{
    size_t low = 0, high = names->n;

    if (names->last < names->n &&
        !strcmp(names->text + names->at[names->last], name)) {
        *where = names->last;
        return 1;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(names->text + names->at[middle], name);

        if (order == 0) {
            *where = names->last = middle;
            return 1;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *where = low;
    return 0;
}

static int
insert(struct names *names, uint64_t at, struct err *err)
{
    size_t where;

    if (find(names, names->text + at, &where))
        return 0;
    if (names->n == LAYOUT_MAX_CLASSES)
        return err_set(err, "there are more than %zu classes",
                       (size_t)LAYOUT_MAX_CLASSES);
    mem_grow(&names->at, &names->room, names->n + 1, sizeof *names->at);
    memmove(names->at + where + 1, names->at + where,
            (names->n - where) * sizeof *names->at);
    names->at[where] = at;
    names->n++;
    return 0;
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

/* A whole number below the limit, or -1. */
static long
whole(const char *text)
{
    char *end;
    long x;

    if (*text < '0' || *text > '9')
        return -1;
    x = strtol(text, &end, 10);
    return *end || x >= (long)LAYOUT_MAX_CLASSES ? -1 : x;
}

static int
all_whole(const struct names *names, size_t *classes)
{
    *classes = 0;
    for (size_t i = 0; i < names->n; i++) {
        long x = whole(names->text + names->at[i]);

        if (x < 0)
            return 0;
        if ((size_t)x >= *classes)
            *classes = (size_t)x + 1;
    }
    return names->n > 0;
}

/* Labels are numbers: classes get them as names, used or not. */
static void
number_classes(struct layout_parts *parts, const uint64_t *class,
               size_t classes)
{
    for (size_t i = 0; i < parts->samples; i++)
        parts->sample[i].label =
            class[i] ? (int32_t)whole(parts->text + class[i]) : -1;
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
            find(names, parts->text + class[i], &where);
        parts->sample[i].label = class[i] ? (int32_t)where : -1;
    }
    parts->class = names->at;
    parts->classes = names->n;
    names->at = NULL;
}

int
data_labels_settle(struct layout_parts *parts, const uint64_t *class, int given,
                   struct err *err)
{
    struct names names = {.text = parts->text};
    size_t classes;
    int rc = 0;

    REQUIRE(!parts->class);
    for (size_t i = 0; !rc && i < parts->samples; i++)
        if (class[i])
            rc = insert(&names, class[i], err);
    if (!rc && given && all_whole(&names, &classes))
        number_classes(parts, class, classes);
    else if (!rc)
        rank_classes(parts, class, &names);
    free(names.at);
    return rc;
}
