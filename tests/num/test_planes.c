#include <stdlib.h>
#include <string.h>

#include "maps.h"
#include "num/lanes.h"
#include "num/planes.h"
#include "t.h"

/* Planes up to this many elements, and the elements after them. */
enum { MOST = 400, BEHIND = 64, ALL = MOST + BEHIND };

/* The inputs, of one type; by lane. */
static struct {
    float x[ALL], add[ALL], dy[ALL], dy2[ALL], y[ALL];
} in;
static struct {
    float centre[LANES], scale[LANES], shift[LANES], p[LANES], q[LANES];
} lane;

static void
fill_in(int bf16)
{
    float *all[] = {in.x, in.add, in.dy, in.dy2, in.y};
    float *by_lane[] = {lane.centre, lane.scale, lane.shift, lane.p, lane.q};

    for (size_t k = 0; k < 5; k++) {
        float *numbers = normal(ALL, k), *own = normal(LANES, 10 + k);

        numbers[3] = NAN;
        numbers[4] = k % 2 ? 0 : -0.f;
        for (size_t i = 0; i < ALL; i++)
            number_to(all[k], i, numbers[i], bf16);
        memcpy(by_lane[k], own, LANES * sizeof *own);
        free(numbers);
        free(own);
    }
}

/* g of element i, plainly. */
static float
gradient_at(const struct num_planes_flow *flow, size_t i, int bf16)
{
    const float d = number_at(in.x, i, bf16) - lane.centre[i % LANES];
    float g = number_at(flow->dy, i, bf16), y = 1;

    if (flow->dy2)
        g += number_at(flow->dy2, i, bf16);
    if (flow->scale)
        y = flow->scale[i % LANES] * d + flow->shift[i % LANES];
    else if (flow->y)
        y = number_at(flow->y, i, bf16);
    return y <= 0 ? 0 : g;
}

/* Sums of a, and of a b, each first by lane of 32. */
struct sums {
    float sum[2 * LANES], product[2 * LANES];
};

static void
add(struct sums *sums, size_t i, float a, float b)
{
    sums->sum[i % (2 * LANES)] += a;
    sums->product[i % (2 * LANES)] += a * b;
}

static int
same_sums(const struct sums *want, const float *sum, const float *product)
{
    for (size_t l = 0; l < LANES; l++) {
        const float a = want->sum[l] + want->sum[l + LANES];
        const float b = want->product[l] + want->product[l + LANES];

        if (memcmp(sum + l, &a, sizeof a) && !(isnan(a) && isnan(sum[l])))
            return 0;
        if (product && memcmp(product + l, &b, sizeof b) &&
            !(isnan(b) && isnan(product[l])))
            return 0;
    }
    return 1;
}

/* Whether `size` elements are as expected and those after them still 7. */
static int
same(const float *got, const float *want, size_t size, int bf16)
{
    for (size_t i = 0; i < size + BEHIND; i++) {
        const float a = number_at(got, i, bf16);
        const float b = i < size ? number_at(want, i, bf16) : 7;

        if (a != b && !(isnan(a) && isnan(b)))
            return 0;
    }
    return 1;
}

static float *
sevens(int bf16)
{
    static float to[ALL];

    for (size_t i = 0; i < ALL; i++)
        number_to(to, i, 7, bf16);
    return to;
}

static int
check_sums(const struct num_planes *planes, size_t size, int bf16)
{
    float sum[LANES], square[LANES];
    struct sums want = {{0}, {0}}, plain = {{0}, {0}};

    for (size_t i = 0; i < size; i++) {
        const float x = number_at(in.x, i, bf16);
        const float d = x - lane.centre[i % LANES];

        add(&want, i, d, d);
        add(&plain, i, x, 0);
    }
    planes->measure(size, bf16, in.x, lane.centre, sum, square);
    if (!same_sums(&want, sum, square))
        return 0;
    planes->sum(size, bf16, in.x, sum);
    return same_sums(&plain, sum, NULL);
}

static int
check_norm(const struct num_planes *planes, size_t size, int bf16, int also,
           int relu)
{
    float *y = sevens(bf16), want[ALL];

    for (size_t i = 0; i < size; i++) {
        const size_t l = i % LANES;
        float d = number_at(in.x, i, bf16) - lane.centre[l];

        d = lane.scale[l] * d + lane.shift[l];
        d += also ? number_at(in.add, i, bf16) : 0;
        number_to(want, i, relu && d <= 0 ? 0 : d, bf16);
    }
    planes->apply(size, bf16, in.x, lane.scale, lane.centre, lane.shift,
                  also ? in.add : NULL, relu, y);
    return same(y, want, size, bf16);
}

static int
check_backward(const struct num_planes *planes, size_t size, int bf16,
               struct num_planes_flow flow, int keep)
{
    float want[ALL], stored[ALL], sum[LANES], along[LANES], *to;
    struct sums sums = {{0}, {0}};
    int good;

    for (size_t i = 0; i < size; i++) {
        const size_t l = i % LANES;
        const float d = number_at(in.x, i, bf16) - lane.centre[l];
        const float g = gradient_at(&flow, i, bf16);

        add(&sums, i, g, d);
        number_to(stored, i, g, bf16);
        number_to(want, i, lane.p[l] * g + lane.q[l] * d + lane.shift[l], bf16);
    }
    to = sevens(bf16);
    planes->back_measure(size, bf16, flow, in.x, lane.centre, keep ? to : NULL,
                         sum, along);
    good =
        same_sums(&sums, sum, along) && (!keep || same(to, stored, size, bf16));
    planes->back(size, bf16, flow, in.x, lane.centre, lane.p, lane.q,
                 lane.shift, to = sevens(bf16));
    good &= same(to, want, size, bf16);
    if (!flow.scale) {
        planes->flow(size, bf16, flow, to = sevens(bf16));
        good &= same(to, stored, size, bf16);
    }
    return good;
}

static int
check_fill(const struct num_planes *planes, size_t size, int bf16)
{
    float *y = sevens(bf16), want[ALL];

    for (size_t i = 0; i < size; i++)
        number_to(want, i, lane.p[i % LANES], bf16);
    planes->fill(size, bf16, lane.p, y);
    return same(y, want, size, bf16);
}

/* Whole lines, a pair of each width, and remaining elements. */
static const size_t sizes[] = {1, 7, 8, 16, 24, 31, 32, 40, 56, 63, 200, MOST};

static void
all_loops(enum util_isa isa, int bf16)
{
    const struct num_planes *planes = num_planes_isa(isa);
    const char *name = util_isa_name(isa), *type = bf16 ? "bf16" : "f32";
    const struct num_planes_flow flows[] = {
        {in.dy, NULL, NULL, NULL, NULL},
        {in.dy, in.dy2, NULL, NULL, NULL},
        {in.dy, in.dy2, in.y, NULL, NULL},
        {in.dy, NULL, in.y, NULL, NULL},
        {in.dy, in.dy2, NULL, lane.scale, lane.shift},
        {in.dy, NULL, NULL, lane.scale, lane.shift},
    };
    int good[4] = {1, 1, 1, 1};

    fill_in(bf16);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        good[0] &= check_sums(planes, sizes[k], bf16);
        for (int i = 0; i < 4; i++)
            good[1] &= check_norm(planes, sizes[k], bf16, i % 2, i / 2);
        for (size_t i = 0; i < sizeof flows / sizeof *flows; i++)
            for (int keep = 0; keep < 2; keep++)
                good[2] &=
                    check_backward(planes, sizes[k], bf16, flows[i], keep);
        good[3] &= check_fill(planes, sizes[k], bf16);
    }
    T(good[0], "%s, %s: sums to the bit", name, type);
    T(good[1], "%s, %s: a norm applied to the bit", name, type);
    T(good[2], "%s, %s: gradients to the bit", name, type);
    T(good[3], "%s, %s: planes filled", name, type);
}

int
main(void)
{
    for (int isa = 0; isa <= (int)util_isa_most(); isa++)
        for (int bf16 = 0; bf16 < 2; bf16++)
            all_loops((enum util_isa)isa, bf16);
    return t_done();
}
