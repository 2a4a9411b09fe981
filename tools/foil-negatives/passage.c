#include <stdlib.h>
#include <string.h>

#include "negatives.h"
#include "util/mem.h"

void
passage_init(struct passage *passage, size_t size)
{
    *passage = (struct passage){.next.session = -1, .size = size};
    passage->busy = mem_array(size, sizeof *passage->busy);
}

void
passage_release(struct passage *passage)
{
    passage_clear(passage);
    free(passage->item);
    free(passage->busy);
    *passage = (struct passage){0};
}

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
forget(struct passage *passage, size_t i)
{
    struct passage_item *item = &passage->item[i];

    set_busy(passage, item, 0);
    wire_msg_free(item->msg);
    free(item->ids);
    *item = passage->item[--passage->n];
}

void
passage_clear(struct passage *passage)
{
    while (passage->n)
        forget(passage, passage->n - 1);
    passage->next.session = -1;
}

static struct passage_item *
find(struct passage *passage, const struct wire_place *at)
{
    for (size_t i = 0; i < passage->n; i++)
        if (!wire_place_cmp(&passage->item[i].at, at))
            return &passage->item[i];
    return NULL;
}

void
passage_add(struct passage *passage, const struct wire_item *from)
{
    struct passage_item *item;

    if (find(passage, &from->at) ||
        (passage->next.session >= 0 &&
         wire_place_cmp(&from->at, &passage->next) < 0))
        return;
    mem_grow(&passage->item, &passage->room, passage->n + 1,
             sizeof *passage->item);
    item = &passage->item[passage->n++];
    *item = (struct passage_item){
        .at = from->at,
        .steps = from->steps,
        .msg = wire_msg_hold(from->msg),
        .look = from->look,
        .n = from->n,
        .ids = mem_array(from->n, sizeof *item->ids),
    };
    memcpy(item->ids, from->ids, from->n * sizeof *item->ids);
}

/* Behind the last step of an epoch comes the first of the next. */
static void
turn_epoch(struct passage *passage)
{
    for (size_t i = 0; i < passage->n && !passage->steps; i++)
        if (passage->item[i].at.epoch == passage->next.epoch)
            passage->steps = passage->item[i].steps;
    if (!passage->steps || passage->next.step < passage->steps)
        return;
    passage->next.epoch++;
    passage->next.step = 0;
    passage->steps = 0;
}

static void
go_to(struct passage *passage, const struct wire_place *at)
{
    passage->next = *at;
    passage->steps = 0;
}

void
passage_move(struct passage *passage, const struct sampler *sampler,
             const struct wire_place *trained)
{
    const struct wire_place *weighed = &sampler->next;
    const struct wire_place *next = &passage->next;

    if (weighed->session != trained->session)
        return; // it has to be given its state first
    if (next->session != trained->session ||
        wire_place_cmp(weighed, next) > 0) {
        go_to(passage, weighed);
        passage->number = sampler->source.memory.total;
    }
    if (wire_place_cmp(trained, next) > 0)
        go_to(passage, trained);
    turn_epoch(passage);
    for (size_t i = passage->n; i-- > 0;) {
        struct passage_item *item = &passage->item[i];

        if (wire_place_cmp(&item->at, weighed) < 0)
            set_busy(passage, item, 0);
        if (wire_place_cmp(&item->at, item->drawn ? trained : next) < 0)
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
    if (passage->next.session < 0 ||
        passage->next.session != sampler->next.session)
        return NULL;
    turn_epoch(passage);
    item = find(passage, &passage->next);
    if (!item || item->look)
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
passage_pass(struct passage *passage, struct passage_item *item,
             struct wire_msg *msg)
{
    wire_msg_free(item->msg);
    item->msg = msg;
    item->drawn = 1;
    if (!item->look)
        set_busy(passage, item, 1);
    passage->number += !item->look;
    passage->steps = item->steps;
    passage->next.step++;
    turn_epoch(passage);
}

struct passage_item *
passage_find(struct passage *passage, const struct wire_place *at)
{
    struct passage_item *item = find(passage, at);

    return item && item->drawn ? item : NULL;
}

struct passage_item *
passage_new(struct passage *passage, const struct wire_place *from)
{
    struct passage_item *first = NULL;

    for (size_t i = 0; i < passage->n; i++) {
        struct passage_item *item = &passage->item[i];

        if (item->drawn && wire_place_cmp(&item->at, from) >= 0 &&
            (!first || wire_place_cmp(&item->at, &first->at) < 0))
            first = item;
    }
    return first;
}

size_t
passage_held(const struct passage *passage, int *missing)
{
    size_t n = 0;

    *missing = 1;
    for (size_t i = 0; i < passage->n; i++) {
        const struct passage_item *item = &passage->item[i];

        n += !item->drawn;
        if (!wire_place_cmp(&item->at, &passage->next))
            *missing = 0;
    }
    return n;
}
