#include <math.h>
#include <string.h>

#include "num/assign.h"
#include "util/clones.h"
#include "util/err.h"
#include "util/mem.h"

/* Vector types of gcc and clang, for the one loop that the compiler does not
 * vectorise. */
enum { LANES = 8 };
typedef double lanes __attribute__((vector_size(64)));
typedef int64_t lanes_int __attribute__((vector_size(64)));
#define LARGEST ((lanes){0} + INFINITY)

/* The previous centre of the first one on a path. */
#define NONE SIZE_MAX

/* A centre, its points, and the costs of moving them to other centres. */
struct centre {
    uint32_t *point; /* [count] */
    double *move;    /* [k,space] cost of moving each point */
    size_t count, space;
    double *step;  /* [k] the cheapest move to each centre */
    size_t *mover; /* [k] its point, as an index in point */
};

struct assign {
    size_t k;
    const float *cost;  /* [n,k] */
    const size_t *room; /* [k] */
    uint32_t *to;       /* [n] */
    struct centre *centre;
    uint32_t *points;      /* of all centres, [n + sum of room] at most */
    double *moves, *steps; /* as many rows of k; [k,k] */
    size_t *movers;        /* [k,k] */

    /* Prices keep reduced costs, step + price[from] - price[to], >= 0; paths
     * are shortest by reduced costs. */
    double *price; /* [k] */

    /* of the path search */
    double *far, *open; /* [k] distance; the same, infinity once it is final */
    size_t *before;     /* [k] the previous centre on the path */
};

/* The index of the least of n numbers. */
static UTIL_CLONES(size_t, index_of_least, (size_t n, const double *x), (n, x))
{
    const size_t whole = n / LANES * LANES;
    lanes_int where = {0}, at = {0, 1, 2, 3, 4, 5, 6, 7};
    lanes low = LARGEST, here;
    size_t best = whole;

    for (size_t i = 0; i < whole; i += LANES, at += LANES) {
        lanes_int less;

        memcpy(&here, x + i, sizeof here);
        less = here < low;
        where = (at & less) | (where & ~less);
        low = (lanes)(((lanes_int)here & less) | ((lanes_int)low & ~less));
    }
    for (size_t i = whole; i < n; i++)
        if (x[i] < x[best])
            best = i;
    for (size_t j = 0; j < LANES && whole; j++)
        if (best == n || x[where[j]] < x[best])
            best = (size_t)where[j];
    return best;
}

static void
add_point(struct assign *a, uint32_t point, size_t c)
{
    struct centre *at = a->centre + c;
    const float *row = a->cost + point * a->k;
    const size_t i = at->count++;

    a->to[point] = (uint32_t)c;
    at->point[i] = point;
    for (size_t e = 0; e < a->k; e++) {
        const double x = (double)row[e] - row[c];

        at->move[e * at->space + i] = x;
        if (x < at->step[e]) {
            at->step[e] = x;
            at->mover[e] = i;
        }
    }
}

/* Removes point i of the list: the last one takes its place, and steps that it
 * was the cheapest for are searched again. */
static void
remove_point(struct assign *a, size_t c, size_t i)
{
    struct centre *at = a->centre + c;
    const size_t last = --at->count;

    at->point[i] = at->point[last];
    for (size_t e = 0; e < a->k; e++) {
        double *move = at->move + e * at->space;

        move[i] = move[last];
        if (at->mover[e] == i) {
            at->mover[e] = index_of_least(last, move);
            at->step[e] = last ? move[at->mover[e]] : INFINITY;
        } else if (at->mover[e] == last) {
            at->mover[e] = i;
        }
    }
}

/* Puts every point at its cheapest centre. */
static void
init_assign(struct assign *a, size_t n)
{
    const size_t k = a->k;
    size_t all = 0;

    a->centre = mem_array(k, sizeof *a->centre);
    for (size_t i = 0; i < n; i++) {
        const float *row = a->cost + i * k;
        size_t c = 0;

        for (size_t e = 1; e < k; e++)
            if (row[e] < row[c])
                c = e;
        a->to[i] = (uint32_t)c;
        a->centre[c].space++;
    }
    for (size_t c = 0; c < k; c++) {
        if (a->centre[c].space < a->room[c])
            a->centre[c].space = a->room[c];
        all += a->centre[c].space;
    }
    a->points = mem_array(all, sizeof *a->points);
    a->moves = mem_unset(all * k, sizeof *a->moves);
    a->steps = mem_array(k * k, sizeof *a->steps);
    a->movers = mem_array(k * k, sizeof *a->movers);
    a->price = mem_array(k, sizeof *a->price);
    a->far = mem_array(k, sizeof *a->far);
    a->open = mem_array(k, sizeof *a->open);
    a->before = mem_array(k, sizeof *a->before);
    for (size_t c = 0; c < k; c++) {
        struct centre *at = a->centre + c;

        all -= at->space;
        at->point = a->points + all;
        at->move = a->moves + all * k;
        at->step = a->steps + c * k;
        at->mover = a->movers + c * k;
        for (size_t e = 0; e < k; e++)
            at->step[e] = INFINITY;
    }
    for (size_t i = 0; i < n; i++)
        add_point(a, (uint32_t)i, a->to[i]);
}

/* Updates the distances of all centres by steps from centre c. */
static UTIL_CLONES(void, relax_moves,
                   (size_t k, size_t c, const double *step, const double *price,
                    double *far, double *open, size_t *before),
                   (k, c, step, price, far, open, before))
{
    const double base = far[c], own = price[c];

    for (size_t e = 0; e < k; e++) {
        const double more = step[e] + own - price[e];
        const double x = base + (more > 0 ? more : 0);
        const int better = x < far[e];

        before[e] = better ? c : before[e];
        open[e] = better ? x : open[e];
        far[e] = better ? x : far[e];
    }
}

/* Dijkstra's search, from all centres with too many points to the first one
 * with room, which is returned.  All of the former have price 0, all of the
 * latter the same price, so that none is preferred. */
static size_t
find_path(struct assign *a)
{
    for (size_t c = 0; c < a->k; c++) {
        a->before[c] = NONE;
        a->far[c] = a->centre[c].count > a->room[c] ? 0 : INFINITY;
        a->open[c] = a->far[c];
    }
    for (;;) {
        const size_t c = index_of_least(a->k, a->open);

        REQUIRE(a->open[c] < INFINITY);
        if (a->centre[c].count < a->room[c])
            return c;
        a->open[c] = INFINITY;
        relax_moves(a->k, c, a->centre[c].step, a->price, a->far, a->open,
                    a->before);
    }
}

/* Moves one point from a centre with too many along a path. */
static void
move_along_path(struct assign *a)
{
    size_t c = find_path(a), from;
    const double far = a->far[c];

    for (size_t e = 0; e < a->k; e++)
        a->price[e] += a->far[e] < far ? a->far[e] : far;
    for (; (from = a->before[c]) != NONE; c = from) {
        const size_t i = a->centre[from].mover[c];
        const uint32_t point = a->centre[from].point[i];

        remove_point(a, from, i);
        add_point(a, point, c);
    }
}

double
num_assign(size_t n, size_t k, const float *cost, const size_t *room,
           uint32_t *to)
{
    struct assign a = {.k = k, .cost = cost, .room = room, .to = to};
    double total = 0;

    REQUIRE(n >= 1 && k >= 1);
    init_assign(&a, n);
    for (size_t c = 0; c < k; c++)
        while (a.centre[c].count > room[c])
            move_along_path(&a);
    for (size_t i = 0; i < n; i++)
        total += cost[i * k + to[i]];
    mem_free(a.centre, a.points, a.moves, a.steps, a.movers, a.price, a.far,
             a.open, a.before);
    return total;
}
