#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/mem.h"

#include "layout.h"

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
            return err_sys(err, "cannot read '%s'", name);
        if (got == 0)
            return err_set(err, "'%s' is cut off: %zu of %zu bytes are there",
                           name, have, n);
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

int
data_layout_read_file(const char *path, struct data_bytes *bytes,
                      struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc = -1;
    struct stat st;

    if (fd < 0 || fstat(fd, &st))
        err_sys(err, "cannot open '%s'", path);
    else if (!S_ISREG(st.st_mode))
        err_set(err, "'%s' is not a file", path);
    else if (st.st_size > LAYOUT_MAX_BYTES)
        err_set(err, "'%s' is larger than %d bytes", path, LAYOUT_MAX_BYTES);
    else
        rc = data_layout_read(fd, 0, (size_t)st.st_size, bytes, path, err);
    if (fd >= 0)
        close(fd);
    return rc;
}
