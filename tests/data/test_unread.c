#define _DEFAULT_SOURCE // syscall()
#undef _FORTIFY_SOURCE  // its headers define pread()
/*
 * A failed read is no fault of the image: no sample becomes bad.  Mostly waits,
 * 5 s.
 */
#include <errno.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "data/gather.h"
#include "data/pool.h"
#include "fixture.h"
#include "t.h"

enum { N = 3 }; // samples

/* Number of reads that shall fail, their errno, and how many did. */
static int failing, failure, failed;

/* Replaces the C library's function for the linked code of foil. */
ssize_t
pread(int fd, void *to, size_t n, off_t offset)
{
    if (failing > 0) {
        failing--;
        failed++;
        errno = failure;
        return -1;
    }
    return (ssize_t)syscall(SYS_pread64, fd, to, n, offset);
}

static void
fail(int times, int error)
{
    failing = times;
    failure = error;
    failed = 0;
}

static struct data_pool *
pool_of(struct data_set *set)
{
    return data_pool_new(
        set, &(struct data_pool_settings){.max_pixels = IMAGE_MAX_PIXELS});
}

/* Gathers all samples in a batch; returns how many have a substitute, or -1. */
static int
substitutes(struct data_pool *pool)
{
    static const int64_t ids[N] = {0, 1};
    struct image_recipe recipe;
    const struct data_wanted want = {
        .batch.b = 2, .batch.v = 1, .size = 8, .batch.ids = ids};
    struct data_gather gather = {0};
    int rc, n;

    REQUIRE(!image_recipe_find("none", &recipe, &err));
    recipe.size = 8;
    data_gather_begin(&gather, &want);
    while ((rc = data_gather_next(&gather, pool, &recipe, 1, 0, &err)) > 0)
        continue;
    n = rc ? -1 : (int)gather.batch.n_substituted;
    data_gather_release(&gather);
    return n;
}

static void
is_no_bad_image(struct data_set *set, const char *of)
{
    static const int errors[] = {EIO, ESTALE, ENOMEM, EINTR};
    struct data_pool *pool = pool_of(set);
    struct data_bytes bytes = {0};

    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        fail(1, errors[i]);
        T(!data_read(set, 0, &bytes, &err) && failed == 1,
          "%s: %s is tried again", of, strerror(errors[i]));
    }
    fail(1000, EIO);
    T(data_read(set, 0, &bytes, &err) == DATA_UNREAD && failed == 4 &&
          strstr(err.msg, strerror(EIO)),
      "%s: four times is too often: %s", of, err.msg);
    T(substitutes(pool) == -1 && strstr(err.msg, strerror(EIO)) &&
          !data_pool_bad(pool) && data_pool_unread(pool),
      "a sample that cannot be read gets no substitute: %s", err.msg);
    fail(0, 0);
    T(!substitutes(pool) && !data_pool_unread(pool),
      "it is good once it can be read");
    data_pool_free(pool);
    data_bytes_release(&bytes);
}

/* Reads of a substitute may fail, too. */
static void
stops_a_substitute(struct data_set *set)
{
    struct data_pool *pool = pool_of(set);
    const int64_t taken[] = {0, 1};

    fail(1000, EIO);
    T(data_pool_substitute(pool, 1, 0, 0, 2, taken, &err) == -1 &&
          strstr(err.msg, strerror(EIO)),
      "no other substitute is used: %s", err.msg);
    fail(0, 0);
    T(data_pool_substitute(pool, 1, 0, 0, 2, taken, &err) == 2,
      "the same one is found later");
    data_pool_free(pool);
}

static void
needs_descriptors(struct data_set *set, const char *of)
{
    struct data_bytes bytes = {0};
    struct rlimit old, none;
    int rc;

    REQUIRE(!getrlimit(RLIMIT_NOFILE, &old));
    none = old;
    none.rlim_cur = 0;
    REQUIRE(!setrlimit(RLIMIT_NOFILE, &none));
    rc = data_read(set, 0, &bytes, &err);
    REQUIRE(!setrlimit(RLIMIT_NOFILE, &old));
    T(rc == DATA_UNREAD && strstr(err.msg, strerror(EMFILE)), "%s: %s", of,
      err.msg);
    T(!data_read(set, 0, &bytes, &err), "later there is one");
    data_bytes_release(&bytes);
}

static void
notices_a_shorter_tar(struct data_set *set)
{
    struct data_bytes bytes = {0};
    struct stat st;

    REQUIRE(!stat("a.tar", &st) && !truncate("a.tar", 1024));
    T(data_read(set, N - 1, &bytes, &err) == DATA_UNREAD &&
          strstr(err.msg, "'a.tar' has changed since it was indexed"),
      "a truncated tar makes no image bad: %s", err.msg);
    data_bytes_release(&bytes);
}

static void
does_not_wait_for_a_pipe(struct data_set *set)
{
    struct data_bytes bytes = {0};

    REQUIRE(!unlink("m/0.jpg") && !mkfifo("m/0.jpg", 0600));
    T(data_read(set, 0, &bytes, &err) == -1 && strstr(err.msg, "is not a file"),
      "a pipe is read as no image: %s", err.msg);
    REQUIRE(!unlink("m/0.jpg"));
    T(data_read(set, 0, &bytes, &err) == -1 &&
          strstr(err.msg, "make the index"),
      "a missing file is bad: %s", err.msg);
    data_bytes_release(&bytes);
}

/* An index does not skip files because of failed reads. */
static void
ends_an_index(const char *place)
{
    const char *const places[] = {place, NULL};

    fail(1000, EIO);
    T(make_index(places, "bad.foil", 1) < 0 && strstr(err.msg, strerror(EIO)) &&
          !file_exists("bad.foil"),
      "%s: it is not skipped as bad: %s", place, err.msg);
    fail(0, 0);
    T(!make_index(places, "bad.foil", 1) && !unlink("bad.foil"),
      "it can be indexed later");
}

int
main(void)
{
    static const char *const tar[] = {"0.jpg", "1.jpg", "2.jpg", NULL};
    struct data_set *own, *member;

    enter_folder();
    put_tar("a.tar", tar);
    REQUIRE(!file_mkdir("m", 0700, &err));
    for (int i = 0; i < N; i++)
        put_jpeg((char[]){'m', '/', (char)('0' + i), '.', 'j', 'p', 'g', 0},
                 i + 1);
    ends_an_index("a.tar");
    ends_an_index("m");
    member = open_indexed("a.tar");
    own = open_indexed("m");
    REQUIRE(own && member);
    needs_descriptors(own, "a folder");
    needs_descriptors(member, "a tar");
    is_no_bad_image(own, "a folder");
    is_no_bad_image(member, "a tar");
    stops_a_substitute(own);
    notices_a_shorter_tar(member);
    does_not_wait_for_a_pipe(own);
    data_close(own);
    data_close(member);
    leave_folder();
    return t_done();
}
