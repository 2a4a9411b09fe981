#define _DEFAULT_SOURCE // d_type
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

#include "util/digest.h"
#include "util/file.h"
#include "util/mem.h"

#include "layout.h"
#include "tree.h"

enum {
    MAX_DEPTH = 32,
    FRESH = 2 // seconds: the coarsest clock of a file system
};

static const struct {
    const char *suffix;
    enum data_kind kind;
} kinds[] = {
    {".jpg", DATA_KIND_IMAGE},    {".jpeg", DATA_KIND_IMAGE},
    {".txt", DATA_KIND_CAPTION},  {".cls", DATA_KIND_CLASS},
    {".json", DATA_KIND_JSON},    {".png", DATA_KIND_IMAGE},
    {".webp", DATA_KIND_IMAGE},   {".jfif", DATA_KIND_IMAGE},
    {".jpe", DATA_KIND_IMAGE},    {".gif", DATA_KIND_PICTURE},
    {".bmp", DATA_KIND_PICTURE},  {".tif", DATA_KIND_PICTURE},
    {".tiff", DATA_KIND_PICTURE}, {".jp2", DATA_KIND_PICTURE},
    {".jxl", DATA_KIND_PICTURE},  {".heic", DATA_KIND_PICTURE},
    {".avif", DATA_KIND_PICTURE}, {".ppm", DATA_KIND_PICTURE},
    {".pgm", DATA_KIND_PICTURE},
};

size_t
data_kind_folders(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) + 1 : 0;
}

int
data_kind_ends(const char *path, const char *suffix)
{
    const char *dot = strrchr(path, '.');

    return dot && !strcasecmp(dot, suffix);
}

enum data_kind
data_kind_of(const char *path)
{
    if (path[data_kind_folders(path)] == '.')
        return DATA_KIND_HIDDEN;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (data_kind_ends(path, kinds[i].suffix))
            return kinds[i].kind;
    return DATA_KIND_OTHER;
}

static int
in_byte_order(const void *a, const void *b)
{
    const struct tree_name *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* Returns the time of the last change, or 0 if it is recent: another change may
 * follow within the same tick of the file system's clock. */
static int64_t
time_of(const struct stat *st)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (st->st_mtim.tv_sec > now.tv_sec - FRESH)
        return 0;
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

int64_t
data_tree_time(const char *path)
{
    struct stat st;

    return stat(path, &st) ? -1 : time_of(&st);
}

static int
is_folder(const char *path, const struct tree_name *entry)
{
    struct stat st;
    char *whole;
    int folder;

    if (entry->type != DT_UNKNOWN && entry->type != DT_LNK)
        return entry->type == DT_DIR;
    whole = mem_format("%s/%s", path, entry->name);
    folder = !stat(whole, &st) && S_ISDIR(st.st_mode);
    free(whole);
    return folder;
}

/* Reports a failure; returns -1 or DATA_UNREAD by errno. */
static int
fail_to(const char *verb, const char *path, struct err *err)
{
    const int rc = data_layout_fault(errno);

    err_sys(err, "cannot %s '%s'", verb, path);
    return rc;
}

/* Reads an open folder. */
static int
list_folder(DIR *dir, const char *path, struct tree_names *names,
            struct tree_state *state, struct err *err)
{
    struct dirent *entry;
    struct stat st;

    *state = (struct tree_state){0};
    if (fstat(dirfd(dir), &st))
        return fail_to("read", path, err);
    state->time = time_of(&st);
    while (errno = 0, (entry = readdir(dir))) {
        if (entry->d_name[0] == '.') {
            names->hidden += strcmp(entry->d_name, ".") != 0 &&
                             strcmp(entry->d_name, "..") != 0;
            continue;
        }
        mem_grow(&names->entry, &names->room, names->n + 1,
                 sizeof *names->entry);
        names->entry[names->n++] =
            (struct tree_name){mem_text(entry->d_name), entry->d_type};
    }
    if (errno)
        return fail_to("read", path, err);
    if (names->n)
        qsort(names->entry, names->n, sizeof *names->entry, in_byte_order);
    for (size_t i = 0; i < names->n; i++) {
        const char *name = names->entry[i].name;
        struct digest digest;

        if (data_kind_of(name) >= DATA_KIND_PICTURE &&
            !is_folder(path, &names->entry[i]))
            continue;
        digest = digest_bytes(name, strlen(name));
        state->sum += digest_word(&digest);
        state->count++;
    }
    return 0;
}

int
data_tree_is_run(const char *path, struct err *err)
{
    static const char *const names[] = {"metrics.jsonl", "MANIFEST.json"};
    int found = 0;

    for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++)
        found = file_exists(mem_temp("%s/%s", path, names[i]));
    if (found)
        err_set(err,
                "'%s' is a run or a checkpoint, not a data set: CHECKPOINT "
                "comes first, then DATA",
                path);
    return found;
}

int
data_tree_list(const char *path, struct tree_names *names,
               struct tree_state *state, struct err *err)
{
    DIR *dir = opendir(path);
    int rc;

    *names = (struct tree_names){0};
    if (!dir)
        return fail_to("open", path, err);
    rc = list_folder(dir, path, names, state, err);
    closedir(dir);
    if (rc)
        data_tree_names_release(names);
    return rc;
}

void
data_tree_names_release(struct tree_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->entry[i].name);
    free(names->entry);
    *names = (struct tree_names){0};
}

void
data_tree_text_state(const char *text, size_t n, struct tree_state *state)
{
    struct digest digest = digest_bytes(text, n);

    state->count = n;
    state->sum = digest_word(&digest);
}

int
data_tree_names_find(const struct tree_names *names, const char *name)
{
    const struct tree_name key = {.name = (char *)(uintptr_t)name};

    return names->n && bsearch(&key, names->entry, names->n,
                               sizeof *names->entry, in_byte_order);
}

/* Adds a text and returns its offset. */
static size_t
add_text(struct tree *tree, const char *text)
{
    size_t len = strlen(text) + 1, at = tree->text_len;

    mem_grow(&tree->text, &tree->text_room, at + len, 1);
    memcpy(tree->text + at, text, len);
    tree->text_len += len;
    return at;
}

static void
add_entry(struct tree *tree, const char *name, const char *why)
{
    size_t at = add_text(tree, name);

    mem_grow(&tree->entry, &tree->room, tree->n + 1, sizeof *tree->entry);
    tree->entry[tree->n++] =
        (struct tree_entry){at, why ? add_text(tree, why) : 0};
}

/* A folder that is being read, and its parent. */
struct level {
    const struct level *up;
    int depth;
    dev_t device;
    ino_t number;
};

/* Returns why a folder must not be entered, or NULL. */
static const char *
refuse_folder(const struct level *level, const struct stat *st)
{
    for (const struct level *at = level; at; at = at->up)
        if (at->device == st->st_dev && at->number == st->st_ino)
            return "is a link to a folder that it lies in";
    return level->depth == MAX_DEPTH ? "is too many folders deep" : NULL;
}

static int walk_folder(struct tree *tree, const char *root, const char *below,
                       const struct level *level, struct err *err);

/* Adds an entry that is no plain file; `name` is relative to the root. 0, or
 * DATA_UNREAD. */
static int
follow_entry(struct tree *tree, const char *root, const char *name,
             const struct level *level, struct err *err)
{
    const char *path = mem_temp("%s/%s", root, name);
    char *inside = mem_format("%s/", name);
    const char *why;
    struct err gone;
    struct stat st;
    int rc = 0;

    if (stat(path, &st)) {
        err_sys(&gone, "cannot be followed");
        rc = fail_to("open", path, err);
        add_entry(tree, name, gone.msg);
    } else if (S_ISDIR(st.st_mode)) {
        const struct level own = {level, level->depth + 1, st.st_dev,
                                  st.st_ino};

        why = refuse_folder(level, &st);
        if (!why && (rc = walk_folder(tree, root, inside, &own, err)))
            why = err->msg;
        if (why)
            add_entry(tree, name, why);
    } else if (S_ISREG(st.st_mode)) {
        add_entry(tree, name, NULL);
    }
    free(inside);
    return rc == DATA_UNREAD ? rc : 0;
}

/* Adds the files of a folder; `below` is its path relative to the root, "" or
 * with a final slash. */
static int
walk_folder(struct tree *tree, const char *root, const char *below,
            const struct level *level, struct err *err)
{
    struct tree_names names;
    struct tree_state state;
    int rc =
        data_tree_list(mem_temp("%s/%s", root, below), &names, &state, err);

    if (rc)
        return rc;
    mem_grow(&tree->folder, &tree->folder_room, tree->folders + 1,
             sizeof *tree->folder);
    tree->folder[tree->folders++] =
        (struct tree_folder){add_text(tree, below), state};
    tree->hidden += names.hidden;
    for (size_t i = 0; !rc && i < names.n; i++) {
        char *name = mem_format("%s%s", below, names.entry[i].name);

        if (names.entry[i].type == DT_REG)
            add_entry(tree, name, NULL);
        else
            rc = follow_entry(tree, root, name, level, err);
        free(name);
    }
    data_tree_names_release(&names);
    return rc;
}

int
data_tree_walk(struct tree *tree, const char *root, struct err *err)
{
    struct level top = {.depth = 1};
    struct stat st;

    if (stat(root, &st))
        return err_sys(err, "cannot open '%s'", root);
    top.device = st.st_dev;
    top.number = st.st_ino;
    add_text(tree, ""); // offset 0 means no message
    return walk_folder(tree, root, "", &top, err);
}

void
data_tree_release(struct tree *tree)
{
    mem_free(tree->text, tree->entry, tree->folder);
    *tree = (struct tree){0};
}
