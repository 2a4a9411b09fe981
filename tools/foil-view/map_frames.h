#ifndef FOIL_VIEW_MAP_FRAMES_H
#define FOIL_VIEW_MAP_FRAMES_H

#include "data/set.h"
#include "util/json.h"

#include "batch_view.h"
#include "hub.h"

/*
 * Maps (eval/tsne.h) of the newest embeddings that the trainer published, one
 * after each epoch, which pages show as a film; each begins from the one
 * before.  A child of the lowest priority makes them, so that nothing waits.
 * Not for two threads at once.
 */
struct map_frames;

enum {
    MAP_FRAMES_MOST = 200,
    MAP_FRAMES_LOOKED = 10,    /* points whose neighbours are shown, or all */
    MAP_FRAMES_NEAR = 8,       /* neighbours of each */
    MAP_FRAMES_POINTS = 10000, /* of a map, by default */
    MAP_FRAMES_POINTS_LEAST = 32,
    MAP_FRAMES_POINTS_MOST = 100000
};

/* map_frames_open() begins without a frame.
 *   most  points of a map */
struct map_frames *map_frames_open(struct hub *hub, size_t most);
void map_frames_close(struct map_frames *maps);

/* map_frames_take() keeps the embeddings of a batch, of view 0.
 *   size  samples in the data set; below MAP_FRAMES_POINTS_LEAST, or where all
 *         of them would take more than 512 MiB, there are no frames */
void map_frames_take(struct map_frames *maps, const struct batch_view *batch,
                     size_t size);

/* map_frames_epoch() begins the frame after an epoch, counted from 1.  It is
 * skipped while a frame is being made; queued if that frame was begun within an
 * epoch. */
void map_frames_epoch(struct map_frames *maps, int64_t epoch);

/* map_frames_poll() begins the first frame as soon as enough samples are known,
 * also within an epoch; takes in a frame that is made; and publishes what
 * map_frames_show() returns.  Call it every second. */
void map_frames_poll(struct map_frames *maps);

/* map_frames_show() returns {n, wanted, known, within, epochs: []}: how many
 * points there are, 0 before they are chosen; how many are wanted; of how many
 * samples an embedding came; and the epochs, counted from 1, after which there
 * are frames.  within is the epoch of the first frame if that was made before
 * the epoch's end, else 0. */
json_t *map_frames_show(const struct map_frames *maps);

/* map_frames_points() returns the samples of the points, [n], lent. */
const int64_t *map_frames_points(const struct map_frames *maps, size_t *n);

/*
 * What pages read as bytes, the little end first, to be given to free(); NULL
 * where there is no frame, or none of this epoch.
 *   map_frames_labels()  i4 [n] the samples, i4 [n] their classes, -1: none
 *   map_frames_find()    i2 [n,2] places after an epoch, within +-32000; then
 *                        i4 [MAP_FRAMES_LOOKED,1+MAP_FRAMES_NEAR] samples: a
 *                        point, the same after each epoch, and those whose
 *                        embeddings have the greatest cosines to its own
 */
void *map_frames_labels(const struct map_frames *maps,
                        const struct data_set *set, size_t *bytes);
void *map_frames_find(const struct map_frames *maps, int64_t epoch,
                      size_t *bytes);

#endif
