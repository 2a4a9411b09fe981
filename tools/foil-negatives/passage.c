#include <stdlib.h>
#include <string.h>

#include "negatives.h"
#include "util/mem.h"

/* The images of an item are busy, or no more. */
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
release(struct passage_item *item)
{
    if (!item)
        return;
    wire_msg_free(item->msg);
    free(item->ids);
    free(item);
}

/* One that was drawn for. */
static void
forget(struct passage *passage, size_t i)
{
    struct passage_item *item = passage->item[i];

    set_busy(passage, item, 0);
    release(item);
    passage->item[i] = passage->item[--passage->n];
}

static void
drop_all(struct passage *passage)
{
    struct passage_item *item;

    while (passage->n)
        forget(passage, passage->n - 1);
    while ((item = flow_consumer_drop(passage->consumer)))
        release(item);
}

void
passage_init(struct passage *passage, size_t size)
{
    *passage = (struct passage){.session = -1, .size = size};
    passage->consumer =
        flow_consumer_new(&(struct wire_place){.session = -1}, 0);
    passage->busy = mem_array(size, sizeof *passage->busy);
}

void
passage_release(struct passage *passage)
{
    if (passage->consumer)
        drop_all(passage);
    flow_consumer_free(passage->consumer);
    free(passage->item);
    free(passage->busy);
    *passage = (struct passage){0};
}

void
passage_begin(struct passage *passage, const struct wire_place *at)
{
    drop_all(passage);
    flow_consumer_begin(passage->consumer, at);
    passage->session = -1;
    passage->steps = 0;
}

void
passage_add(struct passage *passage, const struct wire_item *from)
{
    struct passage_item *item;

    if (!flow_consumer_wants(passage->consumer, &from->at))
        return;
    item = mem_array(1, sizeof *item);
    *item = (struct passage_item){
        .at = from->at,
        .steps = from->steps,
        .msg = wire_msg_hold(from->msg),
        .encode_only = from->encode_only,
        .n = from->n,
        .ids = mem_array(from->n, sizeof *item->ids),
    };
    memcpy(item->ids, from->ids, from->n * sizeof *item->ids);
    release(flow_consumer_hold(passage->consumer, &item->at, item));
}

/* The steps of an epoch, as an item of it says; 0: there is none. */
static int64_t
steps_of(const struct passage *passage, int64_t epoch)
{
    const size_t held = flow_consumer_held(passage->consumer);

    for (size_t i = 0; i < passage->n + held; i++) {
        const struct passage_item *item =
            i < held ? flow_consumer_item(passage->consumer, i)
                     : passage->item[i - held];

        if (item->at.epoch == epoch)
            return item->steps;
    }
    return 0;
}

/* To a place; behind the last step of an epoch comes the first of the next. */
static void
go_to(struct passage *passage, struct wire_place at)
{
    struct passage_item *item;

    if (at.epoch != flow_consumer_place(passage->consumer).epoch ||
        !passage->steps)
        passage->steps = steps_of(passage, at.epoch);
    if (passage->steps && at.step >= passage->steps) {
        at = (struct wire_place){at.session, at.epoch + 1, 0};
        passage->steps = 0;
    }
    flow_consumer_go(passage->consumer, &at);
    while ((item = flow_consumer_stale(passage->consumer)))
        release(item);
}

void
passage_move(struct passage *passage, const struct sampler *sampler,
             const struct wire_place *trained)
{
    const struct wire_place *weighed = &sampler->next;
    struct wire_place next = flow_consumer_place(passage->consumer);

    if (weighed->session != trained->session)
        return; // it has to be given its state first
    if (passage->session != trained->session ||
        wire_place_cmp(weighed, &next) > 0) {
        passage->session = trained->session;
        passage->number = sampler->source.memory.total;
        if (wire_place_cmp(weighed, &next) > 0)
            next = *weighed;
    }
    go_to(passage, wire_place_cmp(trained, &next) > 0 ? *trained : next);
    for (size_t i = passage->n; i-- > 0;) {
        struct passage_item *item = passage->item[i];

        if (wire_place_cmp(&item->at, weighed) < 0)
            set_busy(passage, item, 0);
        if (wire_place_cmp(&item->at, trained) < 0)
            forget(passage, i);
    }
}

struct passage_item *
passage_due(struct passage *passage, const struct sampler *sampler)
{
    const struct sample_source *source = &sampler->source;
    const int64_t horizon = (int64_t)source->how.horizon;
    struct passage_item *item;

    // a new trainer may have given its state before augmenters speak of it
    if (passage->session < 0 || passage->session != sampler->next.session)
        return NULL;
    go_to(passage, flow_consumer_place(passage->consumer));
    item = flow_consumer_due(passage->consumer);
    if (!item || item->encode_only)
        return item;
    for (size_t i = 0; sample_source_waits(&source->how) && i < item->n; i++)
        if (passage->busy[item->ids[i]])
            return NULL;
    if (sample_source_banks(&source->how) &&
        source->memory.total <= passage->number - horizon)
        return NULL;
    return item;
}

void
passage_pass(struct passage *passage, struct wire_msg *msg)
{
    struct passage_item *item = flow_consumer_take(passage->consumer);
    struct wire_place next = item->at;

    wire_msg_free(item->msg);
    item->msg = msg;
    mem_grow(&passage->item, &passage->room, passage->n + 1,
             sizeof(struct passage_item *));
    passage->item[passage->n++] = item;
    if (!item->encode_only)
        set_busy(passage, item, 1);
    passage->number += !item->encode_only;
    passage->steps = item->steps;
    next.step++;
    go_to(passage, next);
}

struct passage_item *
passage_find(const struct passage *passage, const struct wire_place *at)
{
    struct passage_item *item = passage_new(passage, at);

    return item && !wire_place_cmp(&item->at, at) ? item : NULL;
}

struct passage_item *
passage_new(const struct passage *passage, const struct wire_place *from)
{
    struct passage_item *first = NULL;

    for (size_t i = 0; i < passage->n; i++) {
        struct passage_item *item = passage->item[i];

        if (wire_place_cmp(&item->at, from) >= 0 &&
            (!first || wire_place_cmp(&item->at, &first->at) < 0))
            first = item;
    }
    return first;
}
