#include "t.h"
#include "wire/item.h"

#include "parts.h"

static int64_t size;

static int
get(struct wire_msg *msg, struct err *err)
{
    struct wire_item item;
    int rc = wire_item_get(&item, msg, size, err);

    T(rc == 0 || (!item.ids && !item.msg), "empty when refused");
    wire_item_release(&item);
    return rc;
}

int
main(void)
{
    static const struct change changes[] = {
        {"session", NULL, -1},
        {"epoch", NULL, -1},
        {"step", NULL, -1},
        {"run", NULL, -1},
        {"run", "5", -1},
        {"size", NULL, -1},
        {"size", "9", -1},
        {"size", "0", -1},
        {"steps", NULL, -1},
        {"steps", "3", -1},
        {"steps", "4", 0},
        {"epochs", NULL, -1},
        {"epochs", "2", -1},
        {"epochs", "3", 0},
        {"tensors", NULL, -1},
        {"size", "10.0", -1},
        {"nonsense", "[]", 0},
        {"look", NULL, 0},
        {"reserve", "0", -1},
        {"reserve", "1", 0},
        {"reserve", NULL, 0},
        {"look", "1", -1},
        {"hint_values", NULL, 0},
        {"hint_values", "[]", -1},
        {"hint_values", "{\"a\": true}", -1},
        {"augmentations", NULL, -1},
        {"augmentations", "1", -1},
        {"augmentations", "2", -1},
        {"augmentations", "3", 0},
        {NULL, NULL, 0},
    };
    const int64_t ids[] = {9, 0, 4}, extra[] = {7}, twice[] = {4, 9, 4};
    const int64_t view[] = {-1}, variant[] = {0, 1, 2, 2, 0, 1};
    const int32_t row[] = {4}, of[] = {1};
    const float log_q[] = {-0.5f};
    struct wire_item item = {.at = {1, 2, 3},
                             .run = "r",
                             .size = 10,
                             .steps = 9,
                             .epochs = 7,
                             .n = 3,
                             .ids = ids,
                             .n_extra = 1,
                             .extra = extra,
                             .look = 1,
                             .of_extra =
                                 {9, view, row, of, log_q, 1, {{"walk", 0.25}}},
                             .variants = {3, 2, variant}},
                     got;
    struct wire_msg *msg = again(wire_item_put(&item));
    struct err err = {""};

    T(!wire_item_get(&got, msg, 10, &err) && got.n == 3 && got.n_extra == 1 &&
          !memcmp(got.ids, ids, sizeof ids) && got.extra[0] == 7 &&
          got.steps == 9 && got.epochs == 7 && got.size == 10 &&
          !strcmp(got.run, "r"),
      "round trip: %s", err.msg);
    T(got.look && got.of_extra.reserve == 9 && got.of_extra.view[0] == -1 &&
          got.variants.augmentations == 3 && got.variants.views == 2 &&
          !memcmp(got.variants.variant, variant, sizeof variant),
      "what is wanted of them");
    T(got.of_extra.hint_row[0] == 4 && got.of_extra.hint_view[0] == 1 &&
          got.of_extra.hint_log_q[0] == -0.5f &&
          got.of_extra.n_hint_values == 1 &&
          !strcmp(got.of_extra.hint_values[0].name, "walk") &&
          got.of_extra.hint_values[0].value == 0.25,
      "each hint comes as it was sent");
    wire_item_release(&got);
    judge_all(get, msg, changes);
    size = 11;
    T(get(msg, &err), "another data set: %s", err.msg);
    size = 10;
    T(!get(msg, &err), "ours");
    wire_msg_free(msg);

    item.ids = twice;
    msg = again(wire_item_put(&item));
    T(get(msg, &err) && strstr(err.msg, "sample 4 is in 'ids' twice"),
      "a sample twice: %s", err.msg);
    wire_msg_free(msg);
    item.ids = ids;

    item.size = 9;
    size = 0;
    msg = again(wire_item_put(&item));
    T(get(msg, &err), "an id outside: %s", err.msg);
    wire_msg_free(msg);
    item.size = 10;
    item.variants.augmentations = 0;
    item.of_extra = (struct wire_extra){0};
    item.look = 0;
    msg = again(wire_item_put(&item));
    T(!wire_item_get(&got, msg, 0, &err) && !got.look && !got.of_extra.view &&
          !got.of_extra.hint_row && !got.of_extra.hint_view &&
          !got.of_extra.hint_log_q && !got.of_extra.n_hint_values &&
          !got.variants.variant,
      "nothing is wanted of them: %s", err.msg);
    wire_item_release(&got);
    wire_msg_free(msg);
    return t_done();
}
