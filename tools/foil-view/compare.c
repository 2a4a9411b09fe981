#include "compare.h"

#include "util/lock.h"

void
compare_open(struct compare *compare, const char *const *run, size_t n)
{
    *compare = (struct compare){.n = n};
    for (size_t i = 0; i < n; i++) {
        compare->run[i].run = run[i];
        history_read(&compare->run[i].history, run[i]);
    }
}

int
compare_read(struct compare *compare, struct hub *hub)
{
    int again = 0;

    for (size_t i = 0; i < compare->n; i++) {
        struct history *history = &compare->run[i].history;
        const int64_t before = history->n ? history->total[history->n - 1] : 0;

        again |= history_read(history, compare->run[i].run);
        if (history->n && history->total[history->n - 1] > before)
            hub_publish(hub, "beside",
                        json_pack("{s:I s:o}", "run", (json_int_t)i, "step",
                                  history_last(history)));
    }
    return again;
}

json_t *
compare_show(const struct compare *compare, size_t most)
{
    json_t *list = json_array();

    for (size_t i = 0; i < compare->n; i++) {
        const struct compare_run *run = &compare->run[i];

        json_array_append_new(
            list, json_pack("{s:o s:b s:o}", "run", json_name(run->run),
                            "living", lock_held(run->run), "metrics",
                            history_show(&run->history, most)));
    }
    return list;
}

void
compare_release(struct compare *compare)
{
    for (size_t i = 0; i < compare->n; i++)
        history_release(&compare->run[i].history);
    *compare = (struct compare){0};
}
