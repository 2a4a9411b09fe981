#define _DEFAULT_SOURCE // MAP_ANONYMOUS
#include "map_frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eval/knn.h"
#include "eval/tsne.h"
#include "util/clock.h"
#include "util/mem.h"

enum { STEPS = 350 };

static const double report_s = 2;
static const size_t most_bytes = (size_t)512 << 20; // for all embeddings

enum { NEAR = MAP_FRAMES_NEAR_ROWS * (1 + MAP_FRAMES_NEAR) };

struct frame {
    int64_t epoch;
    int within;  /* made during that epoch, not after it */
    int16_t *xy; /* [n,2] */
    int32_t near[NEAR];
};

/* What the child process computes, in shared memory. */
struct result {
    int32_t near[NEAR];
    float y[]; /* [n,2] */
};

struct map_frames {
    struct hub *hub;
    size_t most;
    size_t size, d;
    float *table;   /* [size,d] */
    char *known;    /* [size] */
    size_t n_known; /* samples with an embedding */
    int64_t now;    /* epoch of the newest embeddings, from 0 */
    size_t n;       /* points, which are chosen for the first frame */
    int64_t *ids;   /* [n] */
    float *y;       /* [n,2] newest frame, or NULL */
    struct frame frame[MAP_FRAMES_MOST];
    size_t n_frames;
    pid_t child;           /* makes a frame; 0: none */
    struct result *result; /* shared with the child process */
    int64_t epoch;         /* of the frame that is being made */
    int within;            /* likewise */
    int64_t after;         /* epoch of the queued frame; 0: none */
    double sent_at;
    size_t n_rows; /* embeddings received since `before` was counted */
    size_t before; /* an earlier n_known (choose_points()) */
};

static size_t
size_of_result(const struct map_frames *maps)
{
    return sizeof *maps->result + 2 * maps->n * sizeof(float);
}

struct map_frames *
map_frames_open(struct hub *hub, size_t most)
{
    struct map_frames *maps = mem_array(1, sizeof *maps);

    maps->hub = hub;
    maps->most = most;
    return maps;
}

void
map_frames_close(struct map_frames *maps)
{
    if (maps->child) {
        kill(maps->child, SIGKILL);
        waitpid(maps->child, NULL, 0);
    }
    if (maps->result)
        munmap(maps->result, size_of_result(maps));
    for (size_t i = 0; i < maps->n_frames; i++)
        free(maps->frame[i].xy);
    mem_free(maps->table, maps->known, maps->ids, maps->y, maps);
}

void
map_frames_take(struct map_frames *maps, const struct batch_view *m,
                size_t size)
{
    if (!maps->size && size >= MAP_FRAMES_POINTS_LEAST &&
        size < most_bytes / (m->d * sizeof(float))) {
        maps->size = size;
        maps->d = m->d;
        maps->table = mem_array(size * m->d, sizeof *maps->table);
        maps->known = mem_array(size, 1);
    }
    if (maps->size != size || maps->d != m->d)
        return;
    maps->n_rows += m->n;
    maps->now = m->epoch;
    for (size_t i = 0; i < m->n; i++)
        if ((size_t)m->ids[i] < size) {
            memcpy(maps->table + (size_t)m->ids[i] * m->d, m->z + i * m->d,
                   m->d * sizeof *m->z);
            maps->n_known += !maps->known[m->ids[i]];
            maps->known[m->ids[i]] = 1;
        }
}

/* Returns how many points a map shall have. */
static size_t
count_wanted(const struct map_frames *maps)
{
    return maps->size < maps->most ? maps->size : maps->most;
}

/* Chooses known samples, spread evenly, if as many as wanted are known, or if a
 * whole epoch of rows added no new one.  (Lost messages delay some samples to a
 * later epoch.) */
static void
choose_points(struct map_frames *maps)
{
    const size_t known = maps->n_known, wanted = count_wanted(maps);
    size_t at = 0;
    const int enough = known >= wanted ||
                       (maps->n_rows >= maps->size && known == maps->before);

    if (maps->n_rows >= maps->size) {
        maps->n_rows = 0;
        maps->before = known;
    }
    if (known < MAP_FRAMES_POINTS_LEAST || !enough)
        return;
    maps->n = known < wanted ? known : wanted;
    maps->ids = mem_array(maps->n, sizeof *maps->ids);
    for (size_t i = 0, seen = 0; i < maps->size; i++)
        if (maps->known[i] && seen++ == at * known / maps->n)
            maps->ids[at++] = (int64_t)i;
}

/* Finds the neighbours of some points.
 *   x  [n,d] */
static void
find_near(const struct map_frames *maps, const float *x, int32_t *near)
{
    struct eval_knn *knn = eval_knn_new(maps->n, maps->d, x, EVAL_COSINE);

    for (size_t row = 0; row < MAP_FRAMES_NEAR_ROWS; row++) {
        const size_t own = (2 * row + 1) * maps->n / (2 * MAP_FRAMES_NEAR_ROWS);
        uint32_t point[MAP_FRAMES_NEAR];

        eval_knn_find(knn, 1, x + own * maps->d, MAP_FRAMES_NEAR, own, point,
                      NULL);
        *near++ = (int32_t)maps->ids[own];
        for (size_t k = 0; k < MAP_FRAMES_NEAR; k++)
            *near++ = (int32_t)maps->ids[point[k]];
    }
    eval_knn_free(knn);
}

/* The child process: writes a map to the shared memory and exits. */
_Noreturn static void
make_frame(const struct map_frames *maps)
{
    float *x = mem_array(maps->n * maps->d, sizeof *x);
    struct eval_tsne *map;

    setpriority(PRIO_PROCESS, 0, 19);
    for (size_t i = 0; i < maps->n; i++)
        memcpy(x + i * maps->d, maps->table + (size_t)maps->ids[i] * maps->d,
               maps->d * sizeof *x);
    find_near(maps, x, maps->result->near);
    map = eval_tsne_new(maps->n, maps->d, x,
                        fmin(30, ((double)maps->n - 1) / 3), maps->y);
    for (int step = 0; step < EVAL_TSNE_EARLY + STEPS; step++)
        eval_tsne_step(map);
    memcpy(maps->result->y, eval_tsne_points(map), 2 * maps->n * sizeof(float));
    if (maps->y)
        eval_tsne_turn(maps->n, maps->y, maps->result->y);
    _exit(0);
}

static void
begin_frame(struct map_frames *maps, int64_t epoch, int within)
{
    if (maps->child || maps->n_frames == MAP_FRAMES_MOST)
        return;
    if (!maps->ids)
        choose_points(maps);
    if (maps->n && !maps->result) {
        void *memory = mmap(NULL, size_of_result(maps), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        maps->result = memory == MAP_FAILED ? NULL : memory;
    }
    if (!maps->result)
        return;
    maps->epoch = epoch;
    maps->within = within;
    maps->child = fork();
    if (!maps->child)
        make_frame(maps);
    if (maps->child < 0)
        maps->child = 0;
}

void
map_frames_epoch(struct map_frames *maps, int64_t epoch, int within)
{
    if (maps->child && maps->within)
        maps->after = epoch;
    begin_frame(maps, epoch, within);
}

int
map_frames_busy(const struct map_frames *maps)
{
    return maps->child > 0;
}

int
map_frames_any(const struct map_frames *maps)
{
    return maps->child > 0 || maps->n_frames > 0;
}

/* Adds a frame with places rounded to whole numbers within +-32000.  Frames of
 * the same or a later epoch are dropped: the run was resumed. */
static void
add_frame(struct map_frames *maps)
{
    int16_t *xy = mem_array(2 * maps->n, sizeof *xy);
    float most = 1e-30F;

    for (size_t i = 0; i < 2 * maps->n; i++)
        most = fmaxf(most, fabsf(maps->y[i]));
    for (size_t i = 0; i < 2 * maps->n; i++)
        xy[i] = (int16_t)lrintf(maps->y[i] / most * 32000);
    while (maps->n_frames &&
           maps->frame[maps->n_frames - 1].epoch >= maps->epoch)
        free(maps->frame[--maps->n_frames].xy);
    maps->frame[maps->n_frames] =
        (struct frame){.epoch = maps->epoch, .within = maps->within, .xy = xy};
    memcpy(maps->frame[maps->n_frames++].near, maps->result->near,
           sizeof maps->result->near);
}

static void
publish_maps(struct map_frames *maps)
{
    hub_publish(maps->hub, "map", map_frames_json(maps));
    maps->sent_at = clock_now();
}

void
map_frames_poll(struct map_frames *maps)
{
    int status;

    // the first frame is begun within an epoch, since an epoch may take hours
    if (!maps->n && maps->size) {
        if (maps->n_known >= count_wanted(maps))
            begin_frame(maps, maps->now + 1, 1);
        if (maps->n || clock_now() - maps->sent_at > report_s)
            publish_maps(maps);
    }
    if (!maps->child || waitpid(maps->child, &status, WNOHANG) <= 0)
        return;
    maps->child = 0;
    if (status)
        return;
    if (!maps->y)
        maps->y = mem_array(2 * maps->n, sizeof *maps->y);
    memcpy(maps->y, maps->result->y, 2 * maps->n * sizeof *maps->y);
    add_frame(maps);
    publish_maps(maps);
    if (maps->after)
        map_frames_epoch(maps, maps->after, 0);
    maps->after = 0;
}

json_t *
map_frames_json(const struct map_frames *maps)
{
    json_t *epochs = json_array();
    const int within = maps->n_frames && maps->frame->within;

    for (size_t i = 0; i < maps->n_frames; i++)
        json_array_append_new(epochs,
                              json_integer((json_int_t)maps->frame[i].epoch));
    return json_pack("{s:I s:I s:I s:I s:o}", "n", (json_int_t)maps->n,
                     "wanted", (json_int_t)count_wanted(maps), "known",
                     (json_int_t)maps->n_known, "within",
                     (json_int_t)(within ? maps->frame->epoch : 0), "epochs",
                     epochs);
}

const int64_t *
map_frames_points(const struct map_frames *maps, size_t *n)
{
    *n = maps->n_frames ? maps->n : 0;
    return maps->ids;
}

void *
map_frames_labels(const struct map_frames *maps, const struct data_set *set,
                  size_t *bytes)
{
    int32_t *both;

    if (!maps->n_frames)
        return NULL;
    both = mem_array(2 * maps->n, sizeof *both);
    for (size_t i = 0; i < maps->n; i++) {
        both[i] = (int32_t)maps->ids[i];
        both[maps->n + i] = batch_view_label(set, maps->ids[i]);
    }
    *bytes = 2 * maps->n * sizeof *both;
    return both;
}

void *
map_frames_find(const struct map_frames *maps, int64_t epoch, size_t *bytes)
{
    const size_t places = 2 * maps->n * sizeof(int16_t);

    *bytes = places + sizeof maps->frame->near;
    for (size_t i = 0; i < maps->n_frames; i++)
        if (maps->frame[i].epoch == epoch) {
            char *both = mem_array(*bytes, 1);

            memcpy(both, maps->frame[i].xy, places);
            memcpy(both + places, maps->frame[i].near,
                   sizeof maps->frame[i].near);
            return both;
        }
    return NULL;
}
