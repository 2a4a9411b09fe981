#ifndef DATA_SHEET_H
#define DATA_SHEET_H

#include "data/pool.h"
#include "image/view.h"

/*
 * A contact sheet: what a recipe makes of a data set, to look at.  Rows x
 * columns samples, evenly spread over the set, each as the plain view and some
 * random ones beside it, on white; small images are enlarged by a whole factor.
 * The place of a sample that is bad or could not be read stays white.
 * data_sheet_draw(), data_sheet_corruptions() and data_sheet_lists() return how
 * many such samples there were, with the latest reason in `why`.
 */
struct data_sheet {
    size_t rows, columns; /* of samples, >= 1 */
    size_t views;         /* random ones of each, >= 1 */
    uint64_t seed;        /* as in image_view(); epoch 0 */
    size_t letters; /* of lists: of the longest name below an image; 0: none */
};

/* data_sheet_size() writes the size of the picture in pixels. */
void data_sheet_size(const struct data_sheet *sheet,
                     const struct image_recipe *recipe, size_t *width,
                     size_t *height);

/*
 * For a caller that has views of its own: data_sheet_clear() makes the picture
 * white, and data_sheet_paste() puts a view into a place.
 *   size    side of a view in pixels
 *   place   of a sample, row by row, < rows x columns
 *   column  0: the plain view; k: random view k - 1
 *   pixel   [height,width,3]
 */
void data_sheet_clear(const struct data_sheet *sheet, size_t size,
                      uint8_t *pixel);
void data_sheet_paste(const struct data_sheet *sheet, size_t size, size_t place,
                      size_t column, const uint8_t *view, uint8_t *pixel);

/*
 * data_sheet_draw() draws the sheet of samples of a pool.
 *   size    samples in the data set of the pool
 *   pixel   [height,width,3]
 */
size_t data_sheet_draw(const struct data_sheet *sheet,
                       const struct image_recipe *recipe, size_t size,
                       struct data_pool *pool, uint8_t *pixel, struct err *why);

/*
 * data_sheet_corruptions() draws a sheet of another kind: each of its places is
 * for one kind of damage (image/corrupt.h), with a plain view and the same view
 * at the five severities, or at the first `views` of them.
 *   sheet   rows x columns >= IMAGE_CORRUPTIONS; where letters is not 0, the
 *           name of its kind is below each place
 */
size_t data_sheet_corruptions(const struct data_sheet *sheet,
                              const struct image_recipe *recipe, size_t size,
                              struct data_pool *pool, uint8_t *pixel,
                              struct err *why);

/* Images that belong together, such as one and its nearest neighbours. */
struct data_sheet_list {
    size_t n;          /* >= 1 */
    int64_t *id;       /* [n] samples; the others may be of another set */
    char *framed;      /* [n] 0: as it is, else with a frame: 1 green, 2 red */
    const char **name; /* [n] UTF-8, written below each; NULL: none */
};

/* data_sheet_letters() returns the letters of the longest name; 0: none. */
size_t data_sheet_letters(const struct data_sheet_list *list);

/*
 * data_sheet_lists() draws a sheet of one column, a list in each row: plain
 * views of its first image and of at most `views` others.  Where sheet->letters
 * is not 0, names are below them, in large letters where that many fit under an
 * image, else in small ones, and cut to its width; letters that are not
 * printable ASCII become '?'.
 *   size   side of a view in pixels
 *   list   [sheet->rows]
 *   first  the set that the first image of each list is in
 *   rest   the set of all others; may be the same pool
 */
size_t data_sheet_lists(const struct data_sheet *sheet, size_t size,
                        const struct data_sheet_list *list,
                        struct data_pool *first, struct data_pool *rest,
                        uint8_t *pixel, struct err *why);

#endif
