/* Indexes of many parts: only necessary parts are read and checked. */
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>

#include "data/layout.h"
#include "fixture.h"
#include "t.h"

enum { N = 60000, NAME = 120, STEP = 1000 };

static char *bytes; /* of the index */
static size_t len;

static void
name_of(size_t id, char name[NAME])
{
    memset(name, 'x', NAME - 1);
    name[NAME - 1] = 0;
    name[snprintf(name, NAME, "%zu", id)] = '/';
}

/* An index of N samples, all the same four bytes. */
static void
make(void)
{
    struct layout_parts parts = {0};
    struct layout_sample sample = {.bytes = 4, .width = 8, .height = 8};
    char name[NAME];

    put_text("x", "1234567");
    sample.digest = digest_bytes("1234", 4);
    data_layout_text(&parts, "", 0);
    REQUIRE(!data_layout_file(&parts, "x", LAYOUT_TAR, 7, &err));
    parts.sample = mem_array(N, sizeof sample);
    parts.samples = N;
    parts.class = mem_array(1, sizeof *parts.class);
    parts.classes = 1;
    for (size_t i = 0; i < N; i++) {
        name_of(i, name);
        sample.name = data_layout_text(&parts, name, NAME - 1);
        parts.sample[i] = sample;
    }
    parts.class[0] = data_layout_text(&parts, "class", 5);
    REQUIRE(!data_layout_write(&parts, "x.foil", &err));
    data_layout_release(&parts);
    bytes = file_read("x.foil", 1 << 30, &len, &err);
    REQUIRE(bytes);
}

static size_t
checked(const struct data_set *set)
{
    size_t n = 0;

    for (size_t i = 0; i < set->parts; i++)
        n += set->checked[i];
    return n;
}

static void
reads_little(void)
{
    struct data_set *set = data_open_parts("x", &err);
    struct data_bytes got = {0};
    char name[NAME];
    size_t parts;

    T(set && set->parts > 10 && checked(set) == 2 && data_size(set) == N,
      "only the first and the last part of %zu are read", set ? set->parts : 0);
    T(!data_read(set, N / 2, &got, &err) && got.len == 4 && checked(set) <= 6,
      "a read checks the parts of its sample: %zu", checked(set));
    name_of(N / 2, name);
    T(!strcmp(data_name(set, N / 2), name) &&
          !strcmp(data_class_name(set, 0), "class"),
      "its name is right");
    parts = set->parts;
    T(!data_check(set, &err) && checked(set) == parts,
      "data_check() reads all");
    data_bytes_release(&got);
    data_close(set);
}

/* With a wrong byte: counts the refused samples among the checked ones; -1 if
 * the index is refused; the others are unchanged. */
static int
refused(const char *path)
{
    struct data_set *set = data_open_parts(path, &err);
    int n = 0;

    for (size_t i = 0; set && i < N; i += STEP) {
        char name[NAME];

        name_of(i, name);
        if (data_touch(set, i, &err))
            n++;
        else
            REQUIRE(!strcmp(data_name(set, i), name) && !data_label(set, i) &&
                    data_file(set, i).bytes == 4);
    }
    data_close(set);
    return set ? n : -1;
}

static void
finds_damage_in_each_part(void)
{
    size_t late = 0, silent = 0, opened = 0, tried = 0;

    for (size_t at = 77; at < len; at += LAYOUT_PART / 2, tried++) {
        struct data_set *set;
        int n;

        bytes[at] ^= 1;
        REQUIRE(!file_write("bad.foil", bytes, len, &err));
        n = refused("bad.foil");
        late += n > 0;
        silent += n == 0;
        set = data_open("bad.foil", &err);
        opened += set != NULL;
        data_close(set);
        bytes[at] ^= 1;
    }
    T(tried > 20 && late > 15 && !silent,
      "a wrong byte is found when it is read: %zu of %zu, the others at "
      "once",
      late, tried);
    T(!opened, "data_open() refuses them all: %s", err.msg);
}

static void
notices_overwriting(void)
{
    struct data_set *set;
    char junk[sizeof(struct layout_head)];
    struct data_bytes got = {0};
    FILE *file;

    REQUIRE(!file_write("x.foil", bytes, len, &err));
    set = data_open_parts("x", &err);
    REQUIRE(set && !file_write("x.foil", bytes, len, &err));
    T(!data_touch(set, N - 1, &err),
      "a new file of that name is no overwriting");
    data_close(set);
    set = data_open_parts("x", &err);
    file = fopen("x.foil", "r+b");
    memset(junk, 0xff, sizeof junk);
    REQUIRE(set && file && fwrite(junk, sizeof junk, 1, file) == 1 &&
            !fclose(file));
    T(data_touch(set, 0, &err) == -1 && strstr(err.msg, "was overwritten"),
      "overwriting is noticed: %s", err.msg);
    T(data_size(set) == N, "the size is unchanged");
    data_close(set);
    REQUIRE(!file_write("x.foil", bytes, len, &err));
    set = data_open("x", &err);
    REQUIRE(set && !truncate("x.foil", 4096));
    T(data_read(set, N - 1, &got, &err) == DATA_UNREAD &&
          strstr(err.msg, "was overwritten"),
      "truncation is noticed");
    data_bytes_release(&got);
    data_close(set);
}

/* The format of older versions: no digests of parts. */
static void
reads_the_version_before(void)
{
    struct layout_head head;
    size_t parts, front;
    struct data_set *set;

    memcpy(&head, bytes, sizeof head);
    parts = data_layout_parts(len - sizeof head - LAYOUT_PART / 2);
    front = parts * sizeof(struct digest);
    head.version = LAYOUT_VERSION_ONE_DIGEST;
    head.bytes = len - front;
    head.body =
        digest_bytes(bytes + sizeof head + front, len - sizeof head - front);
    head.head = digest_bytes(&head, offsetof(struct layout_head, head));
    memcpy(bytes + front, &head, sizeof head);
    REQUIRE(!file_write("x.foil", bytes + front, len - front, &err));
    set = data_open("x", &err);
    T(set && !data_touch(set, N - 1, &err) && data_size(set) == N,
      "an index of version 4 is read%s%s", set ? "" : ": ", set ? "" : err.msg);
    data_close(set);
    bytes[len - LAYOUT_PART] ^= 1;
    REQUIRE(!file_write("x.foil", bytes + front, len - front, &err));
    T(!data_open_parts("x", &err) && strstr(err.msg, "is damaged"),
      "a damaged index of version 4 is refused as a whole: %s", err.msg);
}

int
main(void)
{
    enter_folder();
    make();
    reads_little();
    finds_damage_in_each_part();
    notices_overwriting();
    reads_the_version_before();
    free(bytes);
    leave_folder();
    return t_done();
}
