/*
 * foil-train: batches of views in, an encoder out.
 *
 * The loop is strict: the batch of the next place in the plan, one step, its
 * report, now and then a checkpoint.  What comes early waits in the source.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "foil-train/train.h"
#include "nn/checkpoint.h"
#include "num/threads.h"
#include "train/shards.h"
#include "util/lock.h"
#include "util/stop.h"

/*
 * Seconds between the last message to augmenters and our end.  ZeroMQ sometimes
 * loses what is sent just before a socket is closed (5 of 120 runs on a busy
 * machine, 0 of 150 with this), and an augmenter would stay for ever.
 */
static const double part_s = 0.2;

/* Whether all steps that were asked for, or planned, are done. */
static int
is_finished(const struct train *t)
{
    const struct train_state *s = &t->state;

    return (t->options->steps && s->total >= t->options->steps) ||
           (t->trained && s->epoch >= s->epochs);
}

/* Trains a batch: 1, 0 when asked to stop within it, -1 on error. */
static int
train_batch(struct train *t, const struct wire_batch *batch, struct err *err)
{
    int rc;

    if (!t->trained && train_build(t, batch, err))
        return -1;
    rc = train_step(t, batch, err);
    if (rc > 0) {
        t->trained = 1;
        if (!batch->batch.encode_only)
            train_save_if_due(t);
    }
    return rc < 0 || stop_requested() ? rc : 1;
}

/* Trains a batch and releases it, or begins a new session where it is of
 * another plan. */
static int
train_or_skip(struct train *t, struct wire_batch *batch, struct err *err)
{
    int rc;

    if (train_plan_fits(t, batch)) {
        train_plan_note(t, batch);
        rc = train_batch(t, batch, err);
    } else {
        rc = train_plan_change(t, batch, err) ? -1 : 1;
    }
    train_release_batch(t, batch);
    return rc > 0 && lock_removed()
               ? err_set(err,
                         "'%s' was removed while it was trained in: nothing "
                         "more can be saved there",
                         t->options->stage.run)
               : rc;
}

/* Trains all batches whose turn has come, without a wait between them. */
static int
train_turn(void *self)
{
    struct train *t = self;
    struct wire_batch batch;
    int rc;

    while ((rc = train_source_next(t, &batch, t->err)) > 0) {
        rc = train_or_skip(t, &batch, t->err);
        if (rc <= 0 || is_finished(t))
            return rc < 0 ? -1 : 0;
    }
    return rc ? rc : train_source_idle(t, t->err);
}

static int
run_steps(struct train *t, struct err *err)
{
    static const struct stage_handlers handlers = {
        train_source_pause_s, train_turn, train_source_waits_for};
    int rc = 0;

    // a filter waits for its tables before it lets the first item pass
    if (t->encoder.ops && train_service_open(t, err))
        return -1;
    t->err = err;
    if (!is_finished(t))
        rc = stage_loop(&t->stage, &handlers, t, err);
    if (!rc && !t->trained) {
        log_stopped();
        if (t->state.total && !stop_requested())
            log_message("nothing is left to do after %jd step%s",
                        (intmax_t)t->state.total,
                        plural((size_t)t->state.total));
    }
    return rc;
}

/* Whether the weights have gone with a program. */
static int
is_lost(const struct train *t)
{
    return t->program && train_program_failed(t->program);
}

/* However the loop ended, what is done is kept. */
static int
end_run(struct train *t, int rc, struct err *err)
{
    struct err why;

    stage_io_close(&t->io);
    if (t->trained && t->checkpoints.saved != t->state.total && !is_lost(t) &&
        train_save(t, &why)) {
        if (rc)
            log_message("no checkpoint: %s", why.msg);
        else
            rc = err_set(err, "no checkpoint: %s", why.msg);
    }
    if (!rc && t->checkpoints.saved >= 0)
        rc = nn_checkpoint_link(t->options->stage.run, err);
    if (t->feed && t->source.inlet && t->trained)
        train_status_save(t);
    if (t->feed)
        train_report_event(t, "stop", "",
                           rc                 ? err->msg
                           : stop_requested() ? "asked to"
                                              : "done");
    if (t->source.inlet && !rc) {
        const struct wire_place at = train_at(t);

        flow_consumer_set_place(t->source.inlet->consumer, &at);
        flow_inlet_send_snapshots(t->source.inlet);
        flow_server_send_over(t->source.inlet->server, &at);
        if (flow_server_peers(t->source.inlet->server))
            wire_wait(t->stage.wire, -1, part_s, &why);
    }
    if (t->trained)
        train_journal_end(&t->journal, t->checkpoints.saved == t->state.total);
    return rc;
}

static void
release_run(struct train *t)
{
    wire_batch_release(&t->left);
    train_source_close(t);
    train_features_close(&t->features);
    train_service_close(&t->service);
    wire_feed_close(t->feed);
    stage_close(&t->stage);
    train_learner_close(&t->learner);
    free(t->labels);
    train_local_sampler_release(&t->local);
    train_drawn_release(&t->drawn);
    train_encoders_close(t);
    train_texts_release(&t->texts);
    train_scalars_close(&t->scalars);
    train_basis_release(&t->basis);
    train_history_release(&t->history);
    train_samples_release(&t->samples);
    run_batches_close(&t->batches);
    run_lines_release(&t->results);
    train_journal_close(&t->journal);
    run_stages_release(&t->stages);
    json_decref(t->config);
}

/* Sockets, and what the run directory says. */
static int
set_up(struct train *t, struct err *err)
{
    if (train_begin(t, err) ||
        stage_connect(&t->stage, &t->options->stage, err) ||
        train_source_open(t, err) || train_features_open(t, err))
        return -1;
    t->meanwhile = train_meanwhile;
    return train_report_open(t, err) ||
                   stage_io_open(&t->io, train_source_serve, t, err)
               ? -1
               : 0;
}

/* Whether we are a rank that another one leads. */
static volatile int following;

/* A step may take minutes, and is done to its end. */
static void
say_stopping(void)
{
    if (following)
        return;
    log_message(
        "stopping: this step is finished and saved first; once more ends it at "
        "once, without");
}

/* The ranks that were started together, alike. */
static int
join_ranks(struct train *t, char **argv, struct err *err)
{
    const double deadline = t->options->deadline;
    char *text;
    int rc;

    if (train_ranks_join(&t->ranks, deadline, err))
        return -1;
    if (!t->ranks)
        return 0;
    following = t->ranks->rank > 0;
    t->journal.exchanging = t->ranks->seconds;
    if (!t->options->resume || opt_is_set(&t->options->threads))
        t->options->threads = num_threads((int)t->options->threads);
    text = train_ranks_start(t->options, argv);
    rc = train_ranks_agree(t->ranks, text, err);
    free(text);
    return rc;
}

/* All that rank 0 does, unless it has failed already. */
static int
lead_run(struct train *t, int rc, struct err *err)
{
    if (!rc)
        rc = set_up(t, err);
    if (!rc)
        rc = run_steps(t, err);
    rc = end_run(t, rc, err);
    if (t->ranks)
        train_shards_order(t->ranks, TRAIN_ORDER_END);
    train_ranks_leave();
    return rc;
}

static int
follow_ranks(struct train *t)
{
    struct err err;

    if (train_ranks_follow(t->ranks, t->options, &err))
        die("rank %zu: %s", t->ranks->rank, err.msg);
    train_ranks_leave();
    return EXIT_OK;
}

int
main(int argc, char **argv)
{
    struct train t = {.stage = {.stop = -1, .wait_on = -1}};
    static char **words; // to the end
    struct err err;
    int rc, again;

    num_threads_sleep(argv);
    words = train_encoders_words(argv);
    signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error like any
    train_report_init(&t);
    train_ranks_hush();
    t.options = train_options_get(argc, argv);
    stop_call_at_first(lock_note_stopping);
    stop_while_busy(say_stopping);
    if (t.options->list < 0 && !t.options->dry)
        t.stage.stop = stop_fd(&err);
    train_save_open(&t);
    if (t.options->list >= 0 || t.options->dry) {
        train_print_plan(&t);
        release_run(&t);
        close_stdout();
        return EXIT_OK;
    }
    train_ranks_speak();
    if (t.stage.stop < 0)
        die("%s", err.msg);
    rc = join_ranks(&t, argv, &err);
    if (!rc && following)
        return follow_ranks(&t);
    rc = lead_run(&t, rc, &err);
    again = rc && is_lost(&t) && t.options->lost && !stop_requested();
    release_run(&t);
    if (again)
        train_encoders_resume(&t, words, &err);
    if (rc)
        die("%s", err.msg);
    close_stdout();
    return EXIT_OK;
}
