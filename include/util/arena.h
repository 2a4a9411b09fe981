#ifndef UTIL_ARENA_H
#define UTIL_ARENA_H

#include <stddef.h>

/*
 * Scratch of work that is done again and again: arrays that are taken one after
 * the other and given back together, with their memory kept for the next time.
 *
 * An arena of zeros is empty.  Not for two threads at once.
 */
struct arena {
    size_t n, room; /* taken; there are so many pieces */
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

void arena_release(struct arena *arena);

#endif
