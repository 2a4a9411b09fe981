#pragma once

/* Ranks that are threads of one process: a box for each pair, by which bytes go
 * from one to the other. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ranks/ranks.h"
#include "util/clock.h"
#include "util/mem.h"

enum { THREADS_MOST = 8 };

struct threads_box {
    const void *data; /* NULL: empty */
    size_t bytes;
};

struct threads {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct threads_box box[THREADS_MOST][THREADS_MOST]; /* from, to */
    size_t sent;                                        /* bytes of all */
    int unequal; /* lengths of the two ends were not the same */
    struct threads_rank {
        struct threads *all;
        size_t rank, size;
        double seconds; /* with others */
        struct ranks ranks;
        void (*work)(const struct ranks *ranks, void *data);
        void *data;
        pthread_t thread;
    } rank[THREADS_MOST];
};

static inline void
threads_post(struct threads_rank *of, size_t to, const void *data, size_t bytes)
{
    pthread_mutex_lock(&of->all->lock);
    of->all->box[of->rank][to] = (struct threads_box){data, bytes};
    of->all->sent += bytes;
    pthread_cond_broadcast(&of->all->changed);
    pthread_mutex_unlock(&of->all->lock);
}

/* Until a box has changed. */
static inline void
threads_wait(struct threads_rank *of)
{
    const double start = clock_now();

    pthread_cond_wait(&of->all->changed, &of->all->lock);
    of->seconds += clock_now() - start;
}

static inline void
threads_fetch(struct threads_rank *of, size_t from, void *data, size_t bytes)
{
    struct threads_box *box = &of->all->box[from][of->rank];

    pthread_mutex_lock(&of->all->lock);
    while (!box->data)
        threads_wait(of);
    of->all->unequal |= box->bytes != bytes;
    memcpy(data, box->data, box->bytes < bytes ? box->bytes : bytes);
    box->data = NULL;
    pthread_cond_broadcast(&of->all->changed);
    pthread_mutex_unlock(&of->all->lock);
}

static inline void
threads_flush(struct threads_rank *of, size_t to)
{
    pthread_mutex_lock(&of->all->lock);
    while (of->all->box[of->rank][to].data)
        threads_wait(of);
    pthread_mutex_unlock(&of->all->lock);
}

static inline void
threads_bcast(void *self, void *data, size_t bytes)
{
    struct threads_rank *of = self;

    if (of->rank)
        threads_fetch(of, 0, data, bytes);
    for (size_t r = 1; !of->rank && r < of->size; r++)
        threads_post(of, r, data, bytes);
    for (size_t r = 1; !of->rank && r < of->size; r++)
        threads_flush(of, r);
}

static inline void
threads_scatter(void *self, const void *all, const size_t *from, void *own)
{
    struct threads_rank *of = self;

    if (of->rank)
        threads_fetch(of, 0, own, from[of->rank + 1] - from[of->rank]);
    for (size_t r = 1; !of->rank && r < of->size; r++)
        threads_post(of, r, (const char *)all + from[r], from[r + 1] - from[r]);
    for (size_t r = 1; !of->rank && r < of->size; r++)
        threads_flush(of, r);
}

static inline void
threads_gather(void *self, const void *own, const size_t *from, void *all)
{
    struct threads_rank *of = self;

    if (of->rank) {
        threads_post(of, 0, own, from[of->rank + 1] - from[of->rank]);
        threads_flush(of, 0);
    }
    for (size_t r = 1; !of->rank && r < of->size; r++)
        threads_fetch(of, r, (char *)all + from[r], from[r + 1] - from[r]);
}

/* Nothing moves before the end, which all come to in one order. */
struct threads_swap {
    size_t peer;
    const void *give;
    void *take;
    size_t n_give, n_take;
};

static inline void *
threads_swap_begin(void *self, size_t peer, int tag, const void *give,
                   size_t n_give, void *take, size_t n_take)
{
    struct threads_swap *swap = mem_array(1, sizeof *swap);

    (void)self;
    (void)tag;
    *swap = (struct threads_swap){peer, give, take, n_give, n_take};
    return swap;
}

static inline int
threads_swap_done(void *self, void *swap)
{
    (void)self;
    (void)swap;
    return 0;
}

static inline void
threads_swap_end(void *self, void *what)
{
    struct threads_rank *of = self;
    struct threads_swap *swap = what;

    if (swap->n_give)
        threads_post(of, swap->peer, swap->give, swap->n_give);
    if (swap->n_take)
        threads_fetch(of, swap->peer, swap->take, swap->n_take);
    threads_flush(of, swap->peer);
    free(swap);
}

static inline void *
threads_main(void *self)
{
    struct threads_rank *of = self;

    of->work(&of->ranks, of->data);
    return NULL;
}

/* Runs so many ranks to their end, rank 0 in the caller's thread, each with its
 * entry of data[].  Returns bytes sent, or (size_t)-1 where two ends were not
 * of one mind about a length. */
static inline size_t
threads_run(size_t size, void (*work)(const struct ranks *, void *),
            void *const *data)
{
    struct threads all = {.lock = PTHREAD_MUTEX_INITIALIZER,
                          .changed = PTHREAD_COND_INITIALIZER};

    for (size_t r = 0; r < size; r++) {
        struct threads_rank *of = all.rank + r;

        *of = (struct threads_rank){.all = &all,
                                    .rank = r,
                                    .size = size,
                                    .work = work,
                                    .data = data[r]};
        of->ranks = (struct ranks){.self = of,
                                   .rank = r,
                                   .size = size,
                                   .seconds = &of->seconds,
                                   .bcast = threads_bcast,
                                   .order = threads_bcast,
                                   .scatter = threads_scatter,
                                   .gather = threads_gather,
                                   .swap_begin = threads_swap_begin,
                                   .swap_done = threads_swap_done,
                                   .swap_end = threads_swap_end};
        if (r && pthread_create(&of->thread, NULL, threads_main, of))
            return (size_t)-1;
    }
    threads_main(all.rank);
    for (size_t r = 1; r < size; r++)
        pthread_join(all.rank[r].thread, NULL);
    return all.unequal ? (size_t)-1 : all.sent;
}
