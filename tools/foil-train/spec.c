#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "train/process.h"
#include "train/shards.h"

/* Reads three numbers separated by commas. */
static int
read_three(const char *option, const char *text, float out[3], struct err *err)
{
    const char *at = text;

    for (int i = 0; i < 3; i++) {
        char *end;

        out[i] = strtof(at, &end);
        if (end == at || *end != (i < 2 ? ',' : 0))
            return err_set(err, "--%s '%s': want three numbers, as 0.5,0.5,0.5",
                           option, text);
        at = end + 1;
    }
    return 0;
}

enum { SMALL = 64 }; // largest side in pixels for a small stem

static const char *
stem_of(const struct train_options *o, const struct train_shape *shape)
{
    static const char *const stem[] = {
        [TRAIN_STEM_SMALL] = "small", [TRAIN_STEM_IMAGENET] = "imagenet"};

    if (o->stem != TRAIN_STEM_AUTO)
        return stem[o->stem];
    return shape->height > SMALL || shape->width > SMALL ? "imagenet" : "small";
}

int
train_stem_varies(const struct train_options *o,
                  const struct image_sizes *sizes)
{
    size_t large = 0;

    for (size_t k = 0; k < sizes->n; k++)
        large += sizes->from[k].size > SMALL;
    return o->stem == TRAIN_STEM_AUTO && !o->encoder && large &&
           large < sizes->n;
}

int
train_has_captions(const struct train_options *o)
{
    return o->text && !nn_encoder_of_rows(o->text);
}

int
train_spec(const struct train_options *o, const struct train_shape *shape,
           int texts, struct nn_spec *spec, struct err *err)
{
    static const char *const norms[] = {[TRAIN_NORM_BATCH] = "batch",
                                        [TRAIN_NORM_GROUP] = "group",
                                        [TRAIN_NORM_NONE] = "none"};

    *spec = (struct nn_spec){
        .arch = texts ? o->text : o->arch,
        .stem = texts ? "small" : stem_of(o, shape),
        .norm = norms[o->norm],
        .head = o->head,
        .bf16 = o->bf16,
    };
    if (texts && train_has_captions(o)) {
        spec->vocabulary = (long)shape->vocabulary;
        spec->context = o->context;
        spec->quick_gelu = o->quick_gelu;
        return nn_encoder_reads(o->text, NN_TOKENS) ||
                       !strcmp(o->text, nn_arch_program)
                   ? 0
                   : err_set(err, "--text %s: want one of %s", o->text,
                             nn_encoder_names(1));
    }
    if (nn_encoder_reads(o->arch, NN_TOKENS))
        return err_set(err, "--arch %s reads texts: want one of %s", o->arch,
                       nn_encoder_names(0));
    spec->second = texts;
    spec->width = o->width;
    spec->hidden = o->hidden;
    spec->basis = (long)shape->basis;
    spec->height = shape->height;
    spec->image_width = shape->width;
    spec->channels = shape->channels;
    if (o->feature_size && !o->encoder && !nn_encoder_any_size(o->arch))
        return err_set(err,
                       "--feature-size %ld: --arch %s reads images of one "
                       "size, a resnet of any",
                       o->feature_size, o->arch);
    spec->feature_size = o->feature_size;
    spec->direct = o->direct;
    if (nn_encoder_reads(o->arch, NN_IDS)) {
        spec->samples = shape->size;
        spec->views = (long)shape->views;
    }
    if (shape->basis &&
        !nn_encoder_any_size(o->arch)) { // of pixels / 255, including an offset
        for (int k = 0; k < 3; k++)
            spec->deviation[k] = 1;
        return 0;
    }
    if (read_three("mean", o->mean, spec->mean, err))
        return -1;
    return read_three("deviation", o->deviation, spec->deviation, err);
}

static struct nn_optim_spec
optim_spec(const struct train_options *o)
{
    const char *const name[] = {
        [TRAIN_SGD] = "sgd",     [TRAIN_ADAM] = "adam",
        [TRAIN_ADAMW] = "adamw", [TRAIN_LARS] = o->lars_b ? "lars-b" : "lars-a",
        [TRAIN_MUON] = "muon",
    };
    struct nn_optim_spec spec = o->optimiser;

    spec.name = name[o->optim];
    return spec;
}

int
train_sample_settings(const struct train_options *o,
                      const struct loss_objective *objective,
                      struct sample_settings *settings, struct err *err)
{
    const struct sample_sampler *sampler =
        sample_sampler_find(objective->needs_weights, o->proposals, err);

    if (!sampler)
        return -1;
    sample_settings_init(settings, sampler);
    settings->draws_outside = train_draws_outside(o);
    settings->most = (size_t)o->max_state << 30;
    settings->seed = (uint64_t)o->seed;
    sample_settings_set(settings, "scores", o->scores);
    // across the views, a state outside of the batch has no score
    sample_settings_set(settings, "outside",
                        o->outside ? SAMPLE_FROM_BANK
                        : sampler->kernel == SAMPLE_CROSS
                            ? SAMPLE_FROM_BATCH_EXTRA
                            : SAMPLE_AUTO);
    sample_settings_set(settings, "burn-in", (double)o->burn);
    sample_settings_set(settings, "moves", (double)o->moves);
    return 0;
}

int
train_draws_outside(const struct train_options *o)
{
    return nn_encoder_reads(o->arch, NN_IDS) && o->sampler == TRAIN_OWN &&
           o->scores == SAMPLE_FRESH && !o->outside;
}

int
train_encoder_spec(const struct train_options *o,
                   const struct train_shape *shape, int texts,
                   struct train_encoder_spec *spec, struct err *err)
{
    struct err none;
    const struct loss_objective *objective =
        train_find_objective(o->objective, &none);
    const size_t images = shape->images, extra = shape->extra;
    size_t rows = images + extra;

    if (!texts)
        rows = o->text ? images : shape->per_image * images + extra;
    *spec = (struct train_encoder_spec){
        .optim = optim_spec(o),
        .rows = rows,
        .views = shape->per_image,
        .small = texts ? 0 : shape->small,
        .small_height = shape->small_height,
        .small_width = shape->small_width,
        .micro = (size_t)o->micro,
        .shards = (size_t)o->shards,
        .whole = o->whole,
        .seed = (uint64_t)o->seed,
        .frozen = o->freeze == (texts ? TRAIN_FREEZE_TEXT : TRAIN_FREEZE_IMAGE),
        .average = o->average > 0,
        .loss = objective && objective->by_encoder,
    };
    if (spec->loss && objective->needs_weights)
        spec->weighed = 2 * images + extra;
    return train_spec(o, shape, texts, &spec->net, err);
}

/* Parses the text of a schedule from `base` to `end`. */
static int
parse_schedule(const char *option, const char *text, double base, double end,
               struct nn_schedule *schedule, struct err *err)
{
    struct err why;

    *schedule = (struct nn_schedule){.base = base, .end = end};
    if (nn_schedule_parse(text, schedule, &why))
        return err_set(err, "%s: %s", option, why.msg);
    return 0;
}

/* Parses the schedule of a parameter of the objective. */
static int
parse_param(const struct param *p, double value,
            const struct train_schedule *param_schedule,
            struct nn_schedule *schedule, struct err *err)
{
    const int from_one = p->schedule == PARAM_FROM_ONE;
    char option[48];

    *schedule = (struct nn_schedule){.base = value};
    if (p->schedule < PARAM_TO_END)
        return 0;
    snprintf(option, sizeof option, "%s-schedule", p->name);
    if (parse_schedule(option, param_schedule->schedule, from_one ? 1 : value,
                       from_one ? value : param_schedule->end, schedule, err))
        return -1;
    if (schedule->kind == NN_SCHEDULE_STEP)
        return err_set(err, "%s: step is for the learning rate", option);
    if (schedule->kind == NN_SCHEDULE_CONSTANT) {
        schedule->base = value;
        return isnan(p->end) && !isnan(param_schedule->end)
                   ? err_set(err, "%s-end needs a %s", p->name, option)
                   : 0;
    }
    if (isnan(schedule->end))
        return err_set(err, "%s needs %s-end, its last value", option, p->name);
    if (p->schedule == PARAM_INVERSE && schedule->kind == NN_SCHEDULE_WAVE) {
        schedule->base = 1 / schedule->base;
        schedule->end = 1 / schedule->end;
    }
    return 0;
}

int
train_schedules_check(const struct train_options *o,
                      struct train_schedules *schedules, struct err *err)
{
    const struct loss_objective *objective =
        train_find_objective(o->objective, err);
    struct train_schedules any;

    if (!schedules)
        schedules = &any;
    if (!objective || parse_schedule("--schedule", o->schedule, o->lr,
                                     o->lr_end, &schedules->rate, err))
        return -1;
    schedules->rate.warmup = o->warmup;
    for (size_t i = 0; objective->params[i].name; i++)
        if (parse_param(objective->params + i, o->loss.value[i],
                        o->param_schedule + i, schedules->value + i, err))
            return -1;
    return 0;
}

/* A shape for checks of options. */
static struct train_shape
any_shape(const struct train_options *o)
{
    const int rows = nn_encoder_of_rows(o->arch);

    return (struct train_shape){.size = 1,
                                .height = rows ? 1 : 32,
                                .width = 32,
                                .channels = rows ? sizeof(float) : 3,
                                .per_image = 2,
                                .views = 2,
                                .vocabulary = 1,
                                .basis =
                                    *o->basis || nn_encoder_looks_up(o->arch)};
}

int
train_bf16_faster(const struct train_options *o)
{
    struct train_options halves = *o;
    const struct train_shape any = any_shape(o);
    int faster = 0;

    halves.bf16 = 1;
    for (int texts = 0; texts < (o->text ? 2 : 1); texts++) {
        struct nn_spec spec;
        struct err none;

        if (train_spec(&halves, &any, texts, &spec, &none) ||
            nn_net_check(&spec, &none))
            return 0;
        faster |= nn_net_bf16_faster(&spec);
    }
    return faster;
}

int
train_check(const struct train_options *o, struct err *err)
{
    const struct train_shape any = any_shape(o);
    const struct nn_optim_spec optim = optim_spec(o);
    const struct loss_objective *objective =
        train_find_objective(o->objective, err);
    struct nn_optim *made;

    if (!objective)
        return -1;
    if (o->shards > 1 && o->micro)
        return err_set(err, "--shards and --micro-batch both cut batches: give "
                            "one of them");
    if (o->shards > 1 && o->encoder)
        return err_set(err, "--shards is for encoders that are computed here, "
                            "not by --encoder");
    if (o->whole && (o->micro || o->encoder))
        return err_set(err, "--norm-over batch is for --shards, not for %s",
                       o->micro ? "--micro-batch" : "--encoder");
    if (o->targets &&
        (o->targets == 1 || objective->pairs || objective->by_encoder))
        return err_set(err, "--positive-views %ld: %s", o->targets,
                       o->targets == 1
                           ? "a row of that view has no positive: want 2 or "
                             "more"
                       : objective->pairs ? objective->pairs
                                          : "the program chooses positives");
    if (train_shards_check((size_t)o->shards, 1, err) ||
        loss_objective_check(objective, &o->loss, 0, 2, 0, err) ||
        train_schedules_check(o, NULL, err))
        return -1;
    for (int texts = 0; texts < (o->text ? 2 : 1); texts++) {
        struct nn_spec spec;

        if (train_spec(o, &any, texts, &spec, err) ||
            (strcmp(spec.arch, nn_arch_program) && nn_net_check(&spec, err)))
            return -1;
    }
    made = nn_optim_new(&optim, NULL, 0, 0, err);
    nn_optim_free(made);
    return made ? 0 : -1;
}
