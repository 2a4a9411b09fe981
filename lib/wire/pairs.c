#include <float.h>

#include "wire/pack.h"
#include "wire/pairs.h"

struct wire_msg *
wire_pairs_put(const struct wire_pairs *p)
{
    struct wire_writer w;

    REQUIRE(p->n >= 1 && p->n_views >= 1 && p->dim >= 1);
    wire_write_start(&w, WIRE_PAIRS);
    wire_write_whole(&w, "id", p->id);
    wire_write_whole(&w, "session", p->session);
    wire_write_whole(&w, "epoch", p->epoch);
    wire_write_whole(&w, "step", p->step);
    wire_write_real(&w, "beta", p->beta);
    wire_write_tensor(&w, "ids", WIRE_I8, p->ids, 1, &p->n);
    wire_write_tensor(&w, "z", WIRE_F4, p->z, 3,
                      (size_t[]){p->n_views, p->n, p->dim});
    if (p->n_extra) {
        wire_write_tensor(&w, "extra_ids", WIRE_I8, p->extra_ids, 1,
                          &p->n_extra);
        wire_write_tensor(&w, "extra_z", WIRE_F4, p->extra_z, 2,
                          (size_t[]){p->n_extra, p->dim});
    }
    wire_extra_write(&w, &p->of_extra, p->n_extra);
    wire_variants_write(&w, &p->variants, p->n);
    return wire_write_end(&w);
}

static void
get_rows(struct wire_reader *r, struct wire_pairs *p, int64_t size)
{
    const struct wire_tensor *z, *extra;

    p->ids = wire_read_ids(r, "ids", size, &p->n);
    p->extra_ids = wire_read_ids_if(r, "extra_ids", size, &p->n_extra);
    z = wire_read_tensor(r, "z", WIRE_F4, 3);
    extra = wire_read_tensor_if(r, "extra_z", WIRE_F4, 2);
    if (r->rc)
        return;
    p->n_views = z->shape[0];
    p->dim = z->shape[2];
    p->z = z->data;
    if (p->n_views < 1 || z->shape[1] != p->n || p->dim < 1 ||
        p->dim > WIRE_DIM_MAX)
        wire_read_fail(r, "z does not fit ids");
    if (!extra != !p->extra_ids ||
        (extra && (extra->shape[0] != p->n_extra || extra->shape[1] != p->dim)))
        wire_read_fail(r, "extra_z does not fit extra_ids and z");
    p->extra_z = extra ? extra->data : NULL;
}

int
wire_pairs_get(struct wire_pairs *pairs, struct wire_msg *msg, int64_t size,
               struct err *err)
{
    struct wire_reader r = wire_read_start(msg, err);
    struct wire_pairs got = {0};

    *pairs = got;
    got.id = wire_read_whole(&r, "id", 0, INT64_MAX);
    got.session = wire_read_whole(&r, "session", 0, INT64_MAX);
    got.epoch = wire_read_whole(&r, "epoch", 0, WIRE_EPOCH_MAX - 1);
    got.step = wire_read_whole(&r, "step", 0, WIRE_STEP_MAX - 1);
    got.beta = wire_read_real(&r, "beta", DBL_MIN, 1e9);
    get_rows(&r, &got, size);
    wire_extra_read(&r, &got.of_extra, got.n_extra);
    wire_variants_read(&r, &got.variants, got.n_views, got.n);
    if (r.rc)
        return -1;
    *pairs = got;
    pairs->msg = wire_msg_hold(msg);
    return 0;
}

void
wire_pairs_release(struct wire_pairs *pairs)
{
    wire_msg_free(pairs->msg);
    *pairs = (struct wire_pairs){0};
}
