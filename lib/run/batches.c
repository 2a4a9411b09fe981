#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/batches.h"
#include "run/lines.h"
#include "util/file.h"
#include "util/mem.h"

enum {
    PLACE = 3,         /* numbers before the ids */
    TRIPLE = 3,        /* numbers of an extra image */
    VIEWS_MAX = 65535, /* of a sample */
    LINES = 1 << 28    /* maximum bytes of batches.jsonl */
};

static int64_t
row_width(const struct run_rows *at)
{
    return PLACE + at->images + at->fixed * at->views * at->images +
           TRIPLE * at->extra;
}

static int64_t
offset_of(const struct run_rows *at, int64_t total)
{
    return at->offset + (total - at->first) * row_width(at) * 4;
}

/* Reads a line; the limits keep offsets far below 2^63. */
static int
read_line(const json_t *line, const char *path, struct run_rows *at,
          struct err *err)
{
    const int64_t most = (int64_t)1 << 40;
    int64_t version, width;
    struct err why;

    at->fixed = json_is_true(json_object_get(line, "fixed"));
    if (json_get_whole(line, "version", 1, 1, &version, &why) ||
        json_get_whole(line, "first", 1, most, &at->first, &why) ||
        json_get_whole(line, "offset", 0, most << 16, &at->offset, &why) ||
        json_get_whole(line, "images", 1, RUN_IMAGES_MAX, &at->images, &why) ||
        json_get_whole(line, "views", 1, VIEWS_MAX, &at->views, &why) ||
        json_get_whole(line, "extra", 0, 4 * RUN_IMAGES_MAX, &at->extra,
                       &why) ||
        json_get_whole(line, "width", row_width(at), row_width(at), &width,
                       &why))
        return err_set(err, "'%s': %s", path, why.msg);
    return 0;
}

/* Returns the line of a step, or the last line if `total` is 0, and fills in
 * *at; NULL with a message if there is none. */
static json_t *
find_line(const char *path, int64_t total, struct run_rows *at, struct err *err)
{
    size_t len;
    char *text = file_read(path, LINES, &len, err), *end;
    json_t *found = NULL;
    int broken = !text;

    for (char *line = text; line && !broken && (end = strchr(line, '\n'));
         line = end + 1) {
        json_t *object = json_parse(line, (size_t)(end - line), path, err);
        struct run_rows here;

        broken = !object || read_line(object, path, &here, err);
        if (!broken && (!total || here.first <= total)) {
            json_decref(found);
            found = json_incref(object);
            *at = here;
        }
        json_decref(object);
    }
    free(text);
    if (broken) {
        json_decref(found);
        return NULL;
    }
    if (!found && total)
        err_set(err, "'%s' has no line for step %jd", path, (intmax_t)total);
    else if (!found)
        err_set(err, "'%s' has no steps yet", path);
    return found;
}

static int
open_file(const char *path, int *file, struct err *err)
{
    *file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    return *file < 0 ? err_sys(err, "cannot open '%s'", path) : 0;
}

/* Truncates an incomplete last line, or all lines if the run has no step. */
static int
cut_lines(int file, const char *path, int64_t total, struct err *err)
{
    size_t len;
    char *text = file_read(path, LINES, &len, err);

    if (!text)
        return -1;
    while (len && (!total || text[len - 1] != '\n'))
        len--;
    free(text);
    return ftruncate(file, (off_t)len) ? err_sys(err, "cannot cut '%s'", path)
                                       : 0;
}

/* Truncates the rows after step `total`.  Without a line for that step all
 * stay, and new ones are appended. */
static int
cut_rows(struct run_batches *b, const char *lines, int64_t total,
         struct err *err)
{
    json_t *line = total ? find_line(lines, total, &b->at, err) : NULL;
    struct stat st;

    if (fstat(b->rows, &st))
        return err_sys(err, "cannot read 'batches.i32'");
    b->at.offset = line    ? offset_of(&b->at, total + 1)
                   : total ? (int64_t)st.st_size
                           : 0;
    b->end = -1;
    json_decref(line);
    if (st.st_size > b->at.offset && ftruncate(b->rows, (off_t)b->at.offset))
        return err_sys(err, "cannot cut 'batches.i32'");
    return 0;
}

int
run_batches_open(struct run_batches *b, const char *run, int64_t total,
                 struct err *err)
{
    const char *lines = mem_temp("%s/batches.jsonl", run);

    *b = (struct run_batches){.rows = -1, .lines = -1};
    return open_file(mem_temp("%s/batches.i32", run), &b->rows, err) ||
                   open_file(lines, &b->lines, err) ||
                   cut_lines(b->lines, lines, total, err) ||
                   cut_rows(b, lines, total, err)
               ? -1
               : 0;
}

void
run_batches_close(struct run_batches *b)
{
    if (b->rows >= 0)
        close(b->rows);
    if (b->lines >= 0)
        close(b->lines);
    free(b->row);
    *b = (struct run_batches){.rows = -1, .lines = -1};
}

static int64_t
larger_of(int64_t a, size_t b)
{
    return a > (int64_t)b ? a : (int64_t)b;
}

/* Whether the last line holds for a step: its plan and its sizes. */
static int
fits_line(const struct run_batches *b, const struct run_batch_record *record)
{
    const struct run_rows *at = &b->at;
    const int same_plan =
        !record->plan || !*record->plan || !strcmp(record->plan, b->plan);

    return b->known && same_plan && record->total >= at->first &&
           (int64_t)record->batch.b <= at->images &&
           (int64_t)record->batch.v == at->views &&
           !record->batch.view_of == !at->fixed &&
           (int64_t)record->batch.extra.n <= at->extra;
}

/* Writes the line for rows from this step on. */
static int
begin_rows(struct run_batches *b, const struct run_batch_record *record,
           size_t most, const char *digest, const char *view_options,
           struct err *err)
{
    const size_t extra =
        record->batch.extra.n > most ? record->batch.extra.n : most;
    const struct run_rows at = {
        .first = record->total,
        .offset = b->known ? offset_of(&b->at, b->newest + 1) : b->at.offset,
        .images = larger_of(b->at.images, record->batch.b),
        .views = (int64_t)record->batch.v,
        .extra = larger_of(b->at.extra, record->batch.extra.n ? extra : 0),
        .fixed = record->batch.view_of != NULL,
    };
    json_t *line = json_pack(
        "{s:i, s:I, s:I, s:I, s:I, s:I, s:b, s:I, s:s}", "version", 1, "first",
        (json_int_t)at.first, "offset", (json_int_t)at.offset, "width",
        (json_int_t)row_width(&at), "images", (json_int_t)at.images, "views",
        (json_int_t)at.views, "fixed", at.fixed, "extra", (json_int_t)at.extra,
        "digest", digest);
    struct err none;
    json_t *views =
        json_parse(view_options, strlen(view_options), "view_options", &none);
    char *text;

    if (views)
        json_object_set_new(line, "view_options", views);
    if (record->plan && *record->plan)
        snprintf(b->plan, sizeof b->plan, "%s", record->plan);
    if (*b->plan)
        json_object_set_new(line, "plan", json_string(b->plan));
    text = json_line(line);
    b->known = !file_append(b->lines, text, strlen(text), "batches.jsonl", err);
    if (b->known)
        b->at = at;
    free(text);
    json_decref(line);
    return b->known ? 0 : -1;
}

/* Writes n numbers, and -1 up to `most`; returns the end. */
static int32_t *
pack_numbers(int32_t *to, const int64_t *from, size_t n, size_t most,
             int *large)
{
    for (size_t i = 0; i < most; i++) {
        *large |= i < n && (from[i] < 0 || from[i] > INT32_MAX);
        to[i] = i < n ? (int32_t)from[i] : -1;
    }
    return to + most;
}

/* Writes the epochs and view numbers of the extra images. */
static void
pack_extra(int32_t *to, const struct batch *batch, size_t most, int *large)
{
    const struct batch_extra *extra = &batch->extra;
    const size_t n = extra->n;

    for (size_t i = 0; i < n; i++) {
        const int fresh = !extra->view || extra->view[i] < 0;
        const int64_t named = extra->epoch ? extra->epoch[i] : 0;
        const int64_t epoch = fresh ? batch->epoch : named;
        const int64_t view = fresh ? (int64_t)batch->v : extra->view[i];

        pack_numbers(to + i, &epoch, 1, 1, large);
        pack_numbers(to + most + i, &view, 1, 1, large);
    }
    pack_numbers(to + n, NULL, 0, most - n, large);
    pack_numbers(to + most + n, NULL, 0, most - n, large);
}

/* Fills the row; 1 if all numbers fit in 32 bits. */
static int
pack_row(struct run_batches *b, const struct run_batch_record *record)
{
    const struct batch *batch = &record->batch;
    const int64_t place[PLACE] = {record->total, batch->epoch, batch->step};
    const size_t images = (size_t)b->at.images, extra = (size_t)b->at.extra;
    int32_t *to;
    int large = 0;

    mem_grow(&b->row, &b->room, (size_t)row_width(&b->at), sizeof *b->row);
    to = pack_numbers(b->row, place, PLACE, PLACE, &large);
    to = pack_numbers(to, batch->ids, batch->b, images, &large);
    for (size_t v = 0; b->at.fixed && v < batch->v; v++)
        to = pack_numbers(to, batch->view_of + v * batch->b, batch->b, images,
                          &large);
    to = pack_numbers(to, batch->extra.ids, batch->extra.n, extra, &large);
    pack_extra(to, batch, extra, &large);
    return !large;
}

int
run_batches_put(struct run_batches *b, const struct run_batch_record *record,
                size_t most, const char *digest, const char *view_options,
                struct err *err)
{
    int64_t at, bytes;

    if (!fits_line(b, record) &&
        begin_rows(b, record, most, digest, view_options, err))
        return -1;
    b->newest = record->total;
    if (!pack_row(b, record))
        return err_set(err, "batches.i32 cannot hold numbers above %d",
                       INT32_MAX);
    at = offset_of(&b->at, record->total);
    bytes = row_width(&b->at) * 4;
    if (b->end != at && ftruncate(b->rows, (off_t)at))
        return err_sys(err, "cannot write to batches.i32");
    b->end = -1;
    if (file_append(b->rows, b->row, (size_t)bytes, "batches.i32", err))
        return -1;
    b->end = at + bytes;
    return 0;
}

int
run_batches_sync(void *batches, struct err *err)
{
    const struct run_batches *b = batches;

    return fsync(b->rows) || fsync(b->lines)
               ? err_sys(err, "cannot sync batches.i32")
               : 0;
}

/* The last step with a row since this line; `first` - 1: none yet. */
static int64_t
newest_of(const struct run_rows *at, int64_t size)
{
    return size <= at->offset
               ? at->first - 1
               : at->first - 1 + (size - at->offset) / (row_width(at) * 4);
}

/* Finds the line of step *total; if that is 0, sets it to the newest step. */
static json_t *
find_rows(const char *run, int64_t size, int64_t *total, struct run_rows *at,
          struct err *err)
{
    const char *path = mem_temp("%s/batches.jsonl", run);
    json_t *line = find_line(path, *total, at, err);

    if (line && !*total) {
        *total = newest_of(at, size);
        if (*total && *total < at->first) { // nothing since the last start
            json_decref(line);
            line = find_line(path, *total, at, err);
        }
    }
    if (line && (!*total || *total > newest_of(at, size))) {
        if (*total)
            err_set(err, "'%s' has no step %jd: the newest is %jd", run,
                    (intmax_t)*total, (intmax_t)newest_of(at, size));
        else
            err_set(err, "'%s' has no step yet", run);
        json_decref(line);
        line = NULL;
    }
    return line;
}

/* Counts the numbers before the first -1. */
static size_t
count_filled(const int64_t *from, int64_t n)
{
    size_t filled = 0;

    while (filled < (size_t)n && from[filled] >= 0)
        filled++;
    return filled;
}

static void
unpack_row(const struct run_rows *at, int64_t *row,
           struct run_batch_record *record)
{
    const size_t images = (size_t)at->images, views = (size_t)at->views;
    int64_t *ids = row + PLACE, *variant = ids + images;
    const int64_t *extra = variant + (at->fixed ? views * images : 0);

    *record = (struct run_batch_record){
        .total = row[0],
        .batch = {.epoch = row[1],
                  .step = row[2],
                  .b = count_filled(ids, at->images),
                  .v = views,
                  .ids = ids,
                  .view_of = at->fixed ? variant : NULL,
                  .extra = {.n = count_filled(extra, at->extra),
                            .ids = extra,
                            .epoch = extra + at->extra,
                            .view = extra + 2 * at->extra}},
    };
    for (size_t v = 1; at->fixed && v < views; v++)
        memmove(variant + v * record->batch.b, variant + v * images,
                record->batch.b * sizeof *variant);
}

static int
read_row(int file, const struct run_rows *at, int64_t total, int64_t *row,
         struct err *err)
{
    const size_t width = (size_t)row_width(at);
    int32_t *packed = mem_array(width, sizeof *packed);
    const ssize_t got =
        pread(file, packed, width * 4, (off_t)offset_of(at, total));

    for (size_t i = 0; i < width; i++)
        row[i] = packed[i];
    free(packed);
    if (got != (ssize_t)(width * 4) || row[0] != total)
        return err_set(err, "the batch of step %jd is not recorded",
                       (intmax_t)total);
    return 0;
}

int
run_batches_get(const char *run, int64_t total, struct run_batch_record *record,
                json_t **line, int64_t **memory, struct err *err)
{
    const char *path = mem_temp("%s/batches.i32", run);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct run_rows at;
    struct stat st;

    *line = NULL;
    *memory = NULL;
    if (file < 0 || fstat(file, &st))
        err_set(err,
                "cannot read '%s', which records the batches: %s; older "
                "trainers do not write it",
                path, strerror(errno));
    else
        *line = find_rows(run, (int64_t)st.st_size, &total, &at, err);
    if (*line) {
        *memory = mem_array((size_t)row_width(&at), sizeof **memory);
        if (read_row(file, &at, total, *memory, err)) {
            json_decref(*line);
            free(*memory);
            *line = NULL;
            *memory = NULL;
        } else {
            unpack_row(&at, *memory, record);
        }
    }
    if (file >= 0)
        close(file);
    return *line ? 0 : -1;
}

json_t *
run_batches_plans(const char *run)
{
    json_t *plans = json_array();
    struct run_lines lines = {0};
    const char *text;

    while (run_lines_next(&lines, run, "batches.jsonl", &text)) {
        json_t *line = text ? json_loads(text, 0, NULL) : NULL;
        json_t *plan = json_object_get(line, "plan");
        const size_t n = json_array_size(plans);

        if (plan && !(n && json_equal(plan, json_array_get(plans, n - 1))))
            json_array_append(plans, plan);
        json_decref(line);
    }
    run_lines_release(&lines);
    return plans;
}
