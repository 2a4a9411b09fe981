#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/set.h"
#include "util/file.h"
#include "util/mem.h"

#include "layout.h"
#include "tree.h"

int
data_is_index(const char *path, struct err *err)
{
    char magic[sizeof LAYOUT_MAGIC] = "";
    struct stat st;
    int fd;
    ssize_t n;

    if (stat(path, &st) || S_ISDIR(st.st_mode))
        return 0;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, "cannot open '%s'", path);
    n = pread(fd, magic, sizeof magic - 1, 0);
    close(fd);
    return n == sizeof magic - 1 && !strcmp(magic, LAYOUT_MAGIC);
}

static void
explain_no_index(const char *path, struct err *err)
{
    if (!data_tree_is_run(path, err))
        err_set(err, "'%s' has no index: make one with foil-data index '%s'",
                path, path);
}

/* Returns `path` if it is an index, else the index of the data `path`; NULL if
 * there is none. */
static char *
find_index(const char *path, struct err *err)
{
    size_t n = strlen(path);
    struct stat st;
    char *index_path;
    int found = data_is_index(path, err);

    if (found)
        return found < 0 ? NULL : mem_text(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    index_path = mem_format("%.*s" LAYOUT_SUFFIX, (int)n, path);
    found = data_is_index(index_path, err);
    if (found > 0)
        return index_path;
    if (found == 0 && stat(path, &st))
        err_sys(err, "cannot open the data set '%s'", path);
    else if (found == 0 && !stat(index_path, &st))
        err_set(err, "'%s' is not an index", index_path);
    else if (found == 0)
        explain_no_index(path, err);
    free(index_path);
    return NULL;
}

static int
map_index(struct data_set *set, struct err *err)
{
    const int fd = open(set->path, O_RDONLY | O_CLOEXEC);
    struct layout_head *head;
    void *at = MAP_FAILED;
    int rc = 0;

    if (fd < 0 || fstat(fd, &set->state))
        rc = err_sys(err, "cannot open '%s'", set->path);
    else if ((size_t)set->state.st_size < sizeof *set->head)
        rc = err_set(err, "'%s' is cut off", set->path);
    set->bytes = (size_t)set->state.st_size;
    if (!rc)
        at = mmap(NULL, set->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (!rc && at == MAP_FAILED)
        rc = err_sys(err, "cannot map '%s'", set->path);
    if (fd >= 0)
        close(fd);
    if (rc)
        return rc;
    set->map = at;
    head = mem_array(1, sizeof *head);
    *head = *(const struct layout_head *)at;
    set->head = head;
    return 0;
}

int
data_set_check_file(const struct data_set *set, size_t i, struct err *err)
{
    const struct data_layout_file *file = &set->file[i];
    const char *path = set->place[i];
    struct stat st;
    char *advice;

    if (stat(path, &st))
        return err_set(err,
                       "cannot find the data '%s' of '%s': %s; if they were "
                       "moved, 'foil data index' makes the index again",
                       path, set->path, strerror(errno));
    if (file->kind == LAYOUT_FOLDER && S_ISDIR(st.st_mode))
        return 0;
    if (file->kind == LAYOUT_TAR && S_ISREG(st.st_mode) &&
        (uint64_t)st.st_size == file->bytes)
        return 0;
    advice = data_layout_advice(set);
    err_set(err, "'%s' has changed since it was indexed: %s", path, advice);
    free(advice);
    return -1;
}

int
data_set_find_files(struct data_set *set, struct err *err)
{
    const size_t n = set->head->files;
    char *copy = mem_text(set->path), *folder = dirname(copy);
    int rc = 0;

    set->place = mem_array(n, sizeof *set->place);
    if (!set->list)
        set->archives = mem_array(1, sizeof *set->archives);
    if (set->fetch) // it is fetched to be read
        set->place[0] =
            mem_text(set->list->text + set->list->shard[set->number].place);
    for (size_t i = 0; !rc && !set->fetch && i < n; i++) {
        const char *relative = set->text + set->file[i].relative;
        const char *absolute = set->text + set->file[i].absolute;

        set->place[i] = data_layout_path(folder, relative);
        if (!data_set_check_file(set, i, err))
            continue;
        free(set->place[i]);
        set->place[i] = mem_text(absolute);
        rc = data_set_check_file(set, i, err);
    }
    free(copy);
    return rc;
}

void
data_set_close_archive(const struct data_set *set, size_t file)
{
    for (size_t i = 0; i < OPEN_ARCHIVES; i++) {
        struct archive *archive = &set->archives->open[i];

        if (!archive->fd || archive->set != set ||
            (archive->file != file && file != SIZE_MAX))
            continue;
        close(archive->fd - 1);
        *archive = (struct archive){0};
    }
}

void
data_set_unmap(struct data_set *set)
{
    if (!set)
        return;
    if (set->archives)
        data_set_close_archive(set, SIZE_MAX);
    for (size_t i = 0; set->place && i < set->head->files; i++)
        free(set->place[i]);
    if (set->map)
        munmap((void *)(uintptr_t)set->map, set->bytes);
    if (!set->list)
        free(set->archives);
    mem_free((void *)(uintptr_t)set->head, set->checked, set->place, set->path,
             set);
}

struct data_set *
data_set_map(const char *path, struct err *err)
{
    struct data_set *set;
    char *index = find_index(path, err);

    if (!index)
        return NULL;
    set = mem_array(1, sizeof *set);
    set->path = index;
    if (!map_index(set, err) && !data_check_head(set, err) &&
        !data_check_tables(set, err))
        return set;
    data_set_unmap(set);
    return NULL;
}
