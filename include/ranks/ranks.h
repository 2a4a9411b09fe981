#ifndef RANKS_RANKS_H
#define RANKS_RANKS_H

#include <stddef.h>

/*
 * Processes that compute a step together: `size` ranks, a power of two, of
 * which rank 0 leads and the others follow.  A table of functions carries the
 * bytes: by MPI in foil-train-mpi, between threads in tests.  All ranks call
 * bcast(), order(), scatter() and gather() in one order, with the same lengths;
 * each returns when its arrays may be used again.  None returns an error: a
 * failure ends all ranks.
 *
 * Not for two threads of a rank at once.
 */
struct ranks {
    void *self; /* first argument of each */
    size_t rank, size;
    const double *seconds; /* spent in these functions so far; or NULL */

    /* Copy data[bytes] of rank 0 to all.  Followers wait in order() for long
     * between two steps: there they sleep, and do not spin. */
    void (*bcast)(void *self, void *data, size_t bytes);
    void (*order)(void *self, void *data, size_t bytes);

    /* Between `all`, of rank 0 alone, and `own` of each rank, of which it has
     * the bytes from[r] .. from[r + 1] - 1:  from [size + 1], from[0] = 0.
     * Rank 0's own bytes stay in `all`: its `own` is not looked at. */
    void (*scatter)(void *self, const void *all, const size_t *from, void *own);
    void (*gather)(void *self, const void *own, const size_t *from, void *all);

    /*
     * Between two ranks, which both call it: other ranks need not.
     * swap_begin() sends n_give bytes to the peer and receives n_take, while
     * both compute; swap_done() moves the swap on and returns 1 once the arrays
     * may be used again, else 0; swap_end() waits until they may.  After that
     * 1, or swap_end(), the swap is freed.  Two swaps of a pair of ranks that
     * are under way at once have different tags, >= 0, the same at both ends.
     */
    void *(*swap_begin)(void *self, size_t peer, int tag, const void *give,
                        size_t n_give, void *take, size_t n_take);
    int (*swap_done)(void *self, void *swap);
    void (*swap_end)(void *self, void *swap);
};

/*
 * ranks_sum() sums x[n] over all ranks, element by element:
 *
 *     x = ((x_0 + x_1) + (x_2 + x_3)) + ((x_4 + x_5) + (x_6 + x_7))
 *
 * for 8 of them.  Where x of each rank is itself such a tree over 2^k terms,
 * the sum is one tree over all terms, so that its bits do not depend on which
 * rank has which.  Each rank exchanges halves with the rank at distance 1, 2,
 * 4 .., and gets them back in reverse (Thakur, Rabenseifner and Gropp 2005,
 * doi:10.1177/1094342005051521): it sends about 2 (size - 1) / size n floats.
 *   work  [(n + 1) / 2]
 */
void ranks_sum(const struct ranks *ranks, float *x, size_t n, float *work);

/*
 * The same sum of an array that is computed piece by piece, while the pieces
 * before are under way:
 *
 *     ranks_pieces_init()    before the first piece of each array
 *     ranks_pieces_begin()   x[n] is computed, and not to be touched any more
 *     ranks_pieces_poke()    moves them on; to be called now and again
 *     ranks_pieces_end()     waits until all pieces are summed
 *
 * All ranks begin the same pieces in the same order, RANKS_PIECES at most: more
 * are a bug.
 *   work  [(n + 1) / 2 of each piece, added up]
 */
enum { RANKS_PIECES = 64 };

struct ranks_pieces {
    const struct ranks *ranks;
    float *work; /* of the next piece */
    size_t n;
    struct ranks_piece {
        float *x, *work;
        size_t n;
        size_t phase; /* exchanges that were made */
        void *swap;   /* the one under way; NULL: it has its sum */
    } piece[RANKS_PIECES];
};

void ranks_pieces_init(struct ranks_pieces *pieces, const struct ranks *ranks,
                       float *work);
void ranks_pieces_begin(struct ranks_pieces *pieces, float *x, size_t n);
void ranks_pieces_poke(struct ranks_pieces *pieces);
void ranks_pieces_end(struct ranks_pieces *pieces);

/*
 * ranks_send_begin() is a scatter() that goes on while all compute, as pieces
 * do: ranks_send_poke() moves it on; ranks_send_end() waits for it and frees
 * it, and is harmless where nothing is under way.  Until then `all` and `own`
 * are not to be touched.
 *
 *     tag   RANKS_SEND or above
 */
enum { RANKS_SEND = RANKS_PIECES + 1 };

struct ranks_send {
    const struct ranks *ranks;
    size_t n;
    void **swap; /* [n] with others, NULL: done */
};

void ranks_send_begin(struct ranks_send *send, const struct ranks *ranks,
                      int tag, const void *all, const size_t *from, void *own);
void ranks_send_poke(struct ranks_send *send);
void ranks_send_end(struct ranks_send *send);

/*
 * ranks_add() is the same sum, by the same tree, of x[n] in double: for few
 * numbers, as each of log2 size exchanges sends all of them.
 *   work  [n]
 */
void ranks_add(const struct ranks *ranks, double *x, size_t n, double *work);

#endif
