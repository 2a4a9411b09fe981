#ifndef FOIL_VIEW_FILM_H
#define FOIL_VIEW_FILM_H

#include "data/set.h"
#include "util/json.h"

#include "hub.h"
#include "moment.h"

/*
 * The embedding as a film: a map (eval/tsne.h) of the newest embeddings that
 * the trainer has told of, after each epoch; each begins from the one before. A
 * child of the lowest priority makes it, so that nothing waits.
 */
struct film;

enum { FILM_POINTS = 4000, FILM_FRAMES = 200 };

struct film *film_open(struct hub *hub);
void film_close(struct film *film);

/* film_take() keeps the embeddings of a batch, of view 0.
 *   size  samples in the data set; where all of them would take more than
 *         512 MiB there is no film */
void film_take(struct film *film, const struct moment *moment, size_t size);

/* film_epoch() begins a frame: after so many epochs.  Where the one before is
 * in the making still, none. */
void film_epoch(struct film *film, int64_t epoch);

/* film_tend() takes in a frame that is made, and tells pages. */
void film_tend(struct film *film);

/* film_show() returns {ids: [], labels: [], frames: [{epoch, xy}]}, xy in
 * base64 of i16 [n,2]; null where there is no frame. */
json_t *film_show(const struct film *film, const struct data_set *set);

#endif
