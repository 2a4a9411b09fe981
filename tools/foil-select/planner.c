#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow/client.h"
#include "num/threads.h"
#include "select.h"
#include "util/clock.h"
#include "util/limits.h"
#include "util/mem.h"
#include "wire/features.h"

/* A plan that is being made. */
struct job {
    unsigned generation;
    struct select_making making;
    enum flow_answer answer; /* to the request of features */
    int done;                /* 1: one of the threads has made it */
};

/*
 * One lock protects all shared state.  The first thread fetches features and
 * sends reports on plans to the trainer; it sleeps on `work`, waits for the
 * trainer, or computes.  planner_cancel() increments `generation`, so a thread
 * sees that its job was cancelled.
 *
 * While the trainer does not wait for a plan, the second thread computes it at
 * the lowest priority, as do the threads of its loops, so the trainer keeps its
 * processors.  A thread cannot raise its priority again without privileges.  So
 * if the trainer waits, and the machine is too busy for the second thread, the
 * first thread computes the plan, too; the first result is used.  Only the
 * second thread makes plans of a command (command.c): one at a time.
 */
struct planner {
    struct planner_config config;
    char *endpoint;
    struct wire *wire;
    struct flow_client *service;
    int wake[2]; /* a pipe: ends a wait for the trainer */
    pthread_t thread, low;

    pthread_mutex_t lock;
    pthread_cond_t work, low_work;
    unsigned generation;
    int quit, computing;        /* computing: threads in select_make() */
    struct job *job;            /* the wanted plan */
    struct job *first, *second; /* jobs that each thread computes */
    int urgent;                 /* 1: the trainer waits for a plan */
    double checked, cpu; /* clock and processor time of the second thread at the
                            last check */
    int requested, planning, ready, report_pending;
    int64_t epoch, from; /* of the requested plan */
    struct planner_plan result;
    struct wire_plan report;
    int trouble, reported; /* see planner_trouble() */
    struct err why;
};

/* Seconds without an answer until a problem is reported; between retries. */
static const double answer_s = 10, retry_s = 0.2;
/* Seconds between checks of the second thread, and the least share of a
 * processor that it must get if the plan is urgent. */
static const double check_s = 0.2, least_share = 0.2;

static void
set_trouble(struct planner *p, int trouble, const struct err *why)
{
    pthread_mutex_lock(&p->lock);
    if (trouble && p->trouble != trouble) {
        p->why = *why;
        p->reported = 0;
    }
    p->trouble = trouble;
    pthread_mutex_unlock(&p->lock);
}

/* Reports a problem that may end, and waits for retry_s seconds, or until
 * woken. */
static void
retry_later(struct planner *p, const struct err *why)
{
    struct err ignored;

    set_trouble(p, 1, why);
    wire_sock_wait(p->wire, NULL, p->wake[0], retry_s, &ignored);
}

static int
is_current(struct planner *p, unsigned generation)
{
    int current;

    pthread_mutex_lock(&p->lock);
    current = p->generation == generation && !p->quit;
    pthread_mutex_unlock(&p->lock);
    return current;
}

static int
may_retry(enum flow_answer answer)
{
    return answer == FLOW_FAILED || answer == FLOW_UNREACHED;
}

static void
fetch_features(struct planner *p, struct job *job)
{
    const struct wire_features_request wanted = {.epoch = job->making.from,
                                                 .half = p->config.half,
                                                 .plan = job->making.epoch};
    const double start = clock_now();
    struct err why;

    job->answer = job->making.from < 0 ? FLOW_NO_STATE : FLOW_UNREACHED;
    while (may_retry(job->answer) && is_current(p, job->generation)) {
        job->answer = select_fetch(p->service, p->wake[0], &wanted,
                                   p->config.task.layout.size,
                                   &job->making.history, &why);
        if (may_retry(job->answer))
            retry_later(p, &why);
    }
    set_trouble(p, job->answer == FLOW_REFUSED ? -1 : 0, &why);
    job->making.by_features = job->answer == FLOW_ANSWERED;
    job->making.waited = clock_now() - start;
}

/* Frees a job that is neither wanted nor computed; the lock is held. */
static void
free_if_idle(struct planner *p, struct job *job)
{
    if (!job || job == p->job || job == p->first || job == p->second)
        return;
    select_history_release(&job->making.history);
    free(job);
}

/* Ends the wanted job; the lock is held. */
static void
end_job(struct planner *p)
{
    struct job *job = p->job;

    p->job = NULL;
    p->planning = 0;
    free_if_idle(p, job);
}

/* Makes the wanted plan, as ->first or ->second; the lock is held before and
 * after. */
static void
compute_plan(struct planner *p, struct job **slot)
{
    struct job *job = *slot ? *slot : p->job;
    struct planner_plan plan;
    struct err why;

    *slot = job;
    p->computing++;
    pthread_mutex_unlock(&p->lock);
    plan = select_make(&p->config, &job->making, &why);
    if (!plan.ids)
        set_trouble(p, -1, &why);
    pthread_mutex_lock(&p->lock);
    p->computing--;
    if (plan.ids && p->generation == job->generation && !job->done) {
        p->ready = job->done = 1;
        p->result = plan;
    } else {
        free(plan.ids);
    }
    *slot = NULL;
    if (job == p->job)
        end_job(p);
    else
        free_if_idle(p, job);
}

/* Whether the trainer waits for the second thread, which is too slow; the lock
 * is held. */
static int
must_take_over(struct planner *p)
{
    const double now = clock_now(), cpu = clock_cpu_of(p->low);
    const double passed = now - p->checked, share = (cpu - p->cpu) / passed;

    if (!p->job || p->second != p->job || !p->urgent || p->checked <= 0 ||
        p->config.command) {
        p->checked = p->job && p->urgent ? now : 0;
        p->cpu = cpu;
        return 0;
    }
    if (passed < check_s)
        return 0;
    p->checked = now;
    p->cpu = cpu;
    return share < least_share;
}

/* Starts the requested plan; the lock is held before and after. */
static void
start_plan(struct planner *p)
{
    struct job *job = mem_array(1, sizeof *job);

    job->generation = p->generation;
    job->making = (struct select_making){.epoch = p->epoch, .from = p->from};
    p->requested = 0;
    p->planning = 1;
    p->checked = 0;
    pthread_mutex_unlock(&p->lock);
    fetch_features(p, job);
    pthread_mutex_lock(&p->lock);
    p->job = job;
    if (p->generation != job->generation || p->quit ||
        (job->answer != FLOW_ANSWERED && job->answer != FLOW_NO_STATE)) {
        end_job(p);
    } else if (!p->config.command && (p->urgent || p->second)) {
        compute_plan(p, &p->first);
    } else {
        p->second = p->second ? p->second : job;
        pthread_cond_signal(&p->low_work);
    }
}

static void
send_report(struct planner *p)
{
    struct wire_plan report = p->report;
    const unsigned generation = p->generation;
    enum flow_answer answer = FLOW_UNREACHED;
    struct err why;

    pthread_mutex_unlock(&p->lock);
    while (may_retry(answer) && is_current(p, generation)) {
        answer = select_send_plan(p->service, p->wake[0], &report, &why);
        if (may_retry(answer))
            retry_later(p, &why);
    }
    set_trouble(p, answer == FLOW_REFUSED ? -1 : 0, &why);
    pthread_mutex_lock(&p->lock);
    if (p->generation == generation && p->report.epoch == report.epoch &&
        answer != FLOW_STOPPED)
        p->report_pending = 0;
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
        if (p->trouble >= 0 && p->report_pending)
            send_report(p);
        else if (p->trouble >= 0 && p->requested)
            start_plan(p);
        else if (must_take_over(p))
            compute_plan(p, &p->first);
        else if (p->job && p->urgent) // check the second thread later
            clock_cond_wait(&p->work, &p->lock, check_s);
        else
            pthread_cond_wait(&p->work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void *
work_low(void *arg)
{
    struct planner *p = arg;

    priority_lower(PRIORITY_IDLE);
    num_threads(p->config.threads);
    pthread_mutex_lock(&p->lock);
    while (!p->quit) {
        if (p->second || (p->job && p->config.command))
            compute_plan(p, &p->second);
        else
            pthread_cond_wait(&p->low_work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

struct planner *
planner_open(const struct planner_config *config, struct err *err)
{
    const size_t n = config->task.layout.size;
    struct planner *p = mem_array(1, sizeof *p);
    int64_t *group;
    struct flow_client_config client = {
        .role = "train",
        .edge = WIRE_EDGE_FEATURES,
        .hello = config->hello,
        .deadline = answer_s,
    };

    p->config = *config;
    if (config->task
            .group) { // threads may use it after the caller freed its array
        group = mem_array(n, sizeof *group);
        memcpy(group, config->task.group, n * sizeof *group);
        p->config.task.group = group;
    }
    client.endpoint = p->endpoint = mem_text(config->endpoint);
    pthread_mutex_init(&p->lock, NULL);
    clock_cond_init(&p->work);
    pthread_cond_init(&p->low_work, NULL);
    p->wire = wire_open(config->keys, err);
    p->service = p->wire ? flow_client_open(p->wire, &client, err) : NULL;
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

/* Ends all waits of the threads; the lock is held. */
static void
wake_planner(struct planner *p)
{
    ssize_t wrote = write(p->wake[1], "", 1);

    (void)wrote; // full: already woken
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
    flow_client_close(p->service);
    wire_close(p->wire);
    close(p->wake[0]);
    close(p->wake[1]);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->low_work);
    pthread_mutex_destroy(&p->lock);
    mem_free(p->result.ids, (void *)p->config.task.group, p->endpoint, p);
    return 0;
}

int
planner_ask(struct planner *p, int64_t epoch, int64_t from)
{
    int idle;

    pthread_mutex_lock(&p->lock);
    idle = !p->requested && !p->planning && !p->ready;
    if (idle) {
        p->requested = 1;
        p->epoch = epoch;
        p->from = from;
        pthread_cond_signal(&p->work);
    }
    pthread_mutex_unlock(&p->lock);
    return idle;
}

void
planner_set_urgent(struct planner *p, int urgent)
{
    pthread_mutex_lock(&p->lock);
    if (p->urgent != urgent)
        pthread_cond_signal(&p->work);
    p->urgent = urgent;
    pthread_mutex_unlock(&p->lock);
}

int
planner_take(struct planner *p, struct planner_plan *planned)
{
    int ready;

    pthread_mutex_lock(&p->lock);
    ready = p->ready;
    if (ready) {
        *planned = p->result;
        p->result = (struct planner_plan){0};
        p->ready = 0;
    }
    pthread_mutex_unlock(&p->lock);
    return ready;
}

void
planner_report(struct planner *p, const struct wire_plan *about)
{
    pthread_mutex_lock(&p->lock);
    p->report_pending = 1;
    p->report = *about;
    pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
}

int
planner_reported(struct planner *p)
{
    int sent;

    pthread_mutex_lock(&p->lock);
    sent = !p->report_pending;
    pthread_mutex_unlock(&p->lock);
    return sent;
}

void
planner_cancel(struct planner *p)
{
    pthread_mutex_lock(&p->lock);
    p->generation++;
    p->requested = p->ready = p->report_pending = 0;
    free(p->result.ids);
    p->result = (struct planner_plan){0};
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
    if (p->trouble && !p->reported) {
        trouble = p->trouble;
        *why = p->why;
        p->reported = 1;
    }
    pthread_mutex_unlock(&p->lock);
    return trouble;
}
