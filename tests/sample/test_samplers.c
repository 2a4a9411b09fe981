/* The table of samplers. */
#include <string.h>

#include "how_of.h"
#include "loss/objective.h"
#include "sample/source.h"
#include "t.h"

static void
each_row_is_whole(void)
{
    for (size_t i = 0; sample_samplers[i]; i++) {
        const struct sample_sampler *s = sample_samplers[i], *found;
        char name[SAMPLER_NAME_MAX];
        struct sample_settings how;
        struct err err = {""};

        found = sample_sampler_find(s->method, s->proposals, &err);
        T(found == s && *s->summary, "%s %s is found", s->method, s->proposals);
        sample_settings_init(&how, s);
        T(!param_check(s->params, how.value, &err),
          "its defaults are in range");
        sample_source_name(&how, name);
        T(*name && s->weigh, "it has a name, '%s', and weighs", name);
    }
}

/* Objectives name methods that there are. */
static void
objectives_have_samplers(void)
{
    struct err err;

    for (size_t i = 0; loss_objectives[i]; i++) {
        const char *wanted = loss_objectives[i]->needs_weights;

        if (wanted)
            T(sample_sampler_find(wanted, NULL, &err) != NULL,
              "%s finds its sampler", loss_objectives[i]->name);
    }
}

static void
names_that_are_none(void)
{
    struct err err, want;

    err_set(&want, "no sampler 'emc3': there are %s", sample_sampler_methods());
    T(!sample_sampler_find("emc3", NULL, &err) && !strcmp(err.msg, want.msg),
      "%s", err.msg);
    T(!sample_sampler_find("emc2", "twice", &err) &&
          strstr(err.msg, "emc2 has no --proposals twice: there are once row"),
      "%s", err.msg);
    T(!sample_sampler_find("cache", "once", &err) &&
          !strcmp(err.msg, "cache has no --proposals"),
      "%s", err.msg);
}

static void
values_by_name(void)
{
    struct sample_settings how = how_of("emc2 bank moves=7 clip=3");

    T(sample_settings_value(&how, "moves") == 7, "a value is set by its name");
    T(sample_settings_value(&how, "horizon") == 8,
      "the others are the defaults");
    T(sample_settings_value(&how, "clip") == 0, "what it does not have is 0");
    how = how_of("emc2_bimodal scores=stale");
    T(sample_settings_value(&how, "scores") == SAMPLE_STALE, "a word is one");
}

static void
values_from_a_list(void)
{
    static const char *const bad[][2] = {
        {"clip=3", "emc2 bank has no parameter 'clip'"},
        {"moves", "moves '': want a number"},
        {"moves=3x", "moves '3x': want a number"},
        {"moves=2.5", "moves 2.5: want a whole number"},
        {"moves=0", "moves 0: want a number in 1 .. 1e+06"},
    };
    struct sample_settings how = how_of("emc2 bank");
    struct err err = {""};

    T(!sample_settings_read(&how, ",moves=16,horizon=4", &err) &&
          sample_settings_value(&how, "moves") == 16 &&
          sample_settings_value(&how, "horizon") == 4,
      "numbers behind names %s", err.msg);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        T(sample_settings_read(&how, bad[i][0], &err) &&
              !strcmp(err.msg, bad[i][1]),
          "%s", err.msg);
    how = how_of("emc2 once");
    T(!sample_settings_read(&how, "scores=reset", &err) &&
          sample_settings_value(&how, "scores") == SAMPLE_RESET,
      "a word");
    T(sample_settings_read(&how, "scores=cold", &err) &&
          strstr(err.msg, "scores 'cold': want fresh|stale|reset"),
      "%s", err.msg);
}

/* What was kept under a name goes on under it. */
static void
names_stay(void)
{
    static const char *const kept[][2] = {
        {"emc2 once", "emc2 1"},
        {"emc2 exact", "emc2 1"},
        {"emc2 all4 scores=stale", "emc2 1 stale"},
        {"emc2 row scores=reset", "emc2 1"},
        {"emc2 bank", "emc2 1 bank"},
        {"emc2 exact-bank", "emc2 1 bank"},
        {"emc2_bimodal", "emc2_bimodal 1 bank"},
        {"emc2_bimodal scores=stale", "emc2_bimodal 1 stale"},
        {"emc2_bimodal scores=reset", "emc2_bimodal 1"},
        {"emc2_bimodal exact-bank", "emc2_bimodal 1 bank"},
        {"emc2 shared", "shared 1"},
        {"emc2 zbank", "zbank 1"},
        {"emc2_bimodal shared", "shared across 1"},
        {"cache", "cache 1"},
    };

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const struct sample_settings how = how_of(kept[i][0]);
        char name[SAMPLER_NAME_MAX];

        sample_source_name(&how, name);
        T(!strcmp(name, kept[i][1]), "%s keeps '%s'", kept[i][0], name);
    }
}

int
main(void)
{
    each_row_is_whole();
    objectives_have_samplers();
    names_that_are_none();
    values_by_name();
    values_from_a_list();
    names_stay();
    return t_done();
}
