#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>

#include "util/err.h"
#include "util/file.h"
#include "util/mem.h"

#include "kind.h"
#include "members.h"
#include "text/lexicon.h"

enum { READ_AHEAD = 1 << 16, MAX_LINKS = 8 }; // links from one to the next

struct data_members {
    struct lexicon name;
    struct member {
        char *target; // of a link, from the root; or NULL
        uint64_t offset, bytes;
    } * member; // [name.n]
    size_t room;
};

/* Behind leading "./". */
static const char *
skip_dot_slash(const char *name)
{
    while (name && !strncmp(name, "./", 2))
        name += 2;
    return name;
}

const char *
data_members_name(struct archive_entry *entry)
{
    const char *name = archive_entry_pathname(entry);

    if (!name) // which depends on the locale
        name = archive_entry_pathname_utf8(entry);
    return skip_dot_slash(name);
}

int
data_members_plain(struct archive_entry *entry)
{
    return archive_entry_filetype(entry) == AE_IFREG &&
           !archive_entry_hardlink(entry) && !archive_entry_sparse_count(entry);
}

/* The path from the root that `link` is from the folder of a member, without
 * the first '/'; to be given to free(). */
static char *
resolve_link(const char *name, const char *link)
{
    char *path = mem_format("%.*s%s", (int)data_kind_folders(name), name, link);
    char *whole = file_resolve(path), *way = mem_text(whole + 1);

    free(whole);
    free(path);
    return way;
}

static void
take_member(struct data_members *members, struct archive *archive,
            struct archive_entry *entry)
{
    const char *name = data_members_name(entry);
    const char *hard = archive_entry_hardlink(entry);
    const char *soft = archive_entry_symlink(entry);
    const size_t before = members->name.n;
    struct member member = {0};
    size_t i;

    if (!name || (!hard && !soft && !data_members_plain(entry)))
        return;
    if (hard)
        member.target = mem_text(skip_dot_slash(hard));
    else if (soft)
        member.target = resolve_link(name, soft);
    else
        member.bytes = (uint64_t)archive_entry_size(entry);
    member.offset = (uint64_t)archive_filter_bytes(archive, 0);
    i = data_lexicon_add(&members->name, name, strlen(name));
    mem_grow(&members->member, &members->room, members->name.n,
             sizeof *members->member);
    if (members->name.n == before) // of two with one name the last counts
        free(members->member[i].target);
    members->member[i] = member;
}

struct data_members *
data_members_read(const char *path)
{
    struct data_members *members = mem_array(1, sizeof *members);
    struct archive *archive = archive_read_new();
    struct archive_entry *entry;
    int got;

    REQUIRE(archive);
    archive_read_support_filter_none(archive);
    archive_read_support_format_tar(archive);
    got = archive_read_open_filename(archive, path, READ_AHEAD);
    while (!got || got == ARCHIVE_WARN) {
        got = archive_read_next_header(archive, &entry);
        if (!got || got == ARCHIVE_WARN)
            take_member(members, archive, entry);
    }
    archive_read_free(archive);
    return members;
}

void
data_members_free(struct data_members *members)
{
    if (!members)
        return;
    for (size_t i = 0; i < members->name.n; i++)
        free(members->member[i].target);
    free(members->member);
    data_lexicon_release(&members->name);
    free(members);
}

int
data_members_find(const struct data_members *members, const char *name,
                  uint64_t *offset, uint64_t *bytes)
{
    for (int links = 0; links < MAX_LINKS; links++) {
        const int64_t i = data_lexicon_find(&members->name, name, strlen(name));

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
