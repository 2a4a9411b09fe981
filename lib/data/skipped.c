#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "labels.h"

enum { KINDS_MAX = 8 }; // kinds in a message

/* Copies the suffix of a name, in lower case. */
static void
copy_suffix(const char *path, char end[16])
{
    const char *name = path + data_kind_folders(path),
               *dot = strrchr(name, '.');
    size_t n = 0;

    *end = 0;
    if (!dot || dot == name || strlen(dot) > 15)
        return;
    for (; dot[n]; n++) {
        if ((unsigned char)dot[n] <= ' ' || dot[n] == 127) {
            *end = 0;
            return;
        }
        end[n] = (char)(dot[n] >= 'A' && dot[n] <= 'Z' ? dot[n] + 32 : dot[n]);
    }
    end[n] = 0;
}

/* Orders by count, the most frequent first, then by name. */
static int
by_count(const void *a, const void *b)
{
    const struct skipped_kind *x = a, *y = b;

    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return strcmp(x->end, y->end);
}

char *
data_skipped_kinds(const struct skipped *skipped, int pictures)
{
    struct skipped_kind *kind = mem_array(skipped->kinds + 1, sizeof *kind);
    struct series kinds = {.most = KINDS_MAX};
    size_t n = 0;

    for (size_t i = 0; i < skipped->kinds; i++)
        if (skipped->kind[i].picture == pictures)
            kind[n++] = skipped->kind[i];
    qsort(kind, n, sizeof *kind, by_count);
    for (size_t i = 0; i < n; i++)
        series_put(&kinds,
                   mem_temp("%s %zu",
                            *kind[i].end ? kind[i].end : "without an ending",
                            kind[i].n));
    free(kind);
    return series_end(&kinds);
}

void
data_skipped_count(struct skipped *skipped, enum data_kind kind,
                   const char *name)
{
    const int picture = kind == DATA_KIND_PICTURE;
    struct data_index_skipped *of = &skipped->of[picture];
    struct skipped_kind *own = skipped->kind, *last = own + skipped->kinds;
    char end[16];

    if (kind == DATA_KIND_HIDDEN)
        return;
    if (!of->n++)
        of->first = mem_text(name);
    copy_suffix(name, end);
    while (own < last && (strcmp(own->end, end) || own->picture != picture))
        own++;
    if (own == last) {
        mem_grow(&skipped->kind, &skipped->kind_room, skipped->kinds + 1,
                 sizeof *own);
        own = &skipped->kind[skipped->kinds++];
        *own = (struct skipped_kind){.picture = picture};
        memcpy(own->end, end, sizeof end);
    }
    own->n++;
    if (picture)
        data_names_add(&skipped->folders, name, data_kind_folders(name));
}

void
data_skipped_add_classes(struct skipped *skipped,
                         const struct layout_parts *parts, size_t first,
                         size_t n)
{
    const char *model = n ? parts->text + parts->sample[first].name : "";
    const size_t common = data_labels_common(parts, first, n);

    for (size_t i = 0; i < skipped->folders.n; i++) {
        const char *name = skipped->folders.name[i];
        size_t len;

        if (strncmp(name, model, common))
            continue;
        len = strcspn(name + common, "/");
        if (len)
            data_names_add(&skipped->classes, name + common, len);
    }
    data_names_release(&skipped->folders);
}

void
data_skipped_remove_found(struct skipped *skipped,
                          const struct layout_parts *parts, int explicit)
{
    struct names *names = &skipped->classes;

    if (explicit)
        data_names_release(names);
    for (size_t i = 0; names->n && i < parts->classes; i++) {
        const char *name = parts->text + parts->class[i];
        size_t where;

        if (!data_names_find(names, name, strlen(name), &where))
            continue;
        free(names->name[where]);
        names->n--;
        memmove(names->name + where, names->name + where + 1,
                (names->n - where) * sizeof *names->name);
    }
}

void
data_skipped_release(struct skipped *skipped)
{
    data_names_release(&skipped->folders);
    data_names_release(&skipped->classes);
    mem_free(skipped->kind, skipped->of[0].first, skipped->of[1].first);
    *skipped = (struct skipped){0};
}
