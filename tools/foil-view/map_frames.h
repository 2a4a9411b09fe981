#pragma once

#include "data/set.h"
#include "util/json.h"

#include "batch_view.h"
#include "hub.h"

/*
 * The frames of an animation: a map (eval/tsne.h) of the newest published
 * embeddings after each epoch, which starts from the map before.  A child
 * process of the lowest priority computes them.
 * Not for two threads at once.
 */
struct map_frames;

enum {
    MAP_FRAMES_MOST = 200,
    MAP_FRAMES_NEAR_ROWS = 10, /* points with neighbours in each frame */
    MAP_FRAMES_NEAR = 8,       /* neighbours of each */
    MAP_FRAMES_POINTS = 2000,  /* default number of points */
    MAP_FRAMES_POINTS_LEAST = 32,
    MAP_FRAMES_POINTS_MOST = 100000
};

/* `most` points are on a map. */
struct map_frames *map_frames_open(struct hub *hub, size_t most);
void map_frames_close(struct map_frames *maps);

/* map_frames_take() copies the embeddings of view 0 of a batch.
 *   size  samples in the data set.  There are no frames for fewer than
 *         MAP_FRAMES_POINTS_LEAST samples, or if their embeddings need more
 *         than 512 MiB */
void map_frames_take(struct map_frames *maps, const struct batch_view *batch,
                     size_t size);

/* map_frames_epoch() starts the frame after an epoch, counted from 1, or within
 * it.  While another frame is being made, this one is skipped, or queued if
 * that frame was started within an epoch. */
void map_frames_epoch(struct map_frames *maps, int64_t epoch, int within);

/* map_frames_busy() returns 1 while a frame is being made, map_frames_any() 1
 * if there is one or it is being made. */
int map_frames_busy(const struct map_frames *maps);
int map_frames_any(const struct map_frames *maps);

/* map_frames_poll() starts the first frame as soon as enough samples are known,
 * also within an epoch; adds a finished frame; and publishes map_frames_json().
 * Call it every second. */
void map_frames_poll(struct map_frames *maps);

/*
 * map_frames_json() returns
 *   n       points on the map; 0 before they are chosen
 *   wanted  points of a map of all samples, at most `most`
 *   known   samples with an embedding
 *   within  epoch of the first frame, if made before the epoch's end; else 0
 *   epochs  [] epochs of the frames, counted from 1
 */
json_t *map_frames_json(const struct map_frames *maps);

/* map_frames_points() returns the samples of the points, [n], not owned. */
const int64_t *map_frames_points(const struct map_frames *maps, size_t *n);

/*
 * Little-endian bytes for the page, which the caller frees with free(); NULL if
 * there is no frame, or none of this epoch.
 *   map_frames_labels()  i4 [n] the samples, i4 [n] their classes, -1: none
 *   map_frames_find()    i2 [n,2] places after an epoch, within +-32000; then
 *                        i4 [MAP_FRAMES_NEAR_ROWS,1+MAP_FRAMES_NEAR] samples: a
 *                        point, the same in each frame, and its neighbours by
 *                        the cosine of embeddings, nearest first
 */
void *map_frames_labels(const struct map_frames *maps,
                        const struct data_set *set, size_t *bytes);
void *map_frames_find(const struct map_frames *maps, int64_t epoch,
                      size_t *bytes);
