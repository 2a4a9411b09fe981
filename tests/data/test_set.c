#include <sys/stat.h>

#include "fixture.h"
#include "pngs.h"
#include "t.h"

enum { SHARDS = 70 }; // more than are open at a time

static const char *const two[] = {"a/1.jpg", "b/2.jpg", NULL};
static const char *const place[] = {"two.tar", NULL};

static int
opens(const char *path)
{
    struct data_set *set = data_open(path, &err);

    data_close(set);
    return set != NULL;
}

static void
reads_from(void)
{
    struct data_set *set = data_open("two.tar", &err);

    REQUIRE(set && !link("two.tar", "same.tar"));
    T(data_reads(set, "./two.tar") && data_reads(set, "same.tar") &&
          data_reads(set, "two.tar.foil"),
      "a set reads its data and its index, by any name");
    T(!data_reads(set, "nothing") && !data_reads(set, "."),
      "a set reads no other file");
    data_close(set);
}

static void
missing_indexes(void)
{
    T(!opens("nothing") &&
          strstr(err.msg, "cannot open the data set 'nothing'"),
      "%s", err.msg);
    put_tar("two.tar", two);
    T(!opens("two.tar") && strstr(err.msg, "foil-data index"), "%s", err.msg);
    put_text("two.tar.foil", "something else");
    T(!opens("two.tar") && strstr(err.msg, "is not an index"), "%s", err.msg);
    T(!data_is_index("two.tar", &err) && !data_is_index("nothing", &err) &&
          !data_is_index(".", &err),
      "data, nothing and a folder are no index");
    T(!make_index(place, "two.tar.foil", 0) && opens("two.tar") &&
          opens("two.tar.foil"),
      "by the data's or the index's name");
    T(data_is_index("two.tar.foil", &err) == 1, "that is one");
    reads_from();
    mkdir("f", 0700);
    put_jpeg("f/1.jpg", 1);
    T(!make_index((const char *const[]){"f", NULL}, "f.foil", 0) &&
          opens("f/") && opens("f"),
      "a folder next to its index");
}

/* Each byte of an index is protected; so is its end. */
static void
damaged_indexes(void)
{
    size_t len;
    char *bytes = file_read("two.tar.foil", 1 << 20, &len, &err);
    int taken = 0;

    REQUIRE(bytes);
    for (size_t i = 0; i < len; i++) {
        bytes[i] ^= 1;
        REQUIRE(!file_write("bad.foil", bytes, len, &err));
        taken += opens("bad.foil");
        bytes[i] ^= 1;
    }
    T(!taken, "%zu bytes, each wrong once, all refused", len);
    for (size_t n = 0; n < len; n++) {
        REQUIRE(!file_write("bad.foil", bytes, n, &err));
        taken += opens("bad.foil");
    }
    T(!taken, "cut anywhere, refused: %s", err.msg);
    bytes[8] = 1;
    REQUIRE(!file_write("bad.foil", bytes, len, &err));
    T(!opens("bad.foil") &&
          strstr(err.msg, "version 1, not 4 to 6: make it again"),
      "an index of version 1 is refused: %s", err.msg);
    free(bytes);
}

static void
data_that_moved(void)
{
    mkdir("here", 0700);
    mkdir("there", 0700);
    mkdir("there/in", 0700);
    put_tar("here/two.tar", two);
    T(!make_index((const char *const[]){"here/two.tar", NULL},
                  "here/two.tar.foil", 0),
      "an index next to its data");
    rename("here/two.tar", "there/two.tar");
    rename("here/two.tar.foil", "there/two.tar.foil");
    T(opens("there/two.tar"), "they move together");
    rename("there/two.tar", "here/two.tar");
    T(opens("there/two.tar.foil"), "the index moves alone");
    rename("here/two.tar", "there/in/two.tar");
    T(!opens("there/two.tar.foil") && strstr(err.msg, "cannot find the data"),
      "%s", err.msg);
}

static void
data_that_changed(void)
{
    struct data_bytes bytes = {0};
    struct data_set *set;
    char *tar;
    size_t len;

    set = data_open("two.tar", &err);
    T(set && level_of(set, 1) == 2, "sound");
    data_close(set);

    tar = file_read("two.tar", 1 << 20, &len, &err);
    REQUIRE(tar);
    tar[600] ^= 1;
    REQUIRE(!file_write("two.tar", tar, len, &err));
    set = data_open("two.tar", &err);
    T(set && data_read(set, 0, &bytes, &err) == -1 &&
          strstr(err.msg, "'a/1.jpg' has changed since it was indexed"),
      "%s", err.msg);
    T(set && !data_read(set, 1, &bytes, &err), "the other is unchanged");
    data_close(set);

    REQUIRE(!file_write("two.tar", tar, len - 512, &err));
    T(!opens("two.tar") && strstr(err.msg, "two.tar' has changed") &&
          strstr(err.msg, "run 'foil data index two.tar'"),
      "%s", err.msg);
    free(tar);

    put_jpeg("f/1.jpg", 2);
    set = data_open("f", &err);
    T(set && data_read(set, 0, &bytes, &err) == -1, "%s", err.msg);
    unlink("f/1.jpg");
    T(set && data_read(set, 0, &bytes, &err) == -1 &&
          strstr(err.msg, "No such file"),
      "%s", err.msg);
    data_close(set);
    data_bytes_release(&bytes);
}

static void
many_shards(void)
{
    static char path[SHARDS][32];
    const char *places[SHARDS + 1] = {NULL};
    struct data_set *set;
    int right = 0;

    for (int i = 0; i < SHARDS; i++) {
        snprintf(path[i], sizeof path[i], "shard%d.tar", i);
        put_tar(path[i], two);
        places[i] = path[i];
    }
    T(!make_index(places, "many.foil", 0), "%d shards", SHARDS);
    set = data_open("many.foil", &err);
    for (size_t round = 0; set && round < 2; round++)
        for (size_t i = 0; i < 2 * SHARDS; i += 3)
            right += level_of(set, i) == (int)(i % 2) + 1;
    T(right == 2 * ((2 * SHARDS + 2) / 3), "each is read twice: %d", right);
    data_close(set);
}

/* Returns 1 if the bytes of a sample are at data_where(). */
static int
lies_there(struct data_set *set, size_t id)
{
    struct data_bytes bytes = {0};
    uint64_t offset = 1;
    char *path = data_where(set, id, &offset, &err);
    size_t len = 0;
    char *file = path ? file_read(path, 1 << 20, &len, &err) : NULL;
    int there = file && path[0] == '/' && !data_read(set, id, &bytes, &err) &&
                offset + data_file(set, id).bytes <= len &&
                !memcmp(file + offset, bytes.data, data_file(set, id).bytes);

    data_bytes_release(&bytes);
    free(file);
    free(path);
    return there;
}

static void
where_samples_are(void)
{
    struct data_set *set;

    put_tar("two.tar", two);
    REQUIRE(!make_index(place, "two.tar.foil", 0));
    set = data_open("two.tar", &err);
    T(set && lies_there(set, 0) && lies_there(set, 1), "in a tar");
    data_close(set);
    mkdir("w", 0700);
    put_jpeg("w/1.jpg", 1);
    REQUIRE(!make_index((const char *const[]){"w", NULL}, "w.foil", 0));
    set = data_open("w", &err);
    T(set && lies_there(set, 0), "in a folder, as a file of its own");
    unlink("w/1.jpg");
    T(set && !data_where(set, 0, &(uint64_t){0}, &err) &&
          strstr(err.msg, "w/1.jpg"),
      "a missing file has no path: %s", err.msg);
    data_close(set);
}

/* Four images, one with the wrong suffix. */
static void
a_set_of_all_forms(void)
{
    static uint8_t rgba[4 * PICTURE_W * PICTURE_H];
    struct data_bytes png, webp = write_webp(rgba);
    static const enum image_codec want[] = {IMAGE_CODEC_JPEG, IMAGE_CODEC_PNG,
                                            IMAGE_CODEC_WEBP, IMAGE_CODEC_PNG};
    struct data_set *set;
    size_t right = 0;

    png = write_png(&(struct form){PNG_COLOR_TYPE_RGBA, 8, 0, rgba,
                                   4 * PICTURE_W, 0, 0, 0, 0});
    REQUIRE(!file_mkdir("set", 0700, &err));
    put_jpeg("set/0.jpg", 1);
    REQUIRE(!file_write("set/1.png", png.data, png.len, &err) &&
            !file_write("set/2.WebP", webp.data, webp.len, &err) &&
            !file_write("set/3.jpeg", png.data, png.len, &err));
    set = open_indexed("set");
    T(set && data_size(set) == 4, "%s", set ? "all four are there" : err.msg);
    for (size_t i = 0; set && i < 4; i++)
        right += data_file(set, i).codec == want[i];
    T(right == 4, "the index has their formats, regardless of names");
    T(set && data_file(set, 1).width == PICTURE_W &&
          data_file(set, 2).height == PICTURE_H,
      "the index has the sizes of images");
    data_close(set);
    data_bytes_release(&png);
    data_bytes_release(&webp);
}

int
main(void)
{
    if (enter_folder())
        return 1;
    missing_indexes();
    damaged_indexes();
    data_that_moved();
    data_that_changed();
    many_shards();
    where_samples_are();
    a_set_of_all_forms();
    if (leave_folder())
        return 1;
    return t_done();
}
