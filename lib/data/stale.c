#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/file.h"
#include "util/mem.h"

#include "layout.h"
#include "tree.h"

enum { MAX_LIST = 1 << 30 };

/* A folder, or a list, that has changed. */
struct change {
    const struct data_layout_mark *mark;
    const char *name;
    size_t len;
    uint64_t count; /* number of its names now */
};

struct changes {
    struct change *change;
    size_t n, room;
};

/* Returns 1 if a list has changed; it is read only if its size is equal.  A
 * missing list is no change: the index no longer needs it. */
static int
list_changed(const struct data_layout_mark *mark, const char *path)
{
    struct tree_state now;
    struct stat st;
    struct err err;
    size_t n;
    char *text;

    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return 0;
    if ((uint64_t)st.st_size != mark->state.count)
        return 1;
    text = file_read(path, MAX_LIST, &n, &err);
    if (!text)
        return 0;
    data_tree_text_state(text, n, &now);
    free(text);
    return now.sum != mark->state.sum;
}

/* Returns 1 if a folder or list has changed.  The count of names goes to
 * *count, 0 if it is missing. */
static int
has_changed(const struct data_layout_mark *mark, const char *path,
            uint64_t *count)
{
    struct tree_state now = {0};
    struct tree_names names;
    struct err err;
    int rc;

    *count = 0;
    if (mark->state.time && mark->state.time == data_tree_time(path))
        return 0;
    if (mark->list)
        return list_changed(mark, path);
    rc = data_tree_list(path, &names, &now, &err);
    if (rc)
        return rc != DATA_UNREAD; // unreadable: not known
    data_tree_names_release(&names);
    *count = now.count;
    return now.count != mark->state.count || now.sum != mark->state.sum;
}

static int
by_folder(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    int order;

    if (x->mark->file != y->mark->file)
        return x->mark->file < y->mark->file ? -1 : 1;
    order = memcmp(x->name, y->name, x->len < y->len ? x->len : y->len);
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* The current names of a folder, if it has changed. */
struct folder_names {
    const struct layout_sample *last; /* the latest sample */
    const struct change *change;      /* or NULL */
    struct tree_names names;
};

static void
list_changed_folder(struct folder_names *in, const struct data_set *set,
                    const struct changes *sorted,
                    const struct layout_sample *sample)
{
    const char *name = set->text + sample->name;
    const char *last = in->last ? set->text + in->last->name : "";
    const struct data_layout_mark key = {.file = sample->file};
    const struct change want = {&key, name, data_kind_folders(name), 0};
    struct tree_state state;
    struct err err;

    if (in->last && in->last->file == sample->file &&
        data_kind_folders(last) == want.len && !memcmp(last, name, want.len))
        return;
    in->last = sample;
    data_tree_names_release(&in->names);
    in->change = bsearch(&want, sorted->change, sorted->n,
                         sizeof *sorted->change, by_folder);
    if (!in->change)
        return;
    // a missing folder has none
    data_tree_list(
        mem_temp("%s/%s", set->place[sample->file], in->change->name),
        &in->names, &state, &err);
}

/* Counts the missing samples of changed folders; the first goes to *first. */
static size_t
count_missing(const struct data_set *set, const struct changes *sorted,
              const struct layout_sample **first)
{
    struct folder_names in = {NULL, NULL, {NULL, 0, 0, 0}};
    size_t missing = 0;

    for (size_t i = 0; i < set->head->samples; i++) {
        const struct layout_sample *sample = &set->sample[i];
        const char *name = set->text + sample->name;

        if (set->file[sample->file].kind != LAYOUT_FOLDER)
            continue;
        list_changed_folder(&in, set, sorted, sample);
        if (!in.change ||
            data_tree_names_find(&in.names, name + in.change->len))
            continue;
        if (!missing++)
            *first = sample;
    }
    data_tree_names_release(&in.names);
    return missing;
}

/* Writes the message about the first change. */
static void
describe_change(const struct data_set *set, const struct change *change,
                const char *advice, struct err *err)
{
    const char *place = set->place[change->mark->file];
    const char *slash = change->len ? "/" : "";
    const int len = (int)change->len - (change->len && !change->mark->list);

    if (change->mark->list)
        err_set(err, "'%s/%s' has changed since it was indexed: %s", place,
                change->name, advice);
    else if (change->count != change->mark->state.count)
        err_set(err,
                "'%s%s%.*s' holds %zu files and folders, and %zu when it was "
                "indexed: %s",
                place, slash, len, change->name, (size_t)change->count,
                (size_t)change->mark->state.count, advice);
    else
        err_set(err,
                "'%s%s%.*s' holds other files than when it was indexed: %s",
                place, slash, len, change->name, advice);
}

static int
index_stale(const struct data_set *set, struct err *err)
{
    const struct layout_sample *first = NULL;
    struct changes changes = {NULL, 0, 0};
    struct change one;
    size_t missing;
    char *advice;

    for (size_t i = 0; i < set->head->marks; i++) {
        const struct data_layout_mark *mark = &set->mark[i];
        const char *name = set->text + mark->name;
        const char *path = mem_temp("%s/%s", set->place[mark->file], name);
        uint64_t count;

        if (has_changed(mark, path, &count)) {
            mem_grow(&changes.change, &changes.room, changes.n + 1,
                     sizeof *changes.change);
            changes.change[changes.n++] =
                (struct change){mark, name, strlen(name), count};
        }
    }
    if (!changes.n)
        return 0;
    if (data_check(set, err)) {
        free(changes.change);
        return -1;
    }
    one = changes.change[0];
    qsort(changes.change, changes.n, sizeof *changes.change, by_folder);
    missing = count_missing(set, &changes, &first);
    advice = data_layout_advice(set);
    if (missing)
        err_set(err, "'%s/%s' has gone since it was indexed%s: %s",
                set->place[first->file], set->text + first->name,
                missing > 1 ? ", and others, too" : "", advice);
    else
        describe_change(set, &one, advice, err);
    mem_free(advice, changes.change);
    return missing ? -1 : 1;
}

int
data_stale(const struct data_set *set, struct err *err)
{
    int stale = 0;

    if (set->shard && (set->fetch || !set->open->whole))
        return 0;
    for (size_t i = 0; stale >= 0 && i < data_list_shards(set); i++) {
        const struct data_set *shard = data_list_open(set, i, err);
        const int one = shard ? index_stale(shard, err) : -1;

        stale = one ? one : stale;
    }
    return stale;
}
