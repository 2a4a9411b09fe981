#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "negatives.h"
#include "util/mem.h"

void
sampler_know(struct sampler *sampler, const struct negatives_options *o,
             const struct wire_hello *hello)
{
    if (sampler->known || !hello->size)
        return;
    sample_source_init(&sampler->source, &o->how, (size_t)hello->size);
    sampler->known = 1;
}

void
sampler_begin(struct sampler *sampler, const struct wire_place *at)
{
    struct err err;

    if (sampler->owner && wire_server_reaches(sampler->server, sampler->owner))
        return;
    REQUIRE(!sample_source_load(&sampler->source, 0, NULL, &err));
    sampler->next = *at;
    sampler->owner = 0;
}

/* Numbers for the metrics, as long as there is room for them. */
static void
tell(struct wire_metric *to, size_t *n, size_t max, size_t count,
     const struct sample_value *value)
{
    for (size_t i = 0; i < count && *n < max; i++) {
        struct wire_metric *metric = &to[(*n)++];

        snprintf(metric->name, sizeof metric->name, "%s", value[i].name);
        metric->value = value[i].value;
    }
}

void
sampler_draw(struct sampler *sampler, struct wire_item *item, size_t views,
             int64_t number)
{
    const struct sample_step step = {
        .epoch = (uint64_t)item->at.epoch,
        .step = (uint64_t)item->at.step,
        .v = views,
        .b = item->n,
        .fixed = (size_t)item->variants.augmentations,
        .ids = item->ids,
        .variants = item->variants.variant,
    };
    const struct sample_extras extras =
        sample_source_draw(&sampler->source, &step, number);
    struct wire_extra *of = &item->of_extra;

    item->n_extra = extras.n;
    item->extra = extras.ids;
    *of = (struct wire_extra){
        .reserve = (int64_t)extras.most,
        .view = extras.view,
        .hint_row = extras.hints.row,
        .hint_view = extras.hints.view,
        .hint_log_q = extras.hints.log_q,
    };
    tell(of->hint_values, &of->n_hint_values, WIRE_HINT_VALUES_MAX,
         extras.n_values, extras.values);
}

static struct sample_step
step_of(const struct wire_pairs *p)
{
    const struct wire_extra *of = &p->of_extra;

    return (struct sample_step){
        .epoch = (uint64_t)p->epoch,
        .step = (uint64_t)p->step,
        .beta = p->beta,
        .v = p->n_views,
        .b = p->n,
        .extra = p->n_extra,
        .dim = p->dim,
        .fixed = (size_t)p->variants.augmentations,
        .ids = p->ids,
        .variants = p->variants.variant,
        .extra_ids = p->extra_ids,
        .extra_view = of->view,
        .z = p->z,
        .extra_z = p->extra_z,
        .hints = {of->hint_row, of->hint_view, of->hint_log_q},
    };
}

struct wire_msg *
sampler_weigh(struct sampler *sampler, const struct wire_pairs *pairs,
              struct err *err)
{
    const struct wire_extra *of = &pairs->of_extra;
    const struct sample_step step = step_of(pairs);
    struct sample_weights w;
    struct wire_weights weights;

    if (sample_source_weigh(&sampler->source, &step, &w, err))
        return NULL;
    sampler->next.epoch = pairs->epoch;
    sampler->next.step = pairs->step + 1;
    weights = (struct wire_weights){
        .id = pairs->id,
        .accepted = w.accepted,
        .moved = (int64_t)w.moved,
        .rows = w.rows,
        .columns = w.columns,
        .w = w.w,
        .keep = w.update.state ? &w.update.state->id : NULL,
        .keep_score = w.update.score,
        .scale = w.scale,
        .bank = w.update.bank,
        .n_values = of->n_hint_values,
    };
    memcpy(weights.values, of->hint_values, sizeof of->hint_values);
    tell(weights.values, &weights.n_values, WIRE_VALUES_MAX, w.n_values,
         w.values);
    return wire_weights_put(&weights);
}

int
sampler_load(struct sampler *sampler, const struct wire_state *state,
             struct err *err)
{
    struct sample_array *array = mem_array(state->n, sizeof *array);
    struct sample_source *source = &sampler->source;
    int rc = 0;

    for (size_t i = 0; i < state->n; i++) {
        const struct wire_tensor *t = &state->tensors[i];

        array[i] = sample_array_of(t->name, (enum dtype)t->dtype, t->rank,
                                   t->shape, t->data);
    }
    if (!state->fresh)
        rc = sample_source_judge(&source->how, state->n, array, err);
    if (!rc)
        rc = sample_source_load(source, state->n, array, err);
    free(array);
    if (!rc)
        sampler->next =
            (struct wire_place){state->session, state->epoch, state->step};
    return rc;
}

struct wire_msg *
sampler_state(const struct sampler *sampler, int64_t id)
{
    struct sample_array array[SAMPLE_MEMORY_ARRAYS];
    struct wire_tensor tensor[SAMPLE_MEMORY_ARRAYS];
    const struct wire_state state = {
        .id = id,
        .session = sampler->next.session,
        .epoch = sampler->next.epoch,
        .step = sampler->next.step,
        .n = sample_memory_list(&sampler->source.memory, array),
        .tensors = tensor,
    };

    for (size_t i = 0; i < state.n; i++)
        wire_tensor_init(&tensor[i], array[i].name, array[i].dtype,
                         array[i].rank, array[i].shape, array[i].data);
    return wire_state_put(WIRE_STATE, &state);
}
