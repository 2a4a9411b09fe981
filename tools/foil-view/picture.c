#include "picture.h"

#include <stdlib.h>
#include <string.h>

#include "image/codec.h"
#include "util/clock.h"
#include "util/mem.h"

enum { TILE = 64, QUALITY = 90 };

/* A picture of tiles. */
struct sheet {
    size_t columns, rows, tile; /* pixels in a tile's side */
    uint8_t *pixel;             /* [rows tile, columns tile, 3] */
    uint8_t *view;              /* a view in its full size */
};

const struct data_set *
pictures_set(struct pictures *pictures, struct err *err)
{
    struct run_batch_record record;
    const double now = clock_now();

    if (!pictures->ready &&
        (pictures->tried_at <= 0 || now - pictures->tried_at >= 1)) {
        pictures->ready =
            !run_views_step(pictures->views, 0, &record, &pictures->error);
        pictures->tried_at = now;
    }
    if (pictures->ready)
        return run_views_set(pictures->views);
    if (err)
        *err = pictures->error;
    return NULL;
}

/* Returns how many pixels of a view become one, in each direction. */
static size_t
shrink_by(const struct pictures *pictures)
{
    return (run_views_size(pictures->views) + TILE - 1) / TILE;
}

/* Returns the mean of a square of pixels, `by` on a side. */
static uint8_t
average_square(const uint8_t *at, size_t side, size_t by)
{
    size_t sum = by * by / 2;

    for (size_t y = 0; y < by; y++)
        for (size_t x = 0; x < by; x++)
            sum += at[(y * side + x) * 3];
    return (uint8_t)(sum / (by * by));
}

/* Shrinks the view into its place. */
static void
put_tile(struct sheet *sheet, const struct pictures *pictures, size_t place)
{
    const size_t side = run_views_size(pictures->views);
    const size_t by = shrink_by(pictures), tile = sheet->tile;
    const size_t wide = sheet->columns * tile;
    uint8_t *to = sheet->pixel + (place / sheet->columns * tile * wide +
                                  place % sheet->columns * tile) *
                                     3;

    for (size_t y = 0; y < tile; y++)
        for (size_t x = 0; x < tile * 3; x++)
            to[y * wide * 3 + x] = average_square(
                sheet->view + (y * by * side + x / 3 * by) * 3 + x % 3, side,
                by);
}

static int
make_view(struct run_views *views, const struct picture_name *name,
          uint8_t *out, struct err *err)
{
    return name->view < 0 ? run_views_plain(views, name->id, out, err)
                          : run_views_make(views, name->id, name->epoch,
                                           name->view, out, err);
}

/* Searches a step of an epoch, from the newest step back.  0 with *record; -1:
 * not found. */
static int
find_step(struct run_views *views, int64_t epoch, int64_t step,
          struct run_batch_record *record)
{
    struct err ignored;
    int64_t total = 0;

    while (!run_views_step(views, total, record, &ignored)) {
        if (record->batch.epoch == epoch && record->batch.step == step)
            return 0;
        if (record->batch.epoch < epoch ||
            (record->batch.epoch == epoch && record->batch.step < step))
            return -1; // not written yet
        total = record->total - (record->batch.epoch == epoch
                                     ? record->batch.step - step
                                     : record->batch.step + 1);
        if (total < 1)
            return -1;
    }
    return -1;
}

int
picture_draw(struct pictures *pictures, const struct picture_name *name,
             size_t n, size_t columns, struct data_bytes *jpeg, struct err *err)
{
    struct sheet sheet = {.columns = n < columns ? n : columns};
    size_t size, drawn = 0;
    int rc = -1;

    if (!pictures_set(pictures, err))
        return -1;
    size = run_views_size(pictures->views);
    sheet.tile = size / shrink_by(pictures);
    sheet.rows = (n + sheet.columns - 1) / sheet.columns;
    sheet.pixel =
        mem_array(sheet.columns * sheet.rows * 3, sheet.tile * sheet.tile);
    sheet.view = mem_array(size * size, 3);
    for (size_t i = 0; i < n; i++)
        if (!make_view(pictures->views, &name[i], sheet.view, err)) {
            put_tile(&sheet, pictures, i);
            drawn++;
        }
    if (drawn)
        rc = image_jpeg_encode(sheet.pixel, sheet.columns * sheet.tile,
                               sheet.rows * sheet.tile, 3, QUALITY, jpeg, err);
    free(sheet.pixel);
    free(sheet.view);
    return rc;
}

int
picture_batch(struct pictures *pictures, const struct batch_view *b,
              struct data_bytes *jpeg, struct err *err)
{
    const size_t each = batch_view_pictures(b), n = b->n * each;
    struct picture_name *name;
    struct run_batch_record record;
    int known, rc;

    if (!pictures_set(pictures, err))
        return -1;
    known = !find_step(pictures->views, b->epoch, b->step, &record) &&
            record.batch.b == b->n && record.batch.v == each &&
            !memcmp(record.batch.ids, b->ids, b->n * sizeof *b->ids);
    name = mem_array(n, sizeof *name);
    for (size_t i = 0; i < n; i++) {
        const size_t row = i % each * b->n + i / each;

        name[i] = (struct picture_name){b->ids[row % b->n], b->epoch,
                                        (int64_t)(row / b->n)};
        if (known)
            run_views_name(&record, row, &name[i].id, &name[i].epoch,
                           &name[i].view);
    }
    rc = picture_draw(pictures, name, n, PICTURE_COLUMNS, jpeg, err);
    free(name);
    return rc;
}

int
picture_step(struct pictures *pictures, int64_t epoch, int64_t step,
             struct batch_view *batch)
{
    struct run_batch_record record;
    struct err ignored;

    if (epoch < 0 ? run_views_step(pictures->views, 0, &record, &ignored)
                  : find_step(pictures->views, epoch, step, &record))
        return -1;
    pictures->ready = 1;
    *batch = (struct batch_view){.epoch = record.batch.epoch,
                                 .step = record.batch.step,
                                 .n = record.batch.b,
                                 .views = record.batch.v,
                                 .texts = run_views_texts(pictures->views)};
    batch->ids = mem_array(record.batch.b, sizeof *batch->ids);
    memcpy(batch->ids, record.batch.ids, record.batch.b * sizeof *batch->ids);
    return 0;
}

json_t *
picture_texts(struct pictures *pictures, const struct batch_view *m)
{
    json_t *list = json_array();

    for (size_t i = 0; i < m->n; i++) {
        char *text = run_views_text(pictures->views, m->ids[i], m->epoch);
        json_t *value = json_string(text ? text : "");

        // other text than UTF-8 is not shown
        json_array_append_new(list, value ? value : json_string(""));
        free(text);
    }
    return list;
}
