#ifndef FOIL_VIEW_FILM_H
#define FOIL_VIEW_FILM_H

#include "data/set.h"
#include "util/json.h"

#include "batch_view.h"
#include "hub.h"

/*
 * The embedding as a film: a map (eval/tsne.h) of the newest embeddings that
 * the trainer has told of, after each epoch; each begins from the one before. A
 * child of the lowest priority makes it, so that nothing waits.
 */
struct film;

enum {
    FILM_FRAMES = 200,
    FILM_LOOKED = 10,    /* points whose neighbours are told, or all */
    FILM_NEAR = 8,       /* so many of each */
    FILM_POINTS = 10000, /* of a map, where nobody says else */
    FILM_POINTS_LEAST = 32,
    FILM_POINTS_MOST = 100000
};

/* film_open() begins without a frame.
 *   most  points of a map */
struct film *film_open(struct hub *hub, size_t most);
void film_close(struct film *film);

/* film_take() keeps the embeddings of a batch, of view 0.
 *   size  samples in the data set; of less than FILM_POINTS_LEAST, or where all
 *         of them would take more than 512 MiB, there is no film */
void film_take(struct film *film, const struct batch_view *batch, size_t size);

/* film_epoch() begins a frame: after so many epochs.  Where the one before is
 * in the making still, none; but it follows where that is of within an epoch.
 */
void film_epoch(struct film *film, int64_t epoch);

/* film_tend() begins the first frame as soon as enough samples are known, in
 * the midst of an epoch, too, takes in a frame that is made, and tells pages
 * what film_show() has. */
void film_tend(struct film *film);

/* film_show() returns {n, wanted, known, within, epochs: []}: how many points
 * there are, 0 before they are chosen, how many are wanted, of how many samples
 * an embedding was heard, and the epochs, counted from 1, after which there are
 * frames; within is the one of these, the first, whose frame was made before
 * its end, or 0. */
json_t *film_show(const struct film *film);

/* film_points() returns the samples of the points, [n], which stay its own. */
const int64_t *film_points(const struct film *film, size_t *n);

/*
 * What pages read as bytes, the little end first, to be given to free(); NULL
 * where there is no frame, or not this one.
 *   film_labels()  i4 [n] the samples, i4 [n] their classes, -1: none
 *   film_frame()   i2 [n,2] their places after an epoch, within +-32000; then
 *                  i4 [FILM_LOOKED,1+FILM_NEAR] points spread evenly, the same
 *                  after each epoch, each with those whose embeddings have the
 *                  greatest cosines to its own, as samples
 */
void *film_labels(const struct film *film, const struct data_set *set,
                  size_t *bytes);
void *film_frame(const struct film *film, int64_t epoch, size_t *bytes);

#endif
