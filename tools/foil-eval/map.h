#ifndef FOIL_EVAL_MAP_H
#define FOIL_EVAL_MAP_H

#include "data/features.h"

/* A frame of a film: features, and where their rows lie. */
struct frame {
    const char *path;
    struct data_features f;
    float *y; /* [n,2] */
};

/* map_plot() draws n frames side by side as points, coloured by class, and
 * keeps the script. */
void map_plot(const char *picture, const struct frame *frame, size_t n);

/* map_check_images() ends the process where a data set is not what the features
 * are of. */
void map_check_images(const struct frame *frame, const char *images);

/* map_thumbnails() draws a frame as a board of images of size x size pixels: in
 * each place that of the nearest row of those that lie there. */
void map_thumbnails(const char *picture, const struct frame *frame,
                    const char *images, size_t size);

#endif
