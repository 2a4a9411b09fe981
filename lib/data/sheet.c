#include <stdlib.h>
#include <string.h>

#include "data/sheet.h"
#include "image/corrupt.h"
#include "letters.h"
#include "util/mem.h"

/* In pixels: a view is enlarged to about CELL; views are GAP apart, samples and
 * the edge RIM; a frame is FRAME wide; a name is BELOW under its image, and
 * images with names are RIM apart. */
enum { CELL = 96, GAP = 3, RIM = 12, FRAME = 3, BELOW = 4 };

/* Geometry of the sheet, in pixels. */
struct grid {
    size_t zoom, cell, gap, step_x, step_y, width, height;
    size_t text; /* zoom of letters; 0: none */
};

static struct grid
grid_of(const struct data_sheet *sheet, size_t size)
{
    struct grid g = {.zoom = size < CELL ? CELL / size : 1};

    g.cell = g.zoom * size;
    g.gap = sheet->letters ? RIM : GAP;
    g.step_x = (sheet->views + 1) * (g.cell + g.gap) - g.gap + RIM;
    if (sheet->letters)
        g.text = 2 * LETTER_STEP * sheet->letters <= g.cell ? 2 : 1;
    g.step_y = g.cell + RIM + (g.text ? BELOW + g.text * LETTER_HEIGHT : 0);
    g.width = sheet->columns * g.step_x + RIM;
    g.height = sheet->rows * g.step_y + RIM;
    return g;
}

void
data_sheet_size(const struct data_sheet *sheet,
                const struct image_recipe *recipe, size_t *width,
                size_t *height)
{
    struct grid g = grid_of(sheet, recipe->size);

    *width = g.width;
    *height = g.height;
}

/* Draws a view, enlarged, with its corner at (x, y). */
static void
paste_view(const struct grid *g, const uint8_t *view, size_t x, size_t y,
           uint8_t *pixel)
{
    const size_t size = g->cell / g->zoom;

    for (size_t j = 0; j < g->cell; j++)
        for (size_t i = 0; i < g->cell; i++)
            memcpy(pixel + 3 * ((y + j) * g->width + x + i),
                   view + 3 * (j / g->zoom * size + i / g->zoom), 3);
}

void
data_sheet_clear(const struct data_sheet *sheet, size_t size, uint8_t *pixel)
{
    const struct grid g = grid_of(sheet, size);

    memset(pixel, 255, 3 * g.width * g.height);
}

void
data_sheet_paste(const struct data_sheet *sheet, size_t size, size_t place,
                 size_t column, const uint8_t *view, uint8_t *pixel)
{
    const struct grid g = grid_of(sheet, size);

    REQUIRE(place < sheet->rows * sheet->columns && column <= sheet->views);
    paste_view(&g, view,
               RIM + place % sheet->columns * g.step_x +
                   column * (g.cell + g.gap),
               RIM + place / sheet->columns * g.step_y, pixel);
}

/* A sample on the sheet: its id, its image, the corner of its row of views. */
struct spot {
    size_t id, x, y;
    const struct image *image;
};

/* Finds the i-th of n samples that are spread over a set of `size`; 0 if it has
 * no sound image: its place stays empty. */
static int
find_spot(const struct data_sheet *sheet, const struct grid *g, size_t i,
          size_t n, size_t size, struct data_pool *pool, struct spot *spot,
          struct err *why)
{
    spot->id = i * size / n;
    spot->x = RIM + i % sheet->columns * g->step_x;
    spot->y = RIM + i / sheet->columns * g->step_y;
    spot->image = data_pool_get(pool, spot->id, why);
    return spot->image != NULL;
}

size_t
data_sheet_draw(const struct data_sheet *sheet,
                const struct image_recipe *recipe, size_t size,
                struct data_pool *pool, uint8_t *pixel, struct err *why)
{
    const struct grid g = grid_of(sheet, recipe->size);
    struct image_scratch *scratch = NULL;
    uint8_t *view = mem_array(recipe->size * recipe->size, 3);
    const size_t places = sheet->rows * sheet->columns;
    const size_t n = size < places ? size : places;
    size_t white = 0;

    memset(pixel, 255, 3 * g.width * g.height);
    for (size_t i = 0; i < n; i++) {
        struct spot s;

        if (!find_spot(sheet, &g, i, n, size, pool, &s, why)) {
            white++;
            continue;
        }
        image_plain(recipe->size, s.image, &scratch, view);
        paste_view(&g, view, s.x, s.y, pixel);
        for (size_t v = 0; v < sheet->views; v++) {
            image_view(recipe, s.image, sheet->seed, s.id, 0, v, &scratch,
                       view);
            paste_view(&g, view, s.x + (v + 1) * (g.cell + g.gap), s.y, pixel);
        }
    }
    free(view);
    image_scratch_free(scratch);
    return white;
}

/* Draws a name, centred below a view or row with the corner (x, y) and that
 * width. */
static void
draw_name(const struct grid *g, const char *name, size_t x, size_t y,
          size_t width, uint8_t *pixel)
{
    const size_t step = g->text * LETTER_STEP, most = width / step;
    size_t n = data_letters_count(name);

    n = n < most ? n : most;
    x += (width - n * step) / 2;
    y += g->cell + BELOW;
    data_letters_write(name, most, g->text, g->width,
                       pixel + 3 * (y * g->width + x));
}

size_t
data_sheet_corruptions(const struct data_sheet *sheet,
                       const struct image_recipe *recipe, size_t size,
                       struct data_pool *pool, uint8_t *pixel, struct err *why)
{
    const struct grid g = grid_of(sheet, recipe->size);
    struct image_scratch *scratch = NULL;
    struct image plain = {0}, damaged = {0};
    size_t white = 0;

    REQUIRE(sheet->rows * sheet->columns >= IMAGE_CORRUPTIONS);
    memset(pixel, 255, 3 * g.width * g.height);
    image_size(&plain, recipe->size, recipe->size);
    for (size_t kind = 0; kind < IMAGE_CORRUPTIONS; kind++) {
        struct spot s;

        if (!find_spot(sheet, &g, kind, IMAGE_CORRUPTIONS, size, pool, &s,
                       why)) {
            white++;
            continue;
        }
        image_plain(recipe->size, s.image, &scratch, plain.pixel);
        paste_view(&g, plain.pixel, s.x, s.y, pixel);
        if (g.text)
            draw_name(&g, image_corrupt_name(kind), s.x, s.y, g.step_x - RIM,
                      pixel);
        for (size_t v = 0; v < sheet->views && v < IMAGE_SEVERITIES; v++) {
            image_corrupt(kind, (int)v + 1, sheet->seed, s.id, &plain,
                          &damaged);
            paste_view(&g, damaged.pixel, s.x + (v + 1) * (g.cell + g.gap), s.y,
                       pixel);
        }
    }
    image_release(&plain);
    image_release(&damaged);
    image_scratch_free(scratch);
    return white;
}

/* Draws a frame of that kind on the edge of a view. */
static void
draw_frame(const struct grid *g, char kind, size_t x, size_t y, uint8_t *pixel)
{
    static const uint8_t colours[][3] = {{0, 160, 0}, {210, 0, 0}};

    for (size_t j = 0; j < g->cell; j++)
        for (size_t i = 0; i < g->cell; i++)
            if (i < FRAME || j < FRAME || i + FRAME >= g->cell ||
                j + FRAME >= g->cell)
                memcpy(pixel + 3 * ((y + j) * g->width + x + i),
                       colours[kind - 1], 3);
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

size_t
data_sheet_lists(const struct data_sheet *sheet, size_t size,
                 const struct data_sheet_list *list, struct data_pool *first,
                 struct data_pool *rest, uint8_t *pixel, struct err *why)
{
    const struct grid g = grid_of(sheet, size);
    struct image_scratch *scratch = NULL;
    uint8_t *view = mem_array(size * size, 3);
    size_t white = 0;

    REQUIRE(sheet->columns == 1);
    memset(pixel, 255, 3 * g.width * g.height);
    for (size_t i = 0; i < sheet->rows; i++)
        for (size_t v = 0; v <= sheet->views && v < list[i].n; v++) {
            const size_t x = RIM + v * (g.cell + g.gap), y = RIM + i * g.step_y;
            const struct image *image =
                data_pool_get(v ? rest : first, (size_t)list[i].id[v], why);

            if (g.text && list[i].name[v])
                draw_name(&g, list[i].name[v], x, y, g.cell, pixel);
            if (!image) {
                white++;
                continue;
            }
            image_plain(size, image, &scratch, view);
            paste_view(&g, view, x, y, pixel);
            if (list[i].framed[v])
                draw_frame(&g, list[i].framed[v], x, y, pixel);
        }
    free(view);
    image_scratch_free(scratch);
    return white;
}
