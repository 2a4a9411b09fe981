/*
 * foil-train: batches of views in, an encoder out.
 *
 * Loop: take the batch of the next place in the plan, do one step, report it,
 * and write a checkpoint if one is due.  Batches that arrive early wait in the
 * source.
 */
#include <signal.h>

#include "foil-train/train.h"
#include "nn/checkpoint.h"
#include "num/threads.h"
#include "train/shards.h"
#include "util/lock.h"
#include "util/stop.h"

/*
 * Seconds between the last message to augmenters and the end.  ZeroMQ sometimes
 * loses messages that are sent just before a socket is closed (5 of 120 runs on
 * a busy machine, 0 of 150 with this delay), and an augmenter would then never
 * end.
 */
static const double part_s = 0.2;

/* Returns 1 if all steps of --steps, or of the plan, are done. */
static int
is_finished(const struct train *t)
{
    const struct train_state *s = &t->state;

    return (t->options->steps && s->total >= t->options->steps) ||
           (t->trained && s->epoch >= s->epochs);
}

/* Trains all batches that are next in the plan, without a wait. */
static int
train_turn(void *self)
{
    struct train *t = self;
    struct wire_batch batch;
    int rc;

    while ((rc = train_source_next(t, &batch, t->err)) > 0) {
        rc = train_batch(t, &batch, t->err);
        if (rc <= 0 || is_finished(t))
            return rc < 0 ? -1 : 0;
    }
    train_save_finish(t, 0);
    return rc ? rc : train_source_idle(t, t->err);
}

static int
run_steps(struct train *t, struct err *err)
{
    static const struct stage_handlers handlers = {
        train_source_pause_s, train_turn, train_source_waits_for};
    int rc = 0;

    // a filter forwards no item before it has its tables
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

/* Returns 1 if the weights are lost because their program failed. */
static int
has_lost_weights(const struct train *t)
{
    return t->program && train_program_failed(t->program);
}

/* Saves all finished steps, even after an error. */
static int
end_run(struct train *t, int rc, struct err *err)
{
    struct err why;

    stage_io_close(&t->io);
    train_save_finish(t, 1);
    if (t->trained && t->checkpoints.saved != t->state.total &&
        !has_lost_weights(t) && train_save(t, &why)) {
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
        train_journal_end(&t->journal, t->checkpoints.saved);
    return rc;
}

static void
release_run(struct train *t)
{
    wire_batch_release(&t->unreleased);
    train_source_close(t);
    train_features_close(&t->features);
    train_service_close(&t->service);
    wire_feed_close(t->feed);
    stage_close(&t->stage);
    train_learner_close(&t->learner);
    free(t->labels);
    train_local_sampler_release(&t->local);
    arena_release(&t->top_negatives.arrays);
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

/* 1: this process is a rank other than 0. */
static volatile int following;

/* A step may take minutes; the tool ends after it. */
static void
print_stopping(void)
{
    if (following)
        return;
    log_message(
        "stopping: finishing and saving this step; a second signal ends it at "
        "once, without saving");
}

/* Joins the ranks and checks that they are alike. */
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

/* The work of rank 0, unless it has failed already. */
static int
lead_run(struct train *t, int rc, struct err *err)
{
    if (!rc && (train_begin(t, err) ||
                stage_connect(&t->stage, &t->options->stage, err) ||
                train_source_open(t, err) || train_features_open(t, err) ||
                train_report_open(t, err) ||
                stage_io_open(&t->io, train_source_serve, t, err)))
        rc = -1;
    if (!rc)
        rc = run_steps(t, err);
    rc = end_run(t, rc, err);
    if (t->ranks)
        train_shards_order(t->ranks, TRAIN_ORDER_END);
    train_ranks_leave();
    return rc;
}

int
main(int argc, char **argv)
{
    struct train t = {.stage = {.stop = -1, .wait_on = -1}};
    static char **args; // until the process ends
    struct err err;
    int rc, again;

    num_threads_sleep(argv);
    args = train_encoders_args(argv);
    signal(SIGXFSZ, SIG_IGN); // a file limit is an error like any other
    train_report_init(&t);
    train_ranks_silence();
    t.options = train_options_get(argc, argv);
    stop_set_callbacks(lock_note_stopping, print_stopping);
    if (t.options->list < 0 && !t.options->dry)
        t.stage.stop = stop_fd(&err);
    train_save_open(&t);
    if (t.options->list >= 0 || t.options->dry) {
        train_print_plan(&t);
        release_run(&t);
        close_stdout();
        return EXIT_OK;
    }
    train_ranks_unsilence();
    or_die(t.stage.stop < 0, &err);
    rc = join_ranks(&t, argv, &err);
    if (!rc && following) {
        if (train_ranks_follow(t.ranks, t.options, &err))
            die("rank %zu: %s", t.ranks->rank, err.msg);
        train_ranks_leave();
        return EXIT_OK;
    }
    rc = lead_run(&t, rc, &err);
    again = rc && has_lost_weights(&t) && t.options->lost && !stop_requested();
    release_run(&t);
    if (again)
        train_encoders_resume(&t, args, &err);
    or_die(rc, &err);
    close_stdout();
    return EXIT_OK;
}
