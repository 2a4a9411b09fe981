#include <stdint.h>
#include <string.h>

#include "t.h"
#include "util/arena.h"

enum { ARRAYS = 40 };

/* Fills an array with its own byte. */
static void
fill(char *bytes, size_t n, size_t k)
{
    memset(bytes, (int)k + 1, n);
}

static int
is_filled(const char *bytes, size_t n, size_t k)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != (char)(k + 1))
            return 0;
    return 1;
}

/* Taking more arrays does not change earlier ones, in rounds of different
 * sizes. */
static void
arrays_stay_apart(void)
{
    struct arena arena = {0};
    int good = 1;

    for (size_t turn = 0; turn < 5; turn++) {
        char *at[ARRAYS];

        arena_begin(&arena);
        for (size_t k = 0; k < ARRAYS; k++) {
            at[k] = arena_take(&arena, k * (turn % 3 + 1), 8);
            fill(at[k], 8 * k * (turn % 3 + 1), k);
            good &= (uintptr_t)at[k] % 16 == 0;
        }
        for (size_t k = 0; k < ARRAYS; k++)
            good &= is_filled(at[k], 8 * k * (turn % 3 + 1), k);
    }
    T(good, "%d arrays keep their contents, also after larger ones", ARRAYS);
    arena_release(&arena);
    arena_release(&arena);
    T(!arena.n && !arena.room, "released twice is harmless");
}

static void
memory_is_used_again(void)
{
    struct arena arena = {0};
    const void *first, *again;

    first = arena_take(&arena, 100, 4);
    arena_begin(&arena);
    again = arena_take(&arena, 50, 8);
    T(first == again, "returned memory is reused");
    T(arena_take(&arena, 0, 8) != NULL, "an empty array has an address");
    arena_release(&arena);
}

int
main(void)
{
    arrays_stay_apart();
    memory_is_used_again();
    return t_done();
}
