#include "film.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eval/tsne.h"
#include "util/base64.h"
#include "util/mem.h"

enum { STEPS = 350, LEAST = 32 };

static const size_t most_bytes = (size_t)512 << 20; // of all embeddings

struct film {
    struct hub *hub;
    size_t size, d;
    float *table; /* [size,d] */
    char *known;  /* [size] */
    size_t n; /* points; which samples they are is fixed by the first frame */
    int64_t *ids; /* [n] */
    float *y;     /* [n,2] the newest frame, or NULL */
    json_t *frames;
    pid_t child; /* that makes a frame; 0: none */
    int from;    /* where it writes it */
    int64_t epoch;
    size_t heard;  /* rows, and .. */
    size_t before; /* .. known samples, when points were last to be chosen */
};

struct film *
film_open(struct hub *hub)
{
    struct film *film = mem_array(1, sizeof *film);

    film->hub = hub;
    film->frames = json_array();
    return film;
}

void
film_close(struct film *film)
{
    if (film->child) {
        kill(film->child, SIGKILL);
        waitpid(film->child, NULL, 0);
        close(film->from);
    }
    json_decref(film->frames);
    free(film->table);
    free(film->known);
    free(film->ids);
    free(film->y);
    free(film);
}

void
film_take(struct film *film, const struct moment *m, size_t size)
{
    if (!film->size && size && size < most_bytes / (m->d * sizeof(float))) {
        film->size = size;
        film->d = m->d;
        film->table = mem_array(size * m->d, sizeof *film->table);
        film->known = mem_array(size, 1);
    }
    if (film->size != size || film->d != m->d)
        return;
    film->heard += m->n;
    for (size_t i = 0; i < m->n; i++)
        if ((size_t)m->ids[i] < size) {
            memcpy(film->table + (size_t)m->ids[i] * m->d, m->z + i * m->d,
                   m->d * sizeof *m->z);
            film->known[m->ids[i]] = 1;
        }
}

/* Known samples, spread evenly, once there are enough of them: all, or as many
 * as are shown, or those to which as many rows as there are samples added
 * nothing: what was lost on the way to us comes in a later epoch. */
static void
choose_points(struct film *film)
{
    size_t known = 0, at = 0;
    int enough;

    for (size_t i = 0; i < film->size; i++)
        known += (size_t)film->known[i];
    enough = known == film->size ||
             (film->heard >= film->size &&
              (known >= FILM_POINTS || known == film->before));
    if (film->heard >= film->size) {
        film->heard = 0;
        film->before = known;
    }
    if (known < LEAST || !enough)
        return;
    film->n = known < FILM_POINTS ? known : FILM_POINTS;
    film->ids = mem_array(film->n, sizeof *film->ids);
    for (size_t i = 0, seen = 0; i < film->size; i++)
        if (film->known[i] && seen++ == at * known / film->n)
            film->ids[at++] = (int64_t)i;
}

/* The child: writes the map and ends. */
_Noreturn static void
make_frame(const struct film *film, int to)
{
    const size_t bytes = 2 * film->n * sizeof(float);
    float *x = mem_array(film->n * film->d, sizeof *x);
    float *y = mem_array(2 * film->n, sizeof *y);
    struct eval_tsne *map;

    setpriority(PRIO_PROCESS, 0, 19);
    for (size_t i = 0; i < film->n; i++)
        memcpy(x + i * film->d, film->table + (size_t)film->ids[i] * film->d,
               film->d * sizeof *x);
    map = eval_tsne_new(film->n, film->d, x,
                        fmin(30, ((double)film->n - 1) / 3), film->y);
    for (int step = 0; step < EVAL_TSNE_EARLY + STEPS; step++)
        eval_tsne_step(map);
    memcpy(y, eval_tsne_points(map), bytes);
    if (film->y)
        eval_tsne_turn(film->n, film->y, y);
    _exit(write(to, y, bytes) != (ssize_t)bytes); // a pipe has room for it
}

void
film_epoch(struct film *film, int64_t epoch)
{
    int end[2];

    if (film->child || json_array_size(film->frames) >= FILM_FRAMES)
        return;
    if (!film->ids)
        choose_points(film);
    if (!film->n || pipe(end))
        return;
    film->epoch = epoch;
    film->from = end[0];
    film->child = fork();
    if (!film->child)
        make_frame(film, end[1]);
    close(end[1]);
    if (film->child < 0) {
        film->child = 0;
        close(end[0]);
    }
}

/* Places in whole numbers, all within +-32000 of the middle. */
static json_t *
show_frame(const struct film *film, int64_t epoch)
{
    int16_t *xy = mem_array(2 * film->n, sizeof *xy);
    float most = 1e-30F;
    json_t *frame;
    char *text;

    for (size_t i = 0; i < 2 * film->n; i++)
        most = fmaxf(most, fabsf(film->y[i]));
    for (size_t i = 0; i < 2 * film->n; i++)
        xy[i] = (int16_t)lrintf(film->y[i] / most * 32000);
    text = base64_encode((const uint8_t *)xy, 2 * film->n * sizeof *xy);
    frame = json_pack("{s:I s:s}", "epoch", (json_int_t)epoch, "xy", text);
    free(text);
    free(xy);
    return frame;
}

/* Reads all that the child wrote; 1 when that is a frame. */
static int
read_frame(struct film *film)
{
    const size_t bytes = 2 * film->n * sizeof(float);
    float *y = mem_array(2 * film->n, sizeof *y);
    size_t done = 0;
    ssize_t n;

    while (done < bytes &&
           (n = read(film->from, (char *)y + done, bytes - done)) > 0)
        done += (size_t)n;
    if (done < bytes) {
        free(y);
        return 0;
    }
    free(film->y);
    film->y = y;
    return 1;
}

void
film_tend(struct film *film)
{
    int status;

    if (!film->child || waitpid(film->child, &status, WNOHANG) <= 0)
        return;
    film->child = 0;
    if (!status && read_frame(film)) {
        json_t *frame = show_frame(film, film->epoch);

        json_array_append(film->frames, frame);
        hub_say(film->hub, "frame", frame);
    }
    close(film->from);
}

json_t *
film_show(const struct film *film, const struct data_set *set)
{
    json_t *ids = json_array(), *labels = json_array();

    if (!json_array_size(film->frames)) {
        json_decref(ids);
        json_decref(labels);
        return json_null();
    }
    for (size_t i = 0; i < film->n; i++) {
        json_array_append_new(ids, json_integer(film->ids[i]));
        json_array_append_new(
            labels,
            json_integer(set ? data_label(set, (size_t)film->ids[i]) : -1));
    }
    return json_pack("{s:o s:o s:O}", "ids", ids, "labels", labels, "frames",
                     film->frames);
}
