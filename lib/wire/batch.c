#include <stdlib.h>

#include "util/mem.h"
#include "wire/batch.h"
#include "wire/pack.h"

#include "place.h"

static void
put_substituted(struct wire_writer *w, const struct wire_batch *batch)
{
    if (!batch->n_substituted)
        return;
    REQUIRE(batch->n_substituted <= WIRE_SUBSTITUTED_MAX);
    wire_write_key(w, "substituted");
    msgpack_pack_array(&w->packer, batch->n_substituted);
    for (size_t i = 0; i < batch->n_substituted; i++) {
        msgpack_pack_array(&w->packer, 2);
        msgpack_pack_int64(&w->packer, batch->substituted[i][0]);
        msgpack_pack_int64(&w->packer, batch->substituted[i][1]);
    }
}

struct wire_msg *
wire_batch_put(const struct wire_batch *b)
{
    struct wire_writer w;

    REQUIRE(b->n >= 1 && b->n <= WIRE_BATCH_MAX && b->n_views >= 1);
    wire_write_start(&w, WIRE_BATCH);
    wire_place_write(&w, &b->at);
    wire_write_whole(&w, "steps", b->steps);
    wire_write_whole(&w, "epochs", b->epochs);
    wire_write_whole(&w, "height", (int64_t)b->height);
    wire_write_whole(&w, "width", (int64_t)b->width);
    wire_write_whole(&w, "channels", (int64_t)b->channels);
    wire_write_whole(&w, "rejected", b->rejected);
    put_substituted(&w, b);
    wire_write_tensor(&w, "ids", WIRE_I8, b->ids, 1, &b->n);
    wire_write_tensor(
        &w, "views", WIRE_U1, b->views, 5,
        (size_t[]){b->n_views, b->n, b->height, b->width, b->channels});
    if (b->n_extra) {
        wire_write_tensor(&w, "extra_ids", WIRE_I8, b->extra_ids, 1,
                          &b->n_extra);
        wire_write_tensor(
            &w, "extra", WIRE_U1, b->extra, 4,
            (size_t[]){b->n_extra, b->height, b->width, b->channels});
    }
    wire_extra_write(&w, &b->of_extra, b->n_extra);
    wire_variants_write(&w, &b->variants, b->n);
    if (b->n_tokens)
        wire_write_tensor(&w, "tokens", WIRE_I4, b->tokens, 2,
                          (size_t[]){b->n, b->n_tokens});
    if (b->look)
        wire_write_flag(&w, "look", 1);
    return wire_write_end(&w);
}

/* 1 when the sizes of t, from the given one on, are n, h, w, c. */
static int
is_images(const struct wire_tensor *t, size_t from, size_t n,
          const struct wire_batch *b)
{
    const size_t *shape = t->shape + from;

    return shape[0] == n && shape[1] == b->height && shape[2] == b->width &&
           shape[3] == b->channels;
}

static void
get_images(struct wire_reader *r, struct wire_batch *b, int64_t size)
{
    const struct wire_tensor *views, *extra, *tokens;

    b->ids = wire_read_ids(r, "ids", size, &b->n);
    b->extra_ids = wire_read_ids_if(r, "extra_ids", size, &b->n_extra);
    views = wire_read_tensor(r, "views", WIRE_U1, 5);
    extra = wire_read_tensor_if(r, "extra", WIRE_U1, 4);
    tokens = wire_read_tensor_if(r, "tokens", WIRE_I4, 2);
    if (r->rc)
        return;
    b->n_views = views->shape[0];
    b->views = views->data;
    if (b->n > WIRE_BATCH_MAX || b->n_views < 1 ||
        !is_images(views, 1, b->n, b))
        wire_read_fail(r, "views do not fit ids and sizes");
    wire_read_distinct(r, "ids", b->ids, b->n);
    if (!extra != !b->extra_ids ||
        (extra && !is_images(extra, 0, b->n_extra, b)))
        wire_read_fail(r, "extra does not fit extra_ids and sizes");
    b->extra = extra ? extra->data : NULL;
    if (tokens && (tokens->shape[0] != b->n || tokens->shape[1] < 1))
        wire_read_fail(r, "tokens do not fit ids");
    if (!tokens)
        return;
    b->tokens = tokens->data;
    b->n_tokens = tokens->shape[1];
}

/* Last of all: it allocates. */
static void
get_substituted(struct wire_reader *r, struct wire_batch *b, int64_t size)
{
    const msgpack_object_array *list = wire_read_array(r, "substituted");
    const int64_t max = size ? size - 1 : WIRE_SIZE_MAX;

    if (!list)
        return;
    if (list->size > WIRE_SUBSTITUTED_MAX) {
        wire_read_fail(r, "'substituted' has %u entries, at most %d",
                       list->size, WIRE_SUBSTITUTED_MAX);
        return;
    }
    b->n_substituted = list->size;
    b->substituted = mem_array(list->size, sizeof *b->substituted);
    for (size_t i = 0; i < list->size; i++) {
        const msgpack_object_array *pair = &list->ptr[i].via.array;

        if (list->ptr[i].type != MSGPACK_OBJECT_ARRAY || pair->size != 2 ||
            wire_object_whole(&pair->ptr[0], 0, max, &b->substituted[i][0]) ||
            wire_object_whole(&pair->ptr[1], 0, max, &b->substituted[i][1]))
            wire_read_fail(r, "entry %zu of 'substituted' is no pair of ids",
                           i);
    }
}

int
wire_batch_get(struct wire_batch *batch, struct wire_msg *msg, int64_t size,
               struct err *err)
{
    struct wire_reader r = wire_read_start(msg, err);
    struct wire_batch b = {0};

    *batch = b;
    wire_place_read(&r, &b.at);
    b.steps = wire_read_whole(&r, "steps", b.at.step + 1, WIRE_STEP_MAX);
    b.epochs = wire_read_whole(&r, "epochs", b.at.epoch + 1, WIRE_EPOCH_MAX);
    b.height = (size_t)wire_read_whole(&r, "height", 1, WIRE_SIDE_MAX);
    b.width = (size_t)wire_read_whole(&r, "width", 1, WIRE_SIDE_MAX);
    b.channels = (size_t)wire_read_whole(&r, "channels", 1, WIRE_SIDE_MAX);
    b.rejected = wire_read_whole(&r, "rejected", 0, WIRE_BATCH_MAX);
    get_images(&r, &b, size);
    wire_extra_read(&r, &b.of_extra, b.n_extra);
    wire_variants_read(&r, &b.variants, b.n_views, b.n);
    b.look = wire_read_flag(&r, "look");
    get_substituted(&r, &b, size);
    if (r.rc) {
        free(b.substituted);
        return -1;
    }
    *batch = b;
    batch->msg = wire_msg_hold(msg);
    return 0;
}

void
wire_batch_release(struct wire_batch *batch)
{
    free(batch->substituted);
    wire_msg_free(batch->msg);
    *batch = (struct wire_batch){0};
}
