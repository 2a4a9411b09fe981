#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nn/average.h"
#include "nn/checkpoint.h"
#include "num/vec.h"
#include "train/process.h"
#include "util/mem.h"
#include "util/opt.h"

#include "embed.h"

/* The command of the program that computes the encoder, or NULL if foil does:
 * that of --encoder, else the trainer's, which the checkpoint has. */
static const char *
find_command(const struct embed_encoder *e, const struct embed_options *job)
{
    const json_t *options = json_object_get(e->model.config, "options");
    const char *saved = json_string_value(json_object_get(options, "encoder"));
    struct stat st;

    if (job->encoder || strcmp(e->model.spec.arch, nn_arch_program))
        return job->encoder;
    if (!saved)
        die("'%s' has no command of its encoder: give it by --encoder COMMAND",
            e->model.folder);
    if (stat(mem_temp("%s/%s", e->model.folder, NN_CHECKPOINT_CONFIG), &st) ||
        (st.st_uid && st.st_uid != geteuid()))
        die("'%s' is another user's, so its command '%.100s' is not started: "
            "give a command by --encoder COMMAND",
            e->model.folder, saved);
    return saved;
}

/* Starts the program, with the weights and the state of the checkpoint. */
static int
open_program(struct embed_encoder *e, const struct embed_options *job,
             struct err *err)
{
    const struct train_encoder_spec spec = {
        .net = e->model.spec,
        .optim = {.name = "sgd", .accumulate = 1},
        .rows = (size_t)job->batch,
        .seed = (uint64_t)job->seed,
        .frozen = 1,
        .features = !e->head,
    };
    struct train_part part;
    struct nn_weights blocks;

    e->program = train_program_open(e->command, job->limit, log_line, err);
    if (!e->program ||
        train_process_open(&e->encoder, e->program, &spec, job->threads, err))
        return -1;
    e->head = !e->encoder.features;
    if (job->untrained)
        return 0;
    part = train_encoder_part(&e->encoder);
    if (part.load(part.self, e->model.folder, err))
        return -1;
    return job->average && (train_encoder_get(&e->encoder, &blocks, err) ||
                            nn_average_use(&e->model, &blocks, err) ||
                            train_encoder_put(&e->encoder, err))
               ? -1
               : 0;
}

void
embed_encoder_open(struct embed_encoder *e, const struct embed_options *job,
                   int texts)
{
    struct nn_spec *spec = &e->model.spec;
    struct err err;

    *e = (struct embed_encoder){.head = job->head};
    or_die(nn_model_read(&e->model, job->checkpoint, texts, &err), &err);
    if ((job->size || spec->feature_size) && !texts)
        spec->height = spec->image_width =
            (size_t)(job->size ? job->size : spec->feature_size);
    json_object_set_new(e->model.about, "untrained",
                        json_boolean(job->untrained));
    e->command = find_command(e, job);
    if (!e->command) {
        or_die(nn_model_build(&e->model, (size_t)job->batch, 0, job->average,
                              &err),
               &err);
        if (e->model.widened)
            log_message("features of f32: the encoder was trained in bf16, "
                        "which this processor lacks");
        if (job->untrained)
            nn_net_init(e->model.net, (uint64_t)job->seed);
        return;
    }
    if (open_program(e, job, &err))
        die("%s%s", err.msg,
            job->encoder ? ""
                         : " (the command is the checkpoint's; --encoder "
                           "COMMAND gives another)");
    if (e->head != job->head)
        log_message("'%.100s' computes embeddings only: the features are z, "
                    "not h",
                    e->command);
    json_object_set_new(e->model.about, "command", json_string(e->command));
}

void
embed_encoder_close(struct embed_encoder *e)
{
    train_encoder_close(&e->encoder);
    train_program_close(e->program);
    nn_model_release(&e->model);
}

size_t
embed_encoder_width(const struct embed_encoder *e)
{
    return e->program ? e->encoder.dim
           : e->head  ? nn_net_dim(e->model.net)
                      : nn_net_features(e->model.net);
}

void
embed_encoder_infer(struct embed_encoder *e, const struct nn_input *input,
                    float *x)
{
    struct err err;

    if (!e->program) {
        nn_net_infer(e->model.net, input, e->head ? NULL : x,
                     e->head ? x : NULL);
        return;
    }
    or_die(train_encoder_forward(&e->encoder, input, NN_FIXED, x, &err), &err);
    if (!num_finite(input->n * e->encoder.dim, x))
        die("encoder: '%.100s' computes features that are not finite",
            e->command);
}
