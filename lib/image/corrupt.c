#include <stdio.h>
#include <string.h>

#include "image/corrupt.h"
#include "util/mem.h"

#include "canvas.h"

static const struct {
    const struct corruption *kind;
    size_t n;
} families[] = {{data_corrupt_noise, 4},
                {data_corrupt_blur, 5},
                {data_corrupt_weather, 5},
                {data_corrupt_digital, 5}};

static const struct corruption *
find_corruption(size_t kind)
{
    size_t family = 0;

    REQUIRE(kind < DATA_CORRUPTIONS);
    while (kind >= families[family].n)
        kind -= families[family++].n;
    return &families[family].kind[kind];
}

const char *
data_corrupt_name(size_t kind)
{
    return find_corruption(kind)->name;
}

int
data_corrupt_find(const char *name, size_t *kind, struct err *err)
{
    char list[400] = "";

    for (size_t k = 0; k < DATA_CORRUPTIONS; k++) {
        const char *own = data_corrupt_name(k);

        if (!strcmp(own, name)) {
            *kind = k;
            return 0;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s %s",
                 k ? "," : "", own);
    }
    return err_set(err, "no corruption '%s': want one of%s", name, list);
}

void
data_corrupt(size_t kind, int severity, uint64_t seed, uint64_t sample,
             const struct data_image *image, struct data_image *out)
{
    const struct corruption *own = find_corruption(kind);
    struct canvas c;

    REQUIRE(severity >= 1 && severity <= DATA_SEVERITIES);
    data_canvas_init(&c, image);
    rng_init(&c.rng, seed, RNG_CORRUPT, sample, kind, 0);
    own->run(&c, own->amount[severity - 1]);
    data_canvas_keep(&c, out);
    data_canvas_release(&c);
}
