/*
 * A stored snapshot: which of two is newer, and which places it has.
 */
#include <string.h>

#include "flow/window.h"
#include "t.h"

static const int64_t have[][2] = {{0, 9}, {1, 0}, {1, 4}, {2, 0}};

static struct wire_want
snapshot(int64_t session, int64_t serial)
{
    return (struct wire_want){.at = {session, 0, 8},
                              .serial = serial,
                              .window = 6,
                              .n_have = 4,
                              .have = have[0]};
}

static void
order(void)
{
    static const struct {
        int64_t session, serial;
        int order;
    } rows[] = {{7, 4, -1}, {7, 5, 0}, {7, 6, 1}, {6, 99, -1}, {8, 1, 1}};
    struct wire_want next = snapshot(7, 5), w;

    flow_snapshot_init(&w);
    T(flow_snapshot_order(&w, &next) > 0, "any is newer than none");
    flow_snapshot_set(&w, &next);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        next = snapshot(rows[i].session, rows[i].serial);
        T(flow_snapshot_order(&w, &next) == rows[i].order,
          "session %jd, serial %jd after 7, 5: %d", (intmax_t)next.at.session,
          (intmax_t)next.serial, rows[i].order);
    }
    flow_snapshot_release(&w);
}

/* Against a plain search, for all places around. */
static void
places(void)
{
    struct wire_want next = snapshot(7, 5), w;
    int right = 1;

    memcpy(next.plan, "-b 4", sizeof "-b 4");
    memcpy(next.order, "0a", sizeof "0a");
    flow_snapshot_init(&w);
    flow_snapshot_set(&w, &next);
    for (int64_t epoch = 0; epoch < 4; epoch++)
        for (int64_t step = 0; step < 12; step++) {
            const struct wire_place at = {7, epoch, step},
                                    other = {6, epoch, step};
            int has = 0;

            for (size_t i = 0; i < 4; i++)
                has |= have[i][0] == epoch && have[i][1] == step;
            right &= flow_snapshot_has(&w, &at) == has;
            right &= flow_snapshot_wants(&w, &at) ==
                     (!has && (epoch > 0 || step >= 8));
            right &= !flow_snapshot_wants(&w, &other);
        }
    T(right, "held and wanted places");
    T(w.n_have == 4 && w.have[7] == 0 && w.have[6] == 2 && w.serial == 5 &&
          w.window == 6 && w.at.step == 8 && !strcmp(w.plan, "-b 4") &&
          !strcmp(w.order, "0a"),
      "it returns the stored snapshot");
    next.n_have = 0;
    next.have = NULL;
    flow_snapshot_set(&w, &next);
    T(!w.have && !w.n_have &&
          flow_snapshot_wants(&w, &(struct wire_place){7, 0, 9}),
      "one without any replaces it");
    flow_snapshot_release(&w);
}

int
main(void)
{
    order();
    places();
    return t_done();
}
