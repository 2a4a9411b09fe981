#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/origin.h"
#include "train.h"
#include "train/native.h"
#include "train/shards.h"
#include "util/mem.h"

/* Opens an encoder: in a program, by shards, or in this process. */
static int
open_encoder(struct train *t, int texts, struct err *err)
{
    struct train_encoder *encoder = texts ? &t->text_encoder : &t->encoder;
    struct train_encoder_spec spec;

    if (train_encoder_spec(t->options, &t->shape, texts, &spec, err))
        return -1;
    if (t->program)
        return train_process_open(encoder, t->program, &spec,
                                  t->options->threads, err);
    return spec.shards > 1
               ? train_shards_open(encoder, &spec, t->ranks, texts, err)
               : train_native_open(encoder, &spec, err);
}

static int
open_both(struct train *t, struct err *err)
{
    const struct train_options *o = t->options;

    if (o->encoder) {
        setenv("FOIL_DIGEST", t->shape.digest, 1); // foil-encoder(5)
        if (run_origin_note(o->stage.run, "train --encoder", o->encoder, err))
            log_message("%s", err->msg);
        t->program = train_program_open(o->encoder, o->limit, log_line, err);
        if (!t->program)
            return -1;
    }
    return open_encoder(t, 0, err) || (o->text && open_encoder(t, 1, err)) ? -1
                                                                           : 0;
}

int
train_encoders_open(struct train *t, struct err *err)
{
    struct err none;
    char *table;
    int rc;

    if (t->ranks)
        train_ranks_lead(t->ranks, &t->shape);
    rc = open_both(t, err);
    if (!t->ranks)
        return rc;
    table = rc ? mem_text("") // the other ranks wait
               : train_ranks_table(&t->encoder, &t->text_encoder);
    if (train_ranks_agree(t->ranks, table, rc ? &none : err))
        rc = -1;
    free(table);
    return rc;
}

void
train_encoders_close(struct train *t)
{
    train_encoder_close(&t->encoder);
    train_encoder_close(&t->text_encoder);
    train_program_close(t->program);
    t->program = NULL;
}

int
train_encoders_resize(struct train *t, size_t height, size_t width,
                      struct err *err)
{
    const struct train_learner_spec learner = t->learner.spec;

    if (height == t->shape.height && width == t->shape.width)
        return 0;
    train_save_finish(t, 1);
    if (t->checkpoints.saved != t->state.total && train_save(t, err))
        return -1;
    train_learner_close(&t->learner);
    train_encoders_close(t);
    t->shape.height = height;
    t->shape.width = width;
    return train_encoders_open(t, err) ||
                   train_learner_open(&t->learner, &learner, err) ||
                   train_checkpoints_rollback(&t->checkpoints, err)
               ? -1
               : 0;
}

/* -------------------------------------------- restart after a lost program */

/* Environment variable: the checkpoint at which this process was restarted. */
static const char restarted_at[] = "FOIL_BEGUN_AT";

char **
train_encoders_args(char **argv)
{
    static char resume[] = "--resume";
    size_t n = 0, has_resume = 0;
    char **longer;

    for (; argv[n]; n++)
        has_resume |= !strcmp(argv[n], resume);
    longer = mem_array(n + 2, sizeof *longer);
    longer[0] = argv[0];
    longer[1] = resume;
    memcpy(longer + 2 - has_resume, argv + 1, (n - 1) * sizeof *longer);
    return longer;
}

void
train_encoders_resume(struct train *t, char **args, const struct err *why)
{
    const char *before = getenv(restarted_at);
    char here[32], path[4096];
    const ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);

    snprintf(here, sizeof here, "%jd", (intmax_t)t->checkpoints.saved);
    if (before && !strcmp(before, here)) {
        log_message(
            "the program failed a second time without a new checkpoint in "
            "between");
        return;
    }
    if (len < 0 || setenv(restarted_at, here, 1))
        return;
    path[len] = 0;
    log_message("%s", why->msg);
    log_message("resuming from the last checkpoint");
    execv(path, args);
}
