#define _DEFAULT_SOURCE // syscall()

#ifdef __x86_64__
#include <asm/prctl.h>
#include <cpuid.h>
#include <immintrin.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#include <string.h>

#include "num/dnn.h"

#include "half_product.h"
#include "lanes.h"
#include "tile_product.h"

/* Products of bfloat16 by the tiles of AMX, 16 rows of 64 bytes each: one
 * instruction multiplies two tiles and adds to a third.  The words of a panel
 * are in the layout of its right operand. */
#ifdef __x86_64__
enum {
    TILE = 16,          /* rows of a tile, and words of a row */
    WIDE = 2 * TILE,    /* columns of a panel at a time */
    STATE = 18,         /* of the kernel's ARCH_REQ_XCOMP_PERM: tiles */
    HAS_BF16 = 1 << 22, /* cpuid 7, edx */
    HAS_TILES = 1 << 24
};

#define TILES __attribute__((target("amx-tile,amx-bf16")))

/* All eight tiles of full size: sums 0 .. 3, two of rows, two of columns. */
static const struct {
    uint8_t palette, start, none[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} all_whole = {.palette = 1,
               .bytes = {64, 64, 64, 64, 64, 64, 64, 64},
               .rows = {16, 16, 16, 16, 16, 16, 16, 16}};

TILES static void
begin_tiles(void)
{
    _tile_loadconfig(&all_whole);
}

TILES static void
end_tiles(void)
{
    _tile_release();
}

/* Copies words of `rows` rows that are `row` apart, padded with zeros to a
 * whole tile. */
static void
fill_tiles(const uint32_t *from, size_t row, size_t rows, size_t words,
           uint32_t *to, size_t width, size_t all)
{
    memset(to, 0, all * width * sizeof *to);
    for (size_t i = 0; i < rows; i++)
        memcpy(to + i * width, from + i * row, words * sizeof *to);
    // gcc 12 does not know that tiles are loaded from there
    __asm__ volatile("" ::: "memory");
}

TILES static inline void
zero_sums(void)
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
}

/* Computes WIDE columns from `at` on. */
TILES static void
multiply_tiles(const struct half_product *p, size_t at)
{
    const int two = p->rows > TILE;
    const size_t line = HALF_PANEL * sizeof *p->c;
    float *c = p->c + at;
    uint32_t rows[2 * TILE * TILE], columns[TILE * WIDE];

    zero_sums();
    for (size_t k = 0; k < p->depth; k += TILE) {
        const size_t words = p->depth - k < TILE ? p->depth - k : TILE;
        const uint32_t *a = p->a + k, *b = p->b + k * HALF_PANEL + at;
        size_t row = p->row, column = HALF_PANEL;

        if (words < TILE || p->rows % TILE) {
            fill_tiles(a, row, p->rows, words, rows, TILE, WIDE);
            a = rows;
            row = TILE;
        }
        if (words < TILE) {
            fill_tiles(b, column, words, WIDE, columns, WIDE, TILE);
            b = columns;
            column = WIDE;
        }
        _tile_loadd(4, a, row * sizeof *a);
        _tile_loadd(6, b, column * sizeof *b);
        _tile_loadd(7, b + TILE, column * sizeof *b);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        if (two) {
            _tile_loadd(5, a + TILE * row, row * sizeof *a);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
        }
    }
    _tile_stored(0, c, line);
    _tile_stored(1, c + TILE, line);
    if (two) {
        _tile_stored(2, c + TILE * HALF_PANEL, line);
        _tile_stored(3, c + TILE * HALF_PANEL + TILE, line);
    }
}

static void
multiply_panel(const struct half_product *p)
{
    for (size_t at = 0; at < HALF_PANEL; at += WIDE)
        multiply_tiles(p, at);
}

const struct half_kernel num_half_tiles = {.name = "amx_bf16",
                                           .rows = HALF_ROWS_MOST,
                                           .lines = 1,
                                           .begin = begin_tiles,
                                           .end = end_tiles,
                                           .product = multiply_panel};

/* Computes sums 0 .. 3 of one or two tiles in each direction, starting from
 * memory or from zero. */
TILES static inline __attribute__((always_inline)) void
add_tiles(const struct tile_product *p, int two_rows, int two_columns)
{
    const int line = TILE * (int)sizeof *p->a;
    const size_t sums = tile_line(p) * sizeof *p->c;

    zero_sums();
    if (p->add) {
        _tile_loadd(0, tile_sums(p, 0, 0), sums);
        if (two_columns)
            _tile_loadd(1, tile_sums(p, 0, 1), sums);
        if (two_rows)
            _tile_loadd(2, tile_sums(p, 1, 0), sums);
        if (two_rows && two_columns)
            _tile_loadd(3, tile_sums(p, 1, 1), sums);
    }
    for (size_t t = 0; t < p->n_terms; t++) {
        const uint32_t *a = p->a + p->terms[t].a, *b = p->b + p->terms[t].b;

        for (size_t s = 0; s < p->steps; s++, a += p->a_step, b += p->b_step) {
            _tile_loadd(6, b, line);
            _tile_loadd(4, a, line);
            _tile_dpbf16ps(0, 4, 6);
            if (two_columns) {
                _tile_loadd(7, b + p->b_next, line);
                _tile_dpbf16ps(1, 4, 7);
            }
            if (two_rows) {
                _tile_loadd(5, a + p->a_next, line);
                _tile_dpbf16ps(2, 5, 6);
            }
            if (two_rows && two_columns)
                _tile_dpbf16ps(3, 5, 7);
        }
    }
}

TILES static void
multiply_terms(const struct tile_product *p)
{
    const size_t line = tile_line(p) * sizeof *p->c;

    // gcc 12 does not know that tiles are loaded from there
    __asm__ volatile("" ::: "memory");
    if (p->rows == 2 && p->columns == 2)
        add_tiles(p, 1, 1);
    else if (p->rows == 2)
        add_tiles(p, 1, 0);
    else if (p->columns == 2)
        add_tiles(p, 0, 1);
    else
        add_tiles(p, 0, 0);
    _tile_stored(0, tile_sums(p, 0, 0), line);
    _tile_stored(1, tile_sums(p, 0, 1), line);
    _tile_stored(2, tile_sums(p, 1, 0), line);
    _tile_stored(3, tile_sums(p, 1, 1), line);
    __asm__ volatile("" ::: "memory");
}

const struct tile_kernel num_tile_amx = {.name = "tiles:amx_bf16",
                                         .begin = begin_tiles,
                                         .end = end_tiles,
                                         .product = multiply_terms};

static int granted;

/* A process requests the state of its tiles once. */
static void
request_tiles(void)
{
    unsigned a, b, c, d;

    granted = __get_cpuid_count(7, 0, &a, &b, &c, &d) && d & HAS_BF16 &&
              d & HAS_TILES &&
              !syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, STATE);
}

int
num_half_has_tiles(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, request_tiles);
    return granted;
}
#else
const struct half_kernel num_half_tiles = {.name = "amx_bf16"};
const struct tile_kernel num_tile_amx = {.name = "tiles:amx_bf16"};

int
num_half_has_tiles(void)
{
    return 0;
}
#endif

static void
use_no_tiles(void)
{
}

/* Adds one product of tiles to a tile of c. */
static void
add_tile(const uint32_t *a, const uint32_t *b, float *c, size_t line)
{
    for (size_t i = 0; i < TILE_SIDE; i++)
        for (size_t k = 0; k < TILE_SIDE; k++)
            for (size_t j = 0; j < TILE_SIDE; j++) {
                const uint32_t x = a[i * TILE_SIDE + k];
                const uint32_t y = b[k * TILE_SIDE + j];

                c[i * line + j] +=
                    half_value((uint16_t)x) * half_value((uint16_t)y) +
                    half_value((uint16_t)(x >> 16)) *
                        half_value((uint16_t)(y >> 16));
            }
}

static void
multiply_plainly(const struct tile_product *p)
{
    for (size_t i = 0; i < p->rows; i++)
        for (size_t j = 0; j < p->columns; j++) {
            float *c = tile_sums(p, i, j);

            for (size_t k = 0; k < TILE_SIDE && !p->add; k++)
                memset(c + k * tile_line(p), 0, TILE_SIDE * sizeof *c);
            for (size_t t = 0; t < p->n_terms; t++)
                for (size_t s = 0; s < p->steps; s++)
                    add_tile(
                        p->a + p->terms[t].a + s * p->a_step + i * p->a_next,
                        p->b + p->terms[t].b + s * p->b_step + j * p->b_next, c,
                        tile_line(p));
        }
}

const struct tile_kernel num_tile_plain = {.name = "tiles:plain",
                                           .begin = use_no_tiles,
                                           .end = use_no_tiles,
                                           .product = multiply_plainly};

const struct tile_kernel *
num_tile_kernel(void)
{
    return num_dnn_tiles() && num_half_has_tiles() ? &num_tile_amx : NULL;
}
