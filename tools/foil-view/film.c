#define _DEFAULT_SOURCE // MAP_ANONYMOUS
#include "film.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eval/knn.h"
#include "eval/tsne.h"
#include "util/clock.h"
#include "util/mem.h"

enum { STEPS = 350 };

static const double pace = 2; /* seconds, of what is heard of */
static const size_t most_bytes = (size_t)512 << 20; // of all embeddings

enum { NEAR = FILM_LOOKED * (1 + FILM_NEAR) };

struct frame {
    int64_t epoch;
    int within;  /* made in that epoch, not after it */
    int16_t *xy; /* [n,2] */
    int32_t near[NEAR];
};

/* What the child leaves, in memory of both: the neighbours, and behind them
 * the places. */
struct made {
    int32_t near[NEAR];
    float y[]; /* [n,2] */
};

struct film {
    struct hub *hub;
    size_t most;
    size_t size, d;
    float *table;    /* [size,d] */
    char *known;     /* [size] */
    size_t heard_of; /* samples that are known */
    int64_t now;     /* the epoch of the newest embeddings, from 0 */
    size_t n; /* points; which samples they are is fixed by the first frame */
    int64_t *ids; /* [n] */
    float *y;     /* [n,2] the newest frame, or NULL */
    struct frame frame[FILM_FRAMES];
    size_t frames;
    pid_t child; /* that makes a frame; 0: none */
    struct made *made;
    int64_t epoch;
    int within;    /* as in its frame */
    int64_t after; /* the epoch that has ended since, of which a frame is due */
    double told_at;
    size_t heard;  /* rows, and .. */
    size_t before; /* .. known samples, when points were last to be chosen */
};

static size_t
size_of_made(const struct film *film)
{
    return sizeof *film->made + 2 * film->n * sizeof(float);
}

struct film *
film_open(struct hub *hub, size_t most)
{
    struct film *film = mem_array(1, sizeof *film);

    film->hub = hub;
    film->most = most;
    return film;
}

void
film_close(struct film *film)
{
    if (film->child) {
        kill(film->child, SIGKILL);
        waitpid(film->child, NULL, 0);
    }
    if (film->made)
        munmap(film->made, size_of_made(film));
    for (size_t i = 0; i < film->frames; i++)
        free(film->frame[i].xy);
    free(film->table);
    free(film->known);
    free(film->ids);
    free(film->y);
    free(film);
}

void
film_take(struct film *film, const struct batch_view *m, size_t size)
{
    if (!film->size && size >= FILM_POINTS_LEAST &&
        size < most_bytes / (m->d * sizeof(float))) {
        film->size = size;
        film->d = m->d;
        film->table = mem_array(size * m->d, sizeof *film->table);
        film->known = mem_array(size, 1);
    }
    if (film->size != size || film->d != m->d)
        return;
    film->heard += m->n;
    film->now = m->epoch;
    for (size_t i = 0; i < m->n; i++)
        if ((size_t)m->ids[i] < size) {
            memcpy(film->table + (size_t)m->ids[i] * m->d, m->z + i * m->d,
                   m->d * sizeof *m->z);
            film->heard_of += !film->known[m->ids[i]];
            film->known[m->ids[i]] = 1;
        }
}

/* Samples that a map is to have. */
static size_t
count_wanted(const struct film *film)
{
    return film->size < film->most ? film->size : film->most;
}

/* Known samples, spread evenly, once there are enough of them: as many as are
 * wanted, or those to which as many rows as there are samples added nothing:
 * what was lost on the way to us comes in a later epoch. */
static void
choose_points(struct film *film)
{
    const size_t known = film->heard_of, wanted = count_wanted(film);
    size_t at = 0;
    const int enough =
        known >= wanted || (film->heard >= film->size && known == film->before);

    if (film->heard >= film->size) {
        film->heard = 0;
        film->before = known;
    }
    if (known < FILM_POINTS_LEAST || !enough)
        return;
    film->n = known < wanted ? known : wanted;
    film->ids = mem_array(film->n, sizeof *film->ids);
    for (size_t i = 0, seen = 0; i < film->size; i++)
        if (film->known[i] && seen++ == at * known / film->n)
            film->ids[at++] = (int64_t)i;
}

/* Finds the neighbours of some points.
 *   x  [n,d] */
static void
find_near(const struct film *film, const float *x, int32_t *near)
{
    struct eval_knn *knn = eval_knn_new(film->n, film->d, x, EVAL_COSINE);

    for (size_t row = 0; row < FILM_LOOKED; row++) {
        const size_t own = (2 * row + 1) * film->n / (2 * FILM_LOOKED);
        uint32_t point[FILM_NEAR];

        eval_knn_find(knn, 1, x + own * film->d, FILM_NEAR, own, point, NULL);
        *near++ = (int32_t)film->ids[own];
        for (size_t k = 0; k < FILM_NEAR; k++)
            *near++ = (int32_t)film->ids[point[k]];
    }
    eval_knn_free(knn);
}

/* The child: leaves the map in the memory of both and ends. */
_Noreturn static void
make_frame(const struct film *film)
{
    float *x = mem_array(film->n * film->d, sizeof *x);
    struct eval_tsne *map;

    setpriority(PRIO_PROCESS, 0, 19);
    for (size_t i = 0; i < film->n; i++)
        memcpy(x + i * film->d, film->table + (size_t)film->ids[i] * film->d,
               film->d * sizeof *x);
    find_near(film, x, film->made->near);
    map = eval_tsne_new(film->n, film->d, x,
                        fmin(30, ((double)film->n - 1) / 3), film->y);
    for (int step = 0; step < EVAL_TSNE_EARLY + STEPS; step++)
        eval_tsne_step(map);
    memcpy(film->made->y, eval_tsne_points(map), 2 * film->n * sizeof(float));
    if (film->y)
        eval_tsne_turn(film->n, film->y, film->made->y);
    _exit(0);
}

static void
share_memory(struct film *film)
{
    void *memory = mmap(NULL, size_of_made(film), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    film->made = memory == MAP_FAILED ? NULL : memory;
}

static void
begin_frame(struct film *film, int64_t epoch, int within)
{
    if (film->child || film->frames == FILM_FRAMES)
        return;
    if (!film->ids)
        choose_points(film);
    if (film->n && !film->made)
        share_memory(film);
    if (!film->made)
        return;
    film->epoch = epoch;
    film->within = within;
    film->child = fork();
    if (!film->child)
        make_frame(film);
    if (film->child < 0)
        film->child = 0;
}

void
film_epoch(struct film *film, int64_t epoch)
{
    if (film->child && film->within)
        film->after = epoch;
    begin_frame(film, epoch, 0);
}

/* Places in whole numbers, all within +-32000 of the middle; of an epoch that
 * was done again, anew. */
static void
add_frame(struct film *film)
{
    int16_t *xy = mem_array(2 * film->n, sizeof *xy);
    float most = 1e-30F;

    for (size_t i = 0; i < 2 * film->n; i++)
        most = fmaxf(most, fabsf(film->y[i]));
    for (size_t i = 0; i < 2 * film->n; i++)
        xy[i] = (int16_t)lrintf(film->y[i] / most * 32000);
    while (film->frames && film->frame[film->frames - 1].epoch >= film->epoch)
        free(film->frame[--film->frames].xy);
    film->frame[film->frames] =
        (struct frame){.epoch = film->epoch, .within = film->within, .xy = xy};
    memcpy(film->frame[film->frames++].near, film->made->near,
           sizeof film->made->near);
}

static void
tell_film(struct film *film)
{
    hub_say(film->hub, "map", film_show(film));
    film->told_at = clock_now();
}

/* The first frame needs no end of an epoch, which may take hours. */
static void
begin_early(struct film *film)
{
    if (film->n || !film->size)
        return;
    if (film->heard_of >= count_wanted(film))
        begin_frame(film, film->now + 1, 1);
    if (film->n || clock_now() - film->told_at > pace)
        tell_film(film);
}

void
film_tend(struct film *film)
{
    int status;

    begin_early(film);
    if (!film->child || waitpid(film->child, &status, WNOHANG) <= 0)
        return;
    film->child = 0;
    if (status)
        return;
    if (!film->y)
        film->y = mem_array(2 * film->n, sizeof *film->y);
    memcpy(film->y, film->made->y, 2 * film->n * sizeof *film->y);
    add_frame(film);
    tell_film(film);
    if (film->after)
        film_epoch(film, film->after);
    film->after = 0;
}

json_t *
film_show(const struct film *film)
{
    json_t *epochs = json_array();
    const int within = film->frames && film->frame->within;

    for (size_t i = 0; i < film->frames; i++)
        json_array_append_new(epochs,
                              json_integer((json_int_t)film->frame[i].epoch));
    return json_pack("{s:I s:I s:I s:I s:o}", "n", (json_int_t)film->n,
                     "wanted", (json_int_t)count_wanted(film), "known",
                     (json_int_t)film->heard_of, "within",
                     (json_int_t)(within ? film->frame->epoch : 0), "epochs",
                     epochs);
}

const int64_t *
film_points(const struct film *film, size_t *n)
{
    *n = film->frames ? film->n : 0;
    return film->ids;
}

void *
film_labels(const struct film *film, const struct data_set *set, size_t *bytes)
{
    int32_t *both;

    if (!film->frames)
        return NULL;
    both = mem_array(2 * film->n, sizeof *both);
    for (size_t i = 0; i < film->n; i++) {
        both[i] = (int32_t)film->ids[i];
        both[film->n + i] = batch_view_label(set, film->ids[i]);
    }
    *bytes = 2 * film->n * sizeof *both;
    return both;
}

void *
film_frame(const struct film *film, int64_t epoch, size_t *bytes)
{
    const size_t places = 2 * film->n * sizeof(int16_t);

    *bytes = places + sizeof film->frame->near;
    for (size_t i = 0; i < film->frames; i++)
        if (film->frame[i].epoch == epoch) {
            char *both = mem_array(*bytes, 1);

            memcpy(both, film->frame[i].xy, places);
            memcpy(both + places, film->frame[i].near,
                   sizeof film->frame[i].near);
            return both;
        }
    return NULL;
}
