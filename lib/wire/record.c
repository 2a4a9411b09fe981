#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "util/mem.h"
#include "wire/record.h"

static const char magic[8] = "FOILREC1";

enum { HEAD = 16 }; /* bytes before the first part of a message */

int
wire_record_start(FILE *file, struct err *err)
{
    if (fwrite(magic, sizeof magic, 1, file) != 1)
        return err_sys(err, "cannot write the recording");
    return 0;
}

static void
put_number(uint8_t *to, size_t width, uint64_t value)
{
    for (size_t i = 0; i < width; i++, value >>= 8)
        to[i] = (uint8_t)value;
}

static uint64_t
get_number(const uint8_t *from, size_t width)
{
    uint64_t value = 0;

    for (size_t i = width; i-- > 0;)
        value = value << 8 | from[i];
    return value;
}

int
wire_record_put(FILE *file, const struct wire_record *record,
                const struct wire_msg *msg, struct err *err)
{
    const size_t n = wire_msg_parts(msg);
    uint8_t head[HEAD];
    int good;

    put_number(head, 8, record->time);
    put_number(head + 8, 4, record->from);
    put_number(head + 12, 4, n);
    good = fwrite(head, sizeof head, 1, file) == 1;
    for (size_t i = 0; good && i < n; i++) {
        const struct wire_part part = wire_msg_part(msg, i);

        put_number(head, 8, part.len);
        good = fwrite(head, 8, 1, file) == 1 &&
               fwrite(part.data, 1, part.len, file) == part.len;
    }
    return good ? 0 : err_sys(err, "cannot write the recording");
}

FILE *
wire_record_open(const char *path, struct err *err)
{
    FILE *file = fopen(path, "rb");
    char start[sizeof magic];

    if (!file) {
        err_sys(err, "cannot open '%s'", path);
        return NULL;
    }
    if (fread(start, sizeof start, 1, file) == 1 &&
        !memcmp(start, magic, sizeof magic))
        return file;
    err_set(err, "'%s' is not a recording of foil-tap", path);
    fclose(file);
    return NULL;
}

/* Bytes from here to the end of the file. */
static uint64_t
bytes_left(FILE *file)
{
    struct stat st;
    off_t at = ftello(file);

    if (at < 0 || fstat(fileno(file), &st) || st.st_size < at)
        return 0;
    return (uint64_t)(st.st_size - at);
}

/* Read one part; the caller frees its bytes. */
static int
get_part(FILE *file, struct wire_part *part)
{
    uint8_t length[8];
    uint64_t len;
    void *data;

    if (fread(length, sizeof length, 1, file) != 1)
        return -1;
    len = get_number(length, sizeof length);
    if (len > bytes_left(file))
        return -1;
    data = mem_array((size_t)len, 1);
    part->data = data;
    part->len = (size_t)len;
    return fread(data, 1, part->len, file) == part->len ? 0 : -1;
}

int
wire_record_next(FILE *file, struct wire_record *record, struct wire_msg **msg,
                 struct err *err)
{
    struct wire_part part[WIRE_PARTS_MAX] = {{NULL, 0}};
    uint8_t head[HEAD];
    size_t n, got = fread(head, 1, sizeof head, file);
    int whole;

    if (got == 0 && feof(file))
        return 0;
    n = got == sizeof head ? (size_t)get_number(head + 12, 4) : 0;
    whole = n >= 2 && n <= WIRE_PARTS_MAX;
    for (size_t i = 0; whole && i < n; i++)
        whole = !get_part(file, &part[i]);
    *msg = NULL;
    if (whole)
        *msg = wire_msg_from(n, part, err);
    else
        err_set(err, "the recording is cut off or damaged");
    for (size_t i = 0; i < WIRE_PARTS_MAX; i++)
        free((void *)part[i].data);
    record->time = get_number(head, 8);
    record->from = (uint32_t)get_number(head + 8, 4);
    return *msg ? 1 : -1;
}
