#include "foil-view/map_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "num/threads.h"
#include "t.h"
#include "util/mem.h"

enum { SIZE = 120, MOST = 60, D = 4, BATCH = 40 };

/* Adds three batches with each sample once.  The two halves of the samples are
 * in different corners. */
static void
take_epoch(struct map_frames *maps)
{
    for (size_t b = 0; b < SIZE / BATCH; b++) {
        struct batch_view m = {.n = BATCH, .views = 1, .d = D};

        m.ids = mem_array(BATCH, sizeof *m.ids);
        m.z = mem_array(BATCH * D, sizeof *m.z);
        for (size_t i = 0; i < BATCH; i++) {
            const size_t id = b * BATCH + i;

            m.ids[i] = (int64_t)id;
            m.z[i * D + 2 * id / SIZE] = 1;
            m.z[i * D + 2] = (float)(id % 7) / 100;
            m.z[i * D + 3] = (float)(id % 5) / 100;
        }
        map_frames_take(maps, &m, SIZE);
        batch_view_release(&m);
    }
}

/* Waits for the frame of an epoch. */
static void
wait_for_frame(struct map_frames *maps, int64_t epoch)
{
    const struct timespec moment = {0, 10000000};
    void *frame = NULL;
    size_t bytes;

    for (int i = 0; i < 12000 && !frame; i++) {
        map_frames_poll(maps);
        frame = map_frames_find(maps, epoch, &bytes);
        if (!frame)
            nanosleep(&moment, NULL);
    }
    free(frame);
}

/* Returns the mean distance to the nearest point of the same half, divided by
 * that to the other half. */
static double
compare_halves(const int16_t *xy)
{
    double own = 0, other = 0;

    for (size_t i = 0; i < MOST; i++) {
        double best[2] = {1e9, 1e9};

        for (size_t j = 0; j < MOST; j++) {
            const int same = 2 * i / MOST == 2 * j / MOST;
            const double far =
                hypot(xy[2 * i] - xy[2 * j], xy[2 * i + 1] - xy[2 * j + 1]);

            if (j != i)
                best[same] = fmin(best[same], far);
        }
        own += best[1];
        other += best[0];
    }
    return own / other;
}

static void
points_are_spread_over_the_samples(const struct map_frames *maps)
{
    size_t n, bytes;
    const int64_t *ids = map_frames_points(maps, &n);
    int32_t *labels = map_frames_labels(maps, NULL, &bytes);
    int even = 1;

    for (size_t i = 0; i < n; i++)
        even &= ids[i] == (int64_t)(2 * i) && labels[i] == (int32_t)ids[i] &&
                labels[n + i] == -1;
    T(n == MOST && bytes == 2 * MOST * sizeof *labels && even,
      "every second of 120 samples is a point, without a class");
    free(labels);
}

/* Neighbours are after the places. */
static void
neighbours_are_of_the_same_half(const int16_t *xy)
{
    int32_t near[MAP_FRAMES_NEAR_ROWS][1 + MAP_FRAMES_NEAR];
    int fine = 1;

    memcpy(near, xy + 2 * MOST, sizeof near);
    for (size_t row = 0; row < MAP_FRAMES_NEAR_ROWS; row++)
        for (size_t k = 0; k <= MAP_FRAMES_NEAR; k++) {
            fine &= near[row][k] >= 0 && near[row][k] < SIZE &&
                    near[row][k] % 2 == 0 &&
                    2 * near[row][k] / SIZE == 2 * near[row][0] / SIZE;
            for (size_t i = 0; i < k; i++)
                fine &= near[row][k] != near[row][i];
        }
    T(fine, "neighbours are other points of the same half");
    T(near[0][0] == 6 && near[9][0] == 114, "the points are spread evenly");
    T(near[0][1] == 26, "the nearest is first: %d", near[0][1]);
}

/* The child process of a frame exists until map_frames_poll(). */
static void
frames_are_made_at_the_lowest_priority(void)
{
    siginfo_t info = {0};

    T(!waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) && info.si_status == 0,
      "a child process makes a frame");
    errno = 0;
    T(getpriority(PRIO_PROCESS, (id_t)info.si_pid) == 19 && !errno,
      "at the lowest priority");
}

static void
frames_have_similar_points_near(struct map_frames *maps)
{
    size_t bytes;
    int16_t *xy, most = 0;
    json_t *json;

    map_frames_epoch(maps, 1, 0);
    frames_are_made_at_the_lowest_priority();
    wait_for_frame(maps, 1);
    xy = map_frames_find(maps, 1, &bytes);
    T(xy && bytes == 2 * MOST * sizeof *xy + MAP_FRAMES_NEAR_ROWS *
                                                 (1 + MAP_FRAMES_NEAR) *
                                                 sizeof(int32_t),
      "a frame has a place for each point, and neighbours");
    neighbours_are_of_the_same_half(xy);
    for (size_t k = 0; xy && k < 2 * MOST; k++)
        most = abs(xy[k]) > most ? (int16_t)abs(xy[k]) : most;
    T(most == 32000, "the farthest point is at 32000");
    T(xy && compare_halves(xy) < .5, "points of the same half are near");
    free(xy);
    map_frames_epoch(maps, 2, 0);
    wait_for_frame(maps, 2);
    json = map_frames_json(maps);
    T(json_integer_value(json_object_get(json, "n")) == MOST &&
          json_array_size(json_object_get(json, "epochs")) == 2,
      "another epoch adds a frame");
    json_decref(json);
    map_frames_epoch(maps, 3, 0);
    map_frames_epoch(maps, 4, 0);
    wait_for_frame(maps, 3);
    T(!map_frames_find(maps, 4, &bytes),
      "no frame is started while another is being made");
}

/* A resumed run repeats epochs. */
static void
repeated_epoch_counts_once(struct map_frames *maps)
{
    size_t bytes;
    json_t *json;
    void *xy;

    map_frames_epoch(maps, 1, 0);
    for (int i = 0; i < 12000; i++) {
        const struct timespec moment = {0, 10000000};

        map_frames_poll(maps);
        xy = map_frames_find(maps, 2, &bytes);
        free(xy);
        if (!xy)
            break;
        nanosleep(&moment, NULL);
    }
    json = map_frames_json(maps);
    T(json_array_size(json_object_get(json, "epochs")) == 1,
      "epoch 1 again: later frames are dropped");
    json_decref(json);
}

static json_int_t
count_of(const struct map_frames *maps, const char *name)
{
    json_t *json = map_frames_json(maps);
    const json_int_t count = json_integer_value(json_object_get(json, name));

    json_decref(json);
    return count;
}

static int
becomes_whole(struct map_frames *maps)
{
    for (int i = 0; i < 12000 && count_of(maps, "within"); i++) {
        map_frames_poll(maps);
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    return !count_of(maps, "within");
}

static void
few_samples_have_no_map(struct hub *hub)
{
    struct map_frames *maps = map_frames_open(hub, MOST);
    float z[D] = {1};
    int64_t id = 0;
    const struct batch_view m = {
        .n = 1, .views = 1, .d = D, .ids = &id, .z = z};

    map_frames_take(maps, &m, MAP_FRAMES_POINTS_LEAST - 1);
    T(!count_of(maps, "known") && !count_of(maps, "wanted"),
      "fewer than 32 samples have no map");
    map_frames_close(maps);
}

static void
first_frame_comes_within_its_epoch(struct hub *hub)
{
    struct map_frames *maps = map_frames_open(hub, MOST);

    map_frames_poll(maps);
    take_epoch(maps);
    wait_for_frame(maps, 1);
    T(count_of(maps, "within") == 1 && count_of(maps, "known") == SIZE &&
          count_of(maps, "wanted") == MOST,
      "a frame as soon as enough samples are known");
    map_frames_epoch(maps, 1, 0);
    T(becomes_whole(maps), "the frame after that epoch replaces it");
    map_frames_close(maps);
    maps = map_frames_open(hub, MOST);
    take_epoch(maps);
    map_frames_poll(maps);
    map_frames_epoch(maps, 1, 0);
    wait_for_frame(maps, 1);
    T(becomes_whole(maps),
      "the map is whole if its epoch ends while the first is being made");
    map_frames_close(maps);
}

int
main(void)
{
    struct hub *hub = hub_open();
    struct map_frames *maps = map_frames_open(hub, MOST);
    json_t *json = map_frames_json(maps);

    num_threads(1); // as foil-view
    T(json_array_size(json_object_get(json, "epochs")) == 0 &&
          json_integer_value(json_object_get(json, "n")) == 0,
      "before the first epoch there are no frames");
    json_decref(json);
    map_frames_epoch(maps, 1, 0);
    T(!map_frames_find(maps, 1, &(size_t){0}) &&
          !map_frames_labels(maps, NULL, &(size_t){0}),
      "without embeddings there are no frames");
    take_epoch(maps);
    frames_have_similar_points_near(maps);
    points_are_spread_over_the_samples(maps);
    repeated_epoch_counts_once(maps);
    map_frames_close(maps);
    first_frame_comes_within_its_epoch(hub);
    few_samples_have_no_map(hub);
    hub_close(hub);
    return t_done();
}
