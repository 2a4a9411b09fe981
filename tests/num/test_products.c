#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "maps.h"
#include "num/lanes.h"
#include "num/products.h"
#include "t.h"

enum { MOST = 13, DEPTH = 21, WIDTH = 3 * PRODUCTS_COLUMNS, LINE = WIDTH + 5 };

/* The sum in the order of k, in f32, is the result of every instruction set;
 * with AVX2 and later, products are fused into it. */
static int
rows_are_sums(const struct num_products *loops, struct products_rows p)
{
    const int fused = loops != &num_products_any;
    float got[MOST * LINE] = {0};
    int good = 1;

    p.c = got;
    p.ldc = LINE;
    loops->rows(&p);
    for (size_t i = 0; i < MOST; i++)
        for (size_t j = 0; j < LINE; j++) {
            float sum = 0;

            for (size_t k = 0; k < p.depth; k++) {
                const float x = p.a[i * p.row + k * p.step];
                const float y = p.b[k * p.ldb + j];

                sum = fused ? fmaf(x, y, sum) : x * y + sum;
            }
            if (i >= p.rows || j >= p.n)
                sum = 0;
            good &= !memcmp(&sum, &got[i * LINE + j], sizeof sum);
        }
    return good;
}

static void
all_rows(const struct num_products *loops, const char *name)
{
    float *a = normal(DEPTH * DEPTH, 1), *b = normal(DEPTH * LINE, 2);

    for (size_t rows = 1; rows <= MOST; rows++) {
        int good = 1;

        for (size_t n = PRODUCTS_COLUMNS; n <= WIDTH; n += PRODUCTS_COLUMNS)
            for (size_t across = 0; across < 2; across++) {
                const struct products_rows p = {.a = a,
                                                .row = across ? 1 : DEPTH,
                                                .step = across ? DEPTH : 1,
                                                .b = b,
                                                .ldb = LINE,
                                                .rows = rows,
                                                .n = n,
                                                .depth = DEPTH - across};

                good &= rows_are_sums(loops, p);
            }
        T(good, "%s: %zu rows are sums in order, and nothing else is written",
          name, rows);
    }
    free(a);
    free(b);
}

static uint32_t
word_of(float low, float high)
{
    return half_of(low) | (uint32_t)half_of(high) << 16;
}

static void
halves_are_sums(const struct num_products *loops, const char *name)
{
    float *x = normal(2 * DEPTH * (HALF_ROWS + HALF_PANEL), 3);
    uint32_t a[HALF_ROWS * DEPTH], b[DEPTH * HALF_PANEL];
    float got[HALF_ROWS * HALF_PANEL];
    int good = 1;

    for (size_t i = 0; i < HALF_ROWS * DEPTH; i++)
        a[i] = word_of(x[2 * i], x[2 * i + 1]);
    for (size_t i = 0; i < DEPTH * HALF_PANEL; i++)
        b[i] = word_of(x[2 * (HALF_ROWS * DEPTH + i)],
                       x[2 * (HALF_ROWS * DEPTH + i) + 1]);
    loops->halves(&(struct half_product){.a = a,
                                         .row = 1,
                                         .step = HALF_ROWS,
                                         .b = b,
                                         .rows = HALF_ROWS,
                                         .depth = DEPTH,
                                         .c = got});
    for (size_t at = 0; at < HALF_ROWS * HALF_PANEL; at++) {
        float sum = 0;

        for (size_t k = 0; k < DEPTH; k++) {
            const uint32_t p = a[at / HALF_PANEL + k * HALF_ROWS];
            const uint32_t q = b[k * HALF_PANEL + at % HALF_PANEL];

            sum += half_value((uint16_t)p) * half_value((uint16_t)q);
            sum += half_value((uint16_t)(p >> 16)) *
                   half_value((uint16_t)(q >> 16));
        }
        good &= !memcmp(&sum, &got[at], sizeof sum);
    }
    T(good, "%s: products of halves are sums in order", name);
    free(x);
}

/* Two numbers from -most to most in a word. */
static uint32_t
whole_numbers_at(size_t i, int most)
{
    const uint32_t wide = 2 * (uint32_t)most + 1, hash = (uint32_t)i * 40503;
    const int low = i % 7 ? (int)(hash % wide) - most : most;
    const int high = i % 5 ? (int)((hash >> 3) % wide) - most : -most;

    return (uint16_t)low | (uint32_t)(uint16_t)high << 16;
}

static void
scaled_are_exact(const struct num_products *loops, const char *name)
{
    enum { ROWS = SCALED_ROWS + 2, DEEP = 2, NEXT = DEEP + 1 };
    uint32_t a[ROWS * NEXT], b[NEXT * SCALED_PANEL];
    float got[ROWS * SCALED_PANEL], *scale = normal(ROWS + SCALED_PANEL, 4);
    int good = 1;

    for (size_t i = 0; i < ROWS * NEXT; i++)
        a[i] = whole_numbers_at(i, 0x3fff); // sums stay below 2^31
    for (size_t i = 0; i < NEXT * SCALED_PANEL; i++)
        b[i] = whole_numbers_at(i + 3, 0x7fff);
    for (size_t i = 0; i < ROWS; i++)
        memcpy(a + i * NEXT + DEEP, scale + i, sizeof *scale);
    memcpy(b + DEEP * SCALED_PANEL, scale + ROWS, SCALED_PANEL * sizeof *scale);
    loops->scaled(&(struct scaled_product){.a = a,
                                           .b = b,
                                           .rows = ROWS,
                                           .depth = DEEP,
                                           .c = got,
                                           .line = SCALED_PANEL});
    for (size_t at = 0; at < ROWS * SCALED_PANEL; at++) {
        const size_t i = at / SCALED_PANEL, j = at % SCALED_PANEL;
        int64_t sum = 0;
        float c;

        for (size_t k = 0; k < DEEP; k++) {
            const uint32_t p = a[i * NEXT + k], q = b[k * SCALED_PANEL + j];

            sum += (int64_t)(int16_t)p * (int16_t)q;
            sum += (int64_t)(int16_t)(p >> 16) * (int16_t)(q >> 16);
        }
        c = (float)sum * scale[i] * scale[ROWS + j];
        good &= !memcmp(&c, &got[at], sizeof c);
    }
    T(good, "%s: products of scaled rows are exact sums, scaled", name);
    free(scale);
}

int
main(void)
{
    for (int isa = 0; isa <= (int)util_isa_most(); isa++) {
        const struct num_products *loops = num_products_isa((enum util_isa)isa);

        all_rows(loops, util_isa_name((enum util_isa)isa));
        halves_are_sums(loops, util_isa_name((enum util_isa)isa));
        scaled_are_exact(loops, util_isa_name((enum util_isa)isa));
    }
    return t_done();
}
