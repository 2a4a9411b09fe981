#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/exp.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "util/clones.h"
#include "util/mem.h"

#include "tiles.h"

enum {
    TILE = 256,       /* most rows of a block */
    LANES = 16,       /* sums side by side */
    FLUSH = 16,       /* rows added in f32 before their sum in double */
    STORED = 1 << 20, /* floats of stored tiles, beyond n d */
    SQUARE = 16       /* rows and columns mirrored at a time */
};

/* The score of a row with its own image, which does not count. */
static const float none = -1e30f;

/* With so large a beta some exponentials of scores from -1 to 1 are 0. */
static const double steepest = 40;

/* Block q has rows of view q mod v. */
struct block {
    size_t q, view, first, n;
};

/* The factors of one side of a tile: e = exp(beta (s - max)), beta in two
 * parts, so that its rounding does not add up. */
struct side {
    float high[TILE], low[TILE], max[TILE], weight[TILE];
};

typedef void tile_fn(const struct loss_tiles *t, const struct block *i,
                     const struct block *j, float *scratch, float *dv);

/* Blocks of a view; all but the last have the same number of rows. */
static size_t
count_blocks(const struct loss_tiles *t)
{
    return (t->b + TILE - 1) / TILE;
}

static size_t
block_rows(const struct loss_tiles *t)
{
    return (t->b + count_blocks(t) - 1) / count_blocks(t);
}

static struct block
block_at(const struct loss_tiles *t, size_t q)
{
    const size_t most = block_rows(t), from = q / t->v * most;

    return (struct block){q, q % t->v, q % t->v * t->b + from,
                          t->b - from < most ? t->b - from : most};
}

static int
is_paired(const struct loss_tiles *t)
{
    return t->cross && t->v == 2;
}

size_t
loss_tiles_size(const struct loss_tiles *t)
{
    const size_t blocks = t->v * count_blocks(t), most = block_rows(t);
    const size_t tiles =
        is_paired(t) ? blocks * blocks / 4 : blocks * (blocks + 1) / 2;
    const size_t all = tiles * most * most, room = t->v * t->b * t->d + STORED;

    return all < room ? all : room;
}

/* Returns the place of a tile, i <= j, if it is stored, else NULL. */
static float *
stored_tile(const struct loss_tiles *t, const struct block *i,
            const struct block *j)
{
    const size_t blocks = t->v * count_blocks(t), most = block_rows(t);
    const size_t even = i->q % 2 ? j->q : i->q, odd = i->q % 2 ? i->q : j->q;
    const size_t at = is_paired(t)
                          ? even / 2 * (blocks / 2) + odd / 2
                          : i->q * (2 * blocks - i->q + 1) / 2 + j->q - i->q;

    if (!t->stored || (t->cross && i->view == j->view) ||
        (at + 1) * most * most > loss_tiles_size(t))
        return NULL;
    return t->stored + at * most * most;
}

/* Computes a tile of S. */
static void
fill_tile(const struct loss_tiles *t, const struct block *i,
          const struct block *j, float *s)
{
    num_gemm_nt(i->n, j->n, t->d, 1, t->rows + i->first * t->d,
                t->rows + j->first * t->d, 0, s);
    for (size_t k = 0; i->q / t->v == j->q / t->v && k < i->n; k++)
        s[k * j->n + k] = none;
}

/* Waking threads for less takes longer; products of such tiles use one. */
int
loss_tiles_for_threads(const struct loss_tiles *t)
{
    const size_t n = t->v * t->b;

    return n * n * t->d > (size_t)5 << 20;
}

/* Calls fn() for each tile, i <= j; with `cross` only for those of two views.
 * In round k block i meets block k - i, modulo their number. */
static void
each_tile(const struct loss_tiles *t, int cross, tile_fn *fn, float *dv)
{
    const size_t blocks = t->v * count_blocks(t), most = block_rows(t);

#pragma omp parallel if (loss_tiles_for_threads(t))
    {
        float *scratch = mem_unset(2 * most * most, sizeof *scratch);

        for (size_t round = 0; round < blocks; round++) {
            if (cross && t->v == 2 && round % 2 == 0)
                continue;
#pragma omp for schedule(dynamic)
            for (size_t q = 0; q < blocks; q++) {
                const struct block i = block_at(t, q);
                const struct block j =
                    block_at(t, (round + blocks - q) % blocks);

                if (i.q <= j.q && (!cross || i.view != j.view))
                    fn(t, &i, &j, scratch, dv);
            }
        }
        free(scratch);
    }
}

static void
fill_side(const struct loss_tiles *t, const struct loss_softmax *softmax,
          const struct block *of, size_t view, struct side *side)
{
    for (size_t k = 0; k < of->n; k++) {
        const size_t r = of->first + k;
        const struct loss_part *part = softmax->part + r * t->v + view;

        side->high[k] = (float)softmax->beta[r];
        side->low[k] = (float)(softmax->beta[r] - side->high[k]);
        side->max[k] = (float)part->sum.max;
        side->weight[k] = part->weight;
    }
}

static inline float
find_exponential(float high, float low, float far)
{
    const float x = far * high + far * low;

    return num_choose(x < -87, 0, num_exp(x));
}

/* Adds the sums of e and of e s of each row to row [m], and unless NULL those
 * of each column to column [n]. */
static UTIL_CLONES(void, add_tile,
                   (size_t m, size_t n, const struct side *side, const float *s,
                    struct loss_partial *row, struct loss_partial *column),
                   (m, n, side, s, row, column))
{
    float down[2][TILE + LANES], x[TILE + LANES];

    for (size_t i = 0; i < m; i++, s += n) {
        const float high = side->high[i], low = side->low[i];
        const float max = side->max[i];
        float part[LANES] = {0}, moment[LANES] = {0};

        if (i % FLUSH == 0)
            memset(down, 0, sizeof down);
        memcpy(x, s, n * sizeof *x);
        for (size_t k = 0; k < LANES; k++)
            x[n + k] = none;
        for (size_t c = 0; c < n; c += LANES)
            for (size_t k = 0; k < LANES; k++) {
                const float e = find_exponential(high, low, x[c + k] - max);

                part[k] += e;
                moment[k] += e * x[c + k];
                down[0][c + k] += e;
                down[1][c + k] += e * x[c + k];
            }
        for (size_t k = 0; k < LANES; k++) {
            row[i].sum += part[k];
            row[i].moment += moment[k];
        }
        for (size_t c = 0;
             column && c < n && (i % FLUSH == FLUSH - 1 || i + 1 == m); c++) {
            column[c].sum += down[0][c];
            column[c].moment += down[1][c];
        }
    }
}

/* Writes the mirror image [n,m] of a tile [m,n]. */
static void
mirror_tile(size_t m, size_t n, const float *s, float *to)
{
    for (size_t top = 0; top < m; top += SQUARE)
        for (size_t c = 0; c < n; c++)
            for (size_t i = top; i < m && i < top + SQUARE; i++)
                to[c * m + i] = s[i * n + c];
}

void
loss_partial_add(struct loss_partial *p, double beta,
                 const struct loss_partial *part)
{
    const double max = fmax(p->max, part->max);
    const double old = p->max == max ? 1 : exp(beta * (p->max - max));
    const double new = part->max == max ? 1 : exp(beta * (part->max - max));

    p->max = max;
    p->sum = old * p->sum + new * part->sum;
    p->moment = old * p->moment + new * part->moment;
}

/* Adds sums of a tile to those of the rows of a block with a view. */
static void
add_parts(const struct loss_tiles *t, const struct loss_softmax *softmax,
          const struct block *of, size_t view, const struct loss_partial *sum)
{
    for (size_t k = 0; k < of->n; k++)
        if (sum[k].max != (double)none) // else the row is alone in its block
            loss_partial_add(&softmax->part[(of->first + k) * t->v + view].sum,
                             softmax->beta[of->first + k], sum + k);
}

/* Adds a tile to the sums of its rows, and those of equal exponentials of its
 * columns to column [j->n]. */
static void
add_rows(const struct loss_tiles *t, const struct loss_softmax *softmax,
         const struct block *i, const struct block *j, const float *s,
         struct loss_partial *column)
{
    struct loss_partial row[TILE] = {{0, 0, 0}};
    struct side side;

    fill_side(t, softmax, i, j->view, &side);
    for (size_t k = 0; k < i->n; k++)
        row[k].max = side.max[k] =
            softmax->even ? 1 : num_max(j->n, s + k * j->n);
    add_tile(i->n, j->n, &side, s, row, column);
    add_parts(t, softmax, i, j->view, row);
}

static void
sum_tile(const struct loss_tiles *t, const struct block *i,
         const struct block *j, float *scratch, float *dv)
{
    float *stored = stored_tile(t, i, j), *s = stored ? stored : scratch;
    float *mirror = scratch + block_rows(t) * block_rows(t);

    (void)dv;
    fill_tile(t, i, j, s);
    for (size_t k = 0; k < t->n; k++) {
        const struct loss_softmax *softmax = t->softmax + k;
        struct loss_partial column[TILE];

        for (size_t c = 0; c < j->n; c++)
            column[c] = (struct loss_partial){1, 0, 0};
        add_rows(t, softmax, i, j, s, softmax->even ? column : NULL);
        if (i->q == j->q)
            continue;
        if (softmax->even) {
            add_parts(t, softmax, j, i->view, column);
        } else {
            mirror_tile(i->n, j->n, s, mirror);
            add_rows(t, softmax, j, i, mirror, NULL);
        }
    }
}

void
loss_tiles_add(struct loss_tiles *t, const double *beta)
{
    const size_t n = t->v * t->b;
    struct loss_softmax *softmax = t->softmax + t->n++;

    *softmax =
        (struct loss_softmax){beta, mem_array(n * t->v, sizeof *softmax->part),
                              0, beta[0] <= steepest};
    for (size_t r = 1; r < n; r++)
        softmax->even &= beta[r] == beta[0];
    for (size_t i = 0; i < n * t->v; i++)
        softmax->part[i].sum.max = -INFINITY;
}

void
loss_tiles_release(struct loss_tiles *t)
{
    for (size_t k = 0; k < t->n; k++)
        free(t->softmax[k].part);
}

double *
loss_tiles_sums(const struct loss_tiles *t)
{
    const size_t v = t->v, b = t->b, d = t->d;
    double *score = mem_array(v * b * v, sizeof *score);

    each_tile(t, 0, sum_tile, NULL);
#pragma omp parallel for schedule(static) if (loss_tiles_for_threads(t))
    for (size_t k = 0; k < b; k++)
        for (size_t u = 0; u < v; u++)
            for (size_t w = 0; w < u; w++)
                score[(u * b + k) * v + w] = score[(w * b + k) * v + u] =
                    num_dot(d, t->rows + (u * b + k) * d,
                            t->rows + (w * b + k) * d);
    return score;
}

/* g += the weights of rows and of columns; of equal exponentials if even. */
static UTIL_CLONES(void, weigh_tile,
                   (size_t m, size_t n, int even, const struct side *row,
                    const struct side *column, const float *s, float *g),
                   (m, n, even, row, column, s, g))
{
    for (size_t i = 0; i < m; i++, s += n, g += n) {
        const float high = row->high[i], low = row->low[i];
        const float max = row->max[i], weight = row->weight[i];

        for (size_t c = 0; even && c < n; c++)
            g[c] += (weight + column->weight[c]) *
                    find_exponential(high, low, s[c] - max);
        for (size_t c = 0; !even && c < n; c++)
            g[c] += weight * find_exponential(high, low, s[c] - max) +
                    column->weight[c] * find_exponential(column->high[c],
                                                         column->low[c],
                                                         s[c] - column->max[c]);
    }
}

/* Adds the weights of one side, by its factors and by zeros for the other, to
 * the shares of its rows; those are the columns of the tile if `down`. */
static void
share_tile(const struct loss_tiles *t, const struct block *i,
           const struct block *j, int down, const float *s, float *w)
{
    const struct block *of = down ? j : i, *others = down ? i : j;
    const struct side zero = {{0}, {0}, {0}, {0}};
    struct side side;

    memset(w, 0, i->n * j->n * sizeof *w);
    for (size_t k = 0; k < t->n; k++) {
        fill_side(t, t->softmax + k, of, others->view, &side);
        if (t->softmax[k].has_weight)
            weigh_tile(i->n, j->n, 0, down ? &zero : &side,
                       down ? &side : &zero, s, w);
    }
    for (size_t k = 0; k < of->n; k++) {
        const size_t r = of->first + k;

        for (size_t c = 0; c < others->n; c++) {
            const double x = down ? w[c * j->n + k] : w[k * j->n + c];
            const int same =
                t->group[others->first + c] == t->group[r] && t->group[r] >= 0;

            t->share[2 * r] += x > 0 ? x : 0;
            t->share[2 * r + 1] += x > 0 && same ? x : 0;
        }
    }
}

static void
push_tile(const struct loss_tiles *t, const struct block *i,
          const struct block *j, float *scratch, float *dv)
{
    const float *v = t->rows, *s = stored_tile(t, i, j);
    float *g = scratch + block_rows(t) * block_rows(t);
    struct side row, column;

    if (!s) {
        fill_tile(t, i, j, scratch);
        s = scratch;
    }
    for (int down = 0; t->share && down < (i->q == j->q ? 1 : 2); down++)
        share_tile(t, i, j, down, s, g);
    memset(g, 0, i->n * j->n * sizeof *g);
    for (size_t k = 0; k < t->n; k++) {
        if (!t->softmax[k].has_weight)
            continue;
        fill_side(t, t->softmax + k, i, j->view, &row);
        fill_side(t, t->softmax + k, j, i->view, &column);
        weigh_tile(i->n, j->n, t->softmax[k].even, &row, &column, s, g);
    }
    num_gemm_nn(i->n, t->d, j->n, 1, g, v + j->first * t->d, 1,
                dv + i->first * t->d);
    if (i->q != j->q)
        num_gemm_tn(j->n, t->d, i->n, 1, g, v + i->first * t->d, 1,
                    dv + j->first * t->d);
}

void
loss_tiles_gradient(const struct loss_tiles *t, const double *own, float *dv)
{
    const size_t v = t->v, b = t->b, d = t->d;

#pragma omp parallel for schedule(static) if (loss_tiles_for_threads(t))
    for (size_t k = 0; k < b; k++)
        for (size_t u = 0; u < v; u++)
            for (size_t w = 0; w < v; w++)
                if (w != u)
                    num_axpy(d,
                             (float)(own[(u * b + k) * v + w] +
                                     own[(w * b + k) * v + u]),
                             t->rows + (w * b + k) * d, dv + (u * b + k) * d);
    each_tile(t, t->cross, push_tile, dv);
}
