#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "data/gather.h"
#include "data/index.h"
#include "data/sheet.h"
#include "t.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/rng.h"

/* N pictures of SIDE x SIDE in a folder, each of one colour; some are bad. */
enum { N = 12, SIDE = 8 };

static const int bad[] = {3, 4, 9};

static int
is_bad(size_t id)
{
    return id == 3 || id == 4 || id == 9;
}

static struct data_set *
make_set(void)
{
    struct data_index *index =
        data_index_new(&(struct data_index_settings){.max_pixels = 1000});
    struct data_set *set = NULL;
    struct err err;
    int rc = file_mkdir("set", 0700, &err);

    for (int i = 0; i < N && !rc; i++) {
        struct data_bytes bytes = {0};
        uint8_t pixel[SIDE * SIDE * 3];
        char name[32];

        memset(pixel, 20 * i, sizeof pixel);
        snprintf(name, sizeof name, "set/%02d.jpg", i);
        rc = image_jpeg_encode(pixel, SIDE, SIDE, 3, 95, &bytes, &err) ||
             file_write(name, bytes.data, bytes.len, &err);
        data_bytes_release(&bytes);
    }
    for (int i = 5; i < 7 && !rc; i++) { // two with a caption
        char name[32];

        snprintf(name, sizeof name, "set/%02d.txt", i);
        rc = file_write(name, "words", 5, &err);
    }
    rc = rc || data_index_add(index, "set", &err);
    while (!rc && data_index_next(index, &err) > 0)
        continue;
    rc = rc || data_index_write(index, "set.foil", &err);
    // files that change later are bad
    for (size_t i = 0; i < sizeof bad / sizeof *bad && !rc; i++) {
        char name[32];

        snprintf(name, sizeof name, "set/%02d.jpg", bad[i]);
        rc = file_write(name, "no picture", 10, &err);
    }
    if (!rc)
        set = data_open("set", &err);
    T(set && data_size(set) == N, "a data set to test with");
    data_index_free(index);
    return set;
}

static struct data_pool *
pool_of(struct data_set *set, size_t keep)
{
    return data_pool_new(set,
                         &(struct data_pool_settings){.policy = IMAGE_REFUSE,
                                                      .max_pixels = 1000,
                                                      .keep_bytes = keep});
}

static void
gives_the_same_kept_or_not(struct data_set *set)
{
    struct data_pool *none = pool_of(set, 0), *some = pool_of(set, 600);
    int wrong = 0;
    struct err err;

    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < N; i++) {
            const struct image *a = data_pool_get(none, i, NULL, &err);
            const struct image *b = data_pool_get(some, i, NULL, &err);

            wrong += (a == NULL) != is_bad(i) || (b == NULL) != is_bad(i);
            if (a && b)
                wrong += a->width != SIDE || b->height != SIDE ||
                         a->pixel[0] != 20 * i || b->pixel[0] != 20 * i;
        }
    T(!wrong, "the same pixels, with and without cache");
    T(data_pool_bad(some) == 3, "each bad one is counted once");
    T(!data_pool_get(none, 3, NULL, &err) && strstr(err.msg, "03.jpg"), "%s",
      err.msg);
    data_pool_free(none);
    data_pool_free(some);
}

static void
stand_ins_are_good_and_new(struct data_set *set)
{
    const int64_t taken[] = {0, 1, 2, 3, 5};
    struct data_pool *pool = pool_of(set, 0), *other = pool_of(set, 10000);
    int wrong = 0, moved = 0;
    struct err err;

    for (uint64_t epoch = 0; epoch < 20; epoch++) {
        int64_t a = data_pool_substitute(pool, 1, 3, epoch, 5, taken, &err);
        int64_t b = data_pool_substitute(other, 1, 3, epoch, 5, taken, &err);
        int64_t c = data_pool_substitute(other, 1, 4, epoch, 5, taken, &err);

        wrong += a != b || a < 6 || is_bad((size_t)a) || is_bad((size_t)c);
        moved += a != c;
    }
    T(!wrong, "good, not in the batch, the same in each pool");
    T(moved > 3, "two samples may have different substitutes");
    data_pool_free(pool);
    data_pool_free(other);
}

static void
nobody_is_left(struct data_set *set)
{
    const int64_t all[] = {0, 1, 2, 5, 6, 7, 8, 10, 11, 3};
    struct data_pool *pool = pool_of(set, 0);
    struct err err;

    T(data_pool_substitute(pool, 1, 3, 0, 10, all, &err) == -1 &&
          strstr(err.msg, "no sample is left"),
      "%s", err.msg);
    data_pool_free(pool);
}

/* Gathers the whole batch, with and without memory of earlier ones. */
/* Returns 1 if a gathered image is that view of that id. */
static int
is_view(struct data_gather *g, size_t at, struct data_pool *pool,
        const struct image_recipe *recipe, size_t id, unsigned view)
{
    uint8_t pixel[48];
    struct err why;

    image_view(recipe, data_pool_get(pool, id, NULL, &why), 1, id, 0, view,
               &g->scratch, pixel);
    return !memcmp(pixel, g->pixel + at * sizeof pixel, sizeof pixel);
}

static void
gathers_a_batch(struct data_set *set)
{
    const int64_t ids[] = {5, 3, 0}, extra[] = {9, 5};
    const struct data_wanted want = {
        .batch = {.b = 3, .v = 2, .ids = ids, .extra = {.n = 2, .ids = extra}},
        .size = 4};
    struct data_pool *pool = pool_of(set, 0);
    struct data_gather g = {0};
    struct image_recipe recipe;
    int64_t first[5];
    uint8_t *pixel = NULL;
    int rc = 1, same = 1;
    struct err why;

    image_recipe_find("cifar", &recipe, &why);
    recipe.size = 4;
    for (int round = 0; round < 2; round++) {
        data_gather_begin(&g, &want);
        while ((rc = data_gather_next(&g, pool, &recipe, 1, 0, &why)) > 0)
            continue;
        if (!round) {
            pixel = mem_array(8, 48);
            memcpy(pixel, g.pixel, 8 * 48);
            memcpy(first, g.ids, sizeof first);
        }
        same &= !rc && !memcmp(pixel, g.pixel, 8 * 48) &&
                !memcmp(first, g.ids, sizeof first);
    }
    T(same, "again: the same bytes");
    T(g.batch.n_substituted == 2 && g.batch.substituted[0][0] == 3 &&
          g.batch.substituted[1][0] == 9,
      "two substitutes");
    T(g.ids[0] == 5 && g.ids[1] == g.batch.substituted[0][1] && g.ids[2] == 0 &&
          g.ids[3] == g.batch.substituted[1][1] && g.ids[4] == 5,
      "ids are those of the batch");
    T(g.ids[1] != g.ids[3] && !is_bad((size_t)g.ids[1]), "no sample twice");
    T(is_view(&g, 1 * 3 + 2, pool, &recipe, 0, 1), "[v,b]: view 1 of id 0");
    T(is_view(&g, 2 * 3 + 1, pool, &recipe, 5, 2),
      "an extra row is the view of its sample");
    free(pixel);
    data_gather_release(&g);
    data_pool_free(pool);
}

struct view {
    uint64_t id, epoch, view;
};

/* Checks that the pixels of epoch 8 are these views, in order. */
static int
gathers(struct data_set *set, const struct data_wanted *want, size_t n,
        const struct view *is)
{
    struct data_pool *pool = pool_of(set, 0);
    struct data_gather g = {0};
    struct image_recipe recipe;
    uint8_t pixel[48];
    int rc, same = 1;
    struct err why;

    image_recipe_find("cifar", &recipe, &why);
    recipe.size = 4;
    data_gather_begin(&g, want);
    while ((rc = data_gather_next(&g, pool, &recipe, 1, 8, &why)) > 0)
        continue;
    for (size_t i = 0; i < n; i++) {
        image_view(&recipe, data_pool_get(pool, is[i].id, NULL, &why), 1,
                   is[i].id, is[i].epoch, is[i].view, &g.scratch, pixel);
        same &= !memcmp(pixel, g.pixel + i * 48, 48);
    }
    data_gather_release(&g);
    data_pool_free(pool);
    return !rc && same;
}

static void
gathers_named_views(struct data_set *set)
{
    const int64_t ids[] = {5, 0}, extra[] = {6, 7, 6}, view[] = {4, -1, 1};
    const int64_t variant[] = {3, 0, 1, 9}, epoch[] = {3, 5, 2};
    const struct data_wanted fixed = {.batch.b = 2,
                                      .batch.extra.n = 3,
                                      .batch.v = 2,
                                      .size = 4,
                                      .batch.ids = ids,
                                      .batch.extra.ids = extra,
                                      .batch.view_of = variant,
                                      .batch.extra.view = view},
                             endless = {.batch.b = 2,
                                        .batch.extra.n = 3,
                                        .batch.v = 2,
                                        .size = 4,
                                        .batch.ids = ids,
                                        .batch.extra.ids = extra,
                                        .batch.extra.view = view,
                                        .batch.extra.epoch = epoch};

    T(gathers(set, &fixed, 7,
              (struct view[]){{5, 0, 3},
                              {0, 0, 0},
                              {5, 0, 1},
                              {0, 0, 9},
                              {6, 0, 4},
                              {7, 8, 2},
                              {6, 0, 1}}),
      "fixed views are those of epoch 0 in every epoch");
    T(gathers(set, &endless, 7,
              (struct view[]){{5, 8, 0},
                              {0, 8, 0},
                              {5, 8, 1},
                              {0, 8, 1},
                              {6, 3, 4},
                              {7, 8, 2},
                              {6, 2, 1}}),
      "a view of another epoch is made again");
}

static void
draws_variants(void)
{
    enum { A = 5, B = 400 };
    int64_t ids[B], two[2 * B], again[2 * B], both[2 * B];
    int seen[A] = {0}, good = 1, order = 1;

    for (int i = 0; i < B; i++)
        ids[i] = i;
    data_variants(1, 2, B, ids, A, 2, two);
    data_variants(1, 2, B, ids, A, 2, again);
    T(!memcmp(two, again, sizeof two), "variants: a function of the numbers");
    data_variants(1, 3, B, ids, A, 2, again);
    T(memcmp(two, again, sizeof two), "others in another epoch");
    for (int i = 0; i < B; i++) {
        good &= two[i] != two[B + i];
        seen[two[i]]++;
        seen[two[B + i]]++;
    }
    for (int k = 0; k < A; k++) // 160 expected, deviation 10
        good &= seen[k] > 110 && seen[k] < 210;
    T(good, "two different ones, each as often");
    data_variants(1, 2, B, ids, 2, 2, both);
    for (int i = 0; i < B; i++)
        order &= both[i] == 0 && both[B + i] == 1;
    T(order, "two of two are both");
}

static void
draws_a_sheet(struct data_set *set)
{
    struct data_sheet sheet = {
        .rows = 2, .columns = 2, .views = 1, .size = SIDE};
    struct data_pool *pool = pool_of(set, 0);
    const uint8_t *pixel;
    struct image_recipe none;
    size_t width, x, y;
    struct err err;

    image_recipe_find("none", &none, &err);
    none.size = SIDE;
    data_sheet_begin(&sheet);
    pixel = sheet.pixel;
    width = sheet.width;
    data_sheet_draw(&sheet, &none, N, pool);
    T(sheet.white == 2 && strstr(sheet.why.msg, "09.jpg"),
      "two images stay white; the latest reason: %s", sheet.why.msg);
    T(pixel[0] == 255, "white rim");
    // samples 0, 3, 6, 9 of twelve; 3 and 9 are bad
    x = width / 4, y = sheet.height / 4;
    T(pixel[3 * (y * width + x / 2)] == 0, "sample 0 is black");
    T(pixel[3 * (y * width + 3 * x)] == 255, "sample 3 is bad: white");
    T(pixel[3 * (3 * y * width + x / 2)] == 120, "sample 6 below");
    T(pixel[3 * (3 * y * width + x / 2 * 3)] == 120, "its view next to it");
    free(sheet.pixel);
    data_pool_free(pool);
}

/* Checks the name L of the first image, in large letters if it is the longest
 * name. */
static void
draws_names(struct data_sheet sheet, const struct data_sheet_list *list,
            struct data_pool *first, struct data_pool *rest)
{
    size_t width, height;

    data_sheet_measure(&sheet);
    width = sheet.width;
    height = sheet.height;
    T(data_sheet_letters(list) == 1 && data_sheet_letters(list + 1) == 11,
      "the longest name of a list");
    for (sheet.letters = 1; sheet.letters <= 11; sheet.letters += 10) {
        const size_t zoom = sheet.letters == 1 ? 2 : 1;
        size_t ink = 0;

        data_sheet_begin(&sheet);
        T(sheet.width == width + 2 * 9 &&
              sheet.height == height + 2 * (4 + 7 * zoom),
          "names have space below, and images are apart");
        data_sheet_lists(&sheet, list, first, rest);
        for (size_t i = 0; i < sheet.width * 7 * zoom; i++)
            ink += sheet.pixel[3 * (sheet.width * (12 + 96 + 4) + i)] == 0;
        T(ink == 11 * zoom * zoom, "L is below the first image, enlarged %zu",
          zoom);
        free(sheet.pixel);
    }
}

/* A list of samples 2 and 6, of another class, and one of 3, which is bad, and
 * 6 twice, of the same and of no class; the first of each has a name. */
static void
draws_lists(struct data_set *set)
{
    struct data_sheet sheet = {
        .rows = 2, .columns = 1, .views = 2, .size = SIDE};
    struct data_sheet_list list[] = {
        {2, (int64_t[]){2, 6}, (char[]){0, 2}, (const char *[]){"L", NULL}},
        {3, (int64_t[]){3, 6, 6}, (char[]){0, 1, 0},
         (const char *[]){"an armchair", NULL, NULL}},
    };
    struct data_pool *first = pool_of(set, 0), *rest = pool_of(set, 0);
    const uint8_t *pixel;
    size_t width, x, y;

    data_sheet_begin(&sheet);
    pixel = sheet.pixel;
    width = sheet.width;
    data_sheet_lists(&sheet, list, first, rest);
    T(sheet.white == 1, "one image of the lists is white");
    x = width / 6, y = width * (sheet.height / 4);
    T(pixel[3 * (y + x)] == 40, "the first of the list is sample 2");
    T(pixel[3 * (y + 3 * x)] == 120, "sample 6 next to it");
    T(pixel[3 * (y + 5 * x)] == 255, "there is no third");
    T(pixel[3 * (3 * y + x)] == 255, "of a bad sample: white");
    T(pixel[3 * (3 * y + 5 * x)] == 120, "sample 6 is twice below");
    x = width - 12 - 2 * 96 - 3; // where the second image begins
    T(pixel[3 * (y + x)] == 210 && pixel[3 * (y + x) + 1] == 0, "a red frame");
    T(pixel[3 * (3 * y + x)] == 0 && pixel[3 * (3 * y + x) + 1] == 160,
      "a green frame");
    T(pixel[3 * (3 * y + x + 99)] == 120, "no frame");
    free(sheet.pixel);
    draws_names(sheet, list, first, rest);
    data_pool_free(rest);
    data_pool_free(first);
}

static void
without_a_caption_it_is_bad(struct data_set *set)
{
    const struct data_pool_settings how = {IMAGE_REFUSE, 1000, 1 << 20, 1};
    struct data_pool *pool = data_pool_new(set, &how);
    const int64_t taken[] = {7, 5};
    struct err err;

    T(data_pool_get(pool, 5, NULL, &err) && data_pool_get(pool, 6, NULL, &err),
      "samples with a caption are good");
    T(!data_pool_get(pool, 7, NULL, &err) &&
          !strcmp(err.msg, "sample '07.jpg' has no caption"),
      "one without is not: %s", err.msg);
    T(data_pool_bad(pool) == 1, "it is counted");
    T(data_pool_substitute(pool, 1, 7, 0, 2, taken, &err) == 6,
      "one with a caption replaces it");
    data_pool_free(pool);
}

int
main(void)
{
    struct data_set *set;
    char scratch[256];
    struct err err;

    child_scratch(scratch);
    set = make_set();
    if (set) {
        gives_the_same_kept_or_not(set);
        stand_ins_are_good_and_new(set);
        nobody_is_left(set);
        without_a_caption_it_is_bad(set);
        gathers_a_batch(set);
        gathers_named_views(set);
        draws_variants();
        draws_a_sheet(set);
        draws_lists(set);
    }
    data_close(set);
    file_remove(scratch, &err);
    return t_done();
}
