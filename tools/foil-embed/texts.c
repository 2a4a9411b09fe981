#include "texts.h"

#include <stdlib.h>
#include <string.h>

#include "nn/average.h"
#include "nn/checkpoint.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/progress.h"

static const char vocabulary_name[] = "vocabulary.txt";

enum { TOKENS_MOST = 1 << 16 }; // of a text

static void
grow_texts(struct embed_texts *texts)
{
    texts->buffer = mem_array(TOKENS_MOST, sizeof *texts->buffer);
    mem_grow(&texts->offset, &texts->rooms[1], 1, sizeof *texts->offset);
    texts->offset[0] = 0;
}

void
embed_texts_open(struct embed_texts *texts, const char *checkpoint,
                 size_t batch, int head, int average)
{
    struct err err;
    char *folder, *path;

    *texts = (struct embed_texts){.batch = batch, .head = head};
    if (nn_model_open_text(&texts->model, checkpoint, batch, &err) ||
        (average && nn_average_use(&texts->model, &err)))
        die("%s", err.msg);
    if (texts->model.widened)
        say("features of f32: the encoder was trained in bf16, which this "
            "processor lacks");
    folder = nn_checkpoint_need(checkpoint, &err);
    if (!folder)
        die("%s", err.msg);
    path = mem_format("%s/%s", folder, vocabulary_name);
    texts->vocabulary = data_vocabulary_open(path, &err);
    if (!texts->vocabulary)
        die("%s", err.msg);
    if (data_vocabulary_size(texts->vocabulary) !=
        (size_t)texts->model.spec.vocabulary)
        die("'%s' has %zu tokens, and the encoder of texts is for %ld", path,
            data_vocabulary_size(texts->vocabulary),
            texts->model.spec.vocabulary);
    free(path);
    free(folder);
    texts->context = nn_net_context(texts->model.net);
    grow_texts(texts);
}

void
embed_texts_open_raw(struct embed_texts *texts, const char *vocabulary)
{
    struct err err;

    *texts = (struct embed_texts){.context = TOKENS_MOST};
    texts->vocabulary = data_vocabulary_open(vocabulary, &err);
    if (!texts->vocabulary)
        die("%s", err.msg);
    grow_texts(texts);
}

void
embed_texts_close(struct embed_texts *texts)
{
    nn_model_release(&texts->model);
    data_vocabulary_free(texts->vocabulary);
    free(texts->owner);
    free(texts->offset);
    free(texts->token);
    free(texts->buffer);
    *texts = (struct embed_texts){0};
}

void
embed_texts_add(struct embed_texts *texts, const char *text, size_t len,
                int64_t owner)
{
    const size_t i = texts->n, from = texts->offset[i];
    const size_t n = data_vocabulary_encode(texts->vocabulary, text, len,
                                            TOKENS_MOST, texts->buffer);

    mem_grow(&texts->owner, &texts->rooms[0], i + 1, sizeof *texts->owner);
    mem_grow(&texts->offset, &texts->rooms[1], i + 2, sizeof *texts->offset);
    mem_grow(&texts->token, &texts->rooms[2], from + n + 1,
             sizeof *texts->token);
    memcpy(texts->token + from, texts->buffer, n * sizeof *texts->buffer);
    texts->owner[i] = owner;
    texts->offset[i + 1] = from + n;
    texts->n++;
}

/* ------------------------------------------------------------ equal texts */

/* The tokens of a text; of a row no more than fit between start and end. */
struct text {
    const int32_t *token;
    size_t n, i; /* i: which text it is */
};

static int
by_tokens(const void *a, const void *b)
{
    const struct text *x = a, *y = b;
    const size_t least = x->n < y->n ? x->n : y->n;
    const int differ =
        least ? memcmp(x->token, y->token, least * sizeof *x->token) : 0;

    if (differ)
        return differ;
    return (x->n > y->n) - (x->n < y->n);
}

static int
by_tokens_then_number(const void *a, const void *b)
{
    const struct text *x = a, *y = b;
    const int differ = by_tokens(a, b);

    return differ ? differ : (x->i > y->i) - (x->i < y->i);
}

/* Which text is the first that is equal, for each, by its first `most` tokens:
 * [n], to be freed. */
static int64_t *
first_equal(const struct embed_texts *texts, size_t most)
{
    struct text *text = mem_array(texts->n, sizeof *text);
    int64_t *first = mem_array(texts->n, sizeof *first);

    for (size_t i = 0; i < texts->n; i++) {
        const size_t n = texts->offset[i + 1] - texts->offset[i];

        text[i] = (struct text){texts->token + texts->offset[i],
                                n < most ? n : most, i};
    }
    qsort(text, texts->n, sizeof *text, by_tokens_then_number);
    for (size_t i = 0; i < texts->n; i++)
        first[text[i].i] = i && !by_tokens(text + i, text + i - 1)
                               ? first[text[i - 1].i]
                               : (int64_t)text[i].i;
    free(text);
    return first;
}

/* --------------------------------------------------------------- encoding */

/* Rows on their way through the encoder. */
struct packed {
    size_t n;
    size_t *offset, *which; /* [batch + 1]; [batch] the text of each row */
    int32_t *token;         /* [batch,context] */
    float *x;               /* [batch,d] */
};

static void
pack_text(const struct embed_texts *texts, struct packed *p, size_t i)
{
    const int32_t *from = texts->token + texts->offset[i];
    const size_t most = texts->context - 2;
    const size_t all = texts->offset[i + 1] - texts->offset[i];
    const size_t n = all < most ? all : most;
    int32_t *to = p->token + p->offset[p->n];

    to[0] = data_vocabulary_start(texts->vocabulary);
    memcpy(to + 1, from, n * sizeof *to);
    to[n + 1] = data_vocabulary_end(texts->vocabulary);
    p->which[p->n++] = i;
    p->offset[p->n] = p->offset[p->n - 1] + n + 2;
}

static void
encode_texts(const struct embed_texts *texts, struct packed *p,
             struct data_features *f)
{
    const struct nn_input input = {
        .n = p->n, .ids = p->token, .offsets = p->offset};

    nn_net_infer(texts->model.net, &input, texts->head ? NULL : p->x,
                 texts->head ? p->x : NULL);
    for (size_t k = 0; k < p->n; k++)
        memcpy(f->x + p->which[k] * f->d, p->x + k * f->d, f->d * sizeof *f->x);
    p->n = 0;
}

/* Encodes the first of those whose rows are equal, and copies it to them. */
static void
encode_all(const struct embed_texts *texts, struct data_features *f)
{
    struct packed p = {
        .offset = mem_array(texts->batch + 1, sizeof *p.offset),
        .which = mem_array(texts->batch, sizeof *p.which),
        .token = mem_array(texts->batch * texts->context, sizeof *p.token),
        .x = mem_aligned(texts->batch * f->d, sizeof *p.x),
    };
    int64_t *first = first_equal(texts, texts->context - 2);
    struct progress progress;

    progress_start(&progress, "texts", 0, (double)texts->n);
    for (size_t i = 0; i < texts->n; i++) {
        if (first[i] == (int64_t)i)
            pack_text(texts, &p, i);
        if (p.n == texts->batch || (p.n && i + 1 == texts->n)) {
            encode_texts(texts, &p, f);
            progress_show(&progress, (double)(i + 1), "");
        }
    }
    progress_clear(&progress);
    for (size_t i = 0; i < texts->n; i++)
        memmove(f->x + i * f->d, f->x + (size_t)first[i] * f->d,
                f->d * sizeof *f->x);
    free(p.offset);
    free(p.which);
    free(p.token);
    free(p.x);
    free(first);
}

static void
mark_tokens(const struct embed_texts *texts, struct data_features *f)
{
    for (size_t i = 0; i < texts->n; i++)
        for (size_t t = texts->offset[i]; t < texts->offset[i + 1]; t++)
            f->x[i * f->d + (size_t)texts->token[t]] = 1;
}

static size_t
width_of(const struct embed_texts *texts)
{
    const struct nn_net *net = texts->model.net;

    if (!net)
        return data_vocabulary_size(texts->vocabulary);
    return texts->head ? nn_net_dim(net) : nn_net_features(net);
}

void
embed_texts_run(const struct embed_texts *texts, struct data_features *features)
{
    const size_t d = width_of(texts);

    *features = (struct data_features){
        .n = texts->n,
        .d = d,
        .x = mem_array(texts->n * d, sizeof *features->x),
        .ids = mem_array(texts->n, sizeof *features->ids),
    };
    for (size_t i = 0; i < texts->n; i++)
        features->ids[i] = texts->owner[i];
    if (texts->model.net)
        encode_all(texts, features);
    else
        mark_tokens(texts, features);
    features->same = first_equal(texts, TOKENS_MOST);
}
