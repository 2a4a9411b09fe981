#include <math.h>
#include <string.h>

#include "data/row.h"
#include "util/dtype.h"
#include "util/err.h"
#include "util/rng.h"

int
data_row_of(const struct data_set *set, struct data_row *row, struct err *err)
{
    struct data_file file;

    *row = (struct data_row){0};
    if (data_touch(set, 0, err))
        return -1;
    file = data_file(set, 0);
    if (file.codec == IMAGE_CODEC_ROW && file.width)
        *row = (struct data_row){file.width, file.bytes / file.width};
    return 0;
}

void
data_row_view(const struct data_row *row, const struct image_recipe *recipe,
              const uint8_t *stored, uint64_t seed, uint64_t sample,
              uint64_t epoch, uint64_t view, uint8_t *out)
{
    const size_t d = row->d;
    const double noise = recipe ? recipe->noise : 0,
                 drop = recipe ? recipe->drop : 0;
    const float keep = (float)(1 / (1 - drop));
    uint32_t bits[2 * (DATA_ROW_MAX + 1)];
    uint16_t half[DATA_ROW_MAX];
    float x[DATA_ROW_MAX];
    double sum = 0, scale;
    struct rng rng;

    REQUIRE(d <= DATA_ROW_MAX && (row->item == 4 || row->item == 2));
    memcpy(row->item == 4 ? (void *)x : half, stored, d * row->item);
    if (row->item == 2)
        half_widen(d, half, x);
    for (size_t i = 0; i < d; i++)
        sum += (double)x[i] * x[i];
    scale = sum > 0 ? sqrt((double)d / sum) : 0;
    for (size_t i = 0; i < d; i++)
        x[i] *= (float)scale;
    rng_init(&rng, seed, RNG_VIEW, sample, epoch, view);
    rng_many(&rng, 2 * (d + 1), bits);
    for (size_t i = 0; noise > 0 && i < d; i += 2) { // Box and Muller's pairs
        const double r = noise * sqrt(-2 * log((bits[i] + 0.5) * 0x1p-32)),
                     angle = 0x1p-31 * acos(-1) * bits[i + 1];

        x[i] += (float)(r * cos(angle));
        if (i + 1 < d)
            x[i + 1] += (float)(r * sin(angle));
    }
    for (size_t i = 0; drop > 0 && i < d; i++)
        x[i] = bits[d + 1 + i] < drop * 0x1p32 ? 0 : x[i] * keep;
    memcpy(out, x, d * sizeof *x);
}
