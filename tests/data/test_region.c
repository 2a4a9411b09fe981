#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "child.h"
#include "data/gather.h"
#include "data/index.h"
#include "t.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/rng.h"

/* A JPEG of W x H pixels: not multiples of an MCU, and large enough for a
 * region. */
enum { WIDTH = 157, HEIGHT = 139 };

struct form {
    const char *name;
    int channels, across, down, progressive, restart;
};

static const struct form forms[] = {
    {"4:4:4", 3, 1, 1, 0, 0}, {"4:2:2", 3, 2, 1, 0, 7},
    {"4:2:0", 3, 2, 2, 0, 0}, {"4:4:0", 3, 1, 2, 0, 0},
    {"4:1:1", 3, 4, 1, 0, 0}, {"4:2:0 with restarts", 3, 2, 2, 0, 5},
    {"grey", 1, 1, 1, 0, 0},  {"progressive", 3, 2, 2, 1, 0},
};
enum { FORMS = sizeof forms / sizeof *forms };

static struct rng rng;
static struct image_decoder *decoder;
static struct image whole, part;

static struct data_bytes
write_form(const struct form *form)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr error;
    unsigned char *out = NULL;
    unsigned long len = 0;
    uint8_t row[WIDTH * 3];
    JSAMPROW rows = row;

    jpeg.err = jpeg_std_error(&error);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &out, &len);
    jpeg.image_width = WIDTH;
    jpeg.image_height = HEIGHT;
    jpeg.input_components = form->channels;
    jpeg.in_color_space = form->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 90, TRUE);
    jpeg.comp_info[0].h_samp_factor = form->across;
    jpeg.comp_info[0].v_samp_factor = form->down;
    jpeg.restart_interval = (unsigned)form->restart;
    if (form->progressive)
        jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < HEIGHT) {
        for (size_t i = 0; i < sizeof row; i++)
            row[i] = (uint8_t)rng_below(&rng, 256);
        jpeg_write_scanlines(&jpeg, &rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return (struct data_bytes){out, len, len};
}

static struct image_box
box_of(void *of, size_t width, size_t height)
{
    const struct image_box none = {0, 0, 0, 0}, *box = of;

    return width == WIDTH && height == HEIGHT ? *box : none;
}

/* Draws a box up to a random side, so that many are narrow. */
static struct image_box
draw_box(void)
{
    const size_t most = 1 + rng_below(&rng, HEIGHT);
    struct image_box box = {.width = 1 + rng_below(&rng, most),
                            .height = 1 + rng_below(&rng, most)};

    box.left = rng_below(&rng, WIDTH - box.width + 1);
    box.top = rng_below(&rng, HEIGHT - box.height + 1);
    return box;
}

static int
is_same_box(const struct image_box *box)
{
    for (size_t y = box->top; y < box->top + box->height; y++) {
        const size_t at = 3 * (y * WIDTH + box->left);

        if (memcmp(whole.pixel + at, part.pixel + at, 3 * box->width))
            return 0;
    }
    return part.width == WIDTH && part.height == HEIGHT;
}

/* Decodes all and a region: returns 1 for the same result, reason and
 * pixels. */
static int
is_same(const struct data_bytes *file, enum image_policy policy, int *read)
{
    struct image_box box = draw_box();
    const struct image_region region = {box_of, &box};
    struct err a = {0}, b = {0};
    const int rc = image_codec_decode(&decoder, file->data, file->len, 1 << 20,
                                      policy, NULL, &whole, &a);

    if (part.memory)
        memset(part.memory, 0x55, part.room);
    if (image_codec_decode(&decoder, file->data, file->len, 1 << 20, policy,
                           &region, &part, &b) != rc)
        return 0;
    *read += !rc;
    return rc ? !strcmp(a.msg, b.msg) : is_same_box(&box);
}

static void
regions_are_equal(const struct form *form, const struct data_bytes *file)
{
    enum { BOXES = 60 };
    int same = 0, read = 0;

    for (int i = 0; i < BOXES; i++)
        same += is_same(file, IMAGE_REFUSE, &read);
    T(same == BOXES && read == BOXES,
      "%s: a region has the pixels of the whole", form->name);
}

/* Files are damaged or cut off anywhere, also below the region. */
static void
damage_is_equal(const struct form *form, const struct data_bytes *file)
{
    enum { FILES = 60 };
    struct data_bytes hurt = {mem_array(file->len, 1), file->len, 0};
    int same = 0, read = 0;

    for (int i = 0; i < FILES; i++) {
        const size_t at = file->len / 10 + rng_below(&rng, file->len * 9 / 10);

        memcpy(hurt.data, file->data, file->len);
        hurt.data[at] = (uint8_t)rng_below(&rng, 256);
        hurt.len = i % 4 == 3 ? at : file->len;
        same += is_same(&hurt, i % 2 ? IMAGE_ACCEPT : IMAGE_REFUSE, &read);
    }
    T(same == FILES && read > FILES / 4 && read < FILES,
      "%s: and damage is the same, %d of %d are read", form->name, read, same);
    data_bytes_release(&hurt);
}

static void
less_is_written(const struct data_bytes *file)
{
    struct image_box box = {60, 60, 20, 20};
    const struct image_region region = {box_of, &box};
    size_t written = 0;
    struct err err;

    memset(part.memory, 0x55, part.room);
    T(!image_codec_decode(&decoder, file->data, file->len, 1 << 20,
                          IMAGE_REFUSE, &region, &part, &err),
      "a small region");
    for (size_t i = 0; i < (size_t)3 * WIDTH * HEIGHT; i++)
        written += part.pixel[i] != 0x55;
    T(written > 3 * 20 * 20 && written < 3 * 64 * 32,
      "is decoded with only the last row: %zu bytes", written);
}

/* A set of two of these files. */
static struct data_set *
make_set(const struct data_bytes *file)
{
    struct data_index *index =
        data_index_new(&(struct data_index_settings){.max_pixels = 1 << 20});
    struct err err;
    int rc = file_mkdir("set", 0700, &err) ||
             file_write("set/0.jpg", file->data, file->len, &err) ||
             file_write("set/1.jpg", file->data, file->len, &err) ||
             data_index_add(index, "set", &err);

    while (!rc && data_index_next(index, &err) > 0)
        continue;
    rc = rc || data_index_write(index, "set.foil", &err);
    data_index_free(index);
    return rc ? NULL : data_open("set", &err);
}

/* Checks that row `row` of the batch is view `view` of `id` in `epoch`. */
static int
is_view(struct data_gather *g, const struct image_recipe *recipe, size_t row,
        uint64_t id, uint64_t epoch, uint64_t view)
{
    const size_t bytes = 3 * recipe->size * recipe->size;
    uint8_t *pixel = mem_array(bytes, 1);
    int same;

    image_view(recipe, &whole, 1, id, epoch, view, &g->scratch, pixel);
    same = !memcmp(pixel, g->pixel + row * bytes, bytes);
    free(pixel);
    return same;
}

/* The decoded region has the pixels of each view. */
static void
views_find_their_pixels(const struct data_bytes *file)
{
    static const int64_t ids[] = {1}, extra[] = {0, 0}, view[] = {-1, 5},
                         old[] = {0, 3};
    struct data_wanted want = {.batch.b = 1,
                               .batch.extra.n = 2,
                               .batch.v = 2,
                               .size = 32,
                               .batch.ids = ids,
                               .batch.extra.ids = extra,
                               .batch.extra.view = view,
                               .batch.extra.epoch = old};
    struct data_set *set = make_set(file);
    struct data_pool *pool = data_pool_new(
        set, &(struct data_pool_settings){IMAGE_REFUSE, 1 << 20, 0, 0});
    struct data_gather g = {0};
    struct image_recipe recipe;
    int same = 0;
    struct err err;

    image_recipe_find("cifar,scale-max=0.3", &recipe, &err);
    image_codec_decode(&decoder, file->data, file->len, 1 << 20, IMAGE_REFUSE,
                       NULL, &whole, &err);
    for (uint64_t epoch = 0; epoch < 20; epoch++) {
        data_gather_begin(&g, &want);
        while (data_gather_next(&g, pool, &recipe, 1, epoch, &err) > 0)
            continue;
        same += is_view(&g, &recipe, 0, 1, epoch, 0) &&
                is_view(&g, &recipe, 1, 1, epoch, 1) &&
                is_view(&g, &recipe, 2, 0, epoch, 2) &&
                is_view(&g, &recipe, 3, 0, 3, 5);
    }
    T(same == 20, "views of regions are those of the whole image");
    data_gather_release(&g);
    data_pool_free(pool);
    data_close(set);
}

int
main(void)
{
    char scratch[256];
    struct err err;

    child_scratch(scratch);
    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < FORMS; i++) {
        struct data_bytes file = write_form(forms + i);

        regions_are_equal(forms + i, &file);
        damage_is_equal(forms + i, &file);
        if (!strcmp(forms[i].name, "4:2:0")) {
            less_is_written(&file);
            views_find_their_pixels(&file);
        }
        data_bytes_release(&file);
    }
    image_release(&whole);
    image_release(&part);
    image_jpeg_free(decoder);
    file_remove(scratch, &err);
    return t_done();
}
