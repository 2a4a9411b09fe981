#include "foil-view/batch_view.h"

#include "t.h"

/* Two images with two views each.  Row r has one negative of weight 1 - r / 10,
 * another image in each epoch. */
static void
draw_step(struct chain_trail *trail, int64_t epoch, int64_t step)
{
    enum { N = 2, V = 2, ROWS = N * V, K = 2 };
    int64_t ids[N] = {3, 7}, sample[ROWS * K], of_epoch[ROWS * K];
    int32_t row[ROWS * K], view[ROWS * K];
    float w[ROWS * K], cosine[ROWS * K], outside[ROWS], effective[ROWS];

    for (int r = 0; r < ROWS; r++) {
        outside[r] = .25F;
        effective[r] = 1.5F;
        for (int k = 0; k < K; k++) {
            const int at = r * K + k;

            sample[at] = k ? -1 : epoch;
            of_epoch[at] = epoch;
            row[at] = -1;
            view[at] = r / N;
            w[at] = k ? 0 : 1 - (float)r / 10;
            cosine[at] = .5F;
        }
    }
    chain_trail_add(
        trail,
        &(struct wire_top_negatives){
            .batch = {.epoch = epoch, .step = step, .b = N, .v = V, .ids = ids},
            .heaviest = {K, row, sample, view, of_epoch, w, cosine, outside,
                         effective}},
        10);
}

static json_int_t
whole_at(const json_t *steps, size_t step, const char *key)
{
    return json_integer_value(
        json_object_get(json_array_get(steps, step), key));
}

static const json_t *
state_at(const json_t *steps, size_t step, const char *key)
{
    const json_t *states =
        json_object_get(json_array_get(steps, step), "states");

    return json_array_size(states) == 1
               ? json_object_get(json_array_get(states, 0), key)
               : NULL;
}

static void
latest_steps_are_shown(void)
{
    struct chain_trail trail = {0};
    json_t *steps;

    steps = chain_trail_json(&trail, 3, 0, NULL);
    T(!json_array_size(steps), "an empty trail has no steps");
    json_decref(steps);
    for (int64_t epoch = 0; epoch < CHAIN_TRAIL_STEPS + 3; epoch++)
        draw_step(&trail, epoch, 5);
    steps = chain_trail_json(&trail, 7, 1, NULL);
    T(json_array_size(steps) == CHAIN_TRAIL_STEPS &&
          whole_at(steps, 0, "epoch") == 3 &&
          whole_at(steps, CHAIN_TRAIL_STEPS - 1, "epoch") ==
              CHAIN_TRAIL_STEPS + 2,
      "the latest eight of eleven steps, oldest first");
    T(json_integer_value(state_at(steps, 0, "id")) == 3 &&
          json_integer_value(state_at(steps, 0, "view")) == 1 &&
          fabs(json_number_value(state_at(steps, 0, "weight")) - .7) < 1e-6,
      "with the negatives of that image and view");
    json_decref(steps);
    steps = chain_trail_json(&trail, 4, 0, NULL);
    T(!json_array_size(steps), "an image in no batch has no steps");
    json_decref(steps);
    for (int bad = 0; bad < 3; bad++) {
        steps = chain_trail_json(&trail,
                                 bad == 1   ? 10
                                 : bad == 2 ? -1
                                            : 3,
                                 bad ? 0 : 2, NULL);
        T(!json_array_size(steps),
          "an image outside the data set has no steps, %d", bad);
        json_decref(steps);
    }
    chain_trail_release(&trail);
}

/* A resumed run repeats steps. */
static void
repeated_step_drops_earlier_ones(void)
{
    struct chain_trail trail = {0};
    json_t *steps;

    for (int64_t step = 0; step < 5; step++)
        draw_step(&trail, 1, step);
    draw_step(&trail, 1, 3);
    steps = chain_trail_json(&trail, 3, 0, NULL);
    T(json_array_size(steps) == 1 && whole_at(steps, 0, "step") == 3,
      "a repeated step is the only one");
    json_decref(steps);
    chain_trail_release(&trail);
}

int
main(void)
{
    latest_steps_are_shown();
    repeated_step_drops_earlier_ones();
    return t_done();
}
