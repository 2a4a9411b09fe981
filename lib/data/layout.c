#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/mem.h"

#include "layout.h"

size_t
data_layout_parts(uint64_t bytes)
{
    return (size_t)((bytes + LAYOUT_PART - 1) / LAYOUT_PART);
}

struct digest
data_layout_digest_images(const struct layout_parts *parts)
{
    struct digest_stream *stream = digest_new();

    for (size_t i = 0; i < parts->samples; i++) {
        const struct layout_sample *sample = &parts->sample[i];
        uint32_t label = (uint32_t)sample->label;
        uint8_t byte[4] = {(uint8_t)label, (uint8_t)(label >> 8),
                           (uint8_t)(label >> 16), (uint8_t)(label >> 24)};

        digest_add(stream, &sample->digest, sizeof sample->digest);
        digest_add(stream, byte, sizeof byte);
    }
    return digest_end(stream);
}

struct digest
data_layout_digest_data(const struct layout_parts *parts,
                        const struct digest *images)
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
data_layout_again(int tried)
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
            return DATA_UNREAD; // it was longer when it was looked at
        have += (size_t)got;
    }
    bytes->len = n;
    return 0;
}

char *
data_layout_path(const char *folder, const char *name)
{
    return name[0] == '/' ? mem_text(name) : mem_format("%s/%s", folder, name);
}

/* Reads a whole file once. */
static int
read_whole(const char *path, struct data_bytes *bytes, struct err *err)
{
    struct stat st;
    int fd = data_layout_open(path, &st, err), rc;

    if (fd < 0)
        return fd;
    if (st.st_size > LAYOUT_MAX_BYTES)
        rc = err_set(err, "'%s' is larger than %d bytes", path,
                     LAYOUT_MAX_BYTES);
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
    while (rc == DATA_UNREAD && data_layout_again(tried++));
    return rc;
}
