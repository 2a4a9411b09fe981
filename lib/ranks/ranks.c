#include <stdlib.h>

#include "ranks/ranks.h"
#include "util/err.h"
#include "util/mem.h"

/* A cut of x into two parts: this rank sums `own`, its peer sums `other`. */
struct cut {
    size_t peer, n_own, n_other;
    float *own, *other;
};

static struct cut
cut_part(const struct ranks *ranks, float *x, size_t n, size_t distance)
{
    const int upper = (ranks->rank & distance) != 0;
    const size_t lower = (n + 1) / 2;

    return (struct cut){
        .peer = ranks->rank ^ distance,
        .n_own = upper ? n - lower : lower,
        .n_other = upper ? lower : n - lower,
        .own = upper ? x + lower : x,
        .other = upper ? x : x + lower,
    };
}

static size_t
count_levels(const struct ranks *ranks)
{
    size_t levels = 0;

    while ((size_t)1 << levels < ranks->size)
        levels++;
    return levels;
}

/* The cut of an exchange: phases go up the levels, then back. */
static struct cut
cut_at(const struct ranks *ranks, const struct ranks_piece *piece)
{
    const size_t levels = count_levels(ranks), phase = piece->phase;
    const size_t level = phase < levels ? phase : 2 * levels - 1 - phase;
    struct cut cut = cut_part(ranks, piece->x, piece->n, 1);

    for (size_t k = 1; k <= level; k++)
        cut = cut_part(ranks, cut.own, cut.n_own, (size_t)1 << k);
    return cut;
}

static void
begin_exchange(const struct ranks *ranks, struct ranks_piece *piece, int tag)
{
    const size_t levels = count_levels(ranks), bytes = sizeof *piece->x;
    const int back = piece->phase >= levels;
    struct cut cut;

    piece->swap = NULL;
    if (piece->phase == 2 * levels)
        return;
    cut = cut_at(ranks, piece);
    piece->swap = ranks->swap_begin(ranks->self, cut.peer, tag,
                                    back ? cut.own : cut.other,
                                    (back ? cut.n_own : cut.n_other) * bytes,
                                    back ? cut.other : piece->work,
                                    (back ? cut.n_other : cut.n_own) * bytes);
}

/* On the way up adds the received part; then starts the next exchange. */
static void
finish_exchange(const struct ranks *ranks, struct ranks_piece *piece, int tag)
{
    if (piece->phase < count_levels(ranks)) {
        const struct cut cut = cut_at(ranks, piece);

        for (size_t i = 0; i < cut.n_own; i++)
            cut.own[i] += piece->work[i];
    }
    piece->phase++;
    begin_exchange(ranks, piece, tag);
}

static void
end_exchanges(const struct ranks *ranks, struct ranks_piece *piece, int tag)
{
    while (piece->swap) {
        ranks->swap_end(ranks->self, piece->swap);
        finish_exchange(ranks, piece, tag);
    }
}

void
ranks_sum(const struct ranks *ranks, float *x, size_t n, float *work)
{
    struct ranks_piece piece = {.x = x, .n = n, .work = work};

    begin_exchange(ranks, &piece, 0);
    end_exchanges(ranks, &piece, 0);
}

void
ranks_pieces_init(struct ranks_pieces *pieces, const struct ranks *ranks,
                  float *work)
{
    pieces->ranks = ranks;
    pieces->work = work;
    pieces->n = 0;
}

/* Tag 0 is for ranks_sum() and ranks_add(). */
void
ranks_pieces_begin(struct ranks_pieces *pieces, float *x, size_t n)
{
    struct ranks_piece *piece = pieces->piece + pieces->n++;

    REQUIRE(pieces->n <= RANKS_PIECES);
    *piece = (struct ranks_piece){.x = x, .n = n, .work = pieces->work};
    pieces->work += (n + 1) / 2;
    begin_exchange(pieces->ranks, piece, (int)pieces->n);
}

void
ranks_pieces_progress(struct ranks_pieces *pieces)
{
    const struct ranks *ranks = pieces->ranks;

    for (size_t i = 0; i < pieces->n; i++) {
        struct ranks_piece *piece = pieces->piece + i;

        while (piece->swap && ranks->swap_done(ranks->self, piece->swap))
            finish_exchange(ranks, piece, (int)i + 1);
    }
}

void
ranks_pieces_end(struct ranks_pieces *pieces)
{
    for (size_t i = 0; i < pieces->n; i++)
        end_exchanges(pieces->ranks, pieces->piece + i, (int)i + 1);
    pieces->n = 0;
}

void
ranks_send_begin(struct ranks_send *send, const struct ranks *ranks, int tag,
                 const void *all, const size_t *from, void *own)
{
    const size_t rank = ranks->rank, to = rank ? rank + 1 : ranks->size;

    *send = (struct ranks_send){.ranks = ranks};
    send->swap = mem_array(ranks->size, sizeof(void *));
    for (size_t r = rank ? rank : 1; r < to; r++) {
        const size_t bytes = from[r + 1] - from[r];

        if (bytes && rank)
            send->swap[send->n++] =
                ranks->swap_begin(ranks->self, 0, tag, NULL, 0, own, bytes);
        else if (bytes)
            send->swap[send->n++] =
                ranks->swap_begin(ranks->self, r, tag,
                                  (const char *)all + from[r], bytes, NULL, 0);
    }
}

void
ranks_send_progress(struct ranks_send *send)
{
    for (size_t i = 0; i < send->n; i++)
        if (send->swap[i] &&
            send->ranks->swap_done(send->ranks->self, send->swap[i]))
            send->swap[i] = NULL;
}

void
ranks_send_end(struct ranks_send *send)
{
    for (size_t i = 0; i < send->n; i++)
        if (send->swap[i])
            send->ranks->swap_end(send->ranks->self, send->swap[i]);
    free(send->swap);
    *send = (struct ranks_send){.n = 0};
}

/* Both ranks of a pair get the same bits, because a + b = b + a. */
void
ranks_add(const struct ranks *ranks, double *x, size_t n, double *work)
{
    for (size_t distance = 1; distance < ranks->size; distance *= 2) {
        void *swap = ranks->swap_begin(ranks->self, ranks->rank ^ distance, 0,
                                       x, n * sizeof *x, work, n * sizeof *x);

        ranks->swap_end(ranks->self, swap);
        for (size_t i = 0; i < n; i++)
            x[i] += work[i];
    }
}
