#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data.h"
#include "data/pool.h"
#include "data/sheet.h"
#include "run/views.h"
#include "util/file.h"
#include "util/mem.h"

enum { MAX_BYTES = 1 << 30, MAX_SIDE = 65535 };

static const char *output;
static int files; // --names
static long size = 96, rows = 12, columns = 10;
static long max_pixels = IMAGE_MAX_PIXELS;

const struct opt sheet_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE",
     "the picture, PNG; required"},
    {"rows", 0, OPT_WHOLE, &rows, 1, 1000, "N",
     "at most N lists; of more, N at equal distances"},
    {"columns", 0, OPT_WHOLE, &columns, 1, 100, "N",
     "at most N images after the first of each list"},
    {"size", 0, OPT_WHOLE, &size, 8, 512, "N", "width and height of an image"},
    {"names", 0, OPT_CHOICE, &files, 0, 0, "class|file",
     "what is written below an image"},
    {"max-pixels", 0, OPT_WHOLE, &max_pixels, 1, 1e9, "N",
     "leave out images with more pixels"},
    STAGE_FETCH_OPTS,
    {0},
};

/* The data sets of the first image of each list, and of the others. */
struct sets {
    struct data_set *first, *rest;
};

/* Reads the sample numbers of a line.  An image gets a green frame (1) if it
 * has the class name of the first one, a red one (2) if it has another. */
static void
read_list(const struct sets *sets, char *line, size_t number,
          struct data_sheet_list *list)
{
    const char *first = NULL, *class, *slash;
    char *word, *rest = line;

    list->id = mem_array((size_t)columns + 1, sizeof *list->id);
    list->framed = mem_array((size_t)columns + 1, 1);
    list->name = mem_array((size_t)columns + 1, sizeof *list->name);
    while (list->n <= (size_t)columns &&
           (word = strtok_r(rest, "\t ", &rest))) {
        const struct data_set *set = list->n ? sets->rest : sets->first;
        const size_t n = data_size(set);
        struct err err;
        char *end;
        int label;
        const unsigned long long id = strtoull(word, &end, 10);

        if (*word < '0' || *word > '9' || *end || id >= n)
            die("line %zu of the lists has '%s': want the number of a sample, "
                "0 to %zu",
                number, word, n - 1);
        or_die(data_touch(set, id, &err), &err);
        list->id[list->n] = (int64_t)id;
        label = data_label(set, id);
        class = label < 0 ? NULL : data_class_name(set, (size_t)label);
        slash = strrchr(data_name(set, id), '/');
        list->name[list->n] = !files  ? class
                              : slash ? slash + 1
                                      : data_name(set, id);
        if (!list->n)
            first = class;
        else if (first && class)
            list->framed[list->n] = strcmp(first, class) ? 2 : 1;
        list->n++;
    }
    if (!list->n)
        die("line %zu of the lists is empty", number);
}

/* Splits a text into lines; the caller frees the array. */
static char **
lines_of(char *text, size_t *n)
{
    char **line = NULL;
    size_t room = 0;

    for (*n = 0; *text; ++*n) {
        mem_grow(&line, &room, *n + 1, sizeof *line);
        line[*n] = text;
        text += strcspn(text, "\n");
        if (*text)
            *text++ = 0;
    }
    return line;
}

/* Reads and draws at most --rows lists. */
static void
draw_lines(const struct sets *sets, char **line, size_t n)
{
    const size_t drawn = n < (size_t)rows ? n : (size_t)rows;
    struct data_sheet sheet = {
        .rows = drawn, .columns = 1, .views = 1, .size = (size_t)size};
    struct data_sheet_list *list = mem_array(drawn, sizeof *list);
    const struct data_pool_settings how = {.policy = IMAGE_ACCEPT,
                                           .max_pixels = (size_t)max_pixels};
    struct data_pool *first = data_pool_new(sets->first, &how);
    struct data_pool *rest = data_pool_new(sets->rest, &how);

    for (size_t i = 0; i < drawn; i++) {
        const size_t at = i * n / drawn;
        size_t letters;

        read_list(sets, line[at], at + 1, &list[i]);
        letters = data_sheet_letters(&list[i]);
        if (list[i].n > sheet.views + 1)
            sheet.views = list[i].n - 1;
        if (letters > sheet.letters)
            sheet.letters = letters;
    }
    data_sheet_measure(&sheet);
    if (sheet.width > MAX_SIDE || sheet.height > MAX_SIDE)
        opt_misuse("the sheet would have %zu x %zu pixels", sheet.width,
                   sheet.height);
    data_sheet_begin(&sheet);
    data_sheet_lists(&sheet, list, first, rest);
    data_sheet_write_or_die(&sheet, output);
    data_pool_free(rest);
    data_pool_free(first);
    for (size_t i = 0; i < drawn; i++)
        mem_free(list[i].id, list[i].framed, list[i].name);
    free(list);
}

void
run_sheet(char **operand)
{
    struct sets sets;
    size_t len, n;
    struct err err;
    char *text, **line;

    require_output(output, "picture");
    sets.rest = data_open_parts_or_die(operand[0], 0);
    sets.first = operand[1] ? data_open_parts_or_die(operand[1], 0) : sets.rest;
    data_protect_or_die(sets.rest, output);
    data_protect_or_die(sets.first, output);
    if (isatty(STDIN_FILENO))
        log_message("reading lists of sample numbers, as 'foil eval "
                    "neighbours' prints them, from the terminal, up to Ctrl-D");
    text = file_read("/dev/stdin", MAX_BYTES, &len, &err);
    or_die(!text, &err);
    line = lines_of(text, &n);
    if (!n)
        die("there are no lists: want lines of sample numbers, such as "
            "'foil-eval neighbours' prints");
    draw_lines(&sets, line, n);
    mem_free(line, text);
    if (operand[1])
        data_close(sets.first);
    data_close(sets.rest);
}

static const char *data;
static long step, view_rows;

const struct opt views_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE",
     "the picture, PNG; required"},
    {"step", 0, OPT_WHOLE, &step, 0, 1e12, "N",
     "step of the run, from 1; 0: the newest"},
    {"data", 0, OPT_TEXT, &data, 0, 0, "DATA",
     "the data set, if it has moved since the run"},
    {"rows", 0, OPT_WHOLE, &view_rows, 0, 1e5, "N",
     "rows of images; 0: so many that the picture is about square"},
    {0},
};

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

    run_views_key(record, row, &id, &epoch, &number);
    if (run_views_plain(views, id, view, &sheet->why))
        return -1;
    data_sheet_paste(sheet, place, 0, view);
    for (size_t v = 0; v < n; v++, row += record->batch.b) {
        run_views_key(record, row, &id, &epoch, &number);
        if (run_views_make(views, id, epoch, number, view, &sheet->why))
            return -1;
        data_sheet_paste(sheet, place, v + 1, view);
    }
    return 0;
}

void
run_views(char **operand)
{
    struct run_views *views = run_views_open(operand[0], data);
    struct run_batch_record record;
    struct data_sheet sheet = {0};
    struct err err;
    uint8_t *view;
    size_t images;

    require_output(output, "picture");
    or_die(run_views_step(views, step, &record, &err), &err);
    data_protect_or_die(run_views_set(views), output);
    images = record.batch.b + record.batch.extra.n;
    sheet.views = record.batch.v;
    sheet.size = run_views_size(views);
    // chooses rows and columns for `images` images
    sheet.rows = (size_t)view_rows;
    do {
        sheet.rows += !view_rows;
        sheet.columns = (images + sheet.rows - 1) / sheet.rows;
        data_sheet_measure(&sheet);
    } while (!view_rows && sheet.width > sheet.height && sheet.columns > 1);
    if (sheet.width > MAX_SIDE || sheet.height > MAX_SIDE)
        opt_misuse("the picture would have %zu x %zu pixels", sheet.width,
                   sheet.height);
    data_sheet_begin(&sheet);
    view = mem_array(sheet.size * sheet.size, 3);
    for (size_t i = 0; i < images; i++)
        sheet.white += draw_image(views, &record, &sheet, i, view) != 0;
    data_sheet_write_or_die(&sheet, output);
    log_message("step %jd: step %jd of epoch %jd, %zu images%s",
                (intmax_t)record.total, (intmax_t)record.batch.step,
                (intmax_t)record.batch.epoch, images,
                record.batch.extra.n ? ", including extra ones" : "");
    free(view);
    run_views_close(views);
}
