/* Shards of a list that a command fetches to a cache: tries, limit, locks. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/fetch.h"
#include "data/join.h"
#include "fixture.h"
#include "t.h"

enum { SHARDS = 6 };

/* What the command does next. */
static atomic_int runs, failures, cuts, changes;
static uint64_t tar_bytes;

/* Copies argv[4] to argv[5]; see stage/process.h for the real one. */
static int
copy(char *const argv[], int stop)
{
    size_t len;
    char *data;

    (void)stop;
    runs++;
    REQUIRE(!strcmp(argv[2], "cp \"$1\" \"$2\" 100%"));
    if (failures && failures--)
        return 22;
    data = file_read(argv[4], 1 << 24, &len, &err);
    if (!data)
        return 1;
    if (changes && changes--)
        data[600] ^= 1; // in the first image
    REQUIRE(!file_write(argv[5], data, cuts && cuts-- ? len / 2 : len, &err));
    free(data);
    return 0;
}

static void
use(double tars, size_t workers)
{
    static struct data_fetch_settings how = {
        .command = "cp %u %o 100%%", .folder = "cache", .run = copy};

    how.bytes = (uint64_t)(tars * (double)tar_bytes);
    how.workers = workers;
    data_fetch_use(&how);
}

/* Makes "list.foil" of tars of one size in "far". */
static void
make_list(void)
{
    struct data_join *join = data_join_new();
    char *note;
    struct stat st;

    REQUIRE(!mkdir("far", 0777));
    for (int i = 0; i < SHARDS; i++) {
        const char *const names[] = {"1.jpg", "2.jpg", NULL};
        char *tar = mem_format("far/%d.tar", i);
        char *index = mem_format("%d.foil", i);

        put_tar(tar, names);
        REQUIRE(!make_index((const char *const[]){tar, NULL}, index, 0));
        REQUIRE(!data_join_add(join, index, i ? NULL : "far/0.tar", &err));
        REQUIRE(!stat(tar, &st));
        tar_bytes = (uint64_t)st.st_size;
        mem_free(tar, index);
    }
    REQUIRE(!data_join_write(join, "list.foil", &note, &err));
    data_join_free(join);
}

/* Counts the tars in the cache, or the parts. */
static size_t
count(const char *begin)
{
    DIR *cache = opendir("cache");
    struct dirent *entry;
    size_t n = 0;

    while (cache && (entry = readdir(cache)))
        n += *begin ? !strncmp(entry->d_name, begin, strlen(begin))
                    : strstr(entry->d_name, ".tar") != NULL;
    if (cache)
        closedir(cache);
    return n;
}

static void
empty_cache(void)
{
    REQUIRE(!file_remove("cache", &err));
}

static void
remove_tars(void)
{
    DIR *cache = opendir("cache");
    struct dirent *entry;

    while ((entry = readdir(cache)))
        if (strstr(entry->d_name, ".tar"))
            REQUIRE(!unlinkat(dirfd(cache), entry->d_name, 0));
    closedir(cache);
}

static struct data_set *
open_list(void)
{
    struct data_set *set = data_open_parts("list.foil", &err);

    REQUIRE(set);
    return set;
}

/* Waits for the needed shards: data_fetch_ready(). */
static int
await(struct data_set *set)
{
    size_t failed;
    int rc;

    while (!(rc = data_fetch_ready(set, &failed, &err)))
        poll(NULL, 0, 5);
    return rc;
}

static void
samples_are_fetched(void)
{
    struct data_set *set;
    size_t right = 0;

    use(2.5, 2);
    REQUIRE(!rename("far", "away"));
    set = data_open("list.foil", &err);
    REQUIRE(!rename("away", "far"));
    T(set && !runs, "a list opens without its data, and fetches nothing");
    for (size_t i = 0; i < 2 * SHARDS; i++) {
        right += level_of(set, i) == (int)(i % 2) + 1;
        right -= count("") > 2;
    }
    T(right == 2 * SHARDS, "each sample is read; the cache has 2 tars at most");
    T(runs == SHARDS && count("") == 2 && !count(".part"),
      "by a fetch of each shard: %d", runs);
    T(level_of(set, 2 * SHARDS - 1) == 2 && runs == SHARDS,
      "what is there is not fetched");
    T(level_of(set, 0) == 1 && runs == SHARDS + 1, "what was removed is");
    data_close(set);
}

static void
the_longest_unused_is_removed(void)
{
    struct data_set *set;

    empty_cache();
    use(2.5, 1);
    runs = 0;
    set = open_list();
    REQUIRE(level_of(set, 0) == 1 && level_of(set, 2) == 1);
    data_close(set);
    set = open_list(); // opens 0 again, after 1
    poll(NULL, 0, 20); // the kernel's clock of files has ticks
    REQUIRE(level_of(set, 0) == 1);
    poll(NULL, 0, 20);
    REQUIRE(level_of(set, 4) == 1 && runs == 3);
    T(level_of(set, 1) == 2 && runs == 3, "the last used tar stays");
    T(level_of(set, 3) == 2 && runs == 4, "the other one was removed");
    data_close(set);
}

static void
failures_are_tried_again(void)
{
    struct data_set *set;
    struct data_bytes bytes = {0};

    empty_cache();
    use(9, 1);
    set = open_list();
    runs = 0;
    failures = 2;
    cuts = 2;
    T(level_of(set, 0) == 1 && runs == 5,
      "a shard is had after 2 failures and 2 short files");
    runs = 0;
    failures = 6;
    T(data_read(set, 2, &bytes, &err) == DATA_UNREAD && runs == 5 &&
          strstr(err.msg, "1.tar', in 5 tries: the command ended with code 22"),
      "after 5 failures a sample cannot be read: %s", err.msg);
    failures = 0;
    cuts = 5;
    T(data_read(set, 2, &bytes, &err) == DATA_UNREAD &&
          strstr(err.msg, "bytes, and"),
      "and after 5 short files: %s", err.msg);
    T(!count(".part"), "no part stays");
    changes = 1;
    runs = 0;
    T(level_of(set, 2) == 1 && runs == 2,
      "a file with a changed sample is fetched once more");
    changes = 2;
    T(data_read(set, 4, &bytes, &err) == -1 && runs == 4,
      "twice changed, the sample is bad: %s", err.msg);
    data_bytes_release(&bytes);
    data_close(set);
}

static void
wanted_shards_stay(void)
{
    const size_t window[] = {4, 1, 1, 3};
    struct data_set *set;
    size_t failed;

    empty_cache();
    use(3.5, 3);
    set = open_list();
    runs = 0;
    data_fetch_want(set, 4, window, 3);
    T(await(set) == 1, "the needed shards are fetched by threads");
    data_fetch_want(set, 4, window, 4);
    T(await(set) == 1 && runs == 3 && count("") == 3, "and then the others");
    for (size_t i = 0; i < 2 * SHARDS; i++)
        REQUIRE(level_of(set, i) == (int)(i % 2) + 1);
    T(runs == 6, "they stay while others are read");
    data_fetch_want(set, 4, (const size_t[]){5, 0, 2, 4}, 2);
    REQUIRE(await(set) == 1);
    data_fetch_want(set, 4, (const size_t[]){1, 3, 5, 0}, 2);
    T(await(set) == 1 && count("") == 3,
      "needed files replace those that are less urgent");
    data_fetch_want(set, 1, (const size_t[]){0}, 1);
    REQUIRE(await(set) == 1);
    T(count("") == 3, "the last of the others is removed first");
    remove_tars();
    T(!data_fetch_ready(set, &failed, &err) && await(set) == 1,
      "a needed file that was removed is fetched again");
    failures = 5;
    runs = 0;
    data_fetch_want(set, 1, (const size_t[]){2}, 1);
    T(await(set) == -1 && strstr(err.msg, "cannot fetch") &&
          !data_fetch_ready(set, &failed, &err) && failed == 1,
      "a failure is reported once: %s", err.msg);
    T(await(set) == 1 && runs == 6, "and the shard is tried again");
    REQUIRE(data_fetch_ready(set, &failed, &err) == 1);
    T(!failed, "then it counts no more");
    data_close(set);
}

static void
parts_of_the_dead_are_removed(void)
{
    struct data_set *set;

    empty_cache();
    REQUIRE(!mkdir("cache", 0777));
    REQUIRE(
        !file_write("cache/.part.00000000000000000000000000000007-5000.9", "x",
                    1, &err) &&
        !file_write("cache/.part.00000000000000000000000000000007-5000.9.a8Xz",
                    "x", 1, &err) &&
        !file_write("cache/notes.txt", "x", 1, &err));
    use(1, 1);
    set = open_list();
    REQUIRE(level_of(set, 0) == 1);
    T(!count(".part") && count("notes") == 1,
      "a part that nobody writes is removed, another file is not");
    data_close(set);
}

/* Two processes: the parent holds the lock of shard 0 while it copies. */
static void
processes_fetch_once(void)
{
    struct data_set *set;
    int status, all = 0;

    empty_cache();
    use(9, 4);
    for (int p = 0; p < 4; p++)
        if (!fork()) {
            const size_t window[SHARDS] = {0, 1, 2, 3, 4, 5};

            runs = 0;
            set = open_list();
            data_fetch_want(set, SHARDS, window, SHARDS);
            if (await(set) != 1)
                _exit(99);
            data_close(set);
            _exit(runs);
        }
    for (int p = 0; p < 4; p++) {
        wait(&status);
        all += WEXITSTATUS(status);
    }
    T(all == SHARDS, "4 processes fetch %d shards %d times", SHARDS, all);
}

static void
sizes_are_checked(void)
{
    struct data_set *set;

    use(0.99, 1);
    T(!data_open("list.foil", &err) && strstr(err.msg, "may have"),
      "a cache smaller than a shard is refused: %s", err.msg);
    use(9, 1);
    T(!data_open("0.foil", &err) && strstr(err.msg, "no list"),
      "and an index: %s", err.msg);
    set = open_list();
    T(data_fetch_bytes(set, 2) == 2 * tar_bytes &&
          data_fetch_bytes(set, 99) == SHARDS * tar_bytes,
      "the size of 2 shards, and of all");
    data_close(set);
}

int
main(void)
{
    enter_folder();
    make_list();
    samples_are_fetched();
    the_longest_unused_is_removed();
    failures_are_tried_again();
    wanted_shards_stay();
    parts_of_the_dead_are_removed();
    processes_fetch_once();
    sizes_are_checked();
    leave_folder();
    return t_done();
}
