#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "image/scratch.h"
#include "t.h"
#include "util/rng.h"

enum { PAGE = 4096, PAGES = 8, MOST = 40, TAPS = 7, HALF = 1 << 21 };

static struct rng rng;
static struct image_scratch *scratch;

/* Random taps of each pixel; the first starts at 0 and the last ends at
 * `width`; weights that sum to 1. */
static void
draw_axis(size_t width, struct image_axis *axis, struct image_tap *tap,
          int32_t *weight)
{
    axis->n = 4 + rng_below(&rng, MOST - 4);
    axis->tap = tap;
    axis->weight = weight;
    for (size_t i = 0; i < axis->n; i++) {
        const size_t most = width < TAPS ? width : TAPS;
        int32_t left = 1 << 22;

        tap[i].n = 1 + rng_below(&rng, most);
        tap[i].start = i == 0             ? 0
                       : i + 1 == axis->n ? width - tap[i].n
                                          : rng_below(&rng, width - most + 1);
        tap[i].k = i * TAPS;
        for (size_t t = 0; t < tap[i].n; t++) {
            weight[tap[i].k + t] =
                t + 1 < tap[i].n ? (int32_t)rng_below(&rng, (uint64_t)left + 1)
                                 : left;
            left -= weight[tap[i].k + t];
        }
    }
}

static uint8_t
mix_one(const struct image_across *job, size_t y, size_t at, size_t c)
{
    const struct image_axis *axis = job->axis;
    const struct image_tap *tap =
        axis->tap + (job->flip ? axis->n - 1 - at : at);
    int64_t sum = HALF;

    for (size_t t = 0; t < tap->n; t++)
        sum += (int64_t)axis->weight[tap->k + t] *
               job->in[y * job->stride + 3 * (tap->start + t) + c];
    return (uint8_t)(sum >> 22);
}

/* Draws a random job with an image at the end of its memory, and compares. */
static int
is_as_defined(uint8_t *end)
{
    static uint8_t out[3 * MOST * MOST + 16];
    struct image_tap tap[MOST];
    int32_t weight[MOST * TAPS];
    struct image_axis axis = {0};
    struct image_across job = {.axis = &axis,
                               .height = 1 + rng_below(&rng, MOST),
                               .width = 1 + rng_below(&rng, 60),
                               .flip = (int)rng_below(&rng, 2),
                               .out = out};
    int same = 1;

    draw_axis(job.width, &axis, tap, weight);
    job.stride = 3 * (job.width + rng_below(&rng, 4));
    job.bytes = (job.height - 1) * job.stride + 3 * job.width;
    job.in = end - job.bytes;
    memset(out, 0x55, sizeof out);
    image_across(&job, &scratch);
    for (size_t y = 0; y < job.height; y++)
        for (size_t at = 0; at < axis.n; at++)
            for (size_t c = 0; c < 3; c++)
                same &=
                    out[3 * (y * axis.n + at) + c] == mix_one(&job, y, at, c);
    return same && out[3 * job.height * axis.n] == 0x55;
}

int
main(void)
{
    enum { JOBS = 3000 };
    uint8_t *page, *end;
    void *memory = NULL;
    int same = 0;

    T(!posix_memalign(&memory, PAGE, (PAGES + 1) * PAGE), "pages");
    page = memory;
    end = page + PAGES * PAGE;
    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (uint8_t *x = page; x < end; x++)
        *x = (uint8_t)(rng_below(&rng, 3) ? rng_below(&rng, 256) : 255);
    T(!mprotect(end, PAGE, PROT_NONE), "the last page is out of bounds");
    for (int i = 0; i < JOBS; i++)
        same += is_as_defined(end);
    T(same == JOBS, "pixels are weighted means; no others are touched");
    T(!mprotect(end, PAGE, PROT_READ | PROT_WRITE), "in bounds again");
    free(memory);
    image_scratch_free(scratch);
    return t_done();
}
