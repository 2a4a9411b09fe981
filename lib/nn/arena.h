#ifndef NN_ARENA_H
#define NN_ARENA_H

#include <stddef.h>

/*
 * Places for what lives for a while, in a part of a block that is shared: each
 * takes the first gap that is wide enough.  Only offsets are kept here; nothing
 * is read or written.  `live` is to be freed at the end.
 */
struct nn_arena {
    size_t start, most; /* where it begins, and its size so far */
    struct nn_living {
        size_t at, bytes;
    } * live; /* [n], by place */
    size_t n, room;
};

/* nn_aligned() returns the bytes that something takes: a multiple of 64. */
size_t nn_aligned(size_t bytes);

/* nn_arena_take() finds a place, nn_arena_enter() takes the one given, which
 * may be shared with what lives there; O(n). */
size_t nn_arena_take(struct nn_arena *arena, size_t bytes);
void nn_arena_enter(struct nn_arena *arena, size_t at, size_t bytes);

/* nn_arena_give_back() ends what lives at a place.  Where something else begins
 * there, its size tells which of both goes. */
void nn_arena_give_back(struct nn_arena *arena, size_t at, size_t bytes);

/* nn_arena_scratch() returns a place for the time of one operator. */
size_t nn_arena_scratch(struct nn_arena *arena, size_t bytes);

#endif
