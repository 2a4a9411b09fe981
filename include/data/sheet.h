#ifndef DATA_SHEET_H
#define DATA_SHEET_H

#include "data/pool.h"
#include "image/view.h"

/*
 * A contact sheet: a picture of the views that a recipe makes of a data set.
 * Rows x columns samples, evenly spread over the set, each as the plain view
 * followed by some random ones, on white; small images are enlarged by a whole
 * factor.  The place of a sample that is bad or could not be read stays white.
 * data_sheet_draw(), data_sheet_corruptions() and data_sheet_lists() return the
 * number of such samples, with the latest reason in `why`.
 */
struct data_sheet {
    size_t rows, columns; /* of samples, >= 1 */
    size_t views;         /* random ones of each, >= 1 */
    uint64_t seed;        /* as in image_view(); epoch 0 */
    size_t letters;       /* of the longest name below an image; 0: no names */
};

/* data_sheet_size() writes the size of the picture in pixels. */
void data_sheet_size(const struct data_sheet *sheet,
                     const struct image_recipe *recipe, size_t *width,
                     size_t *height);

/*
 * For a caller with its own views: data_sheet_clear() makes the picture white,
 * and data_sheet_paste() draws a view at a place.
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
 * data_sheet_corruptions() draws another kind of sheet: each place shows one
 * kind of damage (image/corrupt.h), with a plain view and the same view at the
 * five severities, or at the first `views` of them.
 *   sheet   rows x columns >= IMAGE_CORRUPTIONS; unless letters is 0, each
 *           place has the name of its kind below it
 */
size_t data_sheet_corruptions(const struct data_sheet *sheet,
                              const struct image_recipe *recipe, size_t size,
                              struct data_pool *pool, uint8_t *pixel,
                              struct err *why);

/* Images that belong together, such as one and its nearest neighbours. */
struct data_sheet_list {
    size_t n;          /* >= 1 */
    int64_t *id;       /* [n] samples; the others may be of another set */
    char *framed;      /* [n] 0: no frame; 1: a green one, 2: a red one */
    const char **name; /* [n] UTF-8, written below each; NULL: none */
};

/* data_sheet_letters() returns the letters of the longest name; 0: none. */
size_t data_sheet_letters(const struct data_sheet_list *list);

/*
 * data_sheet_lists() draws a sheet of one column, a list in each row: plain
 * views of its first image and of at most `views` others.  Unless
 * sheet->letters is 0, names are below them, in large letters if that many fit
 * under an image, else in small ones, and cut to its width; letters that are
 * not printable ASCII become '?'.
 *   size   side of a view in pixels
 *   list   [sheet->rows]
 *   first  the set with the first image of each list
 *   rest   the set with the others; may be the same pool
 */
size_t data_sheet_lists(const struct data_sheet *sheet, size_t size,
                        const struct data_sheet_list *list,
                        struct data_pool *first, struct data_pool *rest,
                        uint8_t *pixel, struct err *why);

#endif
