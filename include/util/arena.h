#ifndef UTIL_ARENA_H
#define UTIL_ARENA_H

#include <stddef.h>

/*
 * Scratch memory for work that is done again and again: arrays are taken one
 * after the other and given back together, and their memory is kept for the
 * next time.
 *
 * An arena of zeros is empty.  Not for two threads at once.
 */
struct arena {
    size_t n, room; /* pieces that are taken; that there are */
    struct arena_piece {
        char *bytes;
        size_t room;
    } * piece; /* the k-th taken array is in piece k */
};

/* arena_begin() gives back all that was taken. */
void arena_begin(struct arena *arena);

/*
 * arena_take() returns an array of n items of `size` bytes, not initialised,
 * until arena_begin() or arena_release().  Out of memory: the process ends.
 */
void *arena_take(struct arena *arena, size_t n, size_t size);

/* arena_release() frees all memory; the arena is empty then. */
void arena_release(struct arena *arena);

#endif
