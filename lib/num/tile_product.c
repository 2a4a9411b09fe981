#include "num/dnn.h"

#include "half_product.h"
#include "lanes.h"
#include "tile_product.h"

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
