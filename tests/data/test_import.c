#include <zlib.h>

#include "data/import.h"
#include "fixture.h"
#include "t.h"

static struct data_import *
open_files(enum data_form form, const char *first, const char *second)
{
    static char name[2][64];
    static char *file[] = {name[0], name[1]};
    struct data_import_settings how = {
        .form = form, .files = second ? 2 : 1, .file = file};

    snprintf(name[0], sizeof name[0], "%s", first);
    snprintf(name[1], sizeof name[1], "%s", second ? second : "");
    return data_import_open(&how, &err);
}

/* Reads to the end: returns the number of images, or -1 with err. */
static int
count(struct data_import *import)
{
    struct data_picture picture;
    int n = 0, got = -1;

    while (import && (got = data_import_next(import, &picture, &err)) > 0)
        n++;
    data_import_close(import);
    return got < 0 ? -1 : n;
}

static void
put_gz(const char *path, const void *bytes, size_t n)
{
    gzFile file = gzopen(path, "wb");

    REQUIRE(file && gzwrite(file, bytes, (unsigned)n) == (int)n);
    gzclose(file);
}

static const uint8_t idx[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2,  0,  0,
                              0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static const uint8_t idx_labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 11, 3};

static void
idx_is_read(void)
{
    static const uint8_t colour[] = {0, 0, 8, 4, 0, 0, 0, 1, 0, 0, 0, 1, 0,
                                     0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};
    struct data_import *import;
    struct data_picture picture;

    put_gz("i.gz", idx, sizeof idx);
    REQUIRE(!file_write("i", idx, sizeof idx, &err));
    REQUIRE(!file_write("l", idx_labels, sizeof idx_labels, &err));
    import = open_files(DATA_IDX, "i.gz", "l");
    T(import && data_import_size(import) == 2, "gzipped");
    T(import && data_import_next(import, &picture, &err) == 1 &&
          picture.width == 3 && picture.height == 2 && picture.channels == 1 &&
          !memcmp(picture.pixel, idx + 16, 6) && !strcmp(picture.class, "11"),
      "the first image and its class");
    T(import && data_import_next(import, &picture, &err) == 1 &&
          picture.pixel[0] == 7 && !strcmp(picture.class, "03"),
      "the second, its class as long as the longest");
    T(import && data_import_next(import, &picture, &err) == 0,
      "there is no picture more");
    data_import_close(import);

    import = open_files(DATA_IDX, "i", NULL);
    T(import && data_import_next(import, &picture, &err) == 1 && !picture.class,
      "plain, without labels");
    data_import_close(import);

    REQUIRE(!file_write("c", colour, sizeof colour, &err));
    import = open_files(DATA_IDX, "c", NULL);
    T(import && data_import_next(import, &picture, &err) == 1 &&
          picture.channels == 3 && picture.width == 2 && picture.pixel[3] == 4,
      "in colour");
    data_import_close(import);
}

static void
idx_is_judged(void)
{
    uint8_t bad[sizeof idx];
    int refused = 0;

    for (size_t n = 0; n < sizeof idx; n++) {
        REQUIRE(!file_write("cut", idx, n, &err));
        refused += count(open_files(DATA_IDX, "cut", NULL)) == -1;
    }
    T(refused == sizeof idx, "cut anywhere: %s", err.msg);
    memcpy(bad, idx, sizeof idx);
    bad[8] = 0xff;
    REQUIRE(!file_write("bad", bad, sizeof bad, &err));
    T(!open_files(DATA_IDX, "bad", NULL), "%s", err.msg);
    bad[2] = 0xd;
    REQUIRE(!file_write("bad", bad, sizeof bad, &err));
    T(!open_files(DATA_IDX, "bad", NULL), "floats: %s", err.msg);
    T(!open_files(DATA_IDX, "l", NULL), "labels as images: %s", err.msg);
    T(!open_files(DATA_IDX, "i", "i"), "images as labels: %s", err.msg);
    memcpy(bad, idx_labels, sizeof idx_labels);
    bad[7] = 3;
    REQUIRE(!file_write("bad", bad, sizeof idx_labels, &err));
    T(!open_files(DATA_IDX, "i", "bad"), "%s", err.msg);
    REQUIRE(!file_write("bad", idx_labels, sizeof idx_labels - 1, &err));
    T(!open_files(DATA_IDX, "i", "bad"), "%s", err.msg);
    T(!open_files(DATA_IDX, "none", NULL), "%s", err.msg);
}

/* A record of cifar: labels, then a plane for each colour. */
static void
cifar_is_read(void)
{
    static uint8_t record[2 * 3074];
    struct data_import *import;
    struct data_picture picture = {0};

    record[0] = 9;
    for (size_t i = 0; i < 3072; i++)
        record[1 + i] = (uint8_t)(i / 1024 * 50 + i % 1024 / 32);
    record[3073] = 2;
    REQUIRE(!file_write("c10", record, 2 * 3073, &err));
    T(count(open_files(DATA_CIFAR10, "c10", "c10")) == 4, "files make one set");
    import = open_files(DATA_CIFAR10, "c10", NULL);
    T(import && data_import_next(import, &picture, &err) == 1 &&
          !strcmp(picture.class, "truck"),
      "cifar10 has names");
    T(picture.pixel && picture.pixel[(5 * 32 + 7) * 3 + 2] == 105 &&
          picture.pixel[0] == 0 && picture.pixel[1] == 50,
      "planes become pixels");
    data_import_close(import);
    record[0] = 10;
    REQUIRE(!file_write("bad", record, 3073, &err));
    T(count(open_files(DATA_CIFAR10, "bad", NULL)) == -1, "%s", err.msg);
    REQUIRE(!file_write("bad", record, 3000, &err));
    T(count(open_files(DATA_CIFAR10, "bad", NULL)) == -1, "%s", err.msg);

    record[0] = 3;
    record[1] = 57;
    REQUIRE(!file_write("c100", record, 3074, &err));
    import = open_files(DATA_CIFAR100, "c100", NULL);
    T(import && data_import_next(import, &picture, &err) == 1 &&
          !strcmp(picture.class, "57"),
      "cifar100: the fine label");
    data_import_close(import);
}

static void
classes_can_be_named(void)
{
    static char name[] = "c100";
    static char *file[] = {name};
    struct data_import_settings how = {.form = DATA_CIFAR100,
                                       .files = 1,
                                       .file = file,
                                       .coarse = 1,
                                       .classes = "names"};
    struct data_picture picture;
    struct data_import *import;
    char text[400] = "";

    for (int i = 0; i < 20; i++)
        snprintf(text + strlen(text), 20, "name %d\r\n", i);
    put_text("names", text);
    import = data_import_open(&how, &err);
    T(import && data_import_next(import, &picture, &err) == 1 &&
          !strcmp(picture.class, "name 3"),
      "the coarse label, by name");
    data_import_close(import);
    put_text("names", "one\ntwo\n");
    T(!data_import_open(&how, &err), "%s", err.msg);
    put_text("names", "../up\n");
    T(!data_import_open(&how, &err), "%s", err.msg);
}

/* stl10: each colour by columns, labels from 1 in another file. */
static void
stl_is_read(void)
{
    static uint8_t record[3 * 96 * 96];
    struct data_import *import;
    struct data_picture picture = {0};

    record[1 * 96 * 96 + 7 * 96 + 5] = 200; // green, column 7, row 5
    REQUIRE(!file_write("x", record, sizeof record, &err));
    put_text("y", "\x0a");
    import = open_files(DATA_STL10, "x", "y");
    T(import && data_import_next(import, &picture, &err) == 1 &&
          !strcmp(picture.class, "truck") && picture.width == 96,
      "label 10 is truck");
    T(picture.pixel && picture.pixel[(5 * 96 + 7) * 3 + 1] == 200,
      "columns become rows");
    T(import && data_import_next(import, &picture, &err) == 0,
      "there is no picture more");
    data_import_close(import);
    T(count(open_files(DATA_STL10, "x", NULL)) == 1, "without labels");
    put_text("y", "\x01\x02");
    T(count(open_files(DATA_STL10, "x", "y")) == -1, "%s", err.msg);
    put_text("y", "\x0b");
    T(count(open_files(DATA_STL10, "x", "y")) == -1, "%s", err.msg);
    put_text("y", "");
    T(count(open_files(DATA_STL10, "x", "y")) == -1, "%s", err.msg);
}

static void
put_npy(const char *path, const char *about, const void *items, size_t n)
{
    uint8_t all[512] = "\x93NUMPY\1\0";
    const size_t head = strlen(about);

    REQUIRE(10 + head + n <= sizeof all);
    all[8] = (uint8_t)head;
    memcpy(all + 10, about, head);
    memcpy(all + 10 + head, items, n);
    REQUIRE(!file_write(path, all, 10 + head + n, &err));
}

#define NPY(type, shape) \
    "{'descr': '" type "', 'fortran_order': False, 'shape': " shape ", }"

static void
npy_is_read(void)
{
    static const uint8_t pixel[24] = {1, 2, 3, [12] = 7, 8, 9, [23] = 44};
    static const int64_t label[] = {11, 3};
    struct data_import *import;
    struct data_picture picture;

    put_npy("x.npy", NPY("|u1", "(2, 2, 2, 3)"), pixel, 24);
    put_npy("l.npy", NPY("<i8", "(2,)"), label, sizeof label);
    import = open_files(DATA_NPY, "x.npy", "l.npy");
    T(import && data_import_size(import) == 2 &&
          data_import_next(import, &picture, &err) == 1 && picture.width == 2 &&
          picture.height == 2 && picture.channels == 3 &&
          !memcmp(picture.pixel, pixel, 12) && !strcmp(picture.class, "11"),
      "npy: the first image in colour, its class");
    T(import && data_import_next(import, &picture, &err) == 1 &&
          !memcmp(picture.pixel, pixel + 12, 12) &&
          !strcmp(picture.class, "03"),
      "the second");
    T(import && data_import_next(import, &picture, &err) == 0,
      "there is no picture more");
    data_import_close(import);
    put_npy("x.npy", NPY("|u1", "(2, 3, 4)"), pixel, 24);
    import = open_files(DATA_NPY, "x.npy", NULL);
    T(import && data_import_next(import, &picture, &err) == 1 &&
          !picture.class && picture.channels == 1 && picture.width == 4 &&
          picture.height == 3,
      "grey, without labels");
    data_import_close(import);
}

static void
npy_is_judged(void)
{
    static const uint8_t pixel[24] = {0};
    static const int64_t label[] = {0, 256, -1, 0};

    put_npy("x.npy", NPY("|u1", "(2, 3, 4)"), pixel, 24);
    put_npy("l.npy", NPY("<i8", "(2,)"), label, 16);
    T(!open_files(DATA_NPY, "x.npy", "l.npy") && strstr(err.msg, "item 1"),
      "%s", err.msg);
    put_npy("l.npy", NPY("<i8", "(2,)"), label + 2, 16);
    T(!open_files(DATA_NPY, "x.npy", "l.npy") && strstr(err.msg, "item 0"),
      "%s", err.msg);
    put_npy("l.npy", NPY("<i8", "(3,)"), label, 24);
    T(!open_files(DATA_NPY, "x.npy", "l.npy") && strstr(err.msg, "2 images"),
      "%s", err.msg);
    put_npy("l.npy", NPY("<f8", "(2,)"), label, 16);
    T(!open_files(DATA_NPY, "x.npy", "l.npy") && strstr(err.msg, "whole"), "%s",
      err.msg);
    T(!open_files(DATA_NPY, "l.npy", NULL) && strstr(err.msg, "u1"), "%s",
      err.msg);
    T(!open_files(DATA_NPY, "i", NULL) && strstr(err.msg, "no .npy"), "%s",
      err.msg);
    put_npy("x.npy", NPY("|u1", "(24,)"), pixel, 24);
    T(!open_files(DATA_NPY, "x.npy", NULL) && strstr(err.msg, "no images"),
      "%s", err.msg);
    put_npy("x.npy", NPY("|u1", "(2, 3, 5)"), pixel, 24);
    T(count(open_files(DATA_NPY, "x.npy", NULL)) == -1 &&
          strstr(err.msg, "cut off"),
      "%s", err.msg);
    put_npy("x.npy", NPY("|u1", "(9, 99999, 99999)"), pixel, 24);
    T(!open_files(DATA_NPY, "x.npy", NULL) && strstr(err.msg, "claims"), "%s",
      err.msg);
}

static void
forms_have_names(void)
{
    enum data_form form;

    T(!data_form_find("cifar100", &form, &err) && form == DATA_CIFAR100,
      "a form is found by its name");
    T(data_form_find("svhn", &form, &err) &&
          !strcmp(err.msg, "FORM 'svhn': want one of idx, cifar10, cifar100, "
                           "stl10, npy"),
      "another name is refused with the list: %s", err.msg);
}

int
main(void)
{
    if (enter_folder())
        return 1;
    forms_have_names();
    idx_is_read();
    idx_is_judged();
    cifar_is_read();
    classes_can_be_named();
    stl_is_read();
    npy_is_read();
    npy_is_judged();
    if (leave_folder())
        return 1;
    return t_done();
}
