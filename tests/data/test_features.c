#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "data/features.h"
#include "data/npy.h"
#include "t.h"
#include "util/file.h"

enum { N = 3, D = 2 };

static float x[N * D] = {1, 2, 3, 4, 5, 6};
static int64_t ids[N] = {7, 8, 9}, labels[N] = {0, -1, 1};
static struct err err;

static void
comes_back(void)
{
    const char *name[2] = {"a b", "tab\there"};
    struct data_features in = {.n = N,
                               .d = D,
                               .x = x,
                               .ids = ids,
                               .labels = labels,
                               .same = ids,
                               .about = json_object(),
                               .classes = {.n = 2, .name = name}},
                         out;

    json_object_set_new(in.about, "size", json_integer(32));
    T(!data_features_write("a.npy", &in, &err), "written");
    T(!data_features_read(&out, "a.npy", &err), "read");
    T(out.n == N && out.d == D && !memcmp(out.x, x, sizeof x), "the matrix");
    T(out.ids && !memcmp(out.ids, ids, sizeof ids), "the ids");
    T(out.labels && !memcmp(out.labels, labels, sizeof labels), "the labels");
    T(out.same && !memcmp(out.same, ids, sizeof ids), "the groups");
    T(out.classes.n == 2 && !strcmp(out.classes.name[1], name[1]),
      "the names of the classes come back");
    T(json_equal(out.about, in.about), "how they were made");
    data_features_release(&out);
    json_decref(in.about);
}

static void
only_the_matrix(void)
{
    struct data_features in = {.n = N, .d = D, .x = x}, out;

    T(!data_features_write("a.npy", &in, &err), "written over the first");
    T(!data_features_read(&out, "a.npy", &err), "read");
    T(!out.ids && !out.labels && !out.same && !out.about && !out.classes.n,
      "its older files are removed");
    data_features_release(&out);
}

static void
as_csv(void)
{
    static const char want[] = "id,label,class,x0,x1\n"
                               "7,0,\"a, \"\"b\"\"\",0.100000001,2\n"
                               "8,-1,,3,4\n9,1,c,5,9.99999996e-13\n";
    const char *name[2] = {"a, \"b\"", "c"};
    float own[N * D] = {.1f, 2, 3, 4, 5, 1e-12f};
    struct data_features in = {.n = N,
                               .d = D,
                               .x = own,
                               .ids = ids,
                               .labels = labels,
                               .classes = {.n = 2, .name = name}};
    size_t len;
    char *text;

    T(!data_features_write("a.csv", &in, &err), "written as .csv");
    text = file_read("a.csv", 4096, &len, &err);
    T(text && !strcmp(text, want), "with names, ids, labels, classes:\n# %s",
      text);
    free(text);
    in = (struct data_features){.n = 1, .d = 1, .x = own};
    T(!data_features_write("b.csv", &in, &err), "numbers alone");
    text = file_read("b.csv", 4096, &len, &err);
    T(text && !strcmp(text, "id,x0\n0,0.100000001\n"), "with a row number");
    free(text);
}

static int
refuses(const struct data_npy *npy, const char *why)
{
    struct data_features out;

    return !data_npy_write("b.npy", npy, &err) &&
           data_features_read(&out, "b.npy", &err) == -1 && !out.x &&
           strstr(err.msg, why);
}

static void
refusals(void)
{
    float bad[2] = {1, NAN}, large[2] = {1, 1e16f};
    int64_t two[2] = {1, 2};

    T(refuses(&(struct data_npy){DTYPE_F4, 2, {2, 1}, bad}, "nan in row 1"),
      "NaN: %s", err.msg);
    T(refuses(&(struct data_npy){DTYPE_F4, 2, {2, 1}, large}, "1e+16 in row 1"),
      "too large: %s", err.msg);
    T(refuses(&(struct data_npy){DTYPE_F4, 2, {0, 1}, bad}, "is empty"),
      "no row: %s", err.msg);
    T(refuses(&(struct data_npy){DTYPE_F4, 1, {1, 1}, bad}, "no matrix"),
      "one dimension: %s", err.msg);
    T(refuses(&(struct data_npy){DTYPE_I8, 2, {2, 1}, two}, ".astype('f4')"),
      "whole numbers: %s", err.msg);
}

static void
companions_that_do_not_fit_are_refused(void)
{
    int64_t two[2] = {1, 2};
    struct data_features out;

    data_npy_write("a.labels.npy", &(struct data_npy){DTYPE_I8, 1, {2, 1}, two},
                   &err);
    T(data_features_read(&out, "a.npy", &err) == -1 &&
          strstr(err.msg, "2 items for 3 rows"),
      "labels of another set: %s", err.msg);
    file_write("a.labels.npy", "x", 1, &err);
    T(data_features_read(&out, "a.npy", &err) == -1, "invalid labels: %s",
      err.msg);
    data_npy_write("a.labels.npy",
                   &(struct data_npy){DTYPE_I8, 1, {N, 1}, labels}, &err);
    file_write("a.classes", "one\n", 4, &err);
    T(data_features_read(&out, "a.npy", &err) == -1 &&
          strstr(err.msg, "row 2 of 'a.npy' has the label 1"),
      "a label without a name is refused: %s", err.msg);
    file_write("a.classes", "one\n\n", 5, &err);
    T(data_features_read(&out, "a.npy", &err) == -1 &&
          strstr(err.msg, "'a.classes': line 2 is empty"),
      "invalid names are refused: %s", err.msg);
    unlink("a.classes");
    unlink("a.labels.npy");
    file_write("a.json", "{", 1, &err);
    T(data_features_read(&out, "a.npy", &err) == -1, "a damaged object: %s",
      err.msg);
    file_write("a.json", "", 0, &err);
    T(data_features_read(&out, "a.npy", &err) == -1 &&
          strstr(err.msg, "'a.json' is empty"),
      "an empty object is refused: %s", err.msg);
}

/* Labels 1, 0, 1 of that type. */
static void
labels_of(enum dtype dtype, void *item)
{
    struct data_npy npy = {dtype, 1, {N, 1}, item};
    int64_t *read;

    data_npy_write("c.npy", &npy, &err);
    read = data_labels_read("c.npy", N, &err);
    T(read && read[0] == 1 && read[1] == 0 && read[2] == 1, "labels of %s",
      dtype_about(dtype)->npy);
    free(read);
}

static void
labels_of_any_type(void)
{
    uint64_t large[N] = {1, UINT64_MAX, 0};
    float real[N] = {0};
    struct data_npy npy = {DTYPE_U8, 1, {N, 1}, large};

    labels_of(DTYPE_U1, (uint8_t[N]){1, 0, 1});
    labels_of(DTYPE_BOOL, (uint8_t[N]){1, 0, 1});
    labels_of(DTYPE_I1, (int8_t[N]){1, 0, 1});
    labels_of(DTYPE_I2, (int16_t[N]){1, 0, 1});
    labels_of(DTYPE_U2, (uint16_t[N]){1, 0, 1});
    labels_of(DTYPE_I4, (int32_t[N]){1, 0, 1});
    labels_of(DTYPE_U4, (uint32_t[N]){1, 0, 1});
    labels_of(DTYPE_U8, (uint64_t[N]){1, 0, 1});
    data_npy_write("c.npy", &npy, &err);
    T(!data_labels_read("c.npy", N, &err) && strstr(err.msg, "item 1 is too"),
      "one that is too large is refused: %s", err.msg);
    npy = (struct data_npy){DTYPE_F4, 1, {N, 1}, real};
    data_npy_write("c.npy", &npy, &err);
    T(!data_labels_read("c.npy", N, &err), "f4: %s", err.msg);
}

/* Features of other types become f4: 1, -2.5, 4. */
static void
features_of(enum dtype dtype, void *item)
{
    struct data_npy npy = {dtype, 2, {N, 1}, item};
    struct data_features out;

    T(!data_npy_write("d.npy", &npy, &err) &&
          !data_features_read(&out, "d.npy", &err) && out.x[0] == 1 &&
          out.x[1] == -2.5f && out.x[2] == 4,
      "features of %s", dtype_about(dtype)->npy);
    data_features_release(&out);
}

static void
features_of_any_width(void)
{
    double wide[2] = {1, 1e300};

    features_of(DTYPE_F8, (double[N]){1, -2.5, 4});
    features_of(DTYPE_F2, (uint16_t[N]){0x3c00, 0xc100, 0x4400});
    T(refuses(&(struct data_npy){DTYPE_F8, 2, {2, 1}, wide}, "inf in row 1"),
      "an overflow of f4 is refused: %s", err.msg);
}

/* Three rows with class names. */
static struct data_features
named(size_t n, const char **name, int64_t *label)
{
    return (struct data_features){.n = N,
                                  .d = D,
                                  .x = x,
                                  .labels = label,
                                  .classes = {.n = n, .name = name}};
}

static void
labels_are_matched_by_name(void)
{
    const char *all[] = {"ant", "bee", "cat"}, *two[] = {"bee", "cat"};
    const char *other[] = {"cat", "dog", "ant"};
    int64_t a[N] = {0, 1, 2}, b[N] = {0, -1, 1}, c[N] = {0, 2, 0};
    int64_t d[N] = {0, 1, 1};
    struct data_features train = named(3, all, a), test = named(2, two, b);

    T(data_features_match("a", &train, "b", &test, &err) == 1 && b[0] == 1 &&
          b[1] == -1 && b[2] == 2,
      "TEST lacks a class: each row has the right label");
    test = named(3, other, c);
    T(data_features_match("a", &train, "c", &test, &err) == 1 && c[0] == 2 &&
          c[1] == 0,
      "a class of TEST without rows may be unknown");
    test = named(3, other, d);
    T(data_features_match("a", &train, "d", &test, &err) == -1 &&
          strstr(err.msg,
                 "2 rows of 'd' are of classes that 'a' does not have, such "
                 "as 'dog'"),
      "an unknown class with rows is refused by name: %s", err.msg);
    T(d[0] == 0 && d[1] == 1, "nothing has changed then");
}

static void
numbers_are_matched_where_they_are_names(void)
{
    const char *words[] = {"ant", "bee"}, *digits[] = {"0", "1", "2"};
    const char *padded[] = {"00", "01", "02", "03"};
    int64_t a[N] = {0, 1, 1}, b[N] = {0, 1, 2}, c[N] = {2, 1, 0};
    struct data_features train = named(2, words, a), test = named(0, NULL, b);

    T(data_features_match("a", &train, "b.npy", &test, &err) == -1 &&
          strstr(err.msg, "'a' has a file of class names and 'b.npy' has only "
                          "numbers"),
      "names on one side are refused: %s", err.msg);
    T(data_features_match("b.npy", &test, "a", &train, &err) == -1 &&
          strstr(err.msg, "'a' has a file of class names"),
      "on the other side, too: %s", err.msg);
    train = named(3, digits, a);
    T(data_features_match("a", &train, "b", &test, &err) == 0 && b[2] == 2,
      "names that are the numbers are accepted");
    train = named(0, NULL, a);
    T(data_features_match("a", &train, "b", &test, &err) == 0 && b[2] == 2,
      "numbers on both sides are matched");
    train = named(4, padded, a);
    test = named(3, digits, c);
    T(data_features_match("a", &train, "c", &test, &err) == 1 && c[0] == 2,
      "02 is 2");
}

int
main(void)
{
    char folder[256];

    child_scratch(folder);
    comes_back();
    only_the_matrix();
    as_csv();
    refusals();
    companions_that_do_not_fit_are_refused();
    labels_of_any_type();
    features_of_any_width();
    labels_are_matched_by_name();
    numbers_are_matched_where_they_are_names();
    if (chdir("/") || file_remove(folder, &err))
        return 1;
    return t_done();
}
