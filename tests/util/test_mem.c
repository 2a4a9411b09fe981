#include <malloc.h>
#include <stdint.h>

#include "child.h"
#include "t.h"
#include "util/mem.h"

static void
array_too_large(const void *arg)
{
    free(mem_array(*(const size_t *)arg, 16));
}

static void
aligned_too_large(const void *arg)
{
    free(mem_aligned(*(const size_t *)arg, 16));
}

static void
grow_too_large(const void *arg)
{
    char *p = NULL;
    size_t room = 0;

    mem_grow(&p, &room, *(const size_t *)arg, 16);
    free(p);
}

static int
all_zero(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return 0;
    return 1;
}

static void
arrays(void)
{
    unsigned char *p = mem_array(1000, 8), *q = mem_array(0, 8);

    T(all_zero(p, 8000), "an array is zeroed");
    T(q, "an empty one exists");
    free(p);
    free(q);

    for (size_t n = 0; n < 200; n += 37) {
        p = mem_aligned(n, 3);
        T((uintptr_t)p % 64 == 0 && all_zero(p, 3 * n),
          "%zu x 3 on 64 bytes, zeroed", n);
        free(p);
    }
    p = mem_aligned((4 << 20) + 1, 1);
    T((uintptr_t)p % (2 << 20) == 0 && all_zero(p, (4 << 20) + 1),
      "a large one on a boundary of huge pages, zeroed");
    free(p);
    p = mem_unset(100, 3);
    memset(p, 0, 300);
    T((uintptr_t)p % 64 == 0 && all_zero(p, 300), "one without initialisation");
    free(p);
}

static void
several(void)
{
    const size_t before = mallinfo2().uordblks;
    char *p = mem_array(50000, 1), *q = mem_array(50000, 1);

    mem_free(p, NULL, q);
    T(mallinfo2().uordblks == before, "mem_free() frees all blocks");
}

static void
growth(void)
{
    int *p = NULL, wrong = 0;
    size_t room = 0, moves = 0;

    for (size_t i = 0; i < 10000; i++) {
        size_t before = room;

        mem_grow(&p, &room, i + 1, sizeof *p);
        moves += room != before;
        p[i] = (int)i;
    }
    for (int i = 0; i < 10000; i++)
        wrong += p[i] != i;
    T(!wrong, "old items stay");
    T(room >= 10000 && moves < 30, "%zu moves for 10,000 items", moves);
    free(p);
}

static void
texts(void)
{
    char *a = mem_text("foil"), *b = mem_format("%s-%05d", a, 12);
    char *c = mem_format("%300d", 1);
    char *d = NULL;

    T(!strcmp(a, "foil"), "copy");
    T(!strcmp(b, "foil-00012"), "format");
    T(strlen(c) == 300, "a long one");
    mem_append(&d, "%s", "one");
    mem_append(&d, ", %d", 2);
    T(!strcmp(d, "one, 2"), "appended text");
    free(a);
    free(b);
    free(c);
    free(d);
}

static void
temporary_texts(void)
{
    const char *text[9];

    for (int i = 0; i < 9; i++)
        text[i] = mem_temp("%s/%d", "run", i);
    T(!strcmp(text[1], "run/1") && !strcmp(text[7], "run/7"),
      "eight texts are there at a time");
    T(text[8] == text[0] && !strcmp(text[0], "run/8"), "the next one reuses");
    T(strlen(mem_temp("%5000d", 1)) > 4095, "a path that is too long");
}

static void
too_much_ends_the_process(void)
{
    size_t n = SIZE_MAX / 8;

    T(child_run(array_too_large, &n).code != 0, "array overflow");
    T(child_run(aligned_too_large, &n).code != 0, "aligned overflow");
    T(child_run(grow_too_large, &n).code != 0, "growth overflow");
}

int
main(void)
{
    arrays();
    several();
    growth();
    texts();
    temporary_texts();
    too_much_ends_the_process();
    return t_done();
}
