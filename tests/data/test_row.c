/* Rows of numbers as samples: their views, an index of an array, batches of one
 * and of two arrays. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "data/features.h"
#include "data/gather.h"
#include "data/index.h"
#include "data/npy.h"
#include "data/row.h"
#include "t.h"
#include "util/file.h"
#include "util/mem.h"

enum { N = 6, D = 5 };

static struct err err;

static void
evaluation_view_is_the_scaled_row(void)
{
    const float x[4] = {3, 0, -4, 12}, zero[4] = {0};
    const uint16_t half[4] = {0x4200, 0, 0xc400, 0x4a00};
    const struct data_row f4 = {4, 4}, f2 = {4, 2};
    float out[4], other[4];
    double off = 0;

    data_row_view(&f4, NULL, (const uint8_t *)x, 1, 2, 3, 4, (uint8_t *)out);
    for (size_t i = 0; i < 4; i++)
        off = fmax(off, fabs(out[i] - 2 * x[i] / 13.));
    T_NEAR(off, 0, 1e-6, "sqrt(d) x / |x|, here 2 x / 13");
    data_row_view(&f2, NULL, (const uint8_t *)half, 1, 2, 3, 4,
                  (uint8_t *)other);
    T(!memcmp(out, other, sizeof out),
      "halves of the same values have the same view");
    data_row_view(&f4, NULL, (const uint8_t *)zero, 1, 2, 3, 4, (uint8_t *)out);
    T(!memcmp(out, zero, sizeof out), "a row of zeros stays one");
}

static void
views_have_noise_and_dropout(void)
{
    enum { VIEWS = 20000 };
    const float x[2] = {1, 1};
    const struct data_row row = {2, 4};
    struct image_recipe recipe;
    double sum = 0, square = 0, zeros = 0;
    uint8_t bytes[9];
    float a[2], b[2];

    T(!image_recipe_find("rows,noise=0.5,drop=0.25", &recipe, &err),
      "the recipe is known");
    for (uint64_t k = 0; k < VIEWS; k++) {
        // to an odd address
        data_row_view(&row, &recipe, (const uint8_t *)x, 1, 7, k, 0, bytes + 1);
        memcpy(a, bytes + 1, sizeof a);
        for (size_t i = 0; i < 2; i++) {
            zeros += a[i] == 0;
            sum += a[i];
            square += (double)a[i] * a[i];
        }
    }
    T_NEAR(zeros / (2 * VIEWS), 0.25, 0.01, "a quarter of the numbers is 0");
    T_NEAR(sum / (2 * VIEWS), 1, 0.02, "the mean is the number");
    T_NEAR(square / (2 * VIEWS), (1 + 0.25) / 0.75, 0.04,
           "the second moment is that of noise and dropout");
    data_row_view(&row, &recipe, (const uint8_t *)x, 1, 7, 3, 1, (uint8_t *)a);
    data_row_view(&row, &recipe, (const uint8_t *)x, 1, 7, 3, 1, (uint8_t *)b);
    T(!memcmp(a, b, sizeof a), "a view is a function of its numbers");
    for (int k = 0; k < 4; k++) {
        data_row_view(&row, &recipe, (const uint8_t *)x, 1 + (k == 0),
                      7 + (k == 1), 3 + (k == 2), 1 + (k == 3), (uint8_t *)b);
        T(memcmp(a, b, sizeof a) != 0, "number %d of the four changes a view",
          k);
    }
}

/* Writes an array whose number j of row i is 1 + i D + j, and its index. */
static int
make_set(const char *path, size_t n, size_t d, enum dtype type, float first)
{
    struct data_npy npy = {.type = type, .rank = 2, .shape = {n, d}};
    float *x = mem_array(2 * n * d, sizeof *x); // room for numbers of 8 bytes
    uint16_t *half = mem_array(n * d, sizeof *half);
    struct data_index *index =
        data_index_new(&(struct data_index_settings){.max_pixels = 1});
    int rc;

    for (size_t i = 0; i < n * d; i++)
        x[i] = first + (float)i;
    half_round(n * d, x, half);
    npy.data = type == DTYPE_F2 ? (void *)half : x;
    REQUIRE(!data_npy_write(path, &npy, &err));
    rc = data_index_add(index, path, &err);
    while (!rc && (rc = data_index_next(index, &err)) > 0)
        rc = 0;
    if (!rc)
        rc = data_index_write(index, mem_temp("%s.foil", path), &err);
    data_index_free(index);
    mem_free(x, half);
    return rc;
}

static void
array_becomes_a_set(void)
{
    const int64_t label[N] = {1, 0, -1, 1, 1, 0};
    struct data_npy npy = {.type = DTYPE_I8,
                           .rank = 1,
                           .shape = {N, 1},
                           .data = (void *)(uintptr_t)label};
    struct data_bytes bytes = {0};
    struct data_row row;
    struct data_set *set;
    float want[D] = {11, 12, 13, 14, 15};

    REQUIRE(!data_npy_write("a.labels.npy", &npy, &err) &&
            !file_write("a.classes", "cat\ndog\n", 8, &err));
    T(!make_set("a.npy", N, D, DTYPE_F4, 1), "an array has an index");
    set = data_open("a.npy", &err);
    T(set && data_size(set) == N, "a sample for each row");
    T(!data_row_of(set, &row, &err) && row.d == D && row.item == 4,
      "the form of a row");
    T(data_label(set, 0) >= 0 &&
          !strcmp(data_class_name(set, (size_t)data_label(set, 0)), "dog") &&
          data_label(set, 2) == -1 && data_classes(set) == 2,
      "labels are those next to the array");
    T(!data_read(set, 2, &bytes, &err) && bytes.len == sizeof want &&
          !memcmp(bytes.data, want, sizeof want),
      "a sample is the bytes of its row");
    data_bytes_release(&bytes);
    data_close(set);
    T(make_set("nan.npy", 2, 2, DTYPE_F4, NAN) && strstr(err.msg, "finite"),
      "an array with a NaN is refused: %s", err.msg);
    T(make_set("a.labels.npy", N, D, DTYPE_I8, 1) && strstr(err.msg, "f4"),
      "whole numbers are refused: %s", err.msg);
    T(make_set("wide.npy", 1, DATA_ROW_MAX + 1, DTYPE_F4, 1),
      "a row that is too long is refused: %s", err.msg);
    set = data_open("images.npy", &err);
    T(!set, "a missing array is refused");
}

/* Gathers a batch of 2 and an extra sample; returns its rows, [5,width]. */
static void
gather(const struct data_wanted *of, uint64_t epoch, struct data_pool *pool,
       float *out)
{
    const int64_t ids[2] = {4, 1}, extra[1] = {2};
    struct data_wanted want = *of;
    struct image_recipe recipe;
    struct data_gather g = {0};
    int rc;

    want.batch = (struct batch){.b = 2, .v = 2, .ids = ids};
    want.batch.extra.n = 1;
    want.batch.extra.ids = extra;
    REQUIRE(!image_recipe_find("none", &recipe, &err));
    want.size = recipe.size;
    data_gather_begin(&g, &want);
    while ((rc = data_gather_next(&g, pool, &recipe, 1, epoch, &err)) > 0)
        ;
    REQUIRE(!rc);
    memcpy(out, g.pixel, 5 * data_gather_bytes(&want));
    data_gather_release(&g);
}

/* Returns 1 if `out` is row `i` of an array that begins with `first`. */
static int
is_row(const float *out, size_t i, size_t d, float first, size_t width)
{
    double square = 0, off = 0;

    for (size_t k = 0; k < d; k++)
        square += pow(first + (double)(i * d + k), 2);
    for (size_t k = 0; k < width; k++)
        off = fmax(off, fabs(out[k] - (k < d ? (first + (double)(i * d + k)) *
                                                   sqrt((double)d / square)
                                             : 0)));
    return off < 1e-3;
}

static void
batches_have_rows_of_one_or_two_sets(void)
{
    const struct data_pool_settings how = {.max_pixels = 1};
    struct data_wanted want = {0};
    struct data_pool *pool, *other;
    struct data_set *a, *b;
    float out[5 * (D + 2)];
    size_t drawn[2] = {0}, wrong = 0;

    REQUIRE(!make_set("b.npy", 2 * N, D + 2, DTYPE_F2, 3));
    a = data_open("a.npy", &err);
    b = data_open("b.npy", &err);
    pool = data_pool_new(a, &how);
    other = data_pool_new(b, &how);
    REQUIRE(!data_row_of(a, &want.row, &err));
    gather(&want, 0, pool, out);
    T(is_row(out, 4, D, 1, D) && is_row(out + D, 1, D, 1, D) &&
          is_row(out + 2 * D, 4, D, 1, D) && is_row(out + 4 * D, 2, D, 1, D),
      "a batch has two views of each row, then the extra one");
    want.pair = other;
    want.pair_each = 2;
    REQUIRE(!data_row_of(b, &want.pair_row, &err));
    for (uint64_t epoch = 0; epoch < 40; epoch++) {
        gather(&want, epoch, pool, out);
        for (size_t i = 0; i < 3; i++) {
            const float *row = out + (i + 2) * (D + 2);
            const size_t id = i == 0 ? 4 : i == 1 ? 1 : 2;
            const int first = is_row(row, 2 * id, D + 2, 3, D + 2);

            wrong += !first && !is_row(row, 2 * id + 1, D + 2, 3, D + 2);
            drawn[first]++;
        }
        wrong += !is_row(out, 4, D, 1, D + 2);
    }
    T(!wrong, "with a pair, the first view is followed by zeros, the others "
              "are rows of the second set");
    T(drawn[0] > 30 && drawn[1] > 30,
      "each row of a sample in the second set is drawn");
    data_pool_free(pool);
    data_pool_free(other);
    data_close(a);
    data_close(b);
}

int
main(void)
{
    char folder[256];

    child_scratch(folder);
    evaluation_view_is_the_scaled_row();
    views_have_noise_and_dropout();
    array_becomes_a_set();
    batches_have_rows_of_one_or_two_sets();
    if (chdir("/") || file_remove(folder, &err))
        return 1;
    return t_done();
}
