#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "num/threads.h"
#include "select.h"
#include "select/shuffle.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/opt.h"
#include "wire/fetch.h"
#include "wire/service.h"

/*
 * One lock guards what both threads see; the thread itself sleeps on `work`,
 * waits for the trainer, or computes.  What it was given up for meanwhile it
 * finds out by `turn`, which planner_forget() counts up.
 */
struct planner {
    struct planner_config config;
    char *endpoint;
    struct wire *wire;
    struct wire_service *service;
    int wake[2]; /* a pipe: ends a wait for the trainer */
    pthread_t thread;

    pthread_mutex_t lock;
    pthread_cond_t work;
    unsigned turn;
    int quit, computing;
    int asked, busy, made, telling;
    int64_t epoch, from; /* asked for, being made */
    struct planned result;
    struct wire_plan about; /* to be told */
    int trouble, said;      /* as planner_trouble() returns it */
    struct err why;
};

/* Seconds until an unanswered trainer is a trouble; between two tries. */
static const double patience = 10, pause_again = 0.2;

static void
add(struct wire_plan *about, const char *name, double value)
{
    struct wire_metric *to = &about->values[about->n++];

    REQUIRE(about->n <= WIRE_PLAN_MAX);
    snprintf(to->name, sizeof to->name, "%s", name);
    to->value = value;
}

/* What the thread works on, by itself. */
struct job {
    unsigned turn;
    int64_t epoch, from;
    double waited; /* seconds for the features */
    struct select_history history;
    enum select_fetched what;
};

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
rest(struct planner *p)
{
    struct err ignored;

    wire_sock_wait(p->wire, NULL, p->wake[0], pause_again, &ignored);
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
fetch(struct planner *p, struct job *job)
{
    const struct wire_fetch wanted = {
        .epoch = job->from, .half = p->config.half, .plan = job->epoch};
    const double start = clock_now();
    struct err why;

    job->what = job->from < 0 ? FETCH_NONE : FETCH_AGAIN;
    while (job->what == FETCH_AGAIN && is_current(p, job->turn)) {
        job->what =
            select_fetch(p->service, p->wake[0], &wanted,
                         p->config.task.layout.size, &job->history, &why);
        if (job->what == FETCH_AGAIN) {
            set_trouble(p, 1, &why);
            rest(p);
        }
    }
    set_trouble(p, job->what == FETCH_FAILED ? -1 : 0, &why);
    job->waited = clock_now() - start;
}

/* Orders and measures: the long part, which nothing interrupts. */
static struct planned
make(struct planner *p, const struct job *job)
{
    struct select_task task = p->config.task;
    const struct select_strategy *strategy = p->config.strategy;
    struct planned made = {.epoch = job->epoch};
    struct wire_plan *about = &made.about;
    const double start = clock_now(), wall = (double)clock_wall() * 1e-9;
    const size_t total = select_layout_total(&task.layout);
    int64_t *random;
    double seconds;

    made.ids = mem_array(total, sizeof *made.ids);
    task.epoch = (uint64_t)job->epoch;
    task.features = job->what == FETCH_DONE ? &job->history.features : NULL;
    select_strategy_order(strategy, &task, made.ids);
    seconds = clock_now() - start;
    about->epoch = job->epoch;
    snprintf(about->strategy, sizeof about->strategy, "%s",
             task.features ? strategy->name : "shuffle");
    if (task.features) {
        add(about, "from", (double)job->from);
        add(about, "stale", (double)(job->epoch - job->from));
        add(about, "known", (double)job->history.n / (double)task.layout.size);
        add(about, "eval", job->history.eval);
        select_measure(about, "", &task, made.ids);
        random = mem_array(total, sizeof *random);
        select_shuffle(&task, random);
        select_measure(about, "random_", &task, random);
        free(random);
    }
    add(about, "seconds", seconds);
    add(about, "waited", job->waited);
    add(about, "time", wall);
    return made;
}

/* Does what was asked for; the lock is held before and after. */
static void
plan(struct planner *p)
{
    struct job job = {.turn = p->turn, .epoch = p->epoch, .from = p->from};
    struct planned made;

    p->asked = 0;
    p->busy = 1;
    pthread_mutex_unlock(&p->lock);
    fetch(p, &job);
    pthread_mutex_lock(&p->lock);
    if (p->turn == job.turn && !p->quit &&
        (job.what == FETCH_DONE || job.what == FETCH_NONE)) {
        p->computing = 1;
        pthread_mutex_unlock(&p->lock);
        made = make(p, &job);
        pthread_mutex_lock(&p->lock);
        p->computing = 0;
        if (p->turn == job.turn) {
            p->made = 1;
            p->result = made;
        } else {
            free(made.ids);
        }
    }
    p->busy = 0;
    select_history_release(&job.history);
}

static void
tell(struct planner *p)
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
            rest(p);
        }
    }
    set_trouble(p, what == FETCH_FAILED ? -1 : 0, &why);
    pthread_mutex_lock(&p->lock);
    if (p->turn == turn && p->about.epoch == about.epoch &&
        what != FETCH_STOPPED)
        p->telling = 0;
}

static void *
work(void *arg)
{
    struct planner *p = arg;
    char byte;

    num_threads(p->config.threads);
    pthread_mutex_lock(&p->lock);
    while (!p->quit) {
        while (read(p->wake[0], &byte, 1) == 1)
            ;
        if (p->trouble >= 0 && p->telling)
            tell(p);
        else if (p->trouble >= 0 && p->asked)
            plan(p);
        else
            pthread_cond_wait(&p->work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static struct wire_service *
connect_to(struct planner *p, struct err *err)
{
    struct wire_service_config config = {
        .endpoint = p->endpoint,
        .role = "train",
        .edge = WIRE_EDGE_FEATURES,
        .hello = p->config.hello,
        .deadline = patience,
    };

    return wire_service_open(p->wire, &config, err);
}

/* The thread may outlive those of whoever opens the planner. */
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
    pthread_cond_init(&p->work, NULL);
    p->wire = wire_open(config->keys, err);
    p->service = p->wire ? connect_to(p, err) : NULL;
    if (!p->service)
        return NULL;
    if (pipe(p->wake) || fcntl(p->wake[0], F_SETFL, O_NONBLOCK) ||
        fcntl(p->wake[1], F_SETFL, O_NONBLOCK)) {
        err_sys(err, "cannot make a pipe");
        return NULL;
    }
    errno = pthread_create(&p->thread, NULL, work, p);
    if (!errno)
        return p;
    err_sys(err, "cannot start a thread");
    return NULL;
}

/* The thread is to look up from what it waits for; the lock is held. */
static void
wake(struct planner *p)
{
    ssize_t wrote = write(p->wake[1], "", 1);

    (void)wrote; // full: it is awake
    pthread_cond_signal(&p->work);
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
    wake(p);
    pthread_mutex_unlock(&p->lock);
    if (computing)
        return 1;
    pthread_join(p->thread, NULL);
    wire_service_close(p->service);
    wire_close(p->wire);
    close(p->wake[0]);
    close(p->wake[1]);
    pthread_cond_destroy(&p->work);
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
    wake(p);
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
