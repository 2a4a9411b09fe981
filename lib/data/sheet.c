#include <stdlib.h>
#include <string.h>

#include "data/sheet.h"
#include "image/codec.h"
#include "image/corrupt.h"
#include "letters.h"
#include "util/mem.h"
#include "util/opt.h"

/* In pixels: CELL is the side to which a view is about enlarged; GAP is between
 * the views of a sample; RIM between samples, at the edge of the sheet, and
 * between views with names; a frame is FRAME wide; a name is BELOW under its
 * view. */
enum { CELL = 96, GAP = 3, RIM = 12, FRAME = 3, BELOW = 4 };

/* Geometry of the sheet, in pixels. */
struct grid {
    size_t zoom, cell, gap, step_x, step_y;
    size_t text; /* zoom of letters; 0: none */
};

static struct grid
grid_of(const struct data_sheet *sheet)
{
    struct grid g = {.zoom = sheet->size < CELL ? CELL / sheet->size : 1};

    g.cell = g.zoom * sheet->size;
    g.gap = sheet->letters ? RIM : GAP;
    g.step_x = (sheet->views + 1) * (g.cell + g.gap) - g.gap + RIM;
    if (sheet->letters)
        g.text = 2 * LETTER_STEP * sheet->letters <= g.cell ? 2 : 1;
    g.step_y = g.cell + RIM + (g.text ? BELOW + g.text * LETTER_HEIGHT : 0);
    return g;
}

void
data_sheet_measure(struct data_sheet *sheet)
{
    const struct grid g = grid_of(sheet);

    sheet->width = sheet->columns * g.step_x + RIM;
    sheet->height = sheet->rows * g.step_y + RIM;
}

void
data_sheet_begin(struct data_sheet *sheet)
{
    data_sheet_measure(sheet);
    sheet->pixel = mem_array(sheet->width * sheet->height, 3);
    memset(sheet->pixel, 255, sheet->width * sheet->height * 3);
}

/* Returns the upper left pixel of a view. */
static uint8_t *
corner_of(const struct data_sheet *sheet, const struct grid *g, size_t place,
          size_t column)
{
    const size_t x =
        RIM + place % sheet->columns * g->step_x + column * (g->cell + g->gap);
    const size_t y = RIM + place / sheet->columns * g->step_y;

    REQUIRE(place < sheet->rows * sheet->columns && column <= sheet->views);
    return sheet->pixel + 3 * (y * sheet->width + x);
}

void
data_sheet_paste(struct data_sheet *sheet, size_t place, size_t column,
                 const uint8_t *view)
{
    const struct grid g = grid_of(sheet);
    const size_t width = sheet->width, size = sheet->size;
    uint8_t *to = corner_of(sheet, &g, place, column);

    for (size_t j = 0; j < g.cell; j++)
        for (size_t i = 0; i < g.cell; i++)
            memcpy(to + 3 * (j * width + i),
                   view + 3 * (j / g.zoom * size + i / g.zoom), 3);
}

/* Returns the image of a sample; if it cannot be read, counts it as white and
 * returns NULL. */
static const struct image *
image_of(struct data_sheet *sheet, struct data_pool *pool, size_t id)
{
    const struct image *image = data_pool_get(pool, id, NULL, &sheet->why);

    sheet->white += !image;
    return image;
}

void
data_sheet_draw(struct data_sheet *sheet, const struct image_recipe *recipe,
                size_t samples, struct data_pool *pool)
{
    struct image_scratch *scratch = NULL;
    uint8_t *view = mem_array(sheet->size * sheet->size, 3);
    const size_t places = sheet->rows * sheet->columns;
    const size_t n = samples < places ? samples : places;

    REQUIRE(recipe->size == sheet->size);
    for (size_t i = 0; i < n; i++) {
        const size_t id = i * samples / n;
        const struct image *image = image_of(sheet, pool, id);

        if (!image)
            continue;
        image_plain(sheet->size, image, &scratch, view);
        data_sheet_paste(sheet, i, 0, view);
        for (size_t v = 0; v < sheet->views; v++) {
            image_view(recipe, image, sheet->seed, id, 0, v, &scratch, view);
            data_sheet_paste(sheet, i, v + 1, view);
        }
    }
    free(view);
    image_scratch_free(scratch);
}

/* Draws a name, centred below a view, or a row of views, of that width. */
static void
draw_name(struct data_sheet *sheet, const char *name, size_t place,
          size_t column, size_t width)
{
    const struct grid g = grid_of(sheet);
    const size_t step = g.text * LETTER_STEP, most = width / step;
    size_t n = data_letters_count(name);

    n = n < most ? n : most;
    data_letters_write(
        name, most, g.text, sheet->width,
        corner_of(sheet, &g, place, column) +
            3 * ((g.cell + BELOW) * sheet->width + (width - n * step) / 2));
}

void
data_sheet_corruptions(struct data_sheet *sheet, size_t samples,
                       struct data_pool *pool)
{
    struct image_scratch *scratch = NULL;
    struct image plain = {0}, damaged = {0};

    image_size(&plain, sheet->size, sheet->size);
    for (size_t kind = 0; kind < IMAGE_CORRUPTIONS; kind++) {
        const size_t id = kind * samples / IMAGE_CORRUPTIONS;
        const struct image *image = image_of(sheet, pool, id);

        if (!image)
            continue;
        image_plain(sheet->size, image, &scratch, plain.pixel);
        data_sheet_paste(sheet, kind, 0, plain.pixel);
        if (sheet->letters)
            draw_name(sheet, image_corrupt_name(kind), kind, 0,
                      grid_of(sheet).step_x - RIM);
        for (size_t v = 0; v < sheet->views && v < IMAGE_SEVERITIES; v++) {
            image_corrupt(kind, (int)v + 1, sheet->seed, id, &plain, &damaged);
            data_sheet_paste(sheet, kind, v + 1, damaged.pixel);
        }
    }
    image_release(&plain);
    image_release(&damaged);
    image_scratch_free(scratch);
}

/* Draws a green (1) or a red (2) frame on the edge of a view. */
static void
draw_frame(struct data_sheet *sheet, char kind, size_t place, size_t column)
{
    static const uint8_t colours[][3] = {{0, 160, 0}, {210, 0, 0}};
    const struct grid g = grid_of(sheet);
    uint8_t *to = corner_of(sheet, &g, place, column);

    for (size_t j = 0; j < g.cell; j++)
        for (size_t i = 0; i < g.cell; i++)
            if (i < FRAME || j < FRAME || i + FRAME >= g.cell ||
                j + FRAME >= g.cell)
                memcpy(to + 3 * (j * sheet->width + i), colours[kind - 1], 3);
}

size_t
data_sheet_letters(const struct data_sheet_list *list)
{
    size_t most = 0;

    for (size_t i = 0; i < list->n; i++) {
        const size_t n = list->name[i] ? data_letters_count(list->name[i]) : 0;

        if (n > most)
            most = n;
    }
    return most;
}

void
data_sheet_lists(struct data_sheet *sheet, const struct data_sheet_list *list,
                 struct data_pool *first, struct data_pool *rest)
{
    struct image_scratch *scratch = NULL;
    uint8_t *view = mem_array(sheet->size * sheet->size, 3);

    REQUIRE(sheet->columns == 1);
    for (size_t i = 0; i < sheet->rows; i++)
        for (size_t v = 0; v <= sheet->views && v < list[i].n; v++) {
            const struct image *image =
                image_of(sheet, v ? rest : first, (size_t)list[i].id[v]);

            if (sheet->letters && list[i].name[v])
                draw_name(sheet, list[i].name[v], i, v, grid_of(sheet).cell);
            if (!image)
                continue;
            image_plain(sheet->size, image, &scratch, view);
            data_sheet_paste(sheet, i, v, view);
            if (list[i].framed[v])
                draw_frame(sheet, list[i].framed[v], i, v);
        }
    free(view);
    image_scratch_free(scratch);
}

void
data_sheet_write_or_die(struct data_sheet *sheet, const char *path)
{
    struct err err;

    if (image_png_write(path, sheet->pixel, sheet->width, sheet->height, &err))
        die("%s", err.msg);
    if (sheet->white)
        log_message("'%s': %zu image%s left white, such as %s", path,
                    sheet->white, plural(sheet->white), sheet->why.msg);
    free(sheet->pixel);
}
