#define _XOPEN_SOURCE 700 // realpath()
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/file.h"
#include "util/mem.h"

#include "layout.h"

size_t
data_layout_parts(uint64_t bytes)
{
    return (size_t)((bytes + LAYOUT_PART - 1) / LAYOUT_PART);
}

void
data_layout_digest_add(struct digest_stream *stream,
                       const struct layout_sample *sample, int32_t label)
{
    const uint32_t x = (uint32_t)label;
    const uint8_t byte[4] = {(uint8_t)x, (uint8_t)(x >> 8), (uint8_t)(x >> 16),
                             (uint8_t)(x >> 24)};

    digest_add(stream, &sample->digest, sizeof sample->digest);
    digest_add(stream, byte, sizeof byte);
}

/* Returns the digest of `images` and all captions, each followed by a zero
 * byte, or `images` if there are none. */
static struct digest
digest_data(const struct layout_parts *parts, const struct digest *images)
{
    struct digest_stream *stream = digest_new();
    struct digest digest;
    int captioned = 0;

    digest_add(stream, images, sizeof *images);
    for (size_t i = 0; i < parts->samples; i++) {
        const char *caption = parts->text + parts->sample[i].caption;

        digest_add(stream, caption, strlen(caption) + 1);
        captioned |= *caption != 0;
    }
    digest = digest_end(stream);
    return captioned ? digest : *images;
}

int
data_layout_fault(int error)
{
    static const int of_the_file[] = {ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG,
                                      EACCES, EPERM,   ENXIO, ENODEV};

    for (size_t i = 0; i < sizeof of_the_file / sizeof *of_the_file; i++)
        if (error == of_the_file[i])
            return -1;
    return DATA_UNREAD;
}

int
data_layout_retry(int tried)
{
    static const long milliseconds[] = {10, 90, 400};

    if ((size_t)tried >= sizeof milliseconds / sizeof *milliseconds)
        return 0;
    nanosleep(&(struct timespec){.tv_nsec = milliseconds[tried] * 1000000},
              NULL);
    return 1;
}

int
data_layout_open(const char *path, struct stat *st, struct err *err)
{
    int fd, rc;

    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd >= 0 && !fstat(fd, st)) {
        if (S_ISREG(st->st_mode))
            return fd;
        rc = err_set(err, "'%s' is not a file", path);
    } else {
        rc = data_layout_fault(errno);
        err_sys(err, "cannot open '%s'", path);
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

int
data_layout_read(int fd, uint64_t offset, size_t n, struct data_bytes *bytes,
                 const char *name, struct err *err)
{
    size_t have = 0;

    mem_grow(&bytes->data, &bytes->room, n, 1);
    while (have < n) {
        ssize_t got =
            pread(fd, bytes->data + have, n - have, (off_t)(offset + have));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            err_sys(err, "cannot read '%s'", name);
        if (got == 0)
            err_set(err, "'%s' is cut off: %zu of %zu bytes are there", name,
                    have, n);
        if (got <= 0)
            return DATA_UNREAD; // it was longer before
        have += (size_t)got;
    }
    bytes->len = n;
    return 0;
}

char *
data_layout_path(const char *folder, const char *name)
{
    return name[0] == '/' || !strcmp(folder, ".")
               ? mem_text(name)
               : mem_format("%s/%s", folder, name);
}

/* Reads a whole file, without retries. */
static int
read_whole(const char *path, struct data_bytes *bytes, struct err *err)
{
    struct stat st;
    int fd = data_layout_open(path, &st, err), rc;

    if (fd < 0)
        return fd;
    if (st.st_size > LAYOUT_MAX_IMAGE_BYTES)
        rc = err_set(err, "'%s' is larger than %d bytes", path,
                     LAYOUT_MAX_IMAGE_BYTES);
    else
        rc = data_layout_read(fd, 0, (size_t)st.st_size, bytes, path, err);
    close(fd);
    return rc;
}

int
data_layout_read_file(const char *path, struct data_bytes *bytes,
                      struct err *err)
{
    int rc, tried = 0;

    do
        rc = read_whole(path, bytes, err);
    while (rc == DATA_UNREAD && data_layout_retry(tried++));
    return rc;
}

char *
data_layout_advice(const struct data_set *set)
{
    const size_t n = strlen(set->path), end = strlen(LAYOUT_SUFFIX);
    const int suffixed = n > end && !strcmp(set->path + n - end, LAYOUT_SUFFIX);
    const char *data =
        mem_temp("%.*s", suffixed ? (int)(n - end) : 0, set->path);
    struct stat own;

    // of this file alone: of a list, or of the file or folder itself
    if (suffixed && set->head->files == 1 &&
        (set->head->marks && set->mark[0].list
             ? !stat(data, &own) && S_ISREG(own.st_mode)
             : file_same(data, set->place[0])))
        return mem_format("run 'foil data index %s'", data);
    return mem_format("make the index '%s' again", set->path);
}

uint64_t
data_layout_text(struct layout_parts *parts, const char *text, size_t n)
{
    uint64_t at;

    if (!parts->text_len) {
        mem_grow(&parts->text, &parts->text_room, 1, 1);
        parts->text[parts->text_len++] = 0;
    }
    if (!n)
        return 0;
    at = parts->text_len;
    mem_grow(&parts->text, &parts->text_room, at + n + 1, 1);
    memcpy(parts->text + at, text, n);
    parts->text[at + n] = 0;
    parts->text_len += n + 1;
    return at;
}

char *
data_layout_absolute(const char *path, struct err *err)
{
    char *absolute = realpath(path, NULL);

    if (!absolute)
        err_sys(err, "cannot find '%s'", path);
    return absolute;
}

int
data_layout_file(struct layout_parts *parts, const char *path,
                 enum layout_kind kind, uint64_t bytes, struct err *err)
{
    char *absolute = data_layout_absolute(path, err);

    if (!absolute)
        return -1;
    mem_grow(&parts->file, &parts->file_room, parts->files + 1,
             sizeof *parts->file);
    parts->file[parts->files++] = (struct data_layout_file){
        .bytes = bytes,
        .absolute = data_layout_text(parts, absolute, strlen(absolute)),
        .kind = kind,
    };
    free(absolute);
    return 0;
}

void
data_layout_mark(struct layout_parts *parts, const char *name, int list,
                 const struct tree_state *state)
{
    if (parts->marks == LAYOUT_MAX_MARKS)
        return;
    mem_grow(&parts->mark, &parts->mark_room, parts->marks + 1,
             sizeof *parts->mark);
    parts->mark[parts->marks++] = (struct data_layout_mark){
        .state = *state,
        .name = data_layout_text(parts, name, strlen(name)),
        .file = (uint32_t)parts->files - 1,
        .list = (uint32_t)list,
    };
}

char *
data_layout_relative(const char *folder, const char *path)
{
    size_t common = 0, up = 0;
    char *relative;

    if (!strcmp(folder, "/"))
        folder = "";
    for (size_t i = 0;; i++) {
        if ((!folder[i] || folder[i] == '/') && (!path[i] || path[i] == '/'))
            common = i;
        if (!folder[i] || folder[i] != path[i])
            break;
    }
    for (const char *at = folder + common; *at; at++)
        up += *at == '/';
    path += common + (path[common] == '/');
    relative = mem_array(3 * up + strlen(path) + 2, 1);
    for (size_t i = 0; i < up; i++)
        memcpy(relative + 3 * i, "../", 3);
    memcpy(relative + 3 * up, *path ? path : ".", strlen(*path ? path : "."));
    return relative;
}

static int
set_file_paths(struct layout_parts *parts, const char *path, struct err *err)
{
    char *copy = mem_text(path), *folder = realpath(dirname(copy), NULL);

    if (!folder)
        err_sys(err, "cannot find the folder of '%s'", path);
    for (size_t i = 0; folder && i < parts->files; i++) {
        struct data_layout_file *file = &parts->file[i];
        char *absolute = mem_text(parts->text + file->absolute);
        char *relative = data_layout_relative(folder, absolute);

        // all paths together, in few parts of the index
        file->absolute = data_layout_text(parts, absolute, strlen(absolute));
        file->relative = data_layout_text(parts, relative, strlen(relative));
        mem_free(absolute, relative);
    }
    free(copy);
    if (!folder)
        return -1;
    free(folder);
    return 0;
}

/* Returns the digests of the body's parts; the caller frees them. */
static struct digest *
digest_parts(const struct body_table table[BODY_TABLES], size_t parts)
{
    struct digest *part = mem_array(parts, sizeof *part);
    struct digest_stream *stream = digest_new();
    size_t n = 0, left = LAYOUT_PART;

    for (size_t i = 0; i < BODY_TABLES; i++)
        for (size_t at = 0, take; at < table[i].bytes; at += take) {
            take = table[i].bytes - at < left ? table[i].bytes - at : left;
            digest_add(stream, (const char *)table[i].data + at, take);
            left -= take;
            if (left)
                continue;
            part[n++] = digest_end(stream);
            stream = digest_new();
            left = LAYOUT_PART;
        }
    if (n < parts)
        part[n] = digest_end(stream);
    else
        digest_end(stream);
    return part;
}

int
data_layout_save(struct layout_head *head,
                 const struct body_table table[BODY_TABLES], const char *path,
                 struct err *err)
{
    struct file_draft draft = {0};
    uint64_t bytes = 0;
    struct digest *part;
    size_t parts;

    memcpy(head->magic, LAYOUT_MAGIC, sizeof head->magic);
    head->order = LAYOUT_ORDER;
    if (file_draft_open(&draft, path, err))
        return -1;
    // fills in the size and the last digests, and writes
    for (size_t i = 0; i < BODY_TABLES; i++)
        bytes += table[i].bytes;
    parts = data_layout_parts(bytes);
    part = digest_parts(table, parts);
    head->bytes = sizeof *head + parts * sizeof *part + bytes;
    head->body = digest_bytes(part, parts * sizeof *part);
    head->head = digest_bytes(head, offsetof(struct layout_head, head));
    fwrite(head, sizeof *head, 1, draft.file);
    fwrite(part, sizeof *part, parts, draft.file);
    for (size_t i = 0; i < BODY_TABLES && !ferror(draft.file); i++)
        if (table[i].bytes)
            fwrite(table[i].data, table[i].bytes, 1, draft.file);
    free(part);
    return file_draft_keep(&draft, err);
}

int
data_layout_write(struct layout_parts *parts, const char *path, struct err *err)
{
    struct layout_head head = {.version = LAYOUT_VERSION};
    struct digest_stream *stream;

    if (set_file_paths(parts, path, err))
        return -1;
    const struct body_table table[BODY_TABLES] = {
        {parts->file, parts->files * sizeof *parts->file},
        {parts->class, parts->classes * sizeof *parts->class},
        {parts->sample, parts->samples * sizeof *parts->sample},
        {parts->mark, parts->marks * sizeof *parts->mark},
        {parts->text, parts->text_len},
    };

    head.files = parts->files;
    head.classes = parts->classes;
    head.samples = parts->samples;
    head.marks = parts->marks;
    head.text = parts->text_len;
    stream = digest_new();
    for (size_t i = 0; i < parts->samples; i++)
        data_layout_digest_add(stream, &parts->sample[i],
                               parts->sample[i].label);
    head.images = digest_end(stream);
    head.data = digest_data(parts, &head.images);
    return data_layout_save(&head, table, path, err);
}

void
data_layout_release(struct layout_parts *parts)
{
    mem_free(parts->file, parts->class, parts->sample, parts->mark,
             parts->text);
    *parts = (struct layout_parts){0};
}
