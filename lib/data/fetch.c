#define _GNU_SOURCE // F_OFD_SETLK
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/fetch.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/mem.h"

#include "layout.h"

enum { TRIES = 5, FIRST_PAUSE_MS = 100, MAX_PAUSE_MS = 1000, POLL_MS = 20 };
enum { NAME = 64 }; // bytes of a file's name without its suffix

static const double again_s = 1;

enum state { MISSING, FETCHING, THERE };

struct wanted {
    size_t shard;
    char name[NAME];
    enum state state;
    int failed; // in its last tries: 1, or 2 if that was reported
    double due; // when to try again
};

struct data_fetch {
    const struct data_set *set;
    struct data_fetch_settings how;
    char *command;
    int quit[2]; // a pipe; its end in the threads' polls is closed to stop them
    pthread_t *thread;
    size_t threads;

    pthread_mutex_t mutex; // of all below
    pthread_cond_t change;
    int over;
    struct wanted *wanted;
    size_t n, room, need;
    struct err why; // of the last failure
};

static struct data_fetch_settings settings;

void
data_fetch_use(const struct data_fetch_settings *how)
{
    settings = *how;
}

/* ---- the files ----------------------------------------------------------- */

/* Writes the name of a shard's file, which no other shard has. */
static char *
name_shard(const struct data_fetch *f, size_t i, char name[NAME])
{
    const struct layout_shard *shard = &f->set->shard[i];
    const char *place = f->set->text + shard->place;
    struct digest_stream *stream = digest_new();
    char hex[DIGEST_HEX];

    digest_add(stream, &shard->digest, sizeof shard->digest);
    digest_add(stream, place, strlen(place));
    snprintf(name, NAME, "%s-%" PRIu64, digest_hex(digest_end(stream), hex),
             shard->bytes);
    return name;
}

static const char *
path_of(const struct data_fetch *f, const char *name)
{
    return mem_temp("%s/%s.tar", f->how.folder, name);
}

static int
has_file(const char *path, uint64_t bytes)
{
    struct stat st;

    return !stat(path, &st) && S_ISREG(st.st_mode) &&
           (uint64_t)st.st_size == bytes;
}

/* Returns 1 if the threads must end, after `ms` milliseconds if not. */
static int
has_ended(const struct data_fetch *f, int ms)
{
    struct pollfd quit = {.fd = f->quit[0], .events = POLLIN};

    return poll(&quit, 1, ms) > 0;
}

/* The byte of the lock file that is locked while files are removed, and that of
 * a file while it is fetched. */
static struct flock
lock_of(const char *name)
{
    uint64_t word = 0;

    if (name)
        sscanf(name, "%15" SCNx64, &word);
    return (struct flock){.l_type = F_WRLCK,
                          .l_whence = SEEK_SET,
                          .l_start = name ? (off_t)word + 1 : 0,
                          .l_len = 1};
}

/* Waits for a lock; returns its descriptor, whose close() unlocks, or -1. */
static int
take_lock(const struct data_fetch *f, const char *name, struct err *err)
{
    const char *path = mem_temp("%s/.lock", f->how.folder);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    struct flock byte = lock_of(name);

    while (fd >= 0 && fcntl(fd, F_OFD_SETLK, &byte)) {
        if ((errno == EAGAIN || errno == EACCES || errno == EINTR) &&
            !has_ended(f, POLL_MS))
            continue;
        close(fd);
        return err_sys(err, "cannot lock '%s'", path);
    }
    return fd < 0 ? err_sys(err, "cannot open '%s'", path) : fd;
}

/* Returns the place of a file among the wanted ones, or SIZE_MAX. */
static size_t
find_file(const struct data_fetch *f, const char *file)
{
    for (size_t i = 0; i < f->n; i++)
        if (!strncmp(f->wanted[i].name, file, strlen(f->wanted[i].name)))
            return i;
    return SIZE_MAX;
}

/* The file to be removed next: of those with the highest rank the longest
 * unused. */
struct victim {
    size_t rank;
    int64_t used; /* nanoseconds */
    char path[PATH_MAX];
};

/* Returns the bytes of all files of the cache and parts of other processes, and
 * the victim with a rank above its own; its path is "" if there is none.
 * Removes stale parts, and those of `name`, whose lock the caller has. */
static uint64_t
scan_cache(const struct data_fetch *f, int locks, const char *name,
           struct victim *victim)
{
    DIR *folder = opendir(f->how.folder);
    struct dirent *entry;
    uint64_t all = 0, bytes;

    while (folder && (entry = readdir(folder))) {
        const int is_part = !strncmp(entry->d_name, ".part.", 6);
        const char *at = entry->d_name + (is_part ? 6 : 0);
        const char *path = mem_temp("%s/%s", f->how.folder, entry->d_name);
        const size_t rank = find_file(f, at);
        struct flock lock = lock_of(at);
        struct stat st;
        int64_t used;
        int len = 0;

        if (sscanf(at, "%*32[0-9a-f]-%" SCNu64 "%n", &bytes, &len) != 1 ||
            stat(path, &st))
            continue;
        used = st.st_mtim.tv_sec * 1000000000l + st.st_mtim.tv_nsec;
        if (is_part &&
            (!strncmp(at, name, strlen(name)) ||
             (!fcntl(locks, F_OFD_GETLK, &lock) && lock.l_type == F_UNLCK)))
            unlink(path);
        else if (!is_part || !strchr(at + len + 1, '.')) // not a command's own
            all += bytes;
        if (is_part || rank < victim->rank ||
            (rank == victim->rank && used >= victim->used))
            continue;
        victim->rank = rank;
        victim->used = used;
        snprintf(victim->path, PATH_MAX, "%s", path);
    }
    if (folder)
        closedir(folder);
    return all;
}

/* Makes room for a file of `name`, whose lock the caller has, and makes its
 * part, which then counts for others. */
static int
make_room(struct data_fetch *f, uint64_t bytes, const char *name,
          const char *part, struct err *err)
{
    const int locks = take_lock(f, NULL, err);
    struct victim victim;
    int fd = -1, fits, needed;
    size_t rank;

    if (locks < 0)
        return -1;
    pthread_mutex_lock(&f->mutex);
    rank = find_file(f, name);
    needed = rank < f->need || rank == SIZE_MAX;
    if (rank == SIZE_MAX) // those that are needed stay
        rank = f->need ? f->need - 1 : 0;
    do {
        victim = (struct victim){.rank = rank, .used = INT64_MIN};
        fits = scan_cache(f, locks, name, &victim) + bytes <= f->how.bytes;
        if (!fits && *victim.path && victim.rank < f->n)
            f->wanted[victim.rank].state = MISSING;
        // a process that has it open can still read it
    } while (!fits && *victim.path && !unlink(victim.path));
    pthread_mutex_unlock(&f->mutex);
    if (!fits && !needed)
        err_set(err, "the cache is full");
    else if ((fd = open(part, O_WRONLY | O_CREAT | O_CLOEXEC, 0666)) < 0)
        err_sys(err, "cannot write '%s'", part);
    close(locks);
    return fd < 0 ? -1 : close(fd);
}

/* Runs the command once for a shard. */
static int
fetch_once(struct data_fetch *f, size_t i, const char *name, struct err *err)
{
    const struct layout_shard *shard = &f->set->shard[i];
    char *part =
        mem_format("%s/.part.%s.%ld", f->how.folder, name, (long)getpid());
    char *place = mem_text(f->set->text + shard->place);
    char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, f->command, (char[]){"sh"},
                    place,          part,           NULL};
    struct stat st;
    int rc = make_room(f, shard->bytes, name, part, err);

    if (!rc && (rc = f->how.run(argv, f->quit[0])))
        err_set(err, "the command ended with code %d", rc);
    else if (!rc && (rc = stat(part, &st)))
        err_sys(err, "the command made no file");
    else if (!rc && (uint64_t)st.st_size != shard->bytes)
        rc = err_set(err,
                     "it has %jd bytes, and %" PRIu64 " when it was indexed",
                     (intmax_t)st.st_size, shard->bytes);
    else if (!rc && (rc = utimensat(AT_FDCWD, part, NULL, 0) ||
                          rename(part, path_of(f, name))))
        err_sys(err, "cannot rename '%s'", part);
    if (rc)
        unlink(part);
    mem_free(part, place);
    return rc ? -1 : 0;
}

/* Fetches a shard, unless another process does so meanwhile. */
static int
fetch_shard(struct data_fetch *f, size_t i, struct err *err)
{
    const struct layout_shard *shard = &f->set->shard[i];
    int pause = FIRST_PAUSE_MS, there, locked;
    char name[NAME];
    struct err why;

    if (has_file(path_of(f, name_shard(f, i, name)), shard->bytes))
        return 0;
    locked = take_lock(f, name, err);
    if (locked < 0)
        return -1;
    there = has_file(path_of(f, name), shard->bytes);
    for (int k = 0; !there && k < TRIES; k++) {
        if (k && has_ended(f, pause))
            break;
        if (k)
            pause = 2 * pause < MAX_PAUSE_MS ? 2 * pause : MAX_PAUSE_MS;
        there = !fetch_once(f, i, name, &why);
    }
    close(locked);
    return there ? 0
                 : err_set(err, "cannot fetch '%s', in %d tries: %s",
                           f->set->text + shard->place, TRIES, why.msg);
}

int
data_fetch_file(struct data_fetch *f, size_t i, struct err *err)
{
    char name[NAME];
    struct stat st;

    name_shard(f, i, name);
    for (int k = 0; k < TRIES; k++) {
        const int fd = open(path_of(f, name), O_RDONLY | O_CLOEXEC);

        if (fd >= 0 && !fstat(fd, &st) &&
            (uint64_t)st.st_size == f->set->shard[i].bytes) {
            futimens(fd, NULL); // the time of its use
            return fd;
        }
        if (fd >= 0)
            close(fd);
        if (fetch_shard(f, i, err))
            return DATA_UNREAD;
    }
    err_set(err,
            "'%s' is removed before it can be read: the cache '%s' is too "
            "small for all that use it",
            f->set->text + f->set->shard[i].place, f->how.folder);
    return DATA_UNREAD;
}

void
data_fetch_drop(struct data_fetch *f, size_t i)
{
    char name[NAME];

    unlink(path_of(f, name_shard(f, i, name)));
}

/* ---- the threads --------------------------------------------------------- */

/* Returns the place of a shard among the wanted ones, or f->n. */
static size_t
find_shard(const struct data_fetch *f, size_t shard)
{
    size_t i = 0;

    while (i < f->n && f->wanted[i].shard != shard)
        i++;
    return i;
}

static void *
fetch_wanted(void *of)
{
    struct data_fetch *f = of;

    pthread_mutex_lock(&f->mutex);
    while (!f->over) {
        struct timespec until;
        struct wanted *one = f->wanted;
        struct err why;
        size_t i = 0, shard;
        int rc, needed;

        while (i < f->n &&
               (one[i].state != MISSING || one[i].due > clock_now()))
            i++;
        if (i == f->n) {
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_sec += 1;
            pthread_cond_timedwait(&f->change, &f->mutex, &until);
            continue;
        }
        one[i].state = FETCHING;
        shard = one[i].shard;
        needed = i < f->need;
        pthread_mutex_unlock(&f->mutex);
        rc = fetch_shard(f, shard, &why);
        pthread_mutex_lock(&f->mutex);
        one = &f->wanted[find_shard(f, shard)];
        if (one == f->wanted + f->n)
            continue;
        one->state = rc ? MISSING : THERE;
        one->due = clock_now() + again_s;
        one->failed = !rc || !needed ? 0 : one->failed ? one->failed : 1;
        if (one->failed == 1)
            f->why = why;
    }
    pthread_mutex_unlock(&f->mutex);
    return NULL;
}

void
data_fetch_want(struct data_set *set, size_t n, const size_t *shard,
                size_t need)
{
    struct data_fetch *f = set->fetch;
    size_t done = 0;

    pthread_mutex_lock(&f->mutex);
    f->need = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t k = find_shard(f, shard[i]);
        struct wanted one = {.shard = shard[i]};

        if (k < f->n) {
            one = f->wanted[k];
        } else {
            mem_grow(&f->wanted, &f->room, ++f->n, sizeof one);
            name_shard(f, shard[i], one.name);
        }
        if (k >= done) { // to its place, instead of another
            f->wanted[k] = f->wanted[done];
            f->wanted[done++] = one;
        }
        if (i < need)
            f->need = done;
    }
    f->n = done;
    pthread_cond_broadcast(&f->change);
    pthread_mutex_unlock(&f->mutex);
}

int
data_fetch_ready(struct data_set *set, size_t *failed, struct err *err)
{
    struct data_fetch *f = set->fetch;
    int rc = 1;

    *failed = 0;
    pthread_mutex_lock(&f->mutex);
    for (size_t i = 0; i < f->n; i++) {
        struct wanted *one = &f->wanted[i];

        *failed += i < f->need && one->failed;
        // another process may have removed it
        if (i < f->need && one->state == THERE &&
            !has_file(path_of(f, one->name), set->shard[one->shard].bytes)) {
            one->state = MISSING;
            pthread_cond_broadcast(&f->change);
        }
        if (i >= f->need || one->state == THERE)
            continue;
        rc = one->failed == 1 ? -1 : rc < 0 ? rc : 0;
        if (one->failed == 1)
            *err = f->why;
        one->failed += one->failed == 1;
    }
    pthread_mutex_unlock(&f->mutex);
    return rc;
}

/* ---- opening ------------------------------------------------------------- */

static int
larger_first(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x < y) - (x > y);
}

uint64_t
data_fetch_bytes(const struct data_set *set, size_t n)
{
    const size_t shards = set->head->files;
    uint64_t *bytes = mem_array(shards, sizeof *bytes), sum = 0;

    for (size_t i = 0; i < shards; i++)
        bytes[i] = set->shard[i].bytes;
    qsort(bytes, shards, sizeof *bytes, larger_first);
    for (size_t i = 0; i < n && i < shards; i++)
        sum += bytes[i];
    free(bytes);
    return sum;
}

/* Returns the command for sh, with its arguments in place of %u and %o. */
static char *
expand_command(const char *command)
{
    char *line = mem_text("");

    for (const char *c = command; *c; c++)
        if (*c == '%' && (c[1] == 'u' || c[1] == 'o'))
            mem_append(&line, "\"$%d\"", *++c == 'u' ? 1 : 2);
        else
            mem_append(&line, "%c", *c == '%' && c[1] == '%' ? *++c : *c);
    return line;
}

/* Returns 0 if the shards can be fetched and fit one by one. */
static int
check_shards(const struct data_set *set, struct err *err)
{
    if (!set->shard)
        return err_set(err,
                       "'%s' is no list of indexes: make one with foil-data "
                       "join, or leave out --fetch",
                       set->path);
    for (size_t i = 0; i < set->head->files; i++)
        if (!set->shard[i].bytes)
            return err_set(err,
                           "'%s' is shard %zu of '%s' and not the index of one "
                           "tar: it cannot be fetched",
                           set->text + set->shard[i].absolute, i, set->path);
    if (data_fetch_bytes(set, 1) > settings.bytes)
        return err_set(err,
                       "the cache '%s' may have %.3g GiB, and a shard of '%s' "
                       "has %.3g",
                       settings.folder, (double)settings.bytes / (1 << 30),
                       set->path, (double)data_fetch_bytes(set, 1) / (1 << 30));
    return file_mkdir(settings.folder, 0777, err);
}

int
data_fetch_open(struct data_set *set, struct err *err)
{
    struct data_fetch *f;

    if (!settings.command)
        return 0;
    if (check_shards(set, err))
        return -1;
    set->fetch = f = mem_array(1, sizeof *f);
    f->set = set;
    f->how = settings;
    f->command = expand_command(settings.command);
    pthread_mutex_init(&f->mutex, NULL);
    pthread_cond_init(&f->change, NULL);
    f->thread = mem_array(settings.workers, sizeof *f->thread);
    if (pipe2(f->quit, O_CLOEXEC))
        return err_sys(err, "cannot fetch");
    for (; f->threads < settings.workers; f->threads++)
        if (pthread_create(&f->thread[f->threads], NULL, fetch_wanted, f))
            return err_set(err, "cannot start a thread to fetch '%s'",
                           set->path);
    return 0;
}

void
data_fetch_close(struct data_fetch *f)
{
    if (!f)
        return;
    pthread_mutex_lock(&f->mutex);
    f->over = 1;
    pthread_cond_broadcast(&f->change);
    pthread_mutex_unlock(&f->mutex);
    close(f->quit[1]); // a hang-up
    for (size_t i = 0; i < f->threads; i++)
        pthread_join(f->thread[i], NULL);
    close(f->quit[0]);
    pthread_mutex_destroy(&f->mutex);
    pthread_cond_destroy(&f->change);
    mem_free(f->wanted, f->thread, f->command, f);
}
