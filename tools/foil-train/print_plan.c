#include "train.h"
#include "util/json.h"

static void
print_objectives(void)
{
    for (size_t i = 0; loss_objectives[i]; i++) {
        const struct loss_objective *o = loss_objectives[i];
        json_t *state = json_array();

        for (size_t k = 0; k < o->columns; k++)
            json_array_append_new(state, json_string(o->column[k]));
        json_print(json_pack(
            "{s:s, s:s, s:s?, s:b, s:b, s:o, s:o, s:s}", "name", o->name,
            "summary", o->summary, "negatives", o->needs_weights, "outside",
            o->needs_outside, "inside", o->draws_inside, "state", state,
            "defaults", param_list(o->params), "head", o->head));
    }
}

static int
print_needs(struct train *t, struct err *err)
{
    const struct train_options *o = t->options;
    const struct train_state *s = &t->state;
    const char *method;

    if (train_check_free(o->stage.run, err) || train_dry_run(t, err))
        return -1;
    method = o->sampler == TRAIN_SERVICE ? t->objective->needs_weights : NULL;
    json_print(json_pack(
        "{s:s, s:s, s:s?, s:b, s:I, s:I, s:I, s:I, s:b}", "objective",
        o->objective, "precision", o->bf16 ? "bf16" : "f32", "negatives",
        method, "outside", method && t->objective->needs_outside, "views",
        (json_int_t)train_views_wanted(o), "epoch", (json_int_t)s->epoch,
        "step", (json_int_t)s->step, "total", (json_int_t)s->total, "enough",
        o->steps && s->total >= o->steps));
    return 0;
}

void
train_print_plan(struct train *t)
{
    struct err err;

    if (t->options->list >= 0)
        print_objectives();
    else if (print_needs(t, &err))
        die("%s", err.msg);
}
