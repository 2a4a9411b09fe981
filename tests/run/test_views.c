#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "data/gather.h"
#include "data/index.h"
#include "image/codec.h"
#include "image/generate.h"
#include "run/views.h"
#include "t.h"
#include "util/file.h"
#include "util/mem.h"

enum { N = 6, SIDE = 20, SIZE = 9, B = 3, VIEWS = 2, EXTRA = 3, SEED = 11 };
enum { LARGE = 50000 }; // samples: the index has several parts

static const char recipe[] = "imagenet,hue=0.1";
static const int64_t ids[] = {4, 0, 5}, variant[] = {0, 2, 1, 1, 0, 2},
                     extra[] = {1, 2, 3}, extra_view[] = {-1, 4, 0},
                     extra_epoch[] = {0, 1, 3};

static int
index_input(const char *input)
{
    const struct data_index_settings how = {.max_pixels = 1000};
    struct data_index *index = data_index_new(&how);
    char *path = mem_format("%s.foil", input);
    struct err err;
    int rc = data_index_add(index, input, &err);

    while (!rc && data_index_next(index, &err) > 0)
        continue;
    rc = rc || data_index_write(index, path, &err);
    data_index_free(index);
    free(path);
    return rc;
}

/* Makes a folder of pictures from a seed, and its index. */
static int
make_set(const char *folder, uint64_t seed)
{
    struct err err;
    int rc = file_mkdir(folder, 0700, &err);

    for (uint64_t i = 0; i < N && !rc; i++) {
        uint8_t pixel[SIDE * SIDE * 3];
        char caption[IMAGE_GENERATE_CAPTION], name[64];

        image_generate(seed, i, SIDE, pixel, caption);
        snprintf(name, sizeof name, "%s/%ju.png", folder, (uintmax_t)i);
        rc = image_png_write(name, pixel, SIDE, SIDE, &err);
    }
    return rc || index_input(folder);
}

/* Makes a long list that repeats these pictures, with labels. */
static int
make_large_set(const char *list)
{
    FILE *file = fopen(list, "w");

    REQUIRE(file);
    for (int i = 0; i < LARGE; i++)
        fprintf(file, "set/%d.png\t%d\n", i % N, i % N);
    return fclose(file) || index_input(list);
}

static struct run_batch_record
batch_of(int64_t total, int fixed)
{
    return (struct run_batch_record){.total = total,
                                     .batch.epoch = 3,
                                     .batch.b = B,
                                     .batch.v = VIEWS,
                                     .batch.extra.n = EXTRA,
                                     .batch.ids = ids,
                                     .batch.view_of = fixed ? variant : NULL,
                                     .batch.extra.ids = extra,
                                     .batch.extra.view = extra_view,
                                     .batch.extra.epoch = extra_epoch};
}

/* Writes step 1, with new views, and step 2, with fixed ones, of a run with
 * `making` from its augmenter. */
static void
write_run(const char *data, const char *making)
{
    struct run_batches batches;
    char hex[DIGEST_HEX];
    struct err err = {""};
    struct data_set *set = data_open(data, &err);
    int rc;

    rc = run_batches_open(&batches, ".", 0, &err);
    for (int fixed = 0; fixed < 2 && !rc; fixed++) {
        const struct run_batch_record record = batch_of(fixed + 1, fixed);

        rc = run_batches_put(&batches, &record, EXTRA,
                             digest_hex(data_digest(set), hex), making, &err);
    }
    if (rc)
        printf("# %s\n", err.msg);
    run_batches_close(&batches);
    data_close(set);
}

/* Makes the views of a batch as an augmenter does. */
static void
gather_batch(const struct run_batch_record *record, struct data_gather *gather)
{
    const struct data_wanted want = {.batch.b = B,
                                     .batch.extra.n = EXTRA,
                                     .batch.v = VIEWS,
                                     .size = SIZE,
                                     .batch.ids = ids,
                                     .batch.extra.ids = extra,
                                     .batch.view_of = record->batch.view_of,
                                     .batch.extra.view = extra_view,
                                     .batch.extra.epoch = extra_epoch};
    const struct data_pool_settings how = {.max_pixels = 1000};
    struct err err;
    struct data_set *set = data_open("set", &err);
    struct data_pool *pool = data_pool_new(set, &how);
    struct image_recipe made;

    image_recipe_find(recipe, &made, &err);
    made.size = SIZE;
    data_gather_begin(gather, &want);
    while (data_gather_next(gather, pool, &made, data_seed(set, SEED), 3,
                            &err) > 0)
        continue;
    data_pool_free(pool);
    data_close(set);
}

static void
check_views(struct run_views *views, int64_t total, const char *what)
{
    enum { AREA = SIZE * SIZE * 3 };
    const struct run_batch_record was = batch_of(total, total == 2);
    struct data_gather gather = {0};
    struct run_batch_record record;
    struct err err = {""};
    uint8_t pixel[AREA];
    size_t same = 0;
    int64_t id, epoch, view;

    gather_batch(&was, &gather);
    if (run_views_step(views, total, &record, &err) ||
        run_views_size(views) != SIZE)
        printf("# %s\n", err.msg);
    else
        for (size_t i = 0; i < VIEWS * B + EXTRA; i++) {
            run_views_key(&record, i, &id, &epoch, &view);
            same += !run_views_make(views, id, epoch, view, pixel, &err) &&
                    !memcmp(pixel, gather.pixel + i * AREA, AREA);
        }
    T(same == VIEWS * B + EXTRA, "%s", what);
    data_gather_release(&gather);
}

static void
views_equal_the_augmenters(void)
{
    struct run_views *views = run_views_open(".", NULL);
    char *making = mem_format(
        "{\"recipe\":\"%s\",\"size\":%d,\"seed\":%d,\"data\":\"set\"}", recipe,
        SIZE, SEED);
    uint8_t pixel[SIZE * SIZE * 3], other[SIZE * SIZE * 3];
    struct err err;

    write_run("set", making);
    check_views(views, 1, "new views, and extra images of any epoch");
    check_views(views, 2, "fixed views");
    T(!run_views_plain(views, 4, pixel, &err) &&
          !run_views_make(views, 4, 3, 0, other, &err) &&
          memcmp(pixel, other, sizeof pixel),
      "the plain image differs");
    T(data_size(run_views_set(views)) == N, "the data set is available");
    T(run_views_make(views, N, 0, 0, pixel, &err) < 0 &&
          strstr(err.msg, "'set' has no sample 6"),
      "%s", err.msg);
    T(run_views_make(views, 0, 0, 1 << 16, pixel, &err) < 0 &&
          run_views_make(views, 0, -1, 0, pixel, &err) < 0,
      "%s", err.msg);
    run_views_close(views);
    free(making);
}

static void
all_samples_of_a_large_set_can_be_read(void)
{
    struct run_views *views = run_views_open(".", NULL);
    const struct data_set *set;
    struct run_batch_record record;
    struct err err = {""};
    size_t right = 0;

    write_run("large", "{\"recipe\":\"cifar\",\"size\":9,\"seed\":1,"
                       "\"data\":\"large\"}");
    REQUIRE(!run_views_step(views, 0, &record, &err));
    set = run_views_set(views);
    for (size_t i = data_size(set); i--;)
        right += data_label(set, i) == (int)i % N;
    T(right == LARGE, "labels, of the last sample first%s", err.msg);
    run_views_close(views);
}

static void
refuse_step(const char *making, const char *data, const char *sentence)
{
    struct run_views *views = run_views_open(".", data);
    struct run_batch_record record;
    struct err err = {""};

    write_run("set", making);
    T(run_views_step(views, 0, &record, &err) < 0 && strstr(err.msg, sentence),
      "%s", err.msg);
    run_views_close(views);
}

static void
what_cannot_be_made_is_refused(void)
{
    static const char at[] = "{\"recipe\":\"cifar\",\"size\":9,\"seed\":1}";

    refuse_step("", NULL, "did not send it");
    refuse_step("nonsense", NULL, "did not send it");
    refuse_step("{\"command\":true,\"size\":9}", NULL, "--view-command");
    refuse_step("{\"size\":9,\"seed\":1}", NULL, "'recipe' is missing");
    refuse_step("{\"recipe\":\"x\",\"size\":9,\"seed\":1}", NULL,
                "no recipe 'x'");
    refuse_step("{\"recipe\":\"cifar\",\"size\":9}", NULL, "'seed' is missing");
    refuse_step("{\"recipe\":\"cifar\",\"size\":5000,\"seed\":1}", NULL,
                "'size' is 5000");
    refuse_step(at, NULL, "does not record where its data set is");
    refuse_step(at, "none", "none");
    refuse_step(at, "other", "'other' is not the data set");
}

int
main(void)
{
    char scratch[256];
    struct err err;

    child_scratch(scratch);
    T(!make_set("set", 1) && !make_set("other", 2), "two data sets");
    T(!make_large_set("large"), "a large one");
    views_equal_the_augmenters();
    all_samples_of_a_large_set_can_be_read();
    what_cannot_be_made_is_refused();
    T(!chdir("/") && !file_remove(scratch, &err), "cleaned up");
    return t_done();
}
