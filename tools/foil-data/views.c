#include <stdlib.h>

#include "data.h"
#include "data/sheet.h"
#include "run/views.h"
#include "util/mem.h"

enum { MAX_SIDE = 65535 };

static const char *output, *data;
static long step, rows;

const struct opt views_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE",
     "the picture, PNG; required"},
    {"step", 0, OPT_WHOLE, &step, 0, 1e12, "N",
     "step of the run, from 1; 0: the newest"},
    {"data", 0, OPT_TEXT, &data, 0, 0, "DATA",
     "the data set, if it has moved since the run"},
    {"rows", 0, OPT_WHOLE, &rows, 0, 1e5, "N",
     "rows of images; 0: so many that the picture is about square"},
    {0},
};

/* Chooses rows and columns for `images` images. */
static void
lay_out(struct data_sheet *sheet, size_t images)
{
    sheet->rows = (size_t)rows;
    do {
        sheet->rows += !rows;
        sheet->columns = (images + sheet->rows - 1) / sheet->rows;
        data_sheet_measure(sheet);
    } while (!rows && sheet->width > sheet->height && sheet->columns > 1);
    if (sheet->width > MAX_SIDE || sheet->height > MAX_SIDE)
        opt_misuse("the picture would have %zu x %zu pixels", sheet->width,
                   sheet->height);
}

/* Draws image `place` of the batch, and its views, at that place of the sheet:
 * 0, or -1 if it stays white. */
static int
draw_image(struct run_views *views, const struct run_batch_record *record,
           struct data_sheet *sheet, size_t place, uint8_t *view)
{
    const int extra = place >= record->batch.b;
    const size_t n = extra ? 1 : record->batch.v;
    size_t row =
        extra ? place + (record->batch.v - 1) * record->batch.b : place;
    int64_t id, epoch, number;

    run_views_name(record, row, &id, &epoch, &number);
    if (run_views_plain(views, id, view, &sheet->why))
        return -1;
    data_sheet_paste(sheet, place, 0, view);
    for (size_t v = 0; v < n; v++, row += record->batch.b) {
        run_views_name(record, row, &id, &epoch, &number);
        if (run_views_make(views, id, epoch, number, view, &sheet->why))
            return -1;
        data_sheet_paste(sheet, place, v + 1, view);
    }
    return 0;
}

static void
draw_step(struct run_views *views, const struct run_batch_record *record)
{
    const size_t images = record->batch.b + record->batch.extra.n;
    struct data_sheet sheet = {.views = record->batch.v,
                               .size = run_views_size(views)};
    uint8_t *view = mem_array(sheet.size * sheet.size, 3);

    lay_out(&sheet, images);
    data_sheet_begin(&sheet);
    for (size_t i = 0; i < images; i++)
        sheet.white += draw_image(views, record, &sheet, i, view) != 0;
    data_sheet_write_or_die(&sheet, output);
    free(view);
}

void
run_views(char **operand)
{
    struct run_views *views = run_views_open(operand[0], data);
    struct run_batch_record record;
    struct err err;

    require_output(output, "picture");
    if (run_views_step(views, step, &record, &err))
        die("%s", err.msg);
    data_protect_or_die(run_views_set(views), output);
    draw_step(views, &record);
    log_message("step %jd: step %jd of epoch %jd, %zu images%s",
                (intmax_t)record.total, (intmax_t)record.batch.step,
                (intmax_t)record.batch.epoch,
                record.batch.b + record.batch.extra.n,
                record.batch.extra.n ? ", including extra ones" : "");
    run_views_close(views);
}
