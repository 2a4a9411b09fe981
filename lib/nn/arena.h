#ifndef NN_ARENA_H
#define NN_ARENA_H

#include <stddef.h>

/*
 * Assigns offsets in a shared block to buffers with limited lifetimes: each
 * gets the first gap that is wide enough.  It computes only offsets and never
 * touches the block.  The caller frees `live` at the end.
 */
struct nn_arena {
    size_t start, most; /* offset of the first byte; size so far */
    struct nn_range {
        size_t at, bytes;
    } * live; /* [n], by offset */
    size_t n, room;
};

/* nn_aligned() rounds a size up to a multiple of 64 bytes. */
size_t nn_aligned(size_t bytes);

/* nn_arena_take() allocates a range and returns its offset; nn_arena_enter()
 * allocates the range at `at`, even if it overlaps others.  O(n). */
size_t nn_arena_take(struct nn_arena *arena, size_t bytes);
void nn_arena_enter(struct nn_arena *arena, size_t at, size_t bytes);

/* nn_arena_free() frees the range of that offset and size. */
void nn_arena_free(struct nn_arena *arena, size_t at, size_t bytes);

/* nn_arena_scratch() allocates and frees a range: scratch of one operator. */
size_t nn_arena_scratch(struct nn_arena *arena, size_t bytes);

#endif
