/* Scalars of an objective: updated, bounded, saved and loaded. */
#include <math.h>
#include <string.h>

#include "child.h"
#include "t.h"
#include "train/scalars.h"

static const struct nn_optim_spec sgd = {
    .name = "sgd", .momentum = 0.5, .weight_decay = 0.1};

static void
begin(struct train_scalars *scalars, const char *objective,
      const struct loss_settings *set, const struct nn_optim_spec *optim)
{
    struct err err = {""};
    const struct loss_objective *o = loss_objective_find(objective, &err);
    struct loss_settings defaults = loss_settings_of(o);

    T(!train_scalars_open(scalars, o, set ? set : &defaults, optim, &err),
      "the scalars of %s %s", objective, err.msg);
}

static void
updates_follow_slopes(void)
{
    struct train_scalars scalars;
    const struct loss_report report = {.slope = {2, -1}};
    struct loss_settings set = {0};

    begin(&scalars, "siglip", NULL, &sgd);
    T(scalars.n == 2, "siglip has two");
    T_NEAR(scalars.x[0], log(10), 1e-6, "the scale starts at log 10");
    T_NEAR(scalars.x[1], -10, 1e-6, "the bias at -10");
    train_scalars_update(&scalars, &report, 0.25);
    train_scalars_update(&scalars, &report, 0.25);
    // momentum 0.5: one slope, then one and a half; no decay
    T_NEAR(scalars.x[0], log(10) - 0.25 * 2 * 2.5, 1e-5,
           "the scale is updated by its slope, without weight decay");
    T_NEAR(scalars.x[1], -10 + 0.25 * 2.5, 1e-5,
           "the bias is updated by its slope");
    train_scalars_apply(&scalars, &set);
    T_NEAR(set.value[LOSS_TAU], exp(-scalars.x[0]), 1e-6,
           "tau follows from the scale");
    train_scalars_close(&scalars);
}

static void
bounds_hold(void)
{
    struct train_scalars scalars;
    const struct loss_report steep = {.slope = {-1000}};
    const struct loss_report none = {.slope = {NAN}};

    begin(&scalars, "clip", NULL, &sgd);
    train_scalars_update(&scalars, &steep, 1);
    T_NEAR(scalars.x[0], log(100), 1e-6, "1 / tau is at most 100");
    T(train_scalars_finite(&scalars, &steep), "a steep slope is finite");
    T(!train_scalars_finite(&scalars, &none), "NaN is not");
    train_scalars_close(&scalars);
}

static void
fixed_scalars_are_left_out(void)
{
    struct err err;
    const struct loss_objective *o = loss_objective_find("clip", &err);
    struct loss_settings set = loss_settings_of(o);
    struct train_scalars scalars;

    *param_at(o->params, set.value, "fixed-tau") = 1;
    begin(&scalars, "clip", &set, &sgd);
    T(scalars.n == 0 && !scalars.optim, "fixed-tau: there is no scalar");
    train_scalars_update(&scalars, &(struct loss_report){.value = 0}, 1);
    train_scalars_close(&scalars);
    begin(&scalars, "simclr", NULL, &sgd);
    T(scalars.n == 0, "simclr has none");
    train_scalars_close(&scalars);
}

static void
saved_scalars_are_restored(const char *optim, long accumulate)
{
    const struct nn_optim_spec spec = {
        .name = optim, .momentum = 0.9, .accumulate = accumulate};
    struct train_scalars one;
    struct train_scalars two;
    const struct loss_report report = {.slope = {0.3, 0.7}};
    struct train_part save = train_scalars_part(&one);
    struct train_part load = train_scalars_part(&two);
    struct err err = {""};

    begin(&one, "siglip", NULL, &spec);
    begin(&two, "siglip", NULL, &spec);
    for (int i = 0; i < 3; i++)
        train_scalars_update(&one, &report, 0.1);
    T(!save.save(save.self, ".", &err) && !load.load(load.self, ".", &err),
      "%s: saved and loaded %s", optim, err.msg);
    for (int i = 0; i < 3; i++) {
        train_scalars_update(&one, &report, 0.1);
        train_scalars_update(&two, &report, 0.1);
    }
    T(!memcmp(one.x, two.x, sizeof one.x),
      "%s, %ld gradients per step: both have the same bits", optim, accumulate);
    train_scalars_close(&one);
    train_scalars_close(&two);
}

static void
foreign_files_are_refused(void)
{
    struct train_scalars clip;
    struct train_scalars siglip;
    struct train_part save = train_scalars_part(&clip);
    struct train_part load = train_scalars_part(&siglip);
    struct err err = {""};

    begin(&clip, "clip", NULL, &sgd);
    begin(&siglip, "siglip", NULL, &sgd);
    clip.x[0] = 1;
    T(!save.save(save.self, ".", &err) &&
          load.load(load.self, ".", &err) == -1 &&
          strstr(err.msg, "logit_bias"),
      "a file without a scalar is refused: %s", err.msg);
    clip.x[0] = NAN;
    T(!save.save(save.self, ".", &err) &&
          save.load(save.self, ".", &err) == -1 && strstr(err.msg, "finite"),
      "a scalar that is not finite is refused: %s", err.msg);
    train_scalars_close(&clip);
    train_scalars_close(&siglip);
}

int
main(void)
{
    char scratch[256];

    child_scratch(scratch);
    updates_follow_slopes();
    bounds_hold();
    fixed_scalars_are_left_out();
    saved_scalars_are_restored("sgd", 1);
    saved_scalars_are_restored("adamw", 1);
    saved_scalars_are_restored("adam", 2);
    foreign_files_are_refused();
    T(!remove("objective.safetensors") && !chdir("/") && !rmdir(scratch),
      "tidied up");
    return t_done();
}
