#include "picture.h"

#include <stdlib.h>
#include <string.h>

#include "image/jpeg.h"
#include "util/clock.h"
#include "util/mem.h"

enum { TILE = 64, QUALITY = 90 };

/* What is drawn: tiles in rows, and what a view is before it is shrunk. */
struct sheet {
    size_t columns, rows, tile;
    uint8_t *pixel, *view;
};

const struct data_set *
pictures_set(struct pictures *pictures, struct err *err)
{
    struct train_shown shown;
    const double now = clock_now();

    if (!pictures->ready && pictures->missed > 0 &&
        now - pictures->missed < 1) {
        *err = pictures->why;
        return NULL;
    }
    if (!pictures->ready && train_views_step(pictures->views, 0, &shown, err)) {
        pictures->missed = now;
        pictures->why = *err;
        return NULL;
    }
    pictures->ready = 1;
    return train_views_set(pictures->views);
}

/* How many pixels of a view become one, in each direction. */
static size_t
shrink_by(const struct pictures *pictures)
{
    return (train_views_size(pictures->views) + TILE - 1) / TILE;
}

size_t
pictures_tile(struct pictures *pictures)
{
    struct err ignored;

    return pictures_set(pictures, &ignored)
               ? train_views_size(pictures->views) / shrink_by(pictures)
               : 0;
}

static void
begin_sheet(struct sheet *sheet, struct pictures *pictures, size_t n,
            size_t columns)
{
    const size_t size = train_views_size(pictures->views);

    sheet->columns = n < columns ? n : columns;
    sheet->rows = (n + sheet->columns - 1) / sheet->columns;
    sheet->tile = pictures_tile(pictures);
    sheet->pixel =
        mem_array(sheet->columns * sheet->rows * 3, sheet->tile * sheet->tile);
    sheet->view = mem_array(size * size, 3);
}

/* The mean of a square of by x by pixels. */
static uint8_t
average_square(const uint8_t *at, size_t side, size_t by)
{
    size_t sum = by * by / 2;

    for (size_t y = 0; y < by; y++)
        for (size_t x = 0; x < by; x++)
            sum += at[(y * side + x) * 3];
    return (uint8_t)(sum / (by * by));
}

/* Puts the view onto its place, shrunk. */
static void
put_tile(struct sheet *sheet, const struct pictures *pictures, size_t place)
{
    const size_t side = train_views_size(pictures->views);
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
end_sheet(struct sheet *sheet, int rc, struct data_bytes *jpeg, struct err *err)
{
    if (!rc)
        rc = data_jpeg_encode(sheet->pixel, sheet->columns * sheet->tile,
                              sheet->rows * sheet->tile, 3, QUALITY, jpeg, err);
    free(sheet->pixel);
    free(sheet->view);
    return rc;
}

/* Goes back from the newest step to that of an epoch and its step; 0 with it in
 * *shown. */
static int
find_step(struct train_views *views, int64_t epoch, int64_t step,
          struct train_shown *shown)
{
    struct err ignored;
    int64_t total = 0;

    while (!train_views_step(views, total, shown, &ignored)) {
        if (shown->batch.epoch == epoch && shown->batch.step == step)
            return 0;
        if (shown->batch.epoch < epoch ||
            (shown->batch.epoch == epoch && shown->batch.step < step))
            return -1; // not written yet
        total = shown->total - (shown->batch.epoch == epoch
                                    ? shown->batch.step - step
                                    : shown->batch.step + 1);
        if (total < 1)
            return -1;
    }
    return -1;
}

int
picture_batch(struct pictures *pictures, const struct moment *m,
              struct data_bytes *jpeg, struct err *err)
{
    struct train_shown shown;
    const size_t each = moment_pictures(m);
    struct sheet sheet;
    int known, rc = 0;

    if (!pictures_set(pictures, err))
        return -1;
    known = !find_step(pictures->views, m->epoch, m->step, &shown) &&
            shown.batch.b == m->n && shown.batch.v == each &&
            !memcmp(shown.batch.ids, m->ids, m->n * sizeof *m->ids);
    begin_sheet(&sheet, pictures, m->n * each, PICTURE_COLUMNS);
    for (size_t place = 0; place < m->n * each && !rc; place++) {
        const size_t row = place % each * m->n + place / each;
        int64_t id = m->ids[row % m->n], epoch = m->epoch;
        int64_t view = (int64_t)(row / m->n);

        if (known)
            train_views_name(&shown, row, &id, &epoch, &view);
        rc =
            train_views_make(pictures->views, id, epoch, view, sheet.view, err);
        put_tile(&sheet, pictures, place);
    }
    return end_sheet(&sheet, rc, jpeg, err);
}

int
picture_list(struct pictures *pictures, const struct picture_name *name,
             size_t n, struct data_bytes *jpeg, struct err *err)
{
    struct sheet sheet;
    int rc = 0;

    if (!pictures_set(pictures, err))
        return -1;
    begin_sheet(&sheet, pictures, n, PICTURE_LIST_COLUMNS);
    for (size_t i = 0; i < n && !rc; i++) {
        rc = train_views_make(pictures->views, name[i].id, name[i].epoch,
                              name[i].view, sheet.view, err);
        put_tile(&sheet, pictures, i);
    }
    return end_sheet(&sheet, rc, jpeg, err);
}

int
picture_image(struct pictures *pictures, int64_t id, struct data_bytes *jpeg,
              struct err *err)
{
    struct sheet sheet;
    int rc;

    if (!pictures_set(pictures, err))
        return -1;
    begin_sheet(&sheet, pictures, 1, 1);
    rc = train_views_plain(pictures->views, id, sheet.view, err);
    put_tile(&sheet, pictures, 0);
    return end_sheet(&sheet, rc, jpeg, err);
}

int
picture_plain(struct pictures *pictures, const int64_t *id, size_t n,
              size_t columns, struct data_bytes *jpeg, struct err *err)
{
    struct err ignored;
    struct sheet sheet;

    if (!pictures_set(pictures, err))
        return -1;
    begin_sheet(&sheet, pictures, n, columns);
    for (size_t i = 0; i < n; i++)
        if (!train_views_plain(pictures->views, id[i], sheet.view, &ignored))
            put_tile(&sheet, pictures, i);
    return end_sheet(&sheet, 0, jpeg, err);
}

int
picture_step(struct pictures *pictures, int64_t epoch, int64_t step,
             struct moment *moment)
{
    struct train_shown shown;
    struct err ignored;

    if (epoch < 0 ? train_views_step(pictures->views, 0, &shown, &ignored)
                  : find_step(pictures->views, epoch, step, &shown))
        return -1;
    pictures->ready = 1;
    *moment = (struct moment){.epoch = shown.batch.epoch,
                              .step = shown.batch.step,
                              .n = shown.batch.b,
                              .views = shown.batch.v,
                              .texts = train_views_texts(pictures->views)};
    moment->ids = mem_array(shown.batch.b, sizeof *moment->ids);
    memcpy(moment->ids, shown.batch.ids, shown.batch.b * sizeof *moment->ids);
    return 0;
}

json_t *
picture_texts(struct pictures *pictures, const struct moment *m)
{
    json_t *list = json_array();

    for (size_t i = 0; i < m->n; i++) {
        char *text = train_views_text(pictures->views, m->ids[i], m->epoch);
        json_t *value = json_string(text ? text : "");

        // what is no UTF-8 is not shown
        json_array_append_new(list, value ? value : json_string(""));
        free(text);
    }
    return list;
}
