#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow/service.h"
#include "num/threads.h"
#include "select.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/priority.h"
#include "wire/fetch.h"

/* A plan in the making. */
struct job {
    unsigned turn;
    struct select_making making;
    enum select_fetched what;
    int done; /* one of the threads has made it */
};

/*
 * One lock guards what all threads see.  The first thread fetches features and
 * tells the trainer about plans; it sleeps on `work`, waits for the trainer, or
 * computes.  What it was given up for meanwhile it finds out by `turn`, which
 * planner_forget() counts up.
 *
 * A plan that nobody waits for yet is computed by the second thread, which has
 * the lowest priority, and so have the threads of its loops: the trainer keeps
 * its processors.  A thread that was lowered cannot be raised again without
 * privileges; so when the trainer has come to wait for the plan, and the
 * machine is too busy for the second thread to get on, the first one computes
 * it, too, and who is done first has made it.  Plans of a command (command.c)
 * are the second thread's alone: one at a time.
 */
struct planner {
    struct planner_config config;
    char *endpoint;
    struct wire *wire;
    struct flow_service *service;
    int wake[2]; /* a pipe: ends a wait for the trainer */
    pthread_t thread, low;

    pthread_mutex_t lock;
    pthread_cond_t work, low_work;
    unsigned turn;
    int quit, computing;    /* computing: threads */
    struct job *job;        /* that is wanted */
    struct job *own, *lent; /* that the first, the second thread computes */
    int hurry;              /* the trainer waits for a plan */
    double since, spent; /* clock and processor time of the second thread when
                          * we looked last how it gets on */
    int asked, busy, made, telling;
    int64_t epoch, from; /* asked for, being made */
    struct planned result;
    struct wire_plan about; /* to be told */
    int trouble, said;      /* as planner_trouble() returns it */
    struct err why;
};

/* Seconds until an unanswered trainer is a trouble; between two tries. */
static const double answer_s = 10, retry_s = 0.2;
/* Seconds between two looks at the second thread, and the share of them that it
 * has to get of a processor where somebody waits for it. */
static const double look_every_s = 0.2, least_share = 0.2;

static void
set_trouble(struct planner *p, int trouble, const struct err *why)
{
    pthread_mutex_lock(&p->lock);
    if (trouble && p->trouble != trouble) {
        p->why = *why;
        p->said = 0;
    }
    p->trouble = trouble;
    pthread_mutex_unlock(&p->lock);
}

/* Waits a little, or until it is woken. */
static void
rest_briefly(struct planner *p)
{
    struct err ignored;

    wire_sock_wait(p->wire, NULL, p->wake[0], retry_s, &ignored);
}

static int
is_current(struct planner *p, unsigned turn)
{
    int current;

    pthread_mutex_lock(&p->lock);
    current = p->turn == turn && !p->quit;
    pthread_mutex_unlock(&p->lock);
    return current;
}

static void
fetch_features(struct planner *p, struct job *job)
{
    const struct wire_fetch wanted = {.epoch = job->making.from,
                                      .half = p->config.half,
                                      .plan = job->making.epoch};
    const double start = clock_now();
    struct err why;

    job->what = job->making.from < 0 ? FETCH_NONE : FETCH_AGAIN;
    while (job->what == FETCH_AGAIN && is_current(p, job->turn)) {
        job->what = select_fetch(p->service, p->wake[0], &wanted,
                                 p->config.task.layout.size,
                                 &job->making.history, &why);
        if (job->what == FETCH_AGAIN) {
            set_trouble(p, 1, &why);
            rest_briefly(p);
        }
    }
    set_trouble(p, job->what == FETCH_FAILED ? -1 : 0, &why);
    job->making.by_features = job->what == FETCH_DONE;
    job->making.waited = clock_now() - start;
}

/* A job goes when it is neither wanted nor computed; the lock is held. */
static void
free_if_idle(struct planner *p, struct job *job)
{
    if (!job || job == p->job || job == p->own || job == p->lent)
        return;
    select_history_release(&job->making.history);
    free(job);
}

/* No more is to come of the job that is wanted; the lock is held. */
static void
end_job(struct planner *p)
{
    struct job *job = p->job;

    p->job = NULL;
    p->busy = 0;
    free_if_idle(p, job);
}

/* Makes the plan that is wanted, as ->own or ->lent; the lock is held before
 * and after. */
static void
compute_plan(struct planner *p, struct job **slot)
{
    struct job *job = *slot ? *slot : p->job;
    struct planned made;
    struct err why;

    *slot = job;
    p->computing++;
    pthread_mutex_unlock(&p->lock);
    made = select_make(&p->config, &job->making, &why);
    if (!made.ids)
        set_trouble(p, -1, &why);
    pthread_mutex_lock(&p->lock);
    p->computing--;
    if (made.ids && p->turn == job->turn && !job->done) {
        p->made = job->done = 1;
        p->result = made;
    } else {
        free(made.ids);
    }
    *slot = NULL;
    if (job == p->job)
        end_job(p);
    else
        free_if_idle(p, job);
}

/* Whether the trainer waits for the second thread, and that one does not get
 * on; the lock is held. */
static int
has_to_take_over(struct planner *p)
{
    const double now = clock_now(), spent = clock_cpu_of(p->low);
    const double passed = now - p->since, share = (spent - p->spent) / passed;

    if (!p->job || p->lent != p->job || !p->hurry || p->since <= 0 ||
        p->config.command) {
        p->since = p->job && p->hurry ? now : 0;
        p->spent = spent;
        return 0;
    }
    if (passed < look_every_s)
        return 0;
    p->since = now;
    p->spent = spent;
    return share < least_share;
}

/* Does what was asked for; the lock is held before and after. */
static void
plan_wanted(struct planner *p)
{
    struct job *job = mem_array(1, sizeof *job);

    job->turn = p->turn;
    job->making = (struct select_making){.epoch = p->epoch, .from = p->from};
    p->asked = 0;
    p->busy = 1;
    p->since = 0;
    pthread_mutex_unlock(&p->lock);
    fetch_features(p, job);
    pthread_mutex_lock(&p->lock);
    p->job = job;
    if (p->turn != job->turn || p->quit ||
        (job->what != FETCH_DONE && job->what != FETCH_NONE)) {
        end_job(p);
    } else if (!p->config.command && (p->hurry || p->lent)) {
        compute_plan(p, &p->own);
    } else {
        p->lent = p->lent ? p->lent : job;
        pthread_cond_signal(&p->low_work);
    }
}

static void
tell_plan(struct planner *p)
{
    struct wire_plan about = p->about;
    const unsigned turn = p->turn;
    enum select_fetched what = FETCH_AGAIN;
    struct err why;

    pthread_mutex_unlock(&p->lock);
    while (what == FETCH_AGAIN && is_current(p, turn)) {
        what = select_tell(p->service, p->wake[0], &about, &why);
        if (what == FETCH_AGAIN) {
            set_trouble(p, 1, &why);
            rest_briefly(p);
        }
    }
    set_trouble(p, what == FETCH_FAILED ? -1 : 0, &why);
    pthread_mutex_lock(&p->lock);
    if (p->turn == turn && p->about.epoch == about.epoch &&
        what != FETCH_STOPPED)
        p->telling = 0;
}

/* Sleeps until there is something to do, or it is time to look at the second
 * thread; the lock is held. */
static void
sleep_on_work(struct planner *p)
{
    if (p->job && p->hurry)
        clock_cond_wait(&p->work, &p->lock, look_every_s);
    else
        pthread_cond_wait(&p->work, &p->lock);
}

static void *
run_planner(void *arg)
{
    struct planner *p = arg;
    char byte;

    num_threads(p->config.threads);
    pthread_mutex_lock(&p->lock);
    while (!p->quit) {
        while (read(p->wake[0], &byte, 1) == 1)
            ;
        if (p->trouble >= 0 && p->telling)
            tell_plan(p);
        else if (p->trouble >= 0 && p->asked)
            plan_wanted(p);
        else if (has_to_take_over(p))
            compute_plan(p, &p->own);
        else
            sleep_on_work(p);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void *
work_low(void *arg)
{
    struct planner *p = arg;

    priority_lower(PRIORITY_SPARE);
    num_threads(p->config.threads);
    pthread_mutex_lock(&p->lock);
    while (!p->quit) {
        if (p->lent || (p->job && p->config.command))
            compute_plan(p, &p->lent);
        else
            pthread_cond_wait(&p->low_work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static struct flow_service *
connect_to(struct planner *p, struct err *err)
{
    struct flow_service_config config = {
        .endpoint = p->endpoint,
        .role = "train",
        .edge = WIRE_EDGE_FEATURES,
        .hello = p->config.hello,
        .deadline = answer_s,
    };

    return flow_service_open(p->wire, &config, err);
}

/* The thread may outlive those of the caller that opens the planner. */
static void
own_groups(struct select_task *task)
{
    const size_t n = task->layout.size;
    int64_t *group;

    if (!task->group)
        return;
    group = mem_array(n, sizeof *group);
    memcpy(group, task->group, n * sizeof *group);
    task->group = group;
}

struct planner *
planner_open(const struct planner_config *config, struct err *err)
{
    struct planner *p = mem_array(1, sizeof *p);

    p->config = *config;
    own_groups(&p->config.task);
    p->endpoint = mem_text(config->endpoint);
    pthread_mutex_init(&p->lock, NULL);
    clock_cond_init(&p->work);
    pthread_cond_init(&p->low_work, NULL);
    p->wire = wire_open(config->keys, err);
    p->service = p->wire ? connect_to(p, err) : NULL;
    if (!p->service)
        return NULL;
    if (pipe(p->wake) || fcntl(p->wake[0], F_SETFL, O_NONBLOCK) ||
        fcntl(p->wake[1], F_SETFL, O_NONBLOCK)) {
        err_sys(err, "cannot make a pipe");
        return NULL;
    }
    errno = pthread_create(&p->low, NULL, work_low, p);
    if (!errno)
        errno = pthread_create(&p->thread, NULL, run_planner, p);
    if (!errno)
        return p;
    err_sys(err, "cannot start a thread");
    return NULL;
}

/* The thread is to look up from what it waits for; the lock is held. */
static void
wake_planner(struct planner *p)
{
    ssize_t wrote = write(p->wake[1], "", 1);

    (void)wrote; // full: it is awake
    pthread_cond_signal(&p->work);
    pthread_cond_signal(&p->low_work);
}

int
planner_close(struct planner *p)
{
    int computing;

    if (!p)
        return 0;
    pthread_mutex_lock(&p->lock);
    p->quit = 1;
    computing = p->computing;
    wake_planner(p);
    pthread_mutex_unlock(&p->lock);
    if (computing)
        return 1;
    pthread_join(p->thread, NULL);
    pthread_join(p->low, NULL);
    flow_service_close(p->service);
    wire_close(p->wire);
    close(p->wake[0]);
    close(p->wake[1]);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->low_work);
    pthread_mutex_destroy(&p->lock);
    free(p->result.ids);
    free((void *)p->config.task.group);
    free(p->endpoint);
    free(p);
    return 0;
}

int
planner_ask(struct planner *p, int64_t epoch, int64_t from)
{
    int idle;

    pthread_mutex_lock(&p->lock);
    idle = !p->asked && !p->busy && !p->made;
    if (idle) {
        p->asked = 1;
        p->epoch = epoch;
        p->from = from;
        pthread_cond_signal(&p->work);
    }
    pthread_mutex_unlock(&p->lock);
    return idle;
}

void
planner_hurry(struct planner *p, int hurry)
{
    pthread_mutex_lock(&p->lock);
    if (p->hurry != hurry)
        pthread_cond_signal(&p->work);
    p->hurry = hurry;
    pthread_mutex_unlock(&p->lock);
}

int
planner_take(struct planner *p, struct planned *planned)
{
    int made;

    pthread_mutex_lock(&p->lock);
    made = p->made;
    if (made) {
        *planned = p->result;
        p->result = (struct planned){0};
        p->made = 0;
    }
    pthread_mutex_unlock(&p->lock);
    return made;
}

void
planner_tell(struct planner *p, const struct wire_plan *about)
{
    pthread_mutex_lock(&p->lock);
    p->telling = 1;
    p->about = *about;
    pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
}

int
planner_told(struct planner *p)
{
    int told;

    pthread_mutex_lock(&p->lock);
    told = !p->telling;
    pthread_mutex_unlock(&p->lock);
    return told;
}

void
planner_forget(struct planner *p)
{
    pthread_mutex_lock(&p->lock);
    p->turn++;
    p->asked = p->made = p->telling = 0;
    free(p->result.ids);
    p->result = (struct planned){0};
    if (p->job)
        end_job(p);
    wake_planner(p);
    pthread_mutex_unlock(&p->lock);
}

int
planner_trouble(struct planner *p, struct err *why)
{
    int trouble = 0;

    pthread_mutex_lock(&p->lock);
    if (p->trouble && !p->said) {
        trouble = p->trouble;
        *why = p->why;
        p->said = 1;
    }
    pthread_mutex_unlock(&p->lock);
    return trouble;
}
