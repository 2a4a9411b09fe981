#ifndef NUM_WINOGRAD_WORK_H
#define NUM_WINOGRAD_WORK_H

#include <omp.h>

#include "helpers.h"
#include "winograd.h"
#include "winograd_isa.h"

/*
 * Small weights (up to 256 channels, for the gradient 128) stay in the caches,
 * so threads work independently, on groups of tiles with points that also stay
 * there.  Large weights do not: threads share the points of many tiles, and
 * each transforms some columns of the weights, uses them for all these tiles,
 * and discards them.  Both limit the scratch.
 */
enum {
    WINOGRAD_PAD = 16,       /* padding against cache conflicts, in floats */
    WINOGRAD_AT_A_TIME = 64, /* tiles of a product */
    WINOGRAD_SHARE = 16      /* tiles that a thread transforms at a time */
};

static inline size_t
winograd_width(const struct num_winograd *wino)
{
    return 2 * wino->isa->lanes;
}

/* Sizes of rows and planes in scratch, in floats. */
static inline size_t
winograd_row(const struct winograd_pass *p)
{
    return p->depth + WINOGRAD_PAD;
}

static inline size_t
winograd_points_plane(const struct winograd_pass *p)
{
    return p->group * winograd_row(p) + WINOGRAD_PAD;
}

/* [c, panel] of weights, and [tiles, panel] of results. */
static inline size_t
winograd_panel_plane(const struct num_winograd *wino, size_t rows)
{
    return rows * winograd_width(wino) + WINOGRAD_PAD;
}

static inline size_t
winograd_results(const struct winograd_pass *p)
{
    return num_least(p->group, WINOGRAD_AT_A_TIME);
}

static inline size_t
winograd_groups(const struct num_winograd *wino, const struct winograd_pass *p)
{
    return num_divide_up(wino->tiles, p->group);
}

/* Whether it has phases. */
static inline int
winograd_strided(const struct num_winograd *wino)
{
    return wino->points == STRIDED_POINTS;
}

/* Whether weights are used for one group only. */
static inline int
winograd_passing(const struct num_winograd *wino, const struct winograd_pass *p)
{
    return p->together && winograd_groups(wino, p) == 1;
}

/* Vectors of a panel that hold channels. */
static inline size_t
winograd_vectors(const struct num_winograd *wino, const struct winograd_pass *p,
                 size_t panel)
{
    return num_least(2, p->o / wino->isa->lanes - 2 * panel);
}

/* Scratch of one kind: n arrays of `each` floats. */
struct winograd_room {
    size_t n, each;
    float *at;
};

/* The scratch and the arguments of a pass. */
struct winograd_work {
    const struct num_winograd *wino;
    const struct winograd_pass *p;
    struct winograd_room points;  /* B' d B */
    struct winograd_room weights; /* G g G', or the gradient's sums */
    struct winograd_room results; /* a panel's sums, or A dy A' of all panels */
    int back;
    const float *w;
    const void *from;
    struct num_conv_fused fused;
    struct winograd_sink sink;
};

/* num_winograd_work() divides the scratch of a pass. */
struct winograd_work num_winograd_work(const struct num_winograd *wino,
                                       enum num_conv_pass pass, void *scratch);

/* The array of the calling thread, or the only one. */
static inline float *
winograd_mine(const struct winograd_room *room)
{
    return room->at +
           (room->n == 1 ? 0 : (size_t)omp_get_thread_num() * room->each);
}

/* Tiles of a group; the last one has fewer. */
static inline size_t
winograd_count(const struct winograd_work *work, size_t group)
{
    return num_least(work->p->group, work->wino->tiles - group);
}

/* Tiles first .. first + count of a map. */
struct winograd_tiles num_winograd_tiles(const struct num_winograd *wino,
                                         const struct num_map *map,
                                         size_t first, size_t count);

/* num_winograd_points() computes the points of tiles first .. first + count of
 * the group that starts at tile `group`; num_winograd_share_points() those of
 * the whole group, with all threads. */
void num_winograd_points(const struct winograd_work *work, size_t group,
                         size_t first, size_t count, float *v);
void num_winograd_share_points(const struct winograd_work *work, size_t group);

#endif
