#pragma once

#include <stddef.h>

/*
 * Processes that compute a step together: `size` ranks, a power of two.  Rank 0
 * is the leader, the others are followers.  Communication is by a table of
 * functions: MPI in foil-train-mpi, threads in tests.  All ranks call bcast(),
 * order(), scatter() and gather() in the same order, with the same lengths;
 * each returns when its arrays may be used again.  None returns an error: a
 * failure ends all ranks.
 *
 * Only one thread of a rank at a time.
 */
struct ranks {
    void *self; /* first argument of each */
    size_t rank, size;
    const double *seconds; /* spent in these functions so far; or NULL */

    /* Copy data[bytes] of rank 0 to all.  Followers may wait long in order()
     * between two steps: it sleeps instead of spinning. */
    void (*bcast)(void *self, void *data, size_t bytes);
    void (*order)(void *self, void *data, size_t bytes);

    /* Copy between `all` of rank 0 and `own` of each rank r: `own` is the bytes
     * from[r] .. from[r + 1] - 1 of `all`; from [size + 1], from[0] = 0.  Rank
     * 0's bytes stay in `all`: its `own` is ignored. */
    void (*scatter)(void *self, const void *all, const size_t *from, void *own);
    void (*gather)(void *self, const void *own, const size_t *from, void *all);

    /*
     * Point to point: both ranks call these.  swap_begin() starts to send n_out
     * bytes to the peer and to receive n_in, in the background.  swap_done()
     * makes progress and returns 1 once the arrays may be used again, else 0;
     * swap_end() waits until they may.  The swap is freed by swap_end(), or
     * when swap_done() returns 1.  Swaps of a pair of ranks at the same time
     * must have different tags, >= 0, the same on both sides.
     */
    void *(*swap_begin)(void *self, size_t peer, int tag, const void *out,
                        size_t n_out, void *in, size_t n_in);
    int (*swap_done)(void *self, void *swap);
    void (*swap_end)(void *self, void *swap);
};

/*
 * ranks_sum() sums x[n] over all ranks, element by element:
 *
 *     x = ((x_0 + x_1) + (x_2 + x_3)) + ((x_4 + x_5) + (x_6 + x_7))
 *
 * for 8 of them.  If x of each rank is such a tree over 2^k terms, the sum is
 * one tree over all terms, so its bits do not depend on the distribution of
 * terms over ranks.  Each rank exchanges halves with the rank at distance 1, 2,
 * 4 .., and receives them back in reverse (Thakur, Rabenseifner and Gropp 2005,
 * doi:10.1177/1094342005051521): it sends about 2 (size - 1) / size n floats.
 *   work  [(n + 1) / 2]
 */
void ranks_sum(const struct ranks *ranks, float *x, size_t n, float *work);

/*
 * The same sum of an array that is computed piece by piece, in the background:
 *
 *     ranks_pieces_init()    before the first piece of each array
 *     ranks_pieces_begin()   starts the sum of x[n], which the caller must not
 *                            use until the end
 *     ranks_pieces_progress()    makes progress; call it from time to time
 *     ranks_pieces_end()     waits until all pieces are summed
 *
 * All ranks begin the same pieces in the same order, at most RANKS_PIECES.
 *   work  [sum of (n + 1) / 2 over the pieces]
 */
enum { RANKS_PIECES = 64 };

struct ranks_pieces {
    const struct ranks *ranks;
    float *work; /* of the next piece */
    size_t n;
    struct ranks_piece {
        float *x, *work;
        size_t n;
        size_t phase; /* exchanges completed */
        void *swap;   /* the current one; NULL: the sum is complete */
    } piece[RANKS_PIECES];
};

void ranks_pieces_init(struct ranks_pieces *pieces, const struct ranks *ranks,
                       float *work);
void ranks_pieces_begin(struct ranks_pieces *pieces, float *x, size_t n);
void ranks_pieces_progress(struct ranks_pieces *pieces);
void ranks_pieces_end(struct ranks_pieces *pieces);

/*
 * ranks_send_begin() starts a scatter() in the background:
 * ranks_send_progress() makes progress; ranks_send_end() waits for it and frees
 * it, and does nothing to a zeroed struct.  Until then the caller must not use
 * `all` and `own`.
 *
 *     tag   RANKS_SEND or above
 */
enum { RANKS_SEND = RANKS_PIECES + 1 };

struct ranks_send {
    const struct ranks *ranks;
    size_t n;
    void **swap; /* [n] with other ranks; NULL: done */
};

void ranks_send_begin(struct ranks_send *send, const struct ranks *ranks,
                      int tag, const void *all, const size_t *from, void *own);
void ranks_send_progress(struct ranks_send *send);
void ranks_send_end(struct ranks_send *send);

/*
 * ranks_add() is the same sum, by the same tree, of x[n] in double, for few
 * numbers: each of log2 size exchanges sends all of them.
 *   work  [n]
 */
void ranks_add(const struct ranks *ranks, double *x, size_t n, double *work);
