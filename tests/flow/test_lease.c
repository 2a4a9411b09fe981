/*
 * The book of places: sorted, found, removed from its beginning.
 */
#include "flow/producer_impl.h"
#include "t.h"

static struct wire_place
step(int64_t k)
{
    return (struct wire_place){7, k / 10, k % 10};
}

static struct flow_leases
with(int64_t n)
{
    struct flow_leases leases = {0};

    for (int64_t k = 0; k < n; k++) {
        const struct wire_place at = step(3 * k);

        flow_leases_add(&leases, &at);
    }
    return leases;
}

static void
finds(int64_t n)
{
    struct flow_leases leases = with(n);
    int right = 1;

    for (int64_t k = 0; k < 3 * n + 2; k++) {
        const struct wire_place at = step(k);
        const struct flow_lease *lease = flow_leases_find(&leases, &at);
        const size_t before = flow_leases_before(&leases, &at);

        right &= !lease == (k % 3 || k >= 3 * n);
        right &= !lease || !wire_place_cmp(&lease->at, &at);
        right &= before == (size_t)(k + 2 < 3 * n ? (k + 2) / 3 : n);
    }
    T(right, "of %jd places each is found, and no other", (intmax_t)n);
    flow_leases_release(&leases);
}

static void
forgets(void)
{
    struct flow_leases leases = with(8);
    const struct wire_place nine = step(9);

    flow_leases_forget(&leases, 3);
    T(leases.n == 5 && !wire_place_cmp(&leases.lease[0].at, &nine),
      "three are removed, and the fourth is first");
    flow_leases_forget(&leases, 5);
    T(!leases.n && !flow_leases_find(&leases, &nine), "then all");
    flow_leases_release(&leases);
}

static void
free_ones(void)
{
    struct flow_leases leases = with(6);

    T(flow_leases_free(&leases, 6, 0) == &leases.lease[0] &&
          flow_leases_free(&leases, 6, 1) == &leases.lease[5],
      "all are free at first: the lowest, and the highest");
    T(flow_leases_free(&leases, 4, 1) == &leases.lease[3] &&
          flow_leases_free(&leases, 99, 1) == &leases.lease[5],
      "among the first of them");
    leases.lease[0].state = FLOW_LEASED;
    leases.lease[1].state = FLOW_DELIVERED;
    T(flow_leases_free(&leases, 6, 0) == &leases.lease[2],
      "neither a leased one nor a delivered one");
    T(!flow_leases_free(&leases, 2, 0) && !flow_leases_free(&leases, 0, 1),
      "or none");
    flow_leases_release(&leases);
}

int
main(void)
{
    finds(1);
    finds(3);
    finds(8);
    forgets();
    free_ones();
    return t_done();
}
