#include <string.h>

#include "wire/features.h"
#include "wire/pack.h"

struct wire_msg *
wire_features_put(const struct wire_features *f)
{
    struct wire_writer w;

    REQUIRE(f->n >= 1 && f->n_views >= 1 && f->dim >= 1);
    wire_write_start(&w, WIRE_FEATURES);
    wire_write_whole(&w, "sequence", f->sequence);
    wire_write_whole(&w, "epoch", f->epoch);
    wire_write_whole(&w, "step", f->step);
    wire_write_text(&w, "mode", f->mode);
    wire_write_whole(&w, "dim", (int64_t)f->dim);
    if (f->id) {
        wire_write_whole(&w, "id", f->id);
        wire_write_whole(&w, "next", f->next);
    }
    wire_write_tensor(&w, "ids", WIRE_I8, f->ids, 1, &f->n);
    wire_write_tensor(&w, "z", f->z ? WIRE_F4 : WIRE_F2,
                      f->z ? (const void *)f->z : f->half, 3,
                      (size_t[]){f->n_views, f->n, f->dim});
    return wire_write_end(&w);
}

int
wire_features_get(struct wire_features *features, struct wire_msg *msg,
                  int64_t size, struct err *err)
{
    struct wire_reader r = wire_read_start(msg, err);
    struct wire_features got = {0};
    const struct wire_tensor *z;

    *features = got;
    got.sequence = wire_read_whole(&r, "sequence", 0, INT64_MAX);
    got.epoch = wire_read_whole(&r, "epoch", 0, WIRE_EPOCH_MAX - 1);
    got.step = wire_read_whole(&r, "step", 0, WIRE_STEP_MAX - 1);
    wire_read_text(&r, "mode", got.mode, sizeof got.mode);
    got.dim = (size_t)wire_read_whole(&r, "dim", 1, WIRE_DIM_MAX);
    if (wire_read_has(&r, "id")) {
        got.id = wire_read_whole(&r, "id", 1, INT64_MAX);
        got.next = wire_read_whole(&r, "next", 1, WIRE_SIZE_MAX);
    }
    if (strcmp(got.mode, "train") && strcmp(got.mode, "eval"))
        wire_read_fail(&r, "'mode' is neither train nor eval");
    got.ids = wire_read_ids(&r, "ids", size, &got.n);
    z = wire_msg_find(msg, "z");
    z = wire_read_tensor(&r, "z", z && z->dtype == WIRE_F2 ? WIRE_F2 : WIRE_F4,
                         3);
    if (z &&
        (z->shape[0] < 1 || z->shape[1] != got.n || z->shape[2] != got.dim))
        wire_read_fail(&r, "z does not fit ids and dim");
    if (r.rc)
        return -1;
    got.n_views = z->shape[0];
    if (z->dtype == WIRE_F4)
        got.z = z->data;
    else
        got.half = z->data;
    *features = got;
    features->msg = wire_msg_hold(msg);
    return 0;
}

void
wire_features_release(struct wire_features *features)
{
    wire_msg_free(features->msg);
    *features = (struct wire_features){0};
}
