#include "picture.h"

#include <stdlib.h>
#include <string.h>

#include "image/codec.h"
#include "image/view.h"
#include "util/clock.h"
#include "util/mem.h"

enum { TILE = 64, QUALITY = 80 };

/* A picture of tiles. */
struct sheet {
    size_t columns, rows, tile; /* pixels in a tile's side */
    uint8_t *pixel;             /* [rows tile, columns tile, 3] */
    uint8_t *view, *small;      /* a view in its full size, and as a tile */
    struct image_scratch *scratch;
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

/* Shrinks the view into its place. */
static void
put_tile(struct sheet *sheet, size_t side, size_t place)
{
    const struct image view = {
        .width = side, .height = side, .pixel = sheet->view};
    const size_t tile = sheet->tile, wide = sheet->columns * tile * 3;
    uint8_t *to = sheet->pixel + place / sheet->columns * tile * wide +
                  place % sheet->columns * tile * 3;

    image_plain(tile, &view, &sheet->scratch, sheet->small);
    for (size_t y = 0; y < tile; y++)
        memcpy(to + y * wide, sheet->small + y * tile * 3, tile * 3);
}

int
picture_view(struct run_views *views, const struct picture_name *name,
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
    sheet.tile = size < TILE ? size : TILE;
    sheet.rows = (n + sheet.columns - 1) / sheet.columns;
    sheet.pixel =
        mem_array(sheet.columns * sheet.rows * 3, sheet.tile * sheet.tile);
    sheet.view = mem_array(size * size, 3);
    sheet.small = mem_array(sheet.tile * sheet.tile, 3);
    for (size_t i = 0; i < n; i++)
        if (!picture_view(pictures->views, &name[i], sheet.view, err)) {
            put_tile(&sheet, size, i);
            drawn++;
        }
    if (drawn)
        rc = image_jpeg_encode(sheet.pixel, sheet.columns * sheet.tile,
                               sheet.rows * sheet.tile, 3, QUALITY, jpeg, err);
    mem_free(sheet.pixel, sheet.view, sheet.small);
    image_scratch_free(sheet.scratch);
    return rc;
}

struct picture_name *
picture_rows(struct pictures *pictures, const struct batch_view *b)
{
    const size_t n = b->n * b->views;
    struct picture_name *name = mem_array(n, sizeof *name);
    struct run_batch_record record;
    const int known = !find_step(pictures->views, b->epoch, b->step, &record) &&
                      record.batch.b == b->n &&
                      record.batch.v == batch_view_pictures(b) &&
                      !memcmp(record.batch.ids, b->ids, b->n * sizeof *b->ids);

    for (size_t row = 0; row < n; row++) {
        name[row] = (struct picture_name){b->ids[row % b->n], b->epoch,
                                          (int64_t)(row / b->n)};
        if (known && row / b->n < record.batch.v)
            run_views_key(&record, row, &name[row].id, &name[row].epoch,
                          &name[row].view);
    }
    return name;
}

int
picture_batch(struct pictures *pictures, const struct batch_view *b,
              struct data_bytes *jpeg, struct err *err)
{
    const size_t each = batch_view_pictures(b), n = b->n * each;
    struct picture_name *row, *name;
    int rc;

    if (!pictures_set(pictures, err))
        return -1;
    row = picture_rows(pictures, b);
    name = mem_array(n, sizeof *name);
    for (size_t i = 0; i < n; i++)
        name[i] = row[i % each * b->n + i / each];
    rc = picture_draw(pictures, name, n, PICTURE_COLUMNS, jpeg, err);
    mem_free(name, row);
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
    batch->views += (size_t)batch->texts;
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
