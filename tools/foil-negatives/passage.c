#include <stdlib.h>
#include <string.h>

#include "negatives.h"
#include "util/mem.h"

/* Marks the images of an item as busy or not. */
static void
set_busy(struct passage *passage, struct passage_item *item, int busy)
{
    if (item->busy == busy)
        return;
    item->busy = busy;
    for (size_t i = 0; i < item->n; i++)
        passage->busy[item->ids[i]] += busy ? 1 : -1u;
}

static void
release_item(struct passage *passage, struct passage_item *item)
{
    if (!item)
        return;
    set_busy(passage, item, 0);
    wire_msg_free(item->msg);
    mem_free(item->ids, item);
}

static void
drop_all(struct passage *passage)
{
    struct passage_item *item;

    while ((item = flow_consumer_drop(passage->consumer)))
        release_item(passage, item);
}

void
passage_init(struct passage *passage, size_t size, int64_t serial)
{
    const struct wire_place nowhere = {.session = -1};

    *passage = (struct passage){.session = -1, .next = nowhere, .size = size};
    passage->consumer = flow_consumer_new(&nowhere, 1, serial);
    passage->busy = mem_array(size, sizeof *passage->busy);
}

void
passage_release(struct passage *passage)
{
    if (passage->consumer)
        drop_all(passage);
    flow_consumer_free(passage->consumer);
    free(passage->busy);
    *passage = (struct passage){0};
}

void
passage_begin(struct passage *passage, const struct wire_place *at)
{
    drop_all(passage);
    flow_consumer_begin(passage->consumer, at);
    passage->next = *at;
    passage->session = -1;
}

void
passage_add(struct passage *passage, const struct wire_item *from)
{
    const struct batch *batch = &from->batch;
    const struct wire_place at = wire_place_of(from->session, batch);
    struct passage_item *item;

    if (!flow_consumer_wants(passage->consumer, &at))
        return;
    item = mem_array(1, sizeof *item);
    *item = (struct passage_item){
        .at = at,
        .steps = batch->steps,
        .msg = wire_msg_hold(from->msg),
        .encode_only = batch->encode_only,
        .n = batch->b,
        .ids = mem_array(batch->b, sizeof *item->ids),
    };
    memcpy(item->ids, batch->ids, batch->b * sizeof *item->ids);
    release_item(passage,
                 flow_consumer_hold(passage->consumer, &item->at, item));
}

static struct passage_item *
held_item(const struct passage *passage, size_t i)
{
    return flow_consumer_item(passage->consumer, i);
}

/* Moves to a later place, and from the end of an epoch to the next epoch. */
static void
advance_to(struct passage *passage, const struct wire_place *at)
{
    struct wire_place *next = &passage->next;

    if (wire_place_cmp(at, next) > 0)
        *next = *at;
    for (size_t i = 0; i < flow_consumer_held(passage->consumer); i++) {
        const struct passage_item *item = held_item(passage, i);

        if (item->at.epoch == next->epoch && next->step >= item->steps)
            *next = (struct wire_place){next->session, next->epoch + 1, 0};
    }
}

void
passage_move(struct passage *passage, const struct sampler *sampler,
             const struct wire_place *trained)
{
    const struct wire_place *weighed = &sampler->owner_state.next;
    struct passage_item *item;

    // wait for the state if the sampler has none of this session
    if (weighed->session == trained->session) {
        if (passage->session != trained->session ||
            wire_place_cmp(weighed, &passage->next) > 0) {
            passage->session = trained->session;
            passage->number = sampler->source.memory.total;
            advance_to(passage, weighed);
        }
        advance_to(passage, trained);
        for (size_t i = 0; i < flow_consumer_held(passage->consumer); i++)
            if (wire_place_cmp(&held_item(passage, i)->at, weighed) < 0)
                set_busy(passage, held_item(passage, i), 0);
    }
    flow_consumer_set_place(passage->consumer, trained);
    while ((item = flow_consumer_stale(passage->consumer)))
        release_item(passage, item);
}

struct passage_item *
passage_due(const struct passage *passage, const struct sampler *sampler)
{
    const struct sample_source *source = &sampler->source;
    const int64_t horizon = (int64_t)source->memory.form.horizon;
    struct passage_item *item;

    // a new trainer may send its state before augmenters name its session
    if (passage->session < 0 ||
        passage->session != sampler->owner_state.next.session)
        return NULL;
    item = flow_consumer_find(passage->consumer, &passage->next);
    if (!item || item->encode_only)
        return item;
    for (size_t i = 0; sample_source_waits(source) && i < item->n; i++)
        if (passage->busy[item->ids[i]])
            return NULL;
    if (sample_source_banks(source) &&
        source->memory.total <= passage->number - horizon)
        return NULL;
    return item;
}

void
passage_pass(struct passage *passage, struct wire_msg *msg)
{
    struct passage_item *item =
        flow_consumer_find(passage->consumer, &passage->next);

    wire_msg_free(item->msg);
    item->msg = msg;
    item->drawn = 1;
    if (!item->encode_only)
        set_busy(passage, item, 1);
    passage->number += !item->encode_only;
    passage->next = passage_after(item);
}

struct passage_item *
passage_find(const struct passage *passage, const struct wire_place *at)
{
    struct passage_item *item = flow_consumer_find(passage->consumer, at);

    return item && item->drawn ? item : NULL;
}

struct wire_place
passage_after(const struct passage_item *item)
{
    struct wire_place at = item->at;

    if (++at.step == item->steps)
        at = (struct wire_place){at.session, at.epoch + 1, 0};
    return at;
}
