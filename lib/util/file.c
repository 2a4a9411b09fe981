#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"
#include "util/mem.h"

void *
file_read(const char *path, size_t max, size_t *len, struct err *err)
{
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    size_t room = 0, n = 0;

    if (!file) {
        err_sys(err, "cannot open '%s'", path);
        return NULL;
    }
    do {
        mem_grow(&data, &room, n + 65536, 1);
        n += fread(data + n, 1, room - n - 1, file);
    } while (n <= max && !feof(file) && !ferror(file));
    if (ferror(file)) {
        err_sys(err, "cannot read '%s'", path);
    } else if (n > max) {
        err_set(err, "'%s' is larger than %zu bytes", path, max);
    } else {
        fclose(file);
        data[n] = 0;
        *len = n;
        return data;
    }
    fclose(file);
    free(data);
    return NULL;
}

FILE *
file_open(const char *path, int flags, struct err *err)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);
    struct stat st;
    FILE *file = NULL;

    if (fd < 0 && errno != ELOOP)
        err_sys(err, "cannot open '%s'", path);
    else if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
        err_set(err, "'%s' is no regular file", path);
    else if (!(file = fdopen(fd, "rb")))
        err_sys(err, "cannot open '%s'", path);
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

int
file_append(int file, const void *data, size_t len, const char *name,
            struct err *err)
{
    struct stat before;
    ssize_t wrote;

    if (fstat(file, &before))
        before.st_size = -1;
    wrote = write(file, data, len);
    if (wrote == (ssize_t)len)
        return 0;
    err_set(err, "cannot write to %s: %s", name,
            wrote < 0 ? strerror(errno) : "disk full");
    if (wrote > 0 && (before.st_size < 0 || ftruncate(file, before.st_size)))
        err_set(err, "cannot write to %s: its end is damaged now", name);
    return -1;
}

int
file_sync(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;

    if (fd < 0)
        return err_sys(err, "cannot open '%s'", path);
    if (fsync(fd))
        rc = err_sys(err, "cannot sync '%s'", path);
    close(fd);
    return rc;
}

/* The open drafts; 1 once a draft was renamed into place. */
static pthread_mutex_t drafts_lock = PTHREAD_MUTEX_INITIALIZER;
static struct file_draft *drafts;
static int any_placed;

/* Locks a draft until its writer exits: 0, or -1 if another process holds the
 * lock. */
static int
lock_draft(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(fd, F_SETLK, &whole);
}

/* Returns 1 if `name` is a draft of the file `base`, of another process. */
static int
is_draft_of(const char *base, const char *name)
{
    const size_t n = strlen(base);
    char *end;
    long pid;

    if (strncmp(name, base, n) || name[n] != '.')
        return 0;
    pid = strtol(name + n + 1, &end, 10);
    return end > name + n + 1 && !strcmp(end, ".new") && pid != (long)getpid();
}

/* Removes the drafts of a file whose writers are dead. */
static void
remove_dead_drafts(const char *path)
{
    char *copy = mem_text(path), *again = mem_text(path);
    const char *folder = dirname(copy), *base = basename(again);
    DIR *dir = opendir(folder);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        char *name;
        int fd;

        if (!is_draft_of(base, entry->d_name))
            continue;
        name = mem_format("%s/%s", folder, entry->d_name);
        fd = open(name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && !lock_draft(fd))
            unlink(name);
        if (fd >= 0)
            close(fd);
        free(name);
    }
    if (dir)
        closedir(dir);
    mem_free(copy, again);
}

/* Creates and locks ->temp, without following a link that somebody else may
 * have placed there.  It replaces a leftover of a dead process with our pid.
 * Between creation and lock, another process may take it for a dead writer's
 * draft and unlink it; then try again. */
static FILE *
create_draft(struct file_draft *draft)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    struct stat st;

    for (;;) {
        int fd = open(draft->temp, flags, 0666);

        if (fd < 0 && errno == EEXIST && !unlink(draft->temp))
            fd = open(draft->temp, flags, 0666);
        if (fd < 0)
            return NULL;
        lock_draft(fd); // may fail: not every file system locks
        if (fstat(fd, &st) || st.st_nlink)
            return fdopen(fd, "wb");
        close(fd);
    }
}

int
file_draft_open(struct file_draft *draft, const char *path, struct err *err)
{
    struct stat st;
    int special =
        !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);

    *draft = (struct file_draft){.path = mem_text(path)};
    draft->temp = special ? mem_text(path)
                          : mem_format("%s.%ld.new", path, (long)getpid());
    if (!special)
        remove_dead_drafts(path);
    if (special) { // opening a pipe may block
        draft->file = fopen(path, "wb");
    } else {
        pthread_mutex_lock(&drafts_lock);
        draft->file = create_draft(draft);
        draft->next = drafts;
        drafts = draft;
        pthread_mutex_unlock(&drafts_lock);
    }
    if (draft->file)
        return 0;
    err_sys(err, "cannot create '%s'", path);
    file_draft_drop(draft);
    return -1;
}

/* Renames it into place; blocks for ever after file_drafts_abandon(). */
static int
place_draft(struct file_draft *draft, struct err *err)
{
    int rc = 0;

    pthread_mutex_lock(&drafts_lock);
    if (rename(draft->temp, draft->path))
        rc = err_sys(err, "cannot rename '%s'", draft->temp);
    else
        *draft->temp = 0;
    any_placed |= !rc;
    pthread_mutex_unlock(&drafts_lock);
    return rc;
}

int
file_draft_keep(struct file_draft *draft, struct err *err)
{
    int special = !strcmp(draft->path, draft->temp), rc = -1;

    if (ferror(draft->file) || fflush(draft->file) ||
        (!special && fsync(fileno(draft->file))))
        err_sys(err, "cannot write '%s'", draft->path);
    else if (special)
        rc = 0;
    else if (!place_draft(draft, err))
        rc = file_sync(dirname(draft->path), err); // the last use of the path
    file_draft_drop(draft);
    return rc;
}

void
file_draft_drop(struct file_draft *draft)
{
    struct file_draft **at = &drafts;

    pthread_mutex_lock(&drafts_lock);
    while (*at && *at != draft)
        at = &(*at)->next;
    if (*at)
        *at = draft->next;
    if (draft->file && *draft->temp && strcmp(draft->path, draft->temp))
        unlink(draft->temp);
    pthread_mutex_unlock(&drafts_lock);
    if (draft->file)
        fclose(draft->file);
    mem_free(draft->path, draft->temp);
    *draft = (struct file_draft){0};
}

int
file_drafts_abandon(void)
{
    pthread_mutex_lock(&drafts_lock);
    if (any_placed) {
        pthread_mutex_unlock(&drafts_lock);
        return -1;
    }
    for (struct file_draft *d = drafts; d; d = d->next)
        unlink(d->temp);
    return 0; // the lock stays locked: no draft is opened or kept any more
}

int
file_write(const char *path, const void *data, size_t len, struct err *err)
{
    struct file_draft draft = {0};

    if (file_draft_open(&draft, path, err))
        return -1;
    fwrite(data, 1, len, draft.file);
    return file_draft_keep(&draft, err);
}

int
file_mkdir(const char *path, unsigned mode, struct err *err)
{
    struct stat st;

    if (!mkdir(path, (mode_t)mode))
        return 0;
    if (errno == EEXIST && !stat(path, &st) && S_ISDIR(st.st_mode))
        return 0;
    return err_sys(err, "cannot make folder '%s'", path);
}

static int
remove_all_in(const char *path, struct err *err)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    int rc = 0;

    if (!dir)
        return err_sys(err, "cannot open '%s'", path);
    while (!rc && (entry = readdir(dir))) {
        char *name;

        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        name = mem_format("%s/%s", path, entry->d_name);
        rc = file_remove(name, err);
        free(name);
    }
    closedir(dir);
    return rc;
}

int
file_remove(const char *path, struct err *err)
{
    struct stat st;

    if (lstat(path, &st))
        return err_sys(err, "cannot remove '%s'", path);
    if (S_ISDIR(st.st_mode) && remove_all_in(path, err))
        return -1;
    if (remove(path))
        return err_sys(err, "cannot remove '%s'", path);
    return 0;
}

int
file_exists(const char *path)
{
    struct stat st;

    return !lstat(path, &st);
}

int
file_same(const char *path, const char *other)
{
    struct stat a, b;

    return !stat(path, &a) && !stat(other, &b) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

char *
file_resolve(const char *path)
{
    char *copy = mem_text(path), *rest = copy;
    char *whole = mem_array(strlen(path) + 2, 1);
    size_t len = 0;

    for (const char *step; (step = strtok_r(rest, "/", &rest));) {
        if (!strcmp(step, "..")) {
            while (len && whole[--len] != '/')
                continue;
        } else if (strcmp(step, ".") != 0) {
            whole[len++] = '/';
            memcpy(whole + len, step, strlen(step));
            len += strlen(step);
        }
    }
    if (!len)
        whole[len++] = '/';
    whole[len] = 0;
    free(copy);
    return whole;
}

char *
file_own_folder(struct err *err)
{
    char path[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    if (n < 0) {
        err_sys(err, "cannot read '/proc/self/exe'");
        return NULL;
    }
    path[n] = 0;
    return mem_text(dirname(path));
}

const char *
file_search_path(void)
{
    const char *path = getenv("PATH");

    return path ? path : "/usr/bin:/bin";
}

static int
is_program(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

int
file_is_command(const char *name)
{
    const char *at = file_search_path();
    int found = 0, more = 1;

    if (strchr(name, '/'))
        return is_program(name);
    while (!found && more) {
        const size_t n = strcspn(at, ":");
        char *path = mem_format("%.*s%s%s", (int)n, at, n ? "/" : "./", name);

        found = is_program(path);
        free(path);
        more = at[n];
        at += n + 1;
    }
    return found;
}
