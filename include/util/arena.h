#pragma once

#include <stddef.h>

/*
 * Scratch memory for repeated work: arrays are taken one after another and
 * returned together, and the next round reuses their memory.
 *
 * An arena of zeros is empty.  Not thread-safe.
 */
struct arena {
    size_t n, room; /* pieces in use; pieces allocated */
    struct arena_piece {
        char *bytes;
        size_t room;
    } * piece; /* the k-th taken array is in piece k */
};

/* arena_begin() returns all arrays to the arena. */
void arena_begin(struct arena *arena);

/* arena_take() returns an array of n items of `size` bytes, not initialised and
 * valid until arena_begin() or arena_release().  Out of memory: the process
 * ends. */
void *arena_take(struct arena *arena, size_t n, size_t size);

/* arena_release() frees all memory; the arena is empty then. */
void arena_release(struct arena *arena);
