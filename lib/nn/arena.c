#include "util/err.h"
#include "util/mem.h"

#include "arena.h"

enum { ALIGN = 64 };

size_t
nn_aligned(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

void
nn_arena_enter(struct nn_arena *arena, size_t at, size_t bytes)
{
    size_t i = arena->n;

    mem_grow(&arena->live, &arena->room, arena->n + 1, sizeof *arena->live);
    for (arena->n++; i > 0 && arena->live[i - 1].at > at; i--)
        arena->live[i] = arena->live[i - 1];
    arena->live[i] = (struct nn_range){at, nn_aligned(bytes)};
    if (arena->most < at + nn_aligned(bytes) - arena->start)
        arena->most = at + nn_aligned(bytes) - arena->start;
}

size_t
nn_arena_take(struct nn_arena *arena, size_t bytes)
{
    size_t at = arena->start;

    for (size_t i = 0; i < arena->n; i++) {
        const struct nn_range *live = &arena->live[i];

        if (at + nn_aligned(bytes) <= live->at)
            break;
        if (at < live->at + live->bytes)
            at = live->at + live->bytes;
    }
    nn_arena_enter(arena, at, bytes);
    return at;
}

void
nn_arena_free(struct nn_arena *arena, size_t at, size_t bytes)
{
    size_t i = 0;

    while (i < arena->n && (arena->live[i].at != at ||
                            arena->live[i].bytes != nn_aligned(bytes)))
        i++;
    REQUIRE(i < arena->n);
    arena->n--;
    for (; i < arena->n; i++)
        arena->live[i] = arena->live[i + 1];
}

size_t
nn_arena_scratch(struct nn_arena *arena, size_t bytes)
{
    size_t at;

    if (!bytes)
        return arena->start;
    at = nn_arena_take(arena, bytes);
    nn_arena_free(arena, at, bytes);
    return at;
}
