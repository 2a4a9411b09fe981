#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tree.h"
#include "util/mem.h"

enum { MAX_DEPTH = 32 };

struct entries {
    char **name;
    size_t n, room;
};

static int
in_byte_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int
list_folder(struct entries *entries, const char *path, struct err *err)
{
    DIR *dir = opendir(path);
    struct dirent *entry;

    if (!dir)
        return err_sys(err, "cannot open '%s'", path);
    while (errno = 0, (entry = readdir(dir))) {
        if (entry->d_name[0] == '.')
            continue;
        mem_grow(&entries->name, &entries->room, entries->n + 1,
                 sizeof *entries->name);
        entries->name[entries->n++] = mem_text(entry->d_name);
    }
    closedir(dir);
    if (errno)
        return err_sys(err, "cannot read '%s'", path);
    if (entries->n)
        qsort(entries->name, entries->n, sizeof *entries->name, in_byte_order);
    return 0;
}

static void
add(struct tree *tree, const char *name)
{
    size_t len = strlen(name) + 1;

    mem_grow(&tree->text, &tree->text_room, tree->text_len + len, 1);
    mem_grow(&tree->at, &tree->room, tree->n + 1, sizeof *tree->at);
    memcpy(tree->text + tree->text_len, name, len);
    tree->at[tree->n++] = tree->text_len;
    tree->text_len += len;
}

/* `below` is the folder relative to the root, "" or with a slash behind. */
static int
walk(struct tree *tree, const char *root, const char *below, int depth,
     struct err *err)
{
    struct entries entries = {0};
    char *folder = mem_format("%s/%s", root, below);
    int rc = list_folder(&entries, folder, err);

    if (!rc && depth > MAX_DEPTH)
        rc = err_set(err, "'%s' is too deep: do its links form a circle?",
                     folder);
    for (size_t i = 0; i < entries.n; i++) {
        char *name = mem_format("%s%s", below, entries.name[i]);
        char *path = mem_format("%s/%s", root, name);
        struct stat st;

        if (!rc && stat(path, &st)) {
            rc = err_sys(err, "cannot open '%s'", path);
        } else if (!rc && S_ISDIR(st.st_mode)) {
            char *inside = mem_format("%s/", name);

            rc = walk(tree, root, inside, depth + 1, err);
            free(inside);
        } else if (!rc && S_ISREG(st.st_mode)) {
            add(tree, name);
        }
        free(name);
        free(path);
        free(entries.name[i]);
    }
    free(entries.name);
    free(folder);
    return rc;
}

int
tree_walk(struct tree *tree, const char *root, struct err *err)
{
    return walk(tree, root, "", 1, err);
}

void
tree_release(struct tree *tree)
{
    free(tree->text);
    free(tree->at);
    *tree = (struct tree){0};
}

const char *
tree_name(const struct tree *tree, size_t i)
{
    return tree->text + tree->at[i];
}
