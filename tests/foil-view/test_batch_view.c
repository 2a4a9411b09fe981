#include "foil-view/batch_view.h"

#include <string.h>

#include "t.h"

enum { N = 2, VIEWS = 2, D = 2, ROWS = N * VIEWS, K = 3 };

static int64_t ids[N] = {10, 20};
static float z[ROWS * D] = {1, 0, 0, 1, .6F, .8F, .8F, .6F};

static const json_t *
member(const json_t *list, size_t i, const char *key)
{
    return json_object_get(json_array_get(list, i), key);
}

static void
batch_is_shown(void)
{
    struct batch_view b = {
        .epoch = 3, .step = 5, .n = N, .views = VIEWS, .d = D, .ids = ids};
    json_t *json = batch_view_json(&b, NULL);

    T(json_is_false(json_object_get(json, "known")),
      "a batch without embeddings is not known");
    json_decref(json);
    b.z = z;
    b.texts = 1;
    json = batch_view_json(&b, NULL);
    T(json_is_true(json_object_get(json, "known")) &&
          json_integer_value(json_object_get(json, "views")) == VIEWS &&
          json_integer_value(json_object_get(json, "pictures")) == 1,
      "with texts an image has one picture");
    T(json_integer_value(json_array_get(json_object_get(json, "labels"), 1)) ==
          -1,
      "without a data set there are no classes");
    json_decref(json);
}

static void
embeddings_are_base64(void)
{
    const struct batch_view b = {.n = 1, .views = 1, .d = D, .z = z};
    json_t *json = batch_view_embeddings(&b);

    T(!strcmp(json_string_value(json_object_get(json, "z")), "AACAPwAAAAA="),
      "1 and 0 as little-endian floats");
    json_decref(json);
}

/* Row 1 drew row 0, a sample outside the batch, and a feature without a sample.
 */
static void
top_negatives_are_shown(void)
{
    int64_t sample[ROWS * K] = {[3] = 10, 77, -1}, of_epoch[ROWS * K] = {0};
    int32_t row[ROWS * K] = {[3] = 0, 9, -1}, view[ROWS * K] = {0};
    float w[ROWS * K] = {[3] = .5F, .375F, .125F}, cosine[ROWS * K] = {0};
    float outside[ROWS] = {[1] = .5F}, effective[ROWS] = {0};
    struct batch_view b = {.n = N, .views = VIEWS, .d = D, .ids = ids, .z = z};
    json_t *top = batch_view_negatives(&b, NULL, 1), *list;

    T(json_is_null(top), "without a sampler: null");
    json_decref(top);
    b.top = (struct wire_top_negatives){
        .sampler = "emc2 1",
        .columns = 19,
        .batch = {.v = VIEWS, .b = N, .ids = ids},
        .heaviest = {K, row, sample, view, of_epoch, w, cosine, outside,
                     effective}};
    top = batch_view_negatives(&b, NULL, 1);
    list = json_object_get(top, "negatives");
    T(json_array_size(list) == 3 &&
          json_number_value(member(list, 1, "weight")) == .375 &&
          json_number_value(json_object_get(top, "outside")) == .5,
      "with a sampler: its negatives");
    T(json_integer_value(member(list, 0, "row")) == 0 &&
          json_is_integer(member(list, 0, "row")) &&
          json_is_null(member(list, 1, "row")) &&
          json_is_null(member(list, 2, "row")),
      "a negative in the batch has its row");
    json_decref(top);
    top = batch_view_negatives(&b, NULL, 2);
    T(!json_array_size(json_object_get(top, "negatives")),
      "negatives of weight 0 are left out");
    json_decref(top);
}

int
main(void)
{
    batch_is_shown();
    embeddings_are_base64();
    top_negatives_are_shown();
    return t_done();
}
