#include <stdlib.h>
#include <unistd.h>

#include "t.h"
#include "wire/record.h"

#include "flow/ends.h"

static char path[128];

/* Reads all messages: how many, or -1. */
static int
count(struct err *err)
{
    struct wire_record record;
    struct wire_msg *msg;
    FILE *file = wire_record_open(path, err);
    int n = 0, rc;

    if (!file)
        return -1;
    while ((rc = wire_record_next(file, &record, &msg, err)) > 0) {
        wire_msg_free(msg);
        n++;
    }
    fclose(file);
    return rc < 0 ? -1 : n;
}

/* Two messages are written, and read; how long the file is. */
static long
written_and_read(void)
{
    const struct wire_record a = {1700000000000000000, 0}, b = {5, 3};
    struct wire_msg *heartbeat =
                        wire_heartbeat_put(&(struct wire_heartbeat){0}),
                    *msg;
    struct wire_record got;
    struct err err = {""};
    FILE *file = fopen(path, "wb");
    long size;

    T(!wire_record_start(file, &err) &&
          !wire_record_put(file, &a, heartbeat, &err) &&
          !wire_record_put(file, &b, heartbeat, &err),
      "written");
    size = ftell(file);
    fclose(file);
    T(size == 8 + 2 * (16 + 8 + 15 + 8 + 1), "with the length in the header");
    wire_msg_free(heartbeat);

    file = wire_record_open(path, &err);
    T(wire_record_next(file, &got, &msg, &err) == 1 && got.time == a.time &&
          got.from == 0 && wire_msg_kind(msg) == WIRE_HEARTBEAT,
      "the first");
    wire_msg_free(msg);
    T(wire_record_next(file, &got, &msg, &err) == 1 && got.from == 3,
      "the second");
    wire_msg_free(msg);
    T(wire_record_next(file, &got, &msg, &err) == 0,
      "there is no further message");
    fclose(file);
    return size;
}

/* Cut anywhere but between two messages, it is damaged. */
static void
cut_off(long size)
{
    struct err err = {""};
    int cut = 0;

    while (--size > 8) {
        if (truncate(path, size))
            abort();
        cut += count(&err) < 0;
    }
    T(cut == 2 * 48 - 2, "damage is reported: %s", err.msg);
    T(truncate(path, 8) == 0 && count(&err) == 0, "an empty recording");
    T(truncate(path, 7) == 0 && count(&err) < 0, "none: %s", err.msg);
}

/* A recording with the bytes of `content`. */
static void
write_bytes(const char *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");

    fwrite(bytes, 1, n, file);
    fclose(file);
}

int
main(void)
{
    struct err err = {""};

    scratch_open();
    snprintf(path, sizeof path, "%s/rec", scratch);
    cut_off(written_and_read());
    write_bytes("FOILREC1tttttttt\0\0\0\0\2\0\0\0\377\377\377\377\377\377"
                "\377\177",
                32);
    T(count(&err) < 0, "a part larger than the file: %s", err.msg);
    write_bytes("FOILREC1tttttttt\0\0\0\0\2\0\0\0\12\0\0\0\0\0\0\0foil1.beat"
                "\1\0\0\0\0\0\0\0\200",
                51);
    T(count(&err) < 0 && strstr(err.msg, "speaks foil1, this is foil3"),
      "one of another version is named: %s", err.msg);
    scratch_close();
    return t_done();
}
