#include <stdio.h>

#include <archive.h>
#include <archive_entry.h>

#include "data/tar.h"
#include "fixture.h"
#include "t.h"

static char name_200[201], name_300[301];

static const char *const names[] = {"short",  name_200,      "umlaut-\xc3\xbc",
                                    name_300, "./dot/slash", "../up/.file"};
static const char *const hidden[] = {".git/a", "./b/.c/d/e"};
enum { NAMES = sizeof names / sizeof *names };

/* Writes members of 1, 2, 3, ... bytes with other entries between. */
static void
write_archive(const char *format)
{
    struct archive *archive = archive_write_new();
    struct archive_entry *entry = archive_entry_new();

    archive_write_set_format_by_name(archive, format);
    REQUIRE(!archive_write_open_filename(archive, "a.tar"));
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        archive_entry_set_pathname(entry, hidden[i]);
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_size(entry, 3);
        archive_write_header(archive, entry);
        archive_write_data(archive, "abc", 3);
    }
    for (size_t i = 0; i < NAMES; i++) {
        archive_entry_clear(entry);
        archive_entry_set_pathname(entry, "folder");
        archive_entry_set_filetype(entry, AE_IFDIR);
        archive_write_header(archive, entry);
        archive_entry_clear(entry);
        archive_entry_set_pathname(entry, "link");
        archive_entry_set_filetype(entry, AE_IFLNK);
        archive_entry_set_symlink(entry, name_200);
        archive_write_header(archive, entry);
        archive_entry_clear(entry);
        archive_entry_set_pathname(entry, names[i]);
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_size(entry, (la_int64_t)i + 1);
        archive_entry_set_mtime(entry, 1, 5);
        archive_write_header(archive, entry);
        archive_write_data(archive, "abcdefgh", i + 1);
    }
    archive_entry_free(entry);
    archive_write_free(archive);
}

static void
members_are_found(const char *format)
{
    struct data_member member;
    struct data_tar *tar;
    size_t n = 0;
    int right = 0;

    write_archive(format);
    tar = data_tar_open("a.tar", &err);
    while (tar && data_tar_next(tar, &member, &err) > 0) {
        const char *want = n == 4 ? "dot/slash" : n < NAMES ? names[n] : "";
        char text[8] = "";

        n++;
        right += member.bytes == n && !strcmp(member.name, want) &&
                 pread(tar->fd, text, member.bytes, (off_t)member.offset) ==
                     (ssize_t)n &&
                 !strncmp(text, "abcdefgh", n);
    }
    T(n == NAMES && right == NAMES, "%s: %d of %zu members", format, right, n);
    data_tar_close(tar);
}

static void
put_entry(struct archive *archive, const char *name, const char *hard,
          const char *soft)
{
    struct archive_entry *entry = archive_entry_new();
    struct data_bytes bytes = {0};

    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, soft ? AE_IFLNK : AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    if (hard)
        archive_entry_set_hardlink(entry, hard);
    else if (soft)
        archive_entry_set_symlink(entry, soft);
    else
        bytes = tiny_jpeg(7);
    archive_entry_set_size(entry, (la_int64_t)bytes.len);
    archive_write_header(archive, entry);
    if (bytes.len)
        archive_write_data(archive, bytes.data, bytes.len);
    archive_entry_free(entry);
    data_bytes_release(&bytes);
}

/* Targets of links are samples, as in a folder. */
static void
links_are_followed(const char *format)
{
    static const char *const place[] = {"l.tar", NULL};
    static const char *const name[] = {"a/0.jpg", "a/1.jpg", "b/2.jpg",
                                       "b/3.jpg", "b/4.jpg"};
    struct archive *archive = archive_write_new();
    struct data_set *set;
    int right = 0;

    archive_write_set_format_by_name(archive, format);
    REQUIRE(!archive_write_open_filename(archive, "l.tar"));
    put_entry(archive, "./a/0.jpg", NULL, NULL);
    put_entry(archive, "./a/1.jpg", "./a/0.jpg", NULL);
    put_entry(archive, "b/2.jpg", "a/0.jpg", NULL);
    put_entry(archive, "b/3.jpg", NULL, "../a/./1.jpg");
    put_entry(archive, "b/4.jpg", NULL, "3.jpg");
    put_entry(archive, "b/5.jpg", "gone.jpg", NULL);
    put_entry(archive, "b/6.jpg", NULL, "6.jpg");
    put_entry(archive, "b/7.jpg", NULL, "../../../etc");
    put_entry(archive, "b/folder", NULL, "../a");
    archive_write_free(archive);
    T(make_index(place, "l.foil", 0) == -1 &&
          strstr(err.msg, "'b/5.jpg' in 'l.tar': is a link to no file"),
      "%s: a link to no member is refused: %s", format, err.msg);
    T(make_index(place, "l.foil", 1) == 3, "a link to no member is skipped");
    set = data_open("l.foil", &err);
    for (size_t i = 0; set && i < data_size(set) && i < 5; i++)
        right += !strcmp(data_name(set, i), name[i]) && level_of(set, i) == 7;
    T(set && data_size(set) == 5 && right == 5,
      "hard and symbolic links have the contents of their targets: %d of 5",
      right);
    data_close(set);
}

static void
packs_are_reproducible(void)
{
    static const char *const name[] = {"a/1.jpg", "a/1.txt", "text", NULL};
    char *first, *second, long_name[120];
    struct data_pack *pack;
    size_t n, m;

    put_tar("p.tar", name);
    first = file_read("p.tar", 1 << 20, &n, &err);
    put_tar("p.tar", name);
    second = file_read("p.tar", 1 << 20, &m, &err);
    T(first && second && n == m && !memcmp(first, second, n), "the same bytes");
    T(n % 10240 == 0, "in whole records");
    free(first);
    free(second);

    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = 0;
    pack = data_pack_open("q.tar", &err);
    T(pack && data_pack_add(pack, long_name, "", 0, &err) == -1, "%.60s ...",
      err.msg);
    data_pack_drop(pack);
    T(!file_exists("q.tar"), "a dropped archive leaves no file");
    T(!data_pack_open("none/q.tar", &err), "%s", err.msg);
}

int
main(void)
{
    if (enter_folder())
        return 1;
    memset(name_200, 'n', 200);
    memset(name_300, 'm', 300);
    members_are_found("gnutar");
    members_are_found("pax");
    links_are_followed("gnutar");
    links_are_followed("pax");
    packs_are_reproducible();
    if (leave_folder())
        return 1;
    return t_done();
}
