#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/gemm.h"
#include "num/kmeans.h"
#include "num/vec.h"
#include "util/clones.h"
#include "util/err.h"
#include "util/mem.h"

#include "links.h"
#include "strategies.h"

/* ---- regions ------------------------------------------------------------- */

/* WAYS: groups of a division; SAMPLES: points that give a group its centre;
 * TILE: points compared at a time. */
enum { WAYS = 32, SAMPLES = 32, TILE = 256 };

struct sort {
    size_t d, leaf;
    const float *rows;
    uint64_t seed, epoch;
    unsigned round;
    int64_t *point;
};

/* A division of some points into groups. */
struct division {
    size_t n, k;
    int64_t *point;
    float *centre;         /* [k,d], each near the next */
    uint8_t *mine;         /* [n] the group of each */
    size_t from[WAYS + 1]; /* group c becomes point[from[c]..from[c+1]) */
};

static void
gather_points(const struct sort *sort, size_t n, const int64_t *point,
              float *rows)
{
    for (size_t i = 0; i < n; i++)
        memcpy(rows + i * sort->d, sort->rows + (size_t)point[i] * sort->d,
               sort->d * sizeof *rows);
}

/* Finds centres of groups by k-means of a sample of the points.  Within a
 * parallel region one thread computes the products, so the bits do not depend
 * on the number of threads. */
static void
find_centres(const struct sort *sort, struct division *division, size_t first)
{
    size_t m = SAMPLES * division->k;
    float *sample = mem_aligned(m * sort->d, sizeof *sample);
    struct rng rng;

    rng_init(&rng, sort->seed, RNG_PLAN, sort->epoch,
             (uint64_t)sort->round << 24 | first / sort->leaf, STREAM_REGIONS);
    for (size_t i = 0; i < m; i++)
        gather_points(sort, 1, division->point + rng_below(&rng, division->n),
                      sample + i * sort->d);
#pragma omp parallel
#pragma omp single
    num_kmeans(m, sort->d, division->k, sample, &rng, division->centre, NULL);
    free(sample);
}

static double
square_distance(size_t d, const float *x, const float *y)
{
    return num_dot(d, x, x) - 2 * num_dot(d, x, y) + num_dot(d, y, y);
}

/* Finds the nearest centre of each of n <= TILE points. */
static void
assign_centres(const struct sort *sort, const struct division *division,
               const float *half, size_t n, const int64_t *point, uint8_t *mine)
{
    size_t k = division->k;
    float *rows = mem_aligned(TILE * sort->d, sizeof *rows);
    float product[TILE * WAYS];

    gather_points(sort, n, point, rows);
    num_gemm_nt(n, k, sort->d, 1, rows, division->centre, 0, product);
    for (size_t i = 0; i < n; i++) {
        float best = -INFINITY;

        for (size_t c = 0; c < k; c++)
            if (product[i * k + c] - half[c] > best) {
                best = product[i * k + c] - half[c];
                mine[i] = (uint8_t)c;
            }
    }
    free(rows);
}

static void
divide_points(const struct sort *sort, struct division *division, size_t first)
{
    float half[WAYS];
    size_t n = division->n;
    size_t at[WAYS];
    int64_t *sorted = mem_array(division->n, sizeof *sorted);
    float *old = mem_array(sort->d, sizeof *old);

    division->centre =
        mem_aligned(division->k * sort->d, sizeof *division->centre);
    division->mine = mem_array(n, 1);
    find_centres(sort, division, first);
    // orders the centres so that each is followed by the nearest of the rest
    for (size_t c = 1; c < division->k; c++) {
        const float *last = division->centre + (c - 1) * sort->d;
        size_t next = c;

        for (size_t o = c + 1; o < division->k; o++)
            if (square_distance(sort->d, last, division->centre + o * sort->d) <
                square_distance(sort->d, last,
                                division->centre + next * sort->d))
                next = o;
        memcpy(old, division->centre + c * sort->d, sort->d * sizeof *old);
        memcpy(division->centre + c * sort->d,
               division->centre + next * sort->d, sort->d * sizeof *old);
        memcpy(division->centre + next * sort->d, old, sort->d * sizeof *old);
    }
    free(old);
    for (size_t c = 0; c < division->k; c++)
        half[c] = (float)num_dot(sort->d, division->centre + c * sort->d,
                                 division->centre + c * sort->d) /
                  2;
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < n; i += TILE)
        assign_centres(sort, division, half, n - i < TILE ? n - i : TILE,
                       division->point + i, division->mine + i);
    // sorts points by group, stably
    for (size_t i = 0; i < division->n; i++)
        division->from[division->mine[i] + 1]++;
    for (size_t c = 0; c < division->k; c++)
        at[c] = division->from[c + 1] += division->from[c];
    for (size_t i = division->n; i--;)
        sorted[--at[division->mine[i]]] = division->point[i];
    memcpy(division->point, sorted, division->n * sizeof *sorted);
    mem_free(sorted, division->centre, division->mine);
}

static void
sort_points(const struct sort *sort, size_t first, size_t n)
{
    struct division division = {.n = n, .point = sort->point + first};
    size_t leaves = (n + sort->leaf - 1) / sort->leaf;

    if (leaves < 2)
        return;
    division.k = leaves < WAYS ? leaves : WAYS;
    divide_points(sort, &division, first);
#pragma omp parallel for schedule(dynamic)
    for (size_t c = 0; c < division.k; c++) {
        size_t count = division.from[c + 1] - division.from[c];

        if (count > 2 * sort->leaf && count < n)
            sort_points(sort, first + division.from[c], count);
    }
}

void
select_region_sort(size_t d, const float *rows, size_t n, size_t leaf,
                   uint64_t seed, uint64_t epoch, unsigned round,
                   int64_t *point)
{
    struct sort sort = {d, leaf, rows, seed, epoch, round, point};

    REQUIRE(n / leaf < 1 << 24 && round < 256);
    sort_points(&sort, 0, n);
}

/* ---- links --------------------------------------------------------------- */

/* Number of sorts into regions, and the number of the first: swap.c uses
 * lower ones. */
enum { SORTS = 3, FIRST = 128 };

/* Passes over the neighbours of neighbours. */
enum { PASSES = 2 };

struct list {
    float near[SELECT_LINKS]; /* descending */
    uint32_t link[SELECT_LINKS];
};

/* A product in f32, in an order that is the same on every machine. */
static UTIL_CLONES(float, dot_rows, (size_t d, const float *x, const float *y),
                   (d, x, y))
{
    float part[16] = {0}, sum = 0;
    size_t i = 0;

    for (; i + 16 <= d; i += 16)
        for (size_t l = 0; l < 16; l++)
            part[l] += x[i + l] * y[i + l];
    for (; i < d; i++)
        sum += x[i] * y[i];
    for (size_t l = 0; l < 16; l++)
        sum += part[l];
    return sum;
}

static void
insert_link(struct list *list, float near, uint32_t link)
{
    size_t at = SELECT_LINKS - 1;

    for (; at && list->near[at - 1] < near; at--) {
        list->near[at] = list->near[at - 1];
        list->link[at] = list->link[at - 1];
    }
    list->near[at] = near;
    list->link[at] = link;
}

static int
has_link(const struct list *list, uint32_t link)
{
    int found = 0;

    for (size_t i = 0; i < SELECT_LINKS; i++)
        found |= list->link[i] == link;
    return found;
}

/* Compares the points of a region, place[m], with one another. */
static void
compare_points(size_t d, const float *rows, size_t m, const int64_t *point,
               const uint32_t *place, struct list *list)
{
    float *x = mem_aligned(m * d, sizeof *x);
    float *product = mem_aligned(m * m, sizeof *product);

    for (size_t i = 0; i < m; i++)
        memcpy(x + i * d, rows + (size_t)point[place[i]] * d, d * sizeof *x);
    num_gemm_nt(m, m, d, 1, x, x, 0, product);
    for (size_t i = 0; i < m; i++) {
        struct list *mine = &list[place[i]];

        for (size_t j = 0; j < m; j++)
            if (product[i * m + j] > mine->near[SELECT_LINKS - 1] && i != j &&
                !has_link(mine, place[j]))
                insert_link(mine, product[i * m + j], place[j]);
    }
    mem_free(x, product);
}

/* Compares a point with the neighbours of its neighbours; old[] has their
 * lists. */
static void
compare_neighbours(size_t d, const float *rows, const int64_t *point, size_t i,
                   const struct list *old, struct list *mine)
{
    const float *row = rows + (size_t)point[i] * d;

    for (size_t l = 0; l < SELECT_LINKS * SELECT_LINKS; l++) {
        uint32_t by = old[i].link[l / SELECT_LINKS], link;
        float near;

        if (by == SELECT_NO_LINK)
            return;
        link = old[by].link[l % SELECT_LINKS];
        if (link == SELECT_NO_LINK || link == i || has_link(mine, link))
            continue;
        near = dot_rows(d, row, rows + (size_t)point[link] * d);
        if (near > mine->near[SELECT_LINKS - 1])
            insert_link(mine, near, link);
    }
}

static void
search_regions(size_t d, const float *rows, size_t n, size_t leaf,
               uint64_t seed, uint64_t epoch, const int64_t *point,
               struct list *list)
{
    uint32_t *of_row, *place = mem_array(n, sizeof *place);
    int64_t *sorted = mem_array(n, sizeof *sorted), most = 0;

    // the place in point[] of each row that is there
    for (size_t i = 0; i < n; i++)
        most = point[i] > most ? point[i] : most;
    of_row = mem_array((size_t)most + 1, sizeof *of_row);
    for (size_t i = 0; i < n; i++)
        of_row[point[i]] = (uint32_t)i;
    for (unsigned s = 0; s < SORTS; s++) {
        memcpy(sorted, point, n * sizeof *sorted);
        select_region_sort(d, rows, n, leaf, seed, epoch, FIRST + s, sorted);
        for (size_t i = 0; i < n; i++)
            place[i] = of_row[sorted[i]];
#pragma omp parallel for schedule(dynamic)
        for (size_t i = 0; i < n; i += leaf)
            compare_points(d, rows, n - i < leaf ? n - i : leaf, point,
                           place + i, list);
    }
    mem_free(of_row, place, sorted);
}

/* Compares all points with the neighbours of their neighbours; each pass reads
 * the lists of the last. */
static void
search_neighbours(size_t d, const float *rows, size_t n, const int64_t *point,
                  struct list *list)
{
    struct list *old = mem_array(n, sizeof *old);

    for (int t = 0; t < PASSES; t++) {
        memcpy(old, list, n * sizeof *old);
#pragma omp parallel for schedule(dynamic, 1024)
        for (size_t i = 0; i < n; i++)
            compare_neighbours(d, rows, point, i, old, &list[i]);
    }
    free(old);
}

void
select_links_find(size_t d, const float *rows, size_t n, size_t leaf,
                  uint64_t seed, uint64_t epoch, const int64_t *point,
                  uint32_t *link)
{
    struct list *list = mem_array(n, sizeof *list);

    REQUIRE(n < SELECT_NO_LINK);
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < SELECT_LINKS; l++) {
            list[i].near[l] = -INFINITY;
            list[i].link[l] = SELECT_NO_LINK;
        }
    search_regions(d, rows, n, leaf, seed, epoch, point, list);
    search_neighbours(d, rows, n, point, list);
    for (size_t i = 0; i < n; i++)
        memcpy(link + i * SELECT_LINKS, list[i].link, sizeof list[i].link);
    free(list);
}

/* Links into a stretch are counted up to this number. */
enum { MOST = 32 };

/* A growing stretch. */
struct growth {
    size_t *from; /* [n+1] partner[from[i]..from[i+1]) are linked with i */
    uint32_t *partner;
    uint8_t *links;    /* [n] into the stretch; or TAKEN */
    uint32_t *touched; /* [n] points with links other than 0 */
    size_t touches;
    struct {
        uint32_t *point;
        size_t n, room;
    } with[MOST + 1]; /* points by their links at the time of insertion */
};

enum { TAKEN = 255 };

/* Lists the links of each point in both directions. */
static void
both_ways(size_t n, const uint32_t *link, struct growth *growth)
{
    size_t *at = mem_array(n + 1, sizeof *at);

    growth->from = mem_array(n + 1, sizeof *growth->from);
    for (size_t i = 0; i < n * SELECT_LINKS; i++)
        if (link[i] != SELECT_NO_LINK) {
            growth->from[i / SELECT_LINKS + 1]++;
            growth->from[link[i] + 1]++;
        }
    for (size_t i = 0; i < n; i++)
        at[i] = growth->from[i + 1] += growth->from[i];
    growth->partner = mem_array(growth->from[n], sizeof *growth->partner);
    for (size_t i = n * SELECT_LINKS; i--;)
        if (link[i] != SELECT_NO_LINK) {
            size_t mine = i / SELECT_LINKS;

            growth->partner[--at[mine]] = link[i];
            growth->partner[--at[link[i]]] = (uint32_t)mine;
        }
    free(at);
}

/* Adds a point to the stretch, and a link to each of its partners. */
static void
take_point(struct growth *growth, uint32_t point)
{
    growth->links[point] = TAKEN;
    for (size_t i = growth->from[point]; i < growth->from[point + 1]; i++) {
        uint32_t partner = growth->partner[i];
        uint8_t links = growth->links[partner];

        if (links == TAKEN || links == MOST)
            continue;
        if (!links)
            growth->touched[growth->touches++] = partner;
        growth->links[partner] = ++links;
        mem_grow(&growth->with[links].point, &growth->with[links].room,
                 growth->with[links].n + 1, sizeof *growth->with[links].point);
        growth->with[links].point[growth->with[links].n++] = partner;
    }
}

/* Returns the point with the most links, the latest of equals; SELECT_NO_LINK
 * if there is none. */
static uint32_t
best_point(struct growth *growth)
{
    for (size_t links = MOST; links; links--)
        while (growth->with[links].n) {
            uint32_t point = growth->with[links].point[--growth->with[links].n];

            if (growth->links[point] == links)
                return point; // else it has more links by now, or is taken
        }
    return SELECT_NO_LINK;
}

void
select_links_sort(size_t n, size_t leaf, const uint32_t *link, int64_t *point)
{
    struct growth growth = {0};
    int64_t *sorted = mem_array(n, sizeof *sorted);
    uint32_t first = 0;

    both_ways(n, link, &growth);
    growth.links = mem_array(n, sizeof *growth.links);
    growth.touched = mem_array(n, sizeof *growth.touched);
    for (size_t i = 0; i < n; i++) {
        uint32_t next;

        if (i % leaf == 0) {
            for (size_t t = 0; t < growth.touches; t++)
                if (growth.links[growth.touched[t]] != TAKEN)
                    growth.links[growth.touched[t]] = 0;
            growth.touches = 0;
            for (size_t links = 0; links <= MOST; links++)
                growth.with[links].n = 0;
        }
        next = best_point(&growth);
        while (growth.links[first] == TAKEN && next == SELECT_NO_LINK)
            first++;
        next = next == SELECT_NO_LINK ? first : next;
        take_point(&growth, next);
        sorted[i] = point[next];
    }
    memcpy(point, sorted, n * sizeof *sorted);
    for (size_t links = 0; links <= MOST; links++)
        free(growth.with[links].point);
    mem_free(growth.from, growth.partner, growth.links, growth.touched, sorted);
}
