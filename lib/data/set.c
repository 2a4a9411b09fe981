#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/set.h"
#include "text/captions.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

#include "layout.h"
#include "tree.h"

enum { OPEN_FILES = 64 }; // at a time, for any number of shards

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

/*   n  length of the path without slashes at its end */
static void
explain_no_index(const char *path, size_t n, struct err *err)
{
    if (data_tree_is_run(path, err))
        return;
    if (n > 4 && !strncmp(path + n - 4, ".npy", 4))
        err_set(err,
                "'%s' is an array, not a data set: want a tar or a folder of "
                "images",
                path);
    else
        err_set(err, "'%s' has no index: make one with foil-data index '%s'",
                path, path);
}

/* Returns the path of the index: `path`, or the index of the data `path`; NULL
 * if there is none. */
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
        explain_no_index(path, n, err);
    free(index_path);
    return NULL;
}

static int
map_index(struct data_set *set, struct err *err)
{
    struct layout_head *head;
    struct stat st;
    void *at;

    set->own = open(set->path, O_RDONLY | O_CLOEXEC);
    if (set->own < 0 || fstat(set->own, &st))
        return err_sys(err, "cannot open '%s'", set->path);
    if ((size_t)st.st_size < sizeof *set->head)
        return err_set(err, "'%s' is cut off", set->path);
    set->bytes = (size_t)st.st_size;
    set->written = st.st_mtim;
    at = mmap(NULL, set->bytes, PROT_READ, MAP_PRIVATE, set->own, 0);
    if (at == MAP_FAILED)
        return err_sys(err, "cannot map '%s'", set->path);
    set->map = at;
    head = mem_array(1, sizeof *head);
    *head = *(const struct layout_head *)at;
    set->head = head;
    return 0;
}

/* Returns 0 if file i exists and has the size in the index, else -1 with a
 * message. */
static int
check_size(const struct data_set *set, size_t i, struct err *err)
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

static int
find_files(struct data_set *set, struct err *err)
{
    const size_t n = set->head->files;
    char *copy = mem_text(set->path), *folder = dirname(copy);
    int rc = 0;

    set->place = mem_array(n, sizeof *set->place);
    set->fd = mem_array(n, sizeof *set->fd);
    set->ring = mem_array(OPEN_FILES, sizeof *set->ring);
    for (size_t i = 0; i < n; i++)
        set->fd[i] = -1;
    for (size_t i = 0; !rc && i < n; i++) {
        const char *relative = set->text + set->file[i].relative;
        const char *absolute = set->text + set->file[i].absolute;

        set->place[i] = strcmp(folder, ".") ? data_layout_path(folder, relative)
                                            : mem_text(relative);
        if (!check_size(set, i, err))
            continue;
        free(set->place[i]);
        set->place[i] = mem_text(absolute);
        rc = check_size(set, i, err);
    }
    free(copy);
    return rc;
}

struct data_set *
data_open_parts(const char *path, struct err *err)
{
    struct data_set *set;
    char *index = find_index(path, err);

    if (!index)
        return NULL;
    set = mem_array(1, sizeof *set);
    set->path = index;
    if (!map_index(set, err) && !data_check_head(set, err) &&
        !data_check_tables(set, err) && !find_files(set, err))
        return set;
    data_close(set);
    return NULL;
}

struct data_set *
data_open(const char *path, struct err *err)
{
    struct data_set *set = data_open_parts(path, err);

    if (!set || !data_check(set, err))
        return set;
    data_close(set);
    return NULL;
}

void
data_close(struct data_set *set)
{
    if (!set)
        return;
    for (size_t i = 0; set->fd && i < set->head->files; i++) {
        free(set->place[i]);
        if (set->fd[i] >= 0)
            close(set->fd[i]);
    }
    if (set->map)
        munmap((void *)(uintptr_t)set->map, set->bytes);
    free((void *)(uintptr_t)set->head);
    if (set->own >= 0)
        close(set->own);
    free(set->checked);
    free(set->place);
    free(set->fd);
    free(set->ring);
    free(set->path);
    free(set);
}

size_t
data_size(const struct data_set *set)
{
    return set->head->samples;
}

struct digest
data_digest(const struct data_set *set)
{
    return set->head->data;
}

uint64_t
data_seed(const struct data_set *set, uint64_t seed)
{
    return seed ^ digest_word(&set->head->images);
}

size_t
data_classes(const struct data_set *set)
{
    return set->head->classes;
}

const char *
data_class_name(const struct data_set *set, size_t label)
{
    REQUIRE(label < set->head->classes);
    return set->text + set->class[label];
}

static const struct layout_sample *
sample_of(const struct data_set *set, size_t id)
{
    REQUIRE(id < set->head->samples);
    REQUIRE(data_check_touched(set, &set->sample[id], sizeof *set->sample));
    return &set->sample[id];
}

int
data_label(const struct data_set *set, size_t id)
{
    return sample_of(set, id)->label;
}

int64_t *
data_labels_of(const struct data_set *set)
{
    int64_t *label = mem_array(data_size(set), sizeof *label);

    for (size_t i = 0; i < data_size(set); i++)
        label[i] = data_label(set, i);
    return label;
}

struct data_file
data_file(const struct data_set *set, size_t id)
{
    const struct layout_sample *sample = sample_of(set, id);

    return (struct data_file){(enum image_codec)sample->codec, sample->bytes,
                              sample->width, sample->height};
}

const char *
data_name(const struct data_set *set, size_t id)
{
    return set->text + sample_of(set, id)->name;
}

const char *
data_caption(const struct data_set *set, size_t id)
{
    return set->text + sample_of(set, id)->caption;
}

size_t
data_captions_most(const struct data_set *set)
{
    size_t most = 0;

    for (size_t id = 0; id < data_size(set); id++) {
        const size_t n = text_captions_count(data_caption(set, id));

        most = n > most ? n : most;
    }
    return most;
}

char *
data_where(const struct data_set *set, size_t id, uint64_t *offset,
           struct err *err)
{
    const struct layout_sample *sample = sample_of(set, id);
    const int own = set->file[sample->file].kind == LAYOUT_FOLDER;
    char *path = own ? data_layout_path(set->place[sample->file],
                                        set->text + sample->name)
                     : mem_text(set->place[sample->file]);
    char *absolute = data_layout_absolute(path, err);

    free(path);
    *offset = own ? 0 : sample->offset;
    return absolute;
}

int
data_reads(const struct data_set *set, const char *path)
{
    const size_t n = strlen(set->path), end = strlen(LAYOUT_SUFFIX);
    char *data = mem_format("%.*s", (int)(n > end ? n - end : 0), set->path);
    int same = file_same(path, set->path) || file_same(path, data);

    for (size_t i = 0; !same && i < set->head->files; i++)
        same = file_same(path, set->place[i]);
    free(data);
    return same;
}

/* Closes an archive; the next read opens it again. */
static void
close_archive(struct data_set *set, size_t file)
{
    if (set->fd[file] < 0)
        return;
    close(set->fd[file]);
    set->fd[file] = -1;
}

/* Returns the descriptor of an archive; if too many are open, it closes the
 * oldest. */
static int
archive_of(struct data_set *set, size_t file, struct err *err)
{
    size_t *slot = &set->ring[set->opened % OPEN_FILES];
    struct stat st;
    int fd;

    if (set->fd[file] >= 0)
        return set->fd[file];
    if (set->opened >= OPEN_FILES)
        close_archive(set, *slot);
    fd = data_layout_open(set->place[file], &st, err);
    if (fd < 0)
        return DATA_UNREAD; // it existed when the set was opened
    set->fd[file] = fd;
    *slot = file;
    set->opened++;
    return fd;
}

/* Adds the remedy to a message about a sample. */
static int
add_advice(const struct data_set *set, struct err *err)
{
    const struct err why = *err;
    char *advice = data_layout_advice(set);

    err_set(err, "%s: %s", why.msg, advice);
    free(advice);
    return -1;
}

/* Reads a sample that is a file of its own. */
static int
read_own(const struct data_set *set, const struct layout_sample *sample,
         struct data_bytes *bytes, struct err *err)
{
    const char *name = set->text + sample->name;
    char *path = data_layout_path(set->place[sample->file], name);
    int rc = data_layout_read_file(path, bytes, err);

    if (rc == -1 && !file_exists(path))
        add_advice(set, err);
    else if (rc == -1 && access(path, R_OK))
        rc = DATA_UNREAD; // only without permission: it was readable when
                          // indexed
    free(path);
    return rc;
}

/* Reads a sample in a tar, without retries. */
static int
read_member(struct data_set *set, const struct layout_sample *sample,
            struct data_bytes *bytes, struct err *err)
{
    const int fd = archive_of(set, sample->file, err);
    struct err why;

    if (fd < 0)
        return fd;
    if (!data_layout_read(fd, sample->offset, sample->bytes, bytes,
                          set->text + sample->name, &why))
        return 0;
    close_archive(set, sample->file);
    if (!check_size(set, sample->file, err))
        err_set(err, "'%s': %s", set->place[sample->file], why.msg);
    return DATA_UNREAD;
}

int
data_read(struct data_set *set, size_t id, struct data_bytes *bytes,
          struct err *err)
{
    const struct layout_sample *sample = &set->sample[id];
    struct digest digest;
    int rc, tried = 0;

    if (data_touch(set, id, err))
        return DATA_UNREAD;
    if (set->file[sample->file].kind == LAYOUT_FOLDER)
        rc = read_own(set, sample, bytes, err);
    else
        do
            rc = read_member(set, sample, bytes, err);
        while (rc == DATA_UNREAD && data_layout_retry(tried++));
    if (rc)
        return rc;
    digest = digest_bytes(bytes->data, bytes->len);
    if (!memcmp(&digest, &sample->digest, sizeof digest))
        return 0;
    err_set(err, "'%s' has changed since it was indexed",
            set->text + sample->name);
    return add_advice(set, err);
}

static struct digest *
digests_of(const struct data_set *set)
{
    const size_t n = data_size(set);
    struct digest *digest = mem_array(n, sizeof *digest);

    for (size_t i = 0; i < n; i++)
        digest[i] = set->sample[i].digest;
    return digest;
}

size_t
data_shared(const struct data_set *set, const struct data_set *other)
{
    struct digest *some = digests_of(set), *others = digests_of(other);
    const size_t shared =
        digest_shared(data_size(set), some, data_size(other), others);

    free(others);
    free(some);
    return shared;
}

static struct data_set *
compare_with_index(struct data_set *set, int lenient, struct err *err)
{
    const int stale = set ? data_stale(set, err) : 0;

    if (!set || (stale < 0 && !lenient))
        die("%s", err->msg);
    if (stale)
        log_message("%s", err->msg);
    return set;
}

struct data_set *
data_open_or_die(const char *path, int lenient)
{
    struct err err;

    return compare_with_index(data_open(path, &err), lenient, &err);
}

struct data_set *
data_open_parts_or_die(const char *path)
{
    struct err err;

    return compare_with_index(data_open_parts(path, &err), 1, &err);
}

void
data_protect_or_die(const struct data_set *set, const char *output)
{
    if (data_reads(set, output))
        opt_misuse("'%s' is read from: it would be lost", output);
}
