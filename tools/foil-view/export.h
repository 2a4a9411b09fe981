#ifndef FOIL_VIEW_EXPORT_H
#define FOIL_VIEW_EXPORT_H

#include "watch.h"

/*
 * export_page() returns the present page as one HTML file with its data as
 * JSON, which a browser opens without a network.  The file is *size bytes, some
 * megabytes, with a zero after the last byte.  Free it with free().
 *
 * It contains the newest batch with its pictures and embeddings, the negatives
 * that a sampler drew for its first EXPORT_ANCHORS rows, the map, and pictures
 * of the images in the batch and on the map, up to EXPORT_IMAGES.
 */
enum { EXPORT_ANCHORS = 1024, EXPORT_IMAGES = 4608 };

char *export_page(struct watch *watch, size_t *size);

#endif
