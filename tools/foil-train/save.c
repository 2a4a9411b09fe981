#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "nn/checkpoint.h"
#include "nn/model.h"
#include "train.h"
#include "util/file.h"
#include "util/mem.h"

static const char config_name[] = "config.json";

/* Machine and model of the processor: another may round otherwise. */
static char *
processor(void)
{
    struct utsname name;
    char line[512], model[256] = "";
    FILE *file = fopen("/proc/cpuinfo", "r");

    uname(&name);
    while (file && !model[0] && fgets(line, sizeof line, file))
        sscanf(line, "model name : %255[^\n]", model);
    if (file)
        fclose(file);
    return mem_format("%s %s", name.machine, model);
}

static json_t *
describe(struct train *t, struct err *err)
{
    json_t *config;
    struct nn_spec spec;
    char *table, *cpu;

    if (train_spec(t->options, &t->shape, &spec, err))
        return NULL;
    table = nn_net_table(t->encoder.net);
    cpu = processor();
    config = json_pack(
        "{s:s, s:i, s:s, s:o, s:o, s:{s:s, s:I}, s:{s:I, s:I}, s:{s:s, s:s}, "
        "s:o}",
        "format", "foil-config", "version", 1, "foil", FOIL_VERSION, "options",
        train_options_put(), "encoder", nn_spec_put(&spec), "dataset", "digest",
        t->shape.digest, "size", (json_int_t)t->shape.size, "batch", "images",
        (json_int_t)t->shape.images, "extra", (json_int_t)t->shape.extra,
        "engine", "processor", cpu, "table", table, "state",
        train_state_put(&t->state));
    free(table);
    free(cpu);
    REQUIRE(config);
    return config;
}

static int
write_files(struct train *t, const char *folder, struct err *err)
{
    char *path = mem_format("%s/%s", folder, config_name), *text = NULL;
    json_t *config = describe(t, err);
    int rc = -1;

    if (config) {
        text = json_text(config, JSON_INDENT(2));
        rc = file_write(path, text, strlen(text), err);
    }
    if (!rc && (train_encoder_save(&t->encoder, folder, err) ||
                train_samples_save(&t->samples, folder, err)))
        rc = -1;
    if (!rc && t->options->keep_features)
        rc = train_history_save(&t->features.history, folder, err);
    free(text);
    json_decref(config);
    free(path);
    return rc;
}

void
train_tidy(struct train *t)
{
    const char *run = t->options->run;
    struct err why;

    if (nn_checkpoint_link(run, &why)) // nor may what it shows be removed
        train_report_say(t, "'%s/latest' stays behind until the next save: %s",
                         run, why.msg);
    else if (nn_checkpoint_tidy(run, t->options->keep, &why))
        train_report_say(t, "an old checkpoint stays until the next save: %s",
                         why.msg);
}

int
train_save(struct train *t, struct err *err)
{
    const char *run = t->options->run;
    const long step = (long)t->state.total;
    char *folder;
    int rc;

    // the metrics of a step are on the disk before the step is committed
    if (train_journal_sync(&t->journal, err))
        return -1;
    if (!train_encoder_finite(&t->encoder))
        return err_set(err, "the weights are not finite: not saved");
    folder = nn_checkpoint_begin(run, step, err);
    if (!folder)
        return -1;
    rc = write_files(t, folder, err);
    free(folder);
    if (rc) {
        nn_checkpoint_abort(run, step);
        return -1;
    }
    if (nn_checkpoint_commit(run, step, err))
        return -1;
    t->saved = t->state.total;
    folder = mem_format("%s/step-%08ld", run, step);
    train_report_event(t, "checkpoint", folder, "");
    free(folder);
    train_tidy(t);
    return 0;
}

static json_t *
read_config(const char *folder, struct err *err)
{
    char *path = mem_format("%s/%s", folder, config_name);
    size_t len;
    char *text = file_read(path, 1 << 24, &len, err);
    json_t *config = text ? json_parse(text, len, path, err) : NULL;

    free(text);
    free(path);
    return config;
}

static int
take_state(struct train *t, const json_t *config, struct err *err)
{
    const json_t *state = json_object_get(config, "state");
    const json_t *data = json_object_get(config, "dataset");
    const json_t *batch = json_object_get(config, "batch");
    const json_t *spec = json_object_get(config, "encoder");
    struct nn_spec encoder;
    const char *digest;
    int64_t images, extra;

    if (train_state_get(&t->state, state, err))
        return -1;
    if (json_get_text(data, "digest", &digest, err) ||
        json_get_whole(data, "size", 1, WIRE_SIZE_MAX, &t->shape.size, err) ||
        json_get_whole(batch, "images", 2, WIRE_BATCH_MAX, &images, err) ||
        json_get_whole(batch, "extra", 0, 2 * WIRE_BATCH_MAX, &extra, err) ||
        nn_spec_get(&encoder, spec, err))
        return -1;
    snprintf(t->shape.digest, sizeof t->shape.digest, "%s", digest);
    t->shape.images = (size_t)images;
    t->shape.extra = (size_t)extra;
    t->shape.height = encoder.height;
    t->shape.width = encoder.image_width;
    t->shape.channels = encoder.channels;
    t->shape.views = encoder.views ? (size_t)encoder.views : 2;
    t->shape.basis = (size_t)encoder.basis;
    return 0;
}

/* A fact about the machine that decides the bits of the result. */
static int
compare(const json_t *engine, const char *key, const char *is, struct err *err)
{
    const char *was;

    if (json_get_text(engine, key, &was, err))
        return -1;
    if (!strcmp(is, was) || train_overridden(key))
        return 0;
    return err_set(err,
                   "the %s is another than in the checkpoint, and with it the "
                   "last bits of every result: --override %s goes on",
                   key, key);
}

static int
check_engine(struct train *t, const json_t *config, struct err *err)
{
    const json_t *engine = json_object_get(config, "engine");
    char *cpu = processor(), *table = nn_net_table(t->encoder.net);
    int rc = compare(engine, "processor", cpu, err);

    if (!rc)
        rc = compare(engine, "table", table, err);
    free(cpu);
    free(table);
    return rc;
}

static int
load(struct train *t, const char *folder, struct err *err)
{
    if (train_encoder_load(&t->encoder, folder, err) ||
        train_samples_load(&t->samples, folder, err))
        return -1;
    return t->options->keep_features
               ? train_history_load(&t->features.history, folder, err)
               : 0;
}

int
train_resume(struct train *t, const char *folder, struct err *err)
{
    if (nn_checkpoint_verify(folder, err))
        return -1;
    t->config = read_config(folder, err);
    if (!t->config ||
        train_options_take(json_object_get(t->config, "options"), err) ||
        take_state(t, t->config, err) || train_prepare(t, err) ||
        train_net_open(t, err) || check_engine(t, t->config, err) ||
        load(t, folder, err))
        return -1;
    t->saved = t->state.total;
    return 0;
}

int
train_rollback(struct train *t, struct err *err)
{
    char *folder = nn_checkpoint_need(t->options->run, err);
    int rc = -1;

    if (!folder)
        return -1;
    // everything goes back but the list of who could not be used
    if (!nn_checkpoint_verify(folder, err) &&
        !train_encoder_load(&t->encoder, folder, err))
        rc = train_samples_revert(&t->samples, folder, err);
    free(folder);
    return rc;
}
