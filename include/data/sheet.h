#pragma once

#include "data/pool.h"
#include "image/view.h"

/*
 * A contact sheet: a picture of the views that a recipe makes of a data set.
 * Rows x columns samples, evenly spread over the set, each as the plain view
 * followed by some random ones, on white; small images are enlarged by a whole
 * factor.  The place of a sample that is bad or could not be read stays white.
 */
struct data_sheet {
    size_t rows, columns; /* of samples, >= 1 */
    size_t views;         /* random ones of each, >= 1 */
    size_t size;          /* side of a view in pixels */
    uint64_t seed;        /* as in image_view(); epoch 0 */
    size_t letters;       /* of the longest name below an image; 0: no names */

    size_t width, height; /* of the picture in pixels */
    uint8_t *pixel;       /* [height,width,3]; the caller frees it */
    size_t white;         /* samples so far that stay white */
    struct err why;       /* the latest reason, if there are any */
};

/* data_sheet_measure() sets width and height by the fields above them;
 * data_sheet_begin() does the same and allocates a white picture. */
void data_sheet_measure(struct data_sheet *sheet);
void data_sheet_begin(struct data_sheet *sheet);

/*
 * data_sheet_paste() draws a view, for a caller with its own.
 *   place   of a sample, row by row, < rows x columns
 *   column  0: the plain view; k: random view k - 1
 *   view    [size,size,3]
 */
void data_sheet_paste(struct data_sheet *sheet, size_t place, size_t column,
                      const uint8_t *view);

/* data_sheet_draw() draws the samples of a pool, of a set of so many, by a
 * recipe of the same size. */
void data_sheet_draw(struct data_sheet *sheet,
                     const struct image_recipe *recipe, size_t samples,
                     struct data_pool *pool);

/*
 * data_sheet_corruptions() draws another kind of sheet: each place shows one
 * kind of damage (image/corrupt.h), with a plain view and the same view at the
 * five severities, or at the first `views` of them.
 *   sheet   rows x columns >= IMAGE_CORRUPTIONS; unless letters is 0, each
 *           place has the name of its kind below it
 */
void data_sheet_corruptions(struct data_sheet *sheet, size_t samples,
                            struct data_pool *pool);

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
 *   list   [sheet->rows]
 *   first  the set with the first image of each list
 *   rest   the set with the others; may be the same pool
 */
void data_sheet_lists(struct data_sheet *sheet,
                      const struct data_sheet_list *list,
                      struct data_pool *first, struct data_pool *rest);

/* data_sheet_write_or_die() writes the picture as PNG, only for main(), as
 * util/opt.h: it ends the process on error, prints how many images stay white
 * and why, and frees the picture. */
void data_sheet_write_or_die(struct data_sheet *sheet, const char *path);
