#define _GNU_SOURCE // memfd_create()
#include "embedding.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nn/model.h"
#include "num/threads.h"
#include "num/vec.h"
#include "text/captions.h"
#include "util/mem.h"

enum { ROWS = 64 }; // in the encoder at a time

/* What the child process computes; it frees nothing. */
struct work {
    const char *run;
    struct run_views *views;
    const struct picture_name *name; /* [n] */
    size_t n, d;                     /* d = 0: err says why there is no z */
    float *z;                        /* [n,d] */
    struct err err;
};

/* The view that a row of a table stands for. */
static int64_t
find_row(const struct nn_model *model, const struct picture_name *name)
{
    return name->id * model->spec.views + (name->view < 0 ? 0 : name->view);
}

/* Encodes images; one that cannot be read is black. */
static int
embed_images(struct work *work, size_t n)
{
    const size_t side = run_views_size(work->views), size = side * side * 3;
    struct nn_model model;
    uint8_t *images = mem_array(ROWS, size);
    int32_t ids[ROWS];
    size_t rows;
    int by_id;

    if (nn_model_read(&model, work->run, 0, &work->err) ||
        nn_model_build(&model, ROWS, 0, 0, &work->err))
        return -1;
    by_id = nn_net_kind(model.net) == NN_IDS;
    if (!by_id && (nn_net_kind(model.net) != NN_IMAGES ||
                   model.spec.height != side || model.spec.image_width != side))
        return err_set(&work->err,
                       "the encoder does not read images of %zu x %zu", side,
                       side);
    work->d = nn_net_dim(model.net);
    work->z = mem_array(work->n * work->d, sizeof *work->z);
    for (size_t i = 0; i < n; i += rows) {
        const struct nn_input input = {.n = rows = n - i < ROWS ? n - i : ROWS,
                                       .images = images,
                                       .ids = ids};
        struct err ignored;

        for (size_t k = 0; k < rows; k++)
            if (by_id)
                ids[k] = (int32_t)find_row(&model, &work->name[i + k]);
            else if (picture_view(work->views, &work->name[i + k],
                                  images + k * size, &ignored))
                memset(images + k * size, 0, size);
        nn_net_infer(model.net, &input, NULL, work->z + i * work->d);
    }
    return 0;
}

/* Encodes the captions of the samples from `first` on. */
static int
embed_captions(struct work *work, size_t first)
{
    struct nn_model model;
    struct text_vocabulary *vocabulary;
    struct text_captions_settings how = {.caption = TEXT_CAPTION_ALL};
    size_t offset[2] = {0};
    int32_t *token;
    char *path;

    if (nn_model_read(&model, work->run, 1, &work->err) ||
        nn_model_build(&model, 1, 0, 0, &work->err))
        return -1;
    path = mem_format("%s/vocabulary.txt", model.folder);
    vocabulary = text_vocabulary_open(path, &work->err);
    if (!vocabulary)
        return -1;
    if (nn_net_dim(model.net) != work->d ||
        text_vocabulary_size(vocabulary) > nn_net_ids(model.net))
        return err_set(&work->err, "'%s' is not that of the encoder", path);
    how.context = nn_net_context(model.net);
    token = mem_array(how.context, sizeof *token);
    for (size_t i = first; i < work->n; i++) {
        char *text =
            run_views_text(work->views, work->name[i].id, work->name[i].epoch);

        offset[1] = text_captions_row(text ? text : "", 0, 0, &how, 0, 0,
                                      vocabulary, token);
        nn_net_infer(
            model.net,
            &(struct nn_input){.n = 1, .ids = token, .offsets = offset}, NULL,
            work->z + i * work->d);
        free(text);
    }
    return 0;
}

/* The child process: writes d, the error and z, and exits. */
_Noreturn static void
make_embeddings(struct work *work, size_t texts, int threads, FILE *to)
{
    if (threads) // a trainer runs
        setpriority(PRIO_PROCESS, 0, 19);
    num_threads(threads);
    if (embed_images(work, work->n - texts) ||
        (texts && embed_captions(work, work->n - texts)))
        work->d = 0;
    num_unit_rows(work->n, work->d, work->z, work->z, NULL);
    fwrite(&work->d, sizeof work->d, 1, to);
    fwrite(&work->err, sizeof work->err, 1, to);
    fwrite(work->z, sizeof *work->z, work->n * work->d, to);
    _exit(fflush(to) != 0);
}

void
embedding_start(struct embedding *embedding, const char *run, int threads,
                struct run_views *views, size_t n,
                const struct picture_name *name, size_t texts)
{
    struct work work = {.run = run, .views = views, .name = name, .n = n};

    embedding->n = n;
    embedding->file = fdopen(memfd_create("embeddings", MFD_CLOEXEC), "w+");
    embedding->child = embedding->file ? fork() : -1;
    if (!embedding->child)
        make_embeddings(&work, texts, threads, embedding->file);
}

/* Reads what the child process wrote. */
static int
read_embeddings(const struct embedding *embedding, float **z, size_t *d,
                struct err *err)
{
    FILE *from = embedding->file;

    rewind(from);
    if (fread(d, sizeof *d, 1, from) != 1 ||
        fread(err, sizeof *err, 1, from) != 1)
        return err_set(err, "the process that computes embeddings died");
    if (!*d)
        return -1;
    *z = mem_array(embedding->n * *d, sizeof **z);
    if (fread(*z, sizeof **z, embedding->n * *d, from) == embedding->n * *d)
        return 1;
    free(*z);
    return err_set(err, "the process that computes embeddings has no memory");
}

int
embedding_poll(struct embedding *embedding, float **z, size_t *d,
               struct err *err)
{
    int rc;

    if (!embedding->child ||
        (embedding->child > 0 && !waitpid(embedding->child, NULL, WNOHANG)))
        return 0;
    rc = embedding->child > 0 ? read_embeddings(embedding, z, d, err)
                              : err_set(err, "cannot start a process");
    embedding->child = 0;
    embedding_close(embedding);
    return rc;
}

void
embedding_close(struct embedding *embedding)
{
    if (embedding->child > 0) {
        kill(embedding->child, SIGKILL);
        waitpid(embedding->child, NULL, 0);
    }
    if (embedding->file)
        fclose(embedding->file);
    *embedding = (struct embedding){0};
}
