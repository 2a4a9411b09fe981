#include "beside.h"

#include "util/lock.h"

void
beside_open(struct beside *beside, const char *const *run, size_t n)
{
    *beside = (struct beside){.n = n};
    for (size_t i = 0; i < n; i++) {
        beside->run[i].run = run[i];
        history_read(&beside->run[i].history, run[i]);
    }
}

int
beside_read(struct beside *beside, struct hub *hub)
{
    int again = 0;

    for (size_t i = 0; i < beside->n; i++) {
        struct history *history = &beside->run[i].history;
        const int64_t before = history_total(history);

        again |= history_read(history, beside->run[i].run);
        if (history_total(history) > before)
            hub_say(hub, "beside",
                    json_pack("{s:I s:o}", "run", (json_int_t)i, "step",
                              history_last(history)));
    }
    return again;
}

json_t *
beside_show(const struct beside *beside, size_t most)
{
    json_t *list = json_array();

    for (size_t i = 0; i < beside->n; i++) {
        const struct beside_run *run = &beside->run[i];

        json_array_append_new(
            list, json_pack("{s:o s:b s:o}", "run", json_name(run->run),
                            "living", lock_held(run->run), "metrics",
                            history_show(&run->history, most)));
    }
    return list;
}

void
beside_release(struct beside *beside)
{
    for (size_t i = 0; i < beside->n; i++)
        history_release(&beside->run[i].history);
    *beside = (struct beside){0};
}
