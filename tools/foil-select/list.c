#include "select.h"
#include "util/json.h"

static json_t *
keep_features(const struct select_options *options, int wants)
{
    return json_integer(wants ? options->lag + 1 : 0);
}

void
select_print_list(const struct select_options *options)
{
    for (size_t i = 0; select_strategies[i]; i++) {
        const struct select_strategy *s = select_strategies[i];
        const int wants = select_options_use_features(options, s);

        json_print(json_pack("{s:s, s:s, s:b, s:o, s:o}", "name", s->name,
                             "summary", s->summary, "features", wants,
                             "keep_features", keep_features(options, wants),
                             "defaults", param_list(s->params)));
    }
}

void
select_print_needs(const struct select_options *options,
                   const struct select_task *task)
{
    const struct select_layout *layout = &task->layout;
    const int wants = select_options_use_features(options, options->strategy);

    json_print(json_pack(
        "{s:s, s:o, s:I, s:I, s:I, s:I}", "strategy", options->strategy->name,
        "keep_features", keep_features(options, wants), "samples",
        (json_int_t)layout->size, "batches", (json_int_t)layout->steps,
        "largest", (json_int_t)select_layout_count(layout, 0), "least",
        (json_int_t)select_layout_count(layout, layout->steps - 1)));
}
