#include "wire/item.h"
#include "wire/pack.h"

#include "place.h"

struct wire_msg *
wire_item_put(const struct wire_item *item)
{
    struct wire_writer w;

    REQUIRE(item->n >= 1 && item->n <= WIRE_BATCH_MAX);
    wire_write_start(&w, WIRE_ITEM);
    wire_place_write(&w, &item->at);
    wire_write_text(&w, "run", item->run);
    wire_write_whole(&w, "size", item->size);
    wire_write_whole(&w, "steps", item->steps);
    wire_write_whole(&w, "epochs", item->epochs);
    wire_write_tensor(&w, "ids", WIRE_I8, item->ids, 1, &item->n);
    if (item->n_extra)
        wire_write_tensor(&w, "extra", WIRE_I8, item->extra, 1, &item->n_extra);
    wire_extra_write(&w, &item->of_extra, item->n_extra);
    wire_variants_write(&w, &item->variants, item->n);
    if (item->look)
        wire_write_flag(&w, "look", 1);
    return wire_write_end(&w);
}

int
wire_item_get(struct wire_item *item, struct wire_msg *msg, int64_t size,
              struct err *err)
{
    struct wire_reader r = wire_read_start(msg, err);
    struct wire_item got = {0};

    *item = got;
    wire_place_read(&r, &got.at);
    wire_read_text(&r, "run", got.run, sizeof got.run);
    got.size = wire_read_whole(&r, "size", 1, WIRE_SIZE_MAX);
    got.steps = wire_read_whole(&r, "steps", got.at.step + 1, WIRE_STEP_MAX);
    got.epochs =
        wire_read_whole(&r, "epochs", got.at.epoch + 1, WIRE_EPOCH_MAX);
    if (size && got.size != size)
        wire_read_fail(&r, "data set of %jd images, ours has %jd",
                       (intmax_t)got.size, (intmax_t)size);
    got.ids = wire_read_ids(&r, "ids", got.size, &got.n);
    got.extra = wire_read_ids_if(&r, "extra", got.size, &got.n_extra);
    if (got.n > WIRE_BATCH_MAX || got.n_extra > WIRE_BATCH_MAX)
        wire_read_fail(&r, "%zu ids, at most %d", got.n, WIRE_BATCH_MAX);
    wire_read_distinct(&r, "ids", got.ids, got.n);
    wire_extra_read(&r, &got.of_extra, got.n_extra);
    wire_variants_read(&r, &got.variants, 0, got.n);
    got.look = wire_read_flag(&r, "look");
    if (r.rc)
        return -1;
    *item = got;
    item->msg = wire_msg_hold(msg);
    return 0;
}

void
wire_item_release(struct wire_item *item)
{
    wire_msg_free(item->msg);
    *item = (struct wire_item){0};
}
