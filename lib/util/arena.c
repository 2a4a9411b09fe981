#include <stdint.h>
#include <stdlib.h>

#include "util/arena.h"
#include "util/err.h"
#include "util/mem.h"

void
arena_begin(struct arena *arena)
{
    arena->n = 0;
}

void *
arena_take(struct arena *arena, size_t n, size_t size)
{
    const size_t old = arena->room;
    struct arena_piece *piece;

    mem_grow(&arena->piece, &arena->room, arena->n + 1, sizeof *arena->piece);
    for (size_t i = old; i < arena->room; i++)
        arena->piece[i] = (struct arena_piece){0};
    piece = arena->piece + arena->n++;
    REQUIRE(size && n < SIZE_MAX / 2);
    // an array of no items has an address, too; old contents are lost
    if (piece->room / size <= n) {
        const size_t more = n + n / 8 + 1;

        free(piece->bytes);
        piece->bytes = mem_array(more, size);
        piece->room = more * size;
    }
    return piece->bytes;
}

void
arena_release(struct arena *arena)
{
    for (size_t i = 0; i < arena->room; i++)
        free(arena->piece[i].bytes);
    free(arena->piece);
    *arena = (struct arena){0};
}
