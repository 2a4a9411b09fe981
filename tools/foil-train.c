/*
 * foil-train: batches of views in, an encoder out.
 *
 * The loop is strict: the batch of the next place in the plan, one step, its
 * report, now and then a checkpoint.  What comes early waits in the source.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foil-train/train.h"
#include "nn/checkpoint.h"
#include "num/threads.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/stop.h"

/*
 * Seconds between the last word to those who feed us and our end.  ZeroMQ loses
 * what is sent just before a socket is closed now and then (5 of 120 runs on a
 * busy machine, 0 of 150 with this), and an augmenter would stay for ever.
 */
static const double parting = 0.2;

/* One trainer writes a run directory: the lock goes with the process. */
static int
lock(const char *run, struct err *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char *path = mem_format("%s/lock", run);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), rc = 0;

    if (fd < 0)
        rc = err_sys(err, "cannot open '%s'", path);
    else if (fcntl(fd, F_SETLK, &whole))
        rc = errno == EACCES || errno == EAGAIN
                 ? err_set(err, "another foil-train has '%s'", run)
                 : err_sys(err, "cannot lock '%s'", path);
    free(path);
    return rc;
}

/* From the newest checkpoint, or from nothing. */
static int
begin(struct train *t, struct err *err)
{
    const char *run = t->options->run;
    char *newest = NULL;
    int rc = -1, found;

    train_save_open(t);
    if (file_mkdir(run, 0700, err) || lock(run, err))
        return -1;
    found = nn_checkpoint_find(run, &newest, err);
    if (found > 0 && !t->options->resume) {
        err_set(err,
                "'%s' holds a run: --resume goes on with it, another -r "
                "starts anew",
                run);
    } else if (found > 0) {
        rc = train_resume(t, newest, err);
    } else if (!found) {
        if (t->options->resume)
            say("'%s' has no checkpoint yet: starting anew", run);
        rc = train_prepare(t, err) || train_basis(t, err);
    }
    if (!rc) // a kill within a save may have come before its last part
        train_tidy(t);
    free(newest);
    t->session = (int64_t)clock_wall();
    return rc ? -1 : 0;
}

/* The first batch has come: now it is known what is to be built. */
static int
meet(struct train *t, const struct wire_batch *b, struct err *err)
{
    size_t count;

    if (train_pace_fits(t, b, err))
        return -1;
    if (!t->encoder.net && (train_net_open(t, err) || train_rows(t, err)))
        return -1;
    if (t->objective->wants_weights && train_negatives_open(t, err))
        return -1;
    train_journal_begin(&t->journal, t->options->steps ? t->options->steps
                                                       : b->epochs * b->steps);
    nn_net_params(t->encoder.net, &count);
    say("%s of %zu parameters, %ld thread%s; up to %ld batches of %zu images "
        "wait, %.1f MB each",
        t->options->arch, count, t->options->threads,
        t->options->threads == 1 ? "" : "s", t->options->credit,
        t->shape.images, (double)wire_msg_bytes(b->msg) * 1e-6);
    return 0;
}

/* A save that fails is said and tried again when the next one is due. */
static void
save_if_due(struct train *t)
{
    const long every = t->options->every;
    struct err err;

    if (every && t->state.total % every == 0 && train_save(t, &err))
        train_report_say(t, "no checkpoint at step %jd: %s",
                         (intmax_t)t->state.total, err.msg);
}

/* Whether all steps that were asked for, or planned, are done. */
static int
finished(const struct train *t)
{
    const struct train_state *s = &t->state;

    return (t->options->steps && s->total >= t->options->steps) ||
           (t->trained && s->epoch >= s->epochs);
}

static int
run(struct train *t, struct err *err)
{
    struct wire_batch batch;
    int rc = 1;

    // a filter waits for our mirror before it lets the first item pass
    if (t->encoder.net && t->objective->wants_weights &&
        train_negatives_open(t, err))
        return -1;
    while (rc > 0 && !finished(t)) {
        rc = train_source_next(t, &batch, err);
        if (rc <= 0)
            break;
        if (!t->trained && meet(t, &batch, err))
            rc = -1;
        if (rc > 0)
            rc = train_step(t, &batch, err);
        if (rc > 0) {
            t->trained = 1;
            if (!finished(t)) // who feeds us stays for the last save
                train_source_done(t);
            if (!batch.look)
                save_if_due(t);
        }
        wire_batch_release(&batch);
    }
    if (rc >= 0 && !t->trained && t->state.total && !stop_asked())
        say("nothing is left to do: %jd steps are done",
            (intmax_t)t->state.total);
    return rc < 0 ? -1 : 0;
}

/* However the loop ended, what is done is kept. */
static int
end(struct train *t, int rc, struct err *err)
{
    struct err why;

    if (t->trained && t->snapshot.saved != t->state.total &&
        train_save(t, &why)) {
        if (rc)
            train_report_say(t, "no checkpoint: %s", why.msg);
        else
            rc = err_set(err, "no checkpoint: %s", why.msg);
    }
    if (!rc && t->snapshot.saved >= 0)
        rc = nn_checkpoint_link(t->options->run, err);
    if (t->feed)
        train_report_event(t, "stop", "",
                           rc             ? err->msg
                           : stop_asked() ? "asked to"
                                          : "done");
    if (t->source.inlet && !rc) {
        const struct wire_place at = train_at(t);

        train_source_done(t);
        wire_server_over(t->source.inlet->server, &at);
        if (wire_server_peers(t->source.inlet->server))
            wire_wait(t->wire, -1, parting, &why);
    }
    if (t->trained)
        train_journal_end(&t->journal, t->snapshot.saved == t->state.total);
    return rc;
}

static void
release(struct train *t)
{
    train_source_close(t);
    train_features_close(t);
    train_negatives_close(t);
    wire_feed_close(t->feed);
    wire_close(t->wire);
    train_net_close(t);
    train_journal_close(&t->journal);
    json_decref(t->config);
}

/* All that is done without training. */
static int
tell(struct train *t)
{
    struct err err;

    if (t->options->list)
        train_tell_list();
    else if (train_tell_needs(t, &err))
        die("%s", err.msg);
    release(t);
    close_stdout();
    return EXIT_OK;
}

int
main(int argc, char **argv)
{
    struct train t = {0};
    struct wire_keys keys = {0};
    struct err err;
    int rc;

    num_threads_sleep(argv);
    signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error like any
    train_report_init(&t);
    t.options = train_options_get(argc, argv);
    if (t.options->list || t.options->dry)
        return tell(&t);
    t.stop = stop_fd(&err);
    if (t.stop < 0)
        die("%s", err.msg);
    rc = begin(&t, &err);
    if (!rc && t.options->keys)
        rc = wire_keys_open(&keys, t.options->keys, t.options->allow, &err);
    if (!rc) {
        t.wire = wire_open(t.options->keys ? &keys : NULL, &err);
        rc = t.wire ? 0 : -1;
    }
    if (!rc && (train_source_open(&t, &err) || train_features_open(&t, &err) ||
                train_report_open(&t, &err)))
        rc = -1;
    if (!rc)
        rc = run(&t, &err);
    rc = end(&t, rc, &err);
    release(&t);
    wire_keys_release(&keys);
    if (rc)
        die("%s", err.msg);
    close_stdout();
    return EXIT_OK;
}
