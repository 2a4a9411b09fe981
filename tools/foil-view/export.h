#ifndef FOIL_VIEW_EXPORT_H
#define FOIL_VIEW_EXPORT_H

#include "watch.h"

/*
 * export_page() returns the page as it is now as one file of HTML, with its
 * data as JSON in it, to be given to free(): a browser opens it without a
 * network, and asks nobody for anything.  *size bytes, with a zero behind the
 * last one.
 *
 * It has the newest batch with its pictures and embeddings, what a sampler drew
 * for its first EXPORT_ANCHORS rows, the map, and pictures of the images of
 * both.  Some megabytes.
 */
enum { EXPORT_ANCHORS = 1024, EXPORT_IMAGES = 4608 };

char *export_page(struct watch *watch, size_t *size);

#endif
