#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "labels.h"
#include "passed.h"

/* Where a name of n bytes is, or belongs; 1 where it is there. */
static int
find(const struct passed_names *names, const char *name, size_t n,
     size_t *where)
{
    size_t low = 0, high = names->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *own = names->name[middle];
        int order = strncmp(own, name, n);

        if (!order && !own[n]) {
            *where = middle;
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

static void
insert(struct passed_names *names, const char *name, size_t n)
{
    size_t where;

    if (find(names, name, n, &where))
        return;
    mem_grow(&names->name, &names->room, names->n + 1, sizeof *names->name);
    memmove(names->name + where + 1, names->name + where,
            (names->n - where) * sizeof *names->name);
    names->name[where] = mem_format("%.*s", (int)n, name);
    names->n++;
}

static void
empty(struct passed_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->name[i]);
    names->n = 0;
}

void
data_passed_note(struct passed *passed, enum data_kind kind, const char *name)
{
    const int picture = kind == DATA_KIND_PICTURE;
    char **first = picture ? &passed->picture : &passed->other;

    if (kind == DATA_KIND_HIDDEN)
        return;
    if (!*first)
        *first = mem_text(name);
    passed->pictures += (size_t)picture;
    passed->others += !picture;
    if (picture)
        data_passed_image(passed, name);
}

void
data_passed_image(struct passed *passed, const char *name)
{
    insert(&passed->folders, name, data_kind_folders(name));
}

void
data_passed_place(struct passed *passed, const struct layout_parts *parts,
                  size_t first, size_t n)
{
    const char *model = n ? parts->text + parts->sample[first].name : "";
    const size_t common = data_labels_common(parts, first, n);

    for (size_t i = 0; i < passed->folders.n; i++) {
        const char *name = passed->folders.name[i];
        size_t len;

        if (strncmp(name, model, common))
            continue;
        len = strcspn(name + common, "/");
        if (len)
            insert(&passed->classes, name + common, len);
    }
    empty(&passed->folders);
}

void
data_passed_lost(struct passed *passed, const struct layout_parts *parts,
                 int given)
{
    struct passed_names *names = &passed->classes;

    if (given)
        empty(names);
    for (size_t i = 0; names->n && i < parts->classes; i++) {
        const char *name = parts->text + parts->class[i];
        size_t where;

        if (!find(names, name, strlen(name), &where))
            continue;
        free(names->name[where]);
        names->n--;
        memmove(names->name + where, names->name + where + 1,
                (names->n - where) * sizeof *names->name);
    }
}

void
data_passed_release(struct passed *passed)
{
    empty(&passed->folders);
    empty(&passed->classes);
    free(passed->folders.name);
    free(passed->classes.name);
    free(passed->picture);
    free(passed->other);
    *passed = (struct passed){0};
}
