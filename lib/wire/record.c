#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "util/mem.h"
#include "wire/record.h"

static const char magic[8] = "FOILREC1";

/* The bytes before the first part of a message; lib/wire/parse.c refuses to be
 * built for a machine that is not little-endian. */
struct head {
    uint64_t time;
    uint32_t from, parts;
};

int
wire_record_start(FILE *file, struct err *err)
{
    if (fwrite(magic, sizeof magic, 1, file) != 1)
        return err_sys(err, "cannot write the recording");
    return 0;
}

int
wire_record_put(FILE *file, const struct wire_record *record,
                const struct wire_msg *msg, struct err *err)
{
    const struct head head = {record->time, record->from,
                              (uint32_t)wire_msg_parts(msg)};
    int good = fwrite(&head, sizeof head, 1, file) == 1;

    for (size_t i = 0; good && i < head.parts; i++) {
        const struct wire_part part = wire_msg_part(msg, i);
        const uint64_t len = part.len;

        good = fwrite(&len, sizeof len, 1, file) == 1 &&
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

/* Read one part; the caller frees its bytes. */
static int
get_part(FILE *file, struct wire_part *part)
{
    uint64_t len;
    struct stat st;
    void *data;
    off_t at;

    if (fread(&len, sizeof len, 1, file) != 1)
        return -1;
    at = ftello(file); // the part must fit in the rest of the file
    if (at < 0 || fstat(fileno(file), &st) || st.st_size < at ||
        len > (uint64_t)(st.st_size - at))
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
    struct head head = {0};
    const size_t got = fread(&head, 1, sizeof head, file);
    int whole =
        got == sizeof head && head.parts >= 2 && head.parts <= WIRE_PARTS_MAX;

    if (got == 0 && feof(file))
        return 0;
    for (size_t i = 0; whole && i < head.parts; i++)
        whole = !get_part(file, &part[i]);
    *msg = NULL;
    if (whole)
        *msg = wire_msg_from(head.parts, part, err);
    else
        err_set(err, "the recording is cut off or damaged");
    for (size_t i = 0; i < WIRE_PARTS_MAX; i++)
        free((void *)part[i].data);
    *record = (struct wire_record){head.time, head.from};
    return *msg ? 1 : -1;
}
