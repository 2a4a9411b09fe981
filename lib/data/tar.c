#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/set.h"
#include "text/lexicon.h"
#include "util/err.h"
#include "util/file.h"
#include "util/mem.h"

#include "tar.h"
#include "tree.h"

enum { BLOCK = 512, READ_AHEAD = 1 << 16 };
enum { MAX_LINKS = 8 }; // in a chain

/* The members of a tar by name, for links among them: a hard link names a
 * member relative to the root of the archive, a symbolic one relative to its
 * folder. */
struct members {
    struct lexicon name;
    struct member {
        char *target; // of a link, relative to the root; or NULL
        uint64_t offset, bytes;
    } * member; // [name.n]
    size_t room;
};

/* Skips leading "./". */
static const char *
skip_dot_slash(const char *name)
{
    while (name && !strncmp(name, "./", 2))
        name += 2;
    return name;
}

/* Returns the name of a member, without leading "./"; NULL if it has none. */
static const char *
name_of_entry(struct archive_entry *entry)
{
    const char *name = archive_entry_pathname(entry);

    if (!name) // depends on the locale
        name = archive_entry_pathname_utf8(entry);
    return skip_dot_slash(name);
}

/* Returns 1 for a file with its own contents. */
static int
is_plain(struct archive_entry *entry)
{
    return archive_entry_filetype(entry) == AE_IFREG &&
           !archive_entry_hardlink(entry) && !archive_entry_sparse_count(entry);
}

static void
take_member(struct members *members, struct archive *archive,
            struct archive_entry *entry)
{
    const char *name = name_of_entry(entry);
    const char *hard = archive_entry_hardlink(entry);
    const char *soft = archive_entry_symlink(entry);
    const size_t before = members->name.n;
    struct member member = {0};
    size_t i;

    if (!name || (!hard && !soft && !is_plain(entry)))
        return;
    if (hard) {
        member.target = mem_text(skip_dot_slash(hard));
    } else if (soft) {
        char *path =
            mem_format("%.*s%s", (int)data_kind_folders(name), name, soft);
        char *whole = file_resolve(path);

        member.target = mem_text(whole + 1); // relative to the root
        mem_free(whole, path);
    } else {
        member.bytes = (uint64_t)archive_entry_size(entry);
    }
    member.offset = (uint64_t)archive_filter_bytes(archive, 0);
    i = text_lexicon_add(&members->name, name, strlen(name));
    mem_grow(&members->member, &members->room, members->name.n,
             sizeof *members->member);
    if (members->name.n == before) // of two with one name the later one counts
        free(members->member[i].target);
    members->member[i] = member;
}

static struct archive *
new_archive(void)
{
    struct archive *archive = archive_read_new();

    REQUIRE(archive);
    archive_read_support_filter_none(archive);
    archive_read_support_format_tar(archive);
    return archive;
}

/* Reads the headers of an archive, up to any damage. */
static struct members *
read_members(const char *path)
{
    struct members *members = mem_array(1, sizeof *members);
    struct archive *archive = new_archive();
    struct archive_entry *entry;
    int got;

    got = archive_read_open_filename(archive, path, READ_AHEAD);
    while (!got || got == ARCHIVE_WARN) {
        got = archive_read_next_header(archive, &entry);
        if (!got || got == ARCHIVE_WARN)
            take_member(members, archive, entry);
    }
    archive_read_free(archive);
    return members;
}

/* Follows a link to a plain file: 1 with the position of its contents, or 0. */
static int
find_member(const struct members *members, const char *name, uint64_t *offset,
            uint64_t *bytes)
{
    for (int links = 0; links < MAX_LINKS; links++) {
        const int64_t i = text_lexicon_find(&members->name, name, strlen(name));

        if (i < 0)
            return 0;
        name = members->member[i].target;
        if (name)
            continue;
        *offset = members->member[i].offset;
        *bytes = members->member[i].bytes;
        return 1;
    }
    return 0;
}

/* The first bytes of compressed files, and the tools to unpack them. */
static const struct {
    const char *magic, *tool;
    size_t n;
} packed[] = {
    {"\x1f\x8b", "gunzip", 2},
    {"BZh", "bunzip2", 3},
    {"\xfd"
     "7zXZ",
     "unxz", 5},
    {"\x28\xb5\x2f\xfd", "unzstd", 4},
    {"\x04\x22\x4d\x18", "unlz4", 4},
    {"PK\x03\x04", "unzip", 4},
};

static int
check_start(struct data_tar *tar, struct err *err)
{
    char start[BLOCK] = {0};

    if (pread(tar->fd, start, sizeof start, 0) < 0)
        return err_sys(err, "cannot read '%s'", tar->path);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (!memcmp(start, packed[i].magic, packed[i].n))
            return err_set(err,
                           "'%s' is compressed, and samples are read at "
                           "random: unpack it first (%s)",
                           tar->path, packed[i].tool);
    return 0;
}

struct data_tar *
data_tar_open(const char *path, struct err *err)
{
    struct data_tar *tar = mem_array(1, sizeof *tar);
    struct stat st;
    int rc;

    tar->path = mem_text(path);
    tar->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (tar->fd < 0 || fstat(tar->fd, &st)) {
        rc = err_sys(err, "cannot open '%s'", path);
    } else if (!S_ISREG(st.st_mode)) {
        rc = err_set(err, "'%s' is not a file", path);
    } else {
        tar->bytes = (uint64_t)st.st_size;
        rc = check_start(tar, err);
    }
    if (!rc) {
        tar->archive = new_archive();
        if (!archive_read_open_fd(tar->archive, tar->fd, READ_AHEAD))
            return tar;
        err_set(err,
                "'%s' is not a tar archive (%s): want a tar, a folder of "
                "images or a table",
                path, archive_error_string(tar->archive));
    }
    data_tar_close(tar);
    return NULL;
}

void
data_tar_close(struct data_tar *tar)
{
    struct members *members;

    if (!tar)
        return;
    members = tar->members;
    if (members) {
        for (size_t i = 0; i < members->name.n; i++)
            free(members->member[i].target);
        free(members->member);
        text_lexicon_release(&members->name);
        free(members);
    }
    archive_read_free(tar->archive);
    if (tar->fd >= 0)
        close(tar->fd);
    mem_free(tar->path, tar);
}

/* Checks that a block of zeros follows the last member. */
static int
check_tar_end(const struct data_tar *tar, struct err *err)
{
    static const char zero[BLOCK];
    char block[BLOCK];
    const ssize_t got = pread(tar->fd, block, BLOCK, (off_t)tar->end);

    if (got < 0) {
        err_sys(err, "cannot read '%s'", tar->path);
        return DATA_UNREAD;
    }
    if (got == BLOCK && !memcmp(block, zero, BLOCK))
        return 0;
    return err_set(err, "'%s' is cut off: it has no end mark", tar->path);
}

/* Returns 1 if a folder in the path of a file begins with a dot; ".." does not
 * count. */
static int
is_in_hidden(const char *name)
{
    for (const char *slash; (slash = strchr(name, '/')); name = slash + 1)
        if (*name == '.' && strncmp(name, "./", 2) && strncmp(name, "../", 3))
            return 1;
    return 0;
}

/* Returns 1 if an index takes an entry as a file; a symbolic link counts if its
 * name is that of an image or of a file that belongs to one. */
static int
is_file(struct archive_entry *entry, const char *name)
{
    const int known = data_kind_of(name) < DATA_KIND_PICTURE;

    if (archive_entry_hardlink(entry))
        return 1;
    if (archive_entry_filetype(entry) == AE_IFLNK)
        return known;
    return archive_entry_filetype(entry) == AE_IFREG &&
           (known || !archive_entry_sparse_count(entry));
}

/* Finds the contents of a member without its own; returns the fault, or
 * NULL. */
static const char *
find_content(struct data_tar *tar, struct archive_entry *entry,
             struct data_member *member)
{
    uint64_t offset, bytes;

    if (archive_entry_sparse_count(entry))
        return "is a sparse file";
    if (!tar->members)
        tar->members = read_members(tar->path);
    if (!find_member(tar->members, member->name, &offset, &bytes))
        return "is a link to no file in the archive";
    if (offset > tar->bytes || bytes > tar->bytes - offset)
        return "is a link to a file that is cut off";
    member->offset = offset;
    member->bytes = bytes;
    return NULL;
}

/* Reads the next header: 1 if it is a file, 0 if not, -1 on error. */
static int
take_entry(struct data_tar *tar, struct archive_entry *entry,
           struct data_member *member, struct err *err)
{
    const int plain = is_plain(entry);

    *member = (struct data_member){
        .name = name_of_entry(entry),
        .offset = (uint64_t)archive_filter_bytes(tar->archive, 0),
        .bytes = plain ? (uint64_t)archive_entry_size(entry) : 0,
    };
    if (!member->name)
        return err_set(err, "'%s' has a member without a name", tar->path);
    if (member->offset % BLOCK || member->offset > tar->bytes ||
        member->bytes > tar->bytes - member->offset)
        return err_set(err, "'%s' is cut off within its member '%s'", tar->path,
                       member->name);
    tar->end = (member->offset + member->bytes + BLOCK - 1) / BLOCK * BLOCK;
    if (!is_file(entry, member->name))
        return 0;
    if (is_in_hidden(member->name)) {
        tar->hidden++;
        return 0;
    }
    if (!plain)
        member->bad = find_content(tar, entry, member);
    return 1;
}

int
data_tar_next(struct data_tar *tar, struct data_member *member, struct err *err)
{
    struct archive_entry *entry;
    int got, error;

    while ((got = archive_read_next_header(tar->archive, &entry)) ==
               ARCHIVE_OK ||
           got == ARCHIVE_WARN) {
        const int file = take_entry(tar, entry, member, err);

        if (file)
            return file;
    }
    if (got == ARCHIVE_EOF)
        return check_tar_end(tar, err);
    // libarchive uses only these numbers for faults within the archive; others
    // are an errno
    error = archive_errno(tar->archive);
    if (error <= 0 || error == EILSEQ || error == EINVAL)
        return err_set(err, "'%s' is damaged or cut off: %s", tar->path,
                       archive_error_string(tar->archive));
    err_set(err, "cannot read '%s': %s", tar->path,
            archive_error_string(tar->archive));
    return DATA_UNREAD;
}
