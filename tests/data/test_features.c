#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    struct data_features in = {N, D, x, ids, labels, json_object()}, out;

    json_object_set_new(in.about, "size", json_integer(32));
    T(!data_features_write("a.npy", &in, &err), "written");
    T(!data_features_read(&out, "a.npy", &err), "read");
    T(out.n == N && out.d == D && !memcmp(out.x, x, sizeof x), "the matrix");
    T(out.ids && !memcmp(out.ids, ids, sizeof ids), "the ids");
    T(out.labels && !memcmp(out.labels, labels, sizeof labels), "the labels");
    T(json_equal(out.about, in.about), "how they were made");
    data_features_release(&out);
    json_decref(in.about);
}

static void
only_the_matrix(void)
{
    struct data_features in = {N, D, x, NULL, NULL, NULL}, out;

    T(!data_features_write("a.npy", &in, &err), "written over the first");
    T(!data_features_read(&out, "a.npy", &err), "read");
    T(!out.ids && !out.labels && !out.about, "what was beside it has gone");
    data_features_release(&out);
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
    struct data_features out;

    T(refuses(&(struct data_npy){DATA_F4, 2, {2, 1}, bad}, "nan in row 1"),
      "no number: %s", err.msg);
    T(refuses(&(struct data_npy){DATA_F4, 2, {2, 1}, large}, "1e+16 in row 1"),
      "too large: %s", err.msg);
    T(refuses(&(struct data_npy){DATA_F4, 2, {0, 1}, bad}, "is empty"),
      "no row: %s", err.msg);
    T(refuses(&(struct data_npy){DATA_F4, 1, {1, 1}, bad}, "no matrix"),
      "one dimension: %s", err.msg);
    T(refuses(&(struct data_npy){DATA_I8, 2, {2, 1}, two}, "no matrix"),
      "whole numbers: %s", err.msg);
    data_npy_write("a.labels.npy", &(struct data_npy){DATA_I8, 1, {2, 1}, two},
                   &err);
    T(data_features_read(&out, "a.npy", &err) == -1 &&
          strstr(err.msg, "2 items for 3 rows"),
      "labels of another set: %s", err.msg);
    file_write("a.labels.npy", "x", 1, &err);
    T(data_features_read(&out, "a.npy", &err) == -1, "labels that are none: %s",
      err.msg);
    unlink("a.labels.npy");
    file_write("a.json", "{", 1, &err);
    T(data_features_read(&out, "a.npy", &err) == -1, "a damaged object: %s",
      err.msg);
}

static void
labels_of_either_width(void)
{
    int32_t narrow[N] = {2, 0, 1};
    float real[N] = {0};
    struct data_npy npy = {DATA_I4, 1, {N, 1}, narrow};
    int64_t *read;

    data_npy_write("c.npy", &npy, &err);
    read = data_labels_read("c.npy", N, &err);
    T(read && read[0] == 2 && read[2] == 1, "i4");
    free(read);
    npy = (struct data_npy){DATA_F4, 1, {N, 1}, real};
    data_npy_write("c.npy", &npy, &err);
    T(!data_labels_read("c.npy", N, &err), "f4: %s", err.msg);
}

int
main(void)
{
    char folder[] = "/tmp/test_features.XXXXXX";

    if (!mkdtemp(folder) || chdir(folder))
        return 1;
    comes_back();
    only_the_matrix();
    refusals();
    labels_of_either_width();
    if (chdir("/") || file_remove(folder, &err))
        return 1;
    return t_done();
}
