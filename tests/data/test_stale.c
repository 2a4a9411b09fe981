#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <sys/stat.h>

#include "data/split.h"
#include "fixture.h"
#include "t.h"

/* Returns data_stale() of an index; its message goes to err. */
static int
stale(const char *path)
{
    struct data_set *set = data_open(path, &err);
    int rc;

    REQUIRE(set);
    err.msg[0] = 0;
    rc = data_stale(set, &err);
    data_close(set);
    return rc;
}

static int
reports(const char *path, int rc, const char *what)
{
    return stale(path) == rc && strstr(err.msg, what);
}

static void
set_time(const char *path, long seconds)
{
    const struct timespec times[2] = {{seconds, 0}, {seconds, 0}};

    REQUIRE(!utimensat(AT_FDCWD, path, times, 0));
}

static void
reindex(const char *place, const char *out)
{
    REQUIRE(!make_index((const char *const[]){place, NULL}, out, 0));
}

/* m: two classes of two images, one with a caption, and a nested folder. */
static void
make_data(void)
{
    mkdir("m", 0700);
    mkdir("m/a", 0700);
    mkdir("m/b", 0700);
    mkdir("m/b/deep", 0700);
    put_jpeg("m/a/1.jpg", 1);
    put_jpeg("m/a/2.jpg", 2);
    put_text("m/a/2.txt", "a caption");
    put_jpeg("m/b/deep/1.jpg", 3);
    put_jpeg("m/b/z.jpg", 4);
    reindex("m", "m.foil");
}

static void
what_has_not_changed_is_fresh(void)
{
    T(stale("m") == 0, "a new index is up to date: %s", err.msg);
    put_text("m/a/notes.md", "text");
    put_text("m/a/x.gif", "GIF");
    put_text("m/a/.hidden.jpg", "");
    T(stale("m") == 0, "files that an index skips may come");
    unlink("m/a/x.gif");
    T(stale("m") == 0, "they may go again");
    set_time("m/a", 1000000000);
    set_time("m", 2000000000);
    T(stale("m") == 0, "changed times alone, as of a copy, do not matter");
    put_text("m/a/2.txt", "another caption");
    T(stale("m") == 0, "changes within a file do not matter");
}

static void
new_files_are_reported(void)
{
    put_jpeg("m/b/new.jpg", 5);
    T(reports("m", 1,
              "m/b' holds 3 files and folders, and 2 when it was indexed: run "
              "'foil data index m'"),
      "a file has come: %s", err.msg);
    T(reports("m.foil", 1, "run 'foil data index m'"),
      "a file that has come is reported for the index, too");
    unlink("m/b/new.jpg");
    T(stale("m") == 0, "without it the index is up to date again");
    mkdir("m/c", 0700);
    T(reports("m", 1, "m' holds 3 files and folders, and 2"),
      "a folder has come: %s", err.msg);
    rmdir("m/c");
    put_text("m/b/z.txt", "a caption");
    T(reports("m", 1, "m/b' holds 3"), "a caption has come: %s", err.msg);
    unlink("m/b/z.txt");
    rename("m/a/2.txt", "m/a/1.txt");
    T(reports("m", 1, "m/a' holds other files than when it was indexed"),
      "a caption has another name: %s", err.msg);
    rename("m/a/1.txt", "m/a/2.txt");
    unlink("m/a/2.txt");
    T(reports("m", 1, "m/a' holds 2 files and folders, and 3"),
      "a caption has gone: %s", err.msg);
    put_text("m/a/2.txt", "a caption");
    T(stale("m") == 0, "all is as it was");
}

static void
missing_files_are_named(void)
{
    rename("m/b/z.jpg", "moved");
    T(reports(
          "m", -1,
          "m/b/z.jpg' has gone since it was indexed: run 'foil data index m'"),
      "the file of a sample has gone: %s", err.msg);
    put_jpeg("m/b/y.jpg", 9);
    T(reports("m", -1, "m/b/z.jpg' has gone"),
      "the file of a sample has gone and another one has come: %s", err.msg);
    unlink("m/b/y.jpg");
    rename("moved", "m/b/z.jpg");
    rename("m/b/deep", "moved");
    T(reports("m", -1, "m/b/deep/1.jpg' has gone"), "a folder has gone: %s",
      err.msg);
    rename("moved", "m/b/deep");
    rename("m/a", "moved");
    T(reports("m", -1,
              "m/a/1.jpg' has gone since it was indexed, and others, too"),
      "a folder of two has gone: %s", err.msg);
    rename("moved", "m/a");
    T(stale("m") == 0, "all is as it was");
}

static void
a_missing_file_is_reported_by_reads(void)
{
    struct data_bytes bytes = {0};
    struct data_set *set = data_open("m", &err);

    REQUIRE(set);
    rename("m/a/1.jpg", "moved");
    T(data_read(set, 0, &bytes, &err) == -1 &&
          strstr(err.msg, "No such file") &&
          strstr(err.msg, "run 'foil data index m'"),
      "a read has the remedy: %s", err.msg);
    put_jpeg("m/a/1.jpg", 77);
    T(data_read(set, 0, &bytes, &err) == -1 && strstr(err.msg, "has changed") &&
          strstr(err.msg, "run 'foil data index m'"),
      "a file with other contents has the remedy: %s", err.msg);
    rename("moved", "m/a/1.jpg");
    data_close(set);
    data_bytes_release(&bytes);
}

/* Cost: a folder with an unchanged time is not read again. */
static void
times_are_hints(void)
{
    set_time("m/a", 1500000000);
    set_time("m/b", 1500000000);
    reindex("m", "m.foil");
    put_jpeg("m/a/new.jpg", 5);
    T(reports("m", 1, "m/a' holds 4"), "a folder with a changed time is read");
    set_time("m/a", 1500000000);
    T(stale("m") == 0, "one with an equal time costs a stat()");
    unlink("m/a/new.jpg");
}

static void
parts_know_their_data(void)
{
    struct data_set *set = data_open("m", &err);
    const uint8_t keep[4] = {1, 0, 0, 1};

    REQUIRE(set && data_size(set) == 4);
    REQUIRE(!data_subset(set, keep, 1, "part.foil", &err));
    data_close(set);
    T(stale("part.foil") == 0, "a part of a set is fresh: %s", err.msg);
    put_jpeg("m/a/new.jpg", 5);
    T(reports("part.foil", 1, "make the index 'part.foil' again"),
      "its data has grown: %s", err.msg);
    unlink("m/a/new.jpg");
    rename("m/a/2.jpg", "moved");
    T(reports("part.foil", 1, "m/a' holds 2"),
      "a file without a sample may be missing: %s", err.msg);
    rename("moved", "m/a/2.jpg");
}

static void
lists_and_tars(void)
{
    static const char *const two[] = {"a/1.jpg", "b/2.jpg", NULL};

    put_text("list", "m/a/1.jpg\tx\nm/b/z.jpg\ty\n");
    reindex("list", "list.foil");
    T(stale("list") == 0, "a list is fresh: %s", err.msg);
    set_time("list", 1400000000);
    T(stale("list") == 0, "its time alone does not matter");
    put_text("list", "m/a/1.jpg\tx\nm/b/z.jpg\tz\n");
    T(reports("list.foil", 1,
              "list' has changed since it was indexed: run 'foil "
              "data index list'"),
      "another label in it: %s", err.msg);
    put_text("list", "m/a/1.jpg\tx\n");
    T(reports("list.foil", 1, "list' has changed"), "a line less: %s", err.msg);
    unlink("list");
    T(stale("list.foil") == 0, "a missing list does not matter");
    put_tar("t.tar", two);
    reindex("t.tar", "t.tar.foil");
    set_time("t.tar", 1400000000);
    T(stale("t.tar") == 0, "a tar is compared when it is opened and read");
}

/* A copy has other times, and its index moves along or stays. */
static void
copies_are_as_good(void)
{
    const char *const places[] = {"m/a", "m/b", NULL};

    mkdir("copy", 0700);
    rename("m", "copy/m");
    rename("m.foil", "copy/m.foil");
    set_time("copy/m", 1600000000);
    set_time("copy/m/a", 1600000000);
    set_time("copy/m/b/deep", 1600000000);
    T(stale("copy/m") == 0, "moved data with other times is up to date: %s",
      err.msg);
    put_jpeg("copy/m/a/new.jpg", 5);
    T(reports("copy/m", 1, "run 'foil data index copy/m'"),
      "it can go out of date: %s", err.msg);
    unlink("copy/m/a/new.jpg");
    rename("copy/m", "m");
    REQUIRE(!make_index(places, "both.foil", 0));
    T(stale("both.foil") == 0, "a set of two folders is fresh");
    rename("m/b/deep/1.jpg", "moved");
    T(reports("both.foil", -1, "m/b/deep/1.jpg' has gone") &&
          strstr(err.msg, "make the index 'both.foil' again"),
      "the second folder is checked, too: %s", err.msg);
}

int
main(void)
{
    if (enter_folder())
        return 1;
    make_data();
    what_has_not_changed_is_fresh();
    new_files_are_reported();
    missing_files_are_named();
    a_missing_file_is_reported_by_reads();
    times_are_hints();
    parts_know_their_data();
    lists_and_tars();
    copies_are_as_good();
    if (leave_folder())
        return 1;
    return t_done();
}
