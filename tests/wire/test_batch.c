#include "t.h"
#include "wire/batch.h"

#include "parts.h"

enum { V = 2, B = 3, H = 4, W = 5, C = 3, R = 2, LEN = 6 };

static int64_t size;

static int
get(struct wire_msg *msg, struct err *err)
{
    struct wire_batch batch;
    int rc = wire_batch_get(&batch, msg, size, err);

    wire_batch_release(&batch);
    return rc;
}

static uint8_t views[V * B * H * W * C], extra[R * H * W * C];
static int32_t tokens[B * LEN];
static const int64_t ids[B] = {5, 0, 7}, extra_ids[R] = {1, 2};
static const int64_t view[R] = {5, -1}, variant[V * B] = {3, 2, 1, 0, 1, 2};
static const int32_t row[R] = {1, -1};
static const float log_q[R] = {-3, 4};
static int64_t substituted[][2] = {{4, 5}, {6, 7}};

static struct wire_batch
full(void)
{
    for (size_t i = 0; i < sizeof views; i++)
        views[i] = (uint8_t)(i * 7);
    for (size_t i = 0; i < sizeof extra; i++)
        extra[i] = (uint8_t)(i * 11);
    for (int i = 0; i < B * LEN; i++)
        tokens[i] = i - 3;
    return (struct wire_batch){
        .at = {1, 2, 3},
        .steps = 10,
        .epochs = 5,
        .n = B,
        .n_views = V,
        .height = H,
        .width = W,
        .channels = C,
        .n_extra = R,
        .n_tokens = LEN,
        .rejected = 2,
        .n_substituted = 2,
        .substituted = substituted,
        .ids = ids,
        .views = views,
        .extra_ids = extra_ids,
        .extra = extra,
        .tokens = tokens,
        .look = 1,
        .of_extra = {9, view, row, NULL, log_q},
        .variants = {4, V, variant},
    };
}

static void
round_trip(void)
{
    static const struct change changes[] = {
        {"session", NULL, -1},
        {"steps", "3", -1},
        {"epochs", "2", -1},
        {"height", NULL, -1},
        {"height", "5", -1},
        {"width", "0", -1},
        {"width", "4", -1},
        {"channels", "4097", -1},
        {"channels", "1", -1},
        {"rejected", NULL, -1},
        {"rejected", "-1", -1},
        {"substituted", NULL, 0},
        {"substituted", "[]", 0},
        {"substituted", "3", -1},
        {"tensors", NULL, -1},
        {"look", "0", -1},
        {"reserve", "1", -1},
        {"reserve", "2", 0},
        {"augmentations", NULL, -1},
        {"augmentations", "3", -1},
        {NULL, NULL, 0},
    };
    struct wire_batch batch = full(), got;
    struct wire_msg *msg = again(wire_batch_put(&batch));
    struct err err = {""};

    T(!wire_batch_get(&got, msg, 8, &err), "decodes: %s", err.msg);
    T(got.n == B && got.n_views == V && got.height == H && got.width == W &&
          got.channels == C && got.n_extra == R && got.n_tokens == LEN &&
          got.rejected == 2 && got.steps == 10 && got.epochs == 5,
      "sizes");
    T(!memcmp(got.ids, ids, sizeof ids) &&
          !memcmp(got.views, views, sizeof views) &&
          !memcmp(got.extra_ids, extra_ids, sizeof extra_ids) &&
          !memcmp(got.extra, extra, sizeof extra) &&
          !memcmp(got.tokens, tokens, sizeof tokens),
      "arrays");
    T(got.n_substituted == 2 && got.substituted[1][0] == 6 &&
          got.substituted[1][1] == 7,
      "who stands in for whom");
    T(got.look && !memcmp(got.of_extra.view, view, sizeof view) &&
          !memcmp(got.of_extra.hint_row, row, sizeof row) &&
          !got.of_extra.hint_view &&
          !memcmp(got.of_extra.hint_log_q, log_q, sizeof log_q) &&
          got.variants.augmentations == 4 &&
          !memcmp(got.variants.variant, variant, sizeof variant),
      "which views they are");
    T((uintptr_t)got.ids % 8 == 0 && (uintptr_t)got.tokens % 4 == 0, "aligned");
    T(got.views == wire_msg_part(msg, 3).data, "views are not copied");
    wire_batch_release(&got);
    wire_batch_release(&got);
    judge_all(get, msg, changes);
    size = 7;
    T(get(msg, &err), "an id outside: %s", err.msg);
    size = 0;
    wire_msg_free(msg);
}

static void
refused(const char *why, struct wire_batch batch)
{
    struct wire_msg *msg = again(wire_batch_put(&batch));
    struct err err = {""};

    T(get(msg, &err), "%s: %s", why, err.msg);
    wire_msg_free(msg);
}

static void
plain_and_odd(void)
{
    static const struct change shapes[] = {
        {"height", "5", -1},
        {"width", "4", -1},
        {"channels", "1", -1},
        {NULL, NULL, 0},
    };
    static int64_t outside[][2] = {{4, -1}};
    static const int64_t twice[B] = {5, 0, 5};
    struct wire_batch batch = full();
    struct err err = {""};
    struct wire_msg *msg;

    batch.n_extra = batch.n_tokens = batch.n_substituted = 0;
    batch.variants.augmentations = batch.look = 0;
    msg = again(wire_batch_put(&batch));
    T(!get(msg, &err), "without what is optional: %s", err.msg);
    judge_all(get, msg, shapes);
    wire_msg_free(msg);
    batch = full();
    batch.substituted = outside;
    batch.n_substituted = 1;
    refused("an id below 0 stands in", batch);
    batch = full();
    batch.variants.views = 1;
    refused("variants of one view only", batch);
    batch = full();
    batch.ids = twice;
    refused("a sample twice", batch);
}

int
main(void)
{
    round_trip();
    plain_and_odd();
    return t_done();
}
