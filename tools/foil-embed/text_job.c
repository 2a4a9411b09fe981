#include <stdlib.h>
#include <string.h>

#include "data/features.h"
#include "data/set.h"
#include "nn/model.h"
#include "num/vec.h"
#include "text/captions.h"
#include "text/vocabulary.h"
#include "util/digest.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/progress.h"

#include "embed.h"

enum { TOKENS_MOST = 1 << 16 }; // of a text

/*
 * Texts, embedded by the text encoder of a checkpoint; without one, features
 * are 1 for each token of the vocabulary in a text, 0 for others.  Texts that
 * are equal after normalisation form one group.  Texts with equal rows of
 * tokens are encoded once, so their embeddings are bitwise equal.
 */
struct texts {
    struct embed_encoder encoder;
    struct text_vocabulary *vocabulary;
    size_t context, batch; /* maximum tokens in a row; rows at a time */

    size_t n, rooms[3]; /* texts; rooms of the next three arrays */
    int64_t *owner;     /* [n] the caller's id of each text */
    size_t *offset;     /* [n + 1] of its tokens */
    int32_t *token;     /* of all texts, uncut, without start and end */
};

/* Reads the encoder of texts and the vocabulary of a checkpoint, or only the
 * vocabulary of the options.  Ends the tool on error. */
static void
open_texts(struct texts *texts, const struct embed_options *job)
{
    const struct nn_model *model = &texts->encoder.model;
    const char *path = NULL;
    struct err err;

    *texts =
        (struct texts){.batch = (size_t)job->batch, .context = TOKENS_MOST};
    if (job->checkpoint) {
        embed_encoder_open(&texts->encoder, job, 1);
        texts->context = (size_t)model->spec.context;
        path = mem_temp("%s/vocabulary.txt", model->folder);
    }
    texts->vocabulary =
        text_vocabulary_open(path ? path : job->vocabulary, &err);
    or_die(!texts->vocabulary, &err);
    if (path && text_vocabulary_size(texts->vocabulary) !=
                    (size_t)model->spec.vocabulary)
        die("'%s' has %zu tokens, and the encoder of texts is for %ld", path,
            text_vocabulary_size(texts->vocabulary), model->spec.vocabulary);
    mem_grow(&texts->offset, &texts->rooms[1], 1, sizeof *texts->offset);
    texts->offset[0] = 0;
}

/* Adds a text of len bytes. */
static void
collect_text(struct texts *texts, const char *text, size_t len, int64_t owner)
{
    const size_t i = texts->n, from = texts->offset[i];

    mem_grow(&texts->owner, &texts->rooms[0], i + 1, sizeof *texts->owner);
    mem_grow(&texts->offset, &texts->rooms[1], i + 2, sizeof *texts->offset);
    mem_grow(&texts->token, &texts->rooms[2], from + TOKENS_MOST,
             sizeof *texts->token);
    texts->owner[i] = owner;
    texts->offset[i + 1] =
        from + text_vocabulary_encode(texts->vocabulary, text, len, 0, NULL,
                                      TOKENS_MOST, texts->token + from);
    texts->n++;
}

/* The tokens of a text, possibly cut to the length of a row. */
struct text {
    const int32_t *token;
    size_t n, i; /* i: index of the text */
};

static int
equal_tokens(const struct text *x, const struct text *y)
{
    return x->n == y->n &&
           (!x->n || !memcmp(x->token, y->token, x->n * sizeof *x->token));
}

/* Equal texts are together, in the order of their numbers. */
static int
by_tokens(const void *a, const void *b)
{
    const struct text *x = a, *y = b;

    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    if (equal_tokens(x, y))
        return x->i < y->i ? -1 : 1;
    return memcmp(x->token, y->token, x->n * sizeof *x->token);
}

/* For each text, the index of the first text with the same first `most`
 * tokens: [n], to be freed. */
static int64_t *
first_equal(const struct texts *texts, size_t most)
{
    struct text *text = mem_array(texts->n, sizeof *text);
    int64_t *first = mem_array(texts->n, sizeof *first);

    for (size_t i = 0; i < texts->n; i++) {
        const size_t n = texts->offset[i + 1] - texts->offset[i];

        text[i] = (struct text){texts->token + texts->offset[i],
                                n < most ? n : most, i};
    }
    qsort(text, texts->n, sizeof *text, by_tokens);
    for (size_t i = 0; i < texts->n; i++)
        first[text[i].i] = i && equal_tokens(text + i, text + i - 1)
                               ? first[text[i - 1].i]
                               : (int64_t)text[i].i;
    free(text);
    return first;
}

/* Rows to encode together. */
struct packed {
    size_t n;
    size_t *offset, *which; /* [batch + 1]; [batch] the text of each row */
    int32_t *token;         /* [batch,context] */
    float *x;               /* [batch,d] */
};

static void
pack_text(const struct texts *texts, struct packed *p, size_t i)
{
    const int32_t *from = texts->token + texts->offset[i];
    const size_t most = texts->context - 2;
    const size_t all = texts->offset[i + 1] - texts->offset[i];
    const size_t n = all < most ? all : most;
    int32_t *to = p->token + p->offset[p->n];

    to[0] = text_vocabulary_start(texts->vocabulary);
    memcpy(to + 1, from, n * sizeof *to);
    to[n + 1] = text_vocabulary_end(texts->vocabulary);
    p->which[p->n++] = i;
    p->offset[p->n] = p->offset[p->n - 1] + n + 2;
}

/* Encodes the first text of each group with equal rows, and copies its
 * embedding to the others. */
static void
encode_all(struct texts *texts, struct data_features *f)
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
        if (p.n < texts->batch && (!p.n || i + 1 < texts->n))
            continue;
        embed_encoder_infer(
            &texts->encoder,
            &(struct nn_input){.n = p.n, .ids = p.token, .offsets = p.offset},
            p.x);
        for (size_t k = 0; k < p.n; k++)
            memcpy(f->x + p.which[k] * f->d, p.x + k * f->d,
                   f->d * sizeof *f->x);
        p.n = 0;
        progress_show(&progress, (double)(i + 1), "");
    }
    progress_clear(&progress);
    for (size_t i = 0; i < texts->n; i++)
        memmove(f->x + i * f->d, f->x + (size_t)first[i] * f->d,
                f->d * sizeof *f->x);
    mem_free(p.offset, p.which, p.token, p.x, first);
}

/* Embeds all collected texts: sets x, ids (the owners) and same of the
 * features, which the caller releases. */
static void
embed_texts(struct texts *texts, const struct embed_options *job,
            struct data_features *features)
{
    const size_t d = job->checkpoint ? embed_encoder_width(&texts->encoder)
                                     : text_vocabulary_size(texts->vocabulary);

    *features = (struct data_features){
        .n = texts->n,
        .d = d,
        .x = mem_array(texts->n * d, sizeof *features->x),
        .ids = mem_array(texts->n, sizeof *features->ids),
    };
    for (size_t i = 0; i < texts->n; i++)
        features->ids[i] = texts->owner[i];
    if (job->checkpoint)
        encode_all(texts, features);
    for (size_t i = 0; !job->checkpoint && i < texts->n; i++)
        for (size_t t = texts->offset[i]; t < texts->offset[i + 1]; t++)
            features->x[i * d + (size_t)texts->token[t]] = 1;
    features->same = first_equal(texts, TOKENS_MOST);
}

enum { FILE_MOST = 1 << 30 }; // bytes of a file of lines

/* Calls add() with each line of a file, without '\n'. */
static void
each_line(const char *path,
          void (*add)(void *self, const char *line, size_t len, size_t i),
          void *self)
{
    struct err err;
    size_t len = 0, from = 0, i = 0;
    char *text = file_read(path, FILE_MOST, &len, &err);

    or_die(!text, &err);
    for (; from < len; i++) {
        const char *line = &text[from];
        const char *stop = memchr(line, '\n', len - from);
        size_t n = stop ? (size_t)(stop - line) : len - from;

        from += n + 1;
        if (n && line[n - 1] == '\r')
            n--;
        add(self, line, n, i);
    }
    free(text);
    if (!i)
        die("'%s' is empty", path);
}

static void
add_line(void *self, const char *line, size_t len, size_t i)
{
    collect_text(self, line, len, (int64_t)i);
}

/* Arguments of add_template(). */
struct naming {
    struct texts *texts;
    const struct data_classes *classes;
    char **words; /* [classes] used instead of the name; NULL: the name */
    const char *path;
};

/* Removes the text after the first tab of each line from `len` bytes of lines.
 * Returns these texts, [n], NULL for a line without a tab; the caller frees
 * all. */
static char **
take_words(char *text, size_t *len, size_t *n)
{
    const size_t all = *len;
    size_t room = 0, from = 0, to = 0;
    char **words = NULL;

    for (; from < all; (*n)++) {
        char *line = &text[from];
        char *stop = memchr(line, '\n', all - from);
        const size_t whole = stop ? (size_t)(stop + 1 - line) : all - from;
        char *tab = memchr(line, '\t', whole);
        size_t keep = tab ? (size_t)(tab - line) : whole;

        mem_grow(&words, &room, *n + 1, sizeof *words);
        words[*n] = NULL;
        if (tab) {
            size_t count = whole - keep - 1 - (stop != NULL);

            count -= count && tab[count] == '\r';
            words[*n] = mem_format("%.*s", (int)count, tab + 1);
        }
        memmove(&text[to], line, keep);
        to += keep;
        if (tab)
            text[to++] = '\n';
        from += whole;
    }
    *len = to;
    return words;
}

/* Adds a template with the name of each class in it. */
static void
add_template(void *self, const char *line, size_t len, size_t i)
{
    const struct naming *naming = self;
    const char *hole = NULL;

    for (size_t at = 0; at + 1 < len && !hole; at++)
        if (line[at] == '{' && line[at + 1] == '}')
            hole = line + at;
    if (!hole)
        die("'%s': line %zu has no {} for the name of the class", naming->path,
            i + 1);
    for (size_t c = 0; c < naming->classes->n; c++) {
        const char *called =
            naming->words[c] ? naming->words[c] : naming->classes->name[c];
        char *text = mem_format("%.*s%s%.*s", (int)(hole - line), line, called,
                                (int)(line + len - hole - 2), hole + 2);

        collect_text(naming->texts, text, strlen(text), (int64_t)c);
        free(text);
    }
}

/* Computes the mean of the unit rows of each class, scaled to unit length. */
static void
gather_classes(const struct data_features *texts, size_t classes,
               struct data_features *f)
{
    const size_t d = texts->d;
    float *unit = mem_array(texts->n * d, sizeof *unit);

    *f = (struct data_features){
        .n = classes,
        .d = d,
        .x = mem_array(classes * d, sizeof *f->x),
        .labels = mem_array(classes, sizeof *f->labels),
    };
    num_unit_rows(texts->n, d, texts->x, unit, NULL);
    for (size_t i = 0; i < texts->n; i++)
        num_axpy(d, 1, unit + i * d, f->x + (size_t)texts->ids[i] * d);
    num_unit_rows(classes, d, f->x, f->x, NULL);
    for (size_t c = 0; c < classes; c++)
        f->labels[c] = (int64_t)c;
    free(unit);
}

static void
make_classes(struct texts *texts, const struct embed_options *job,
             struct data_features *features)
{
    const char *path = job->classes, *templates = job->templates;
    static const char *const usual[] = {"{}", "a photo of a {}."};
    struct data_classes classes;
    struct naming naming = {texts, &classes, NULL, templates};
    struct data_features all;
    struct err err;
    size_t len, lines = 0;
    char *text = file_read(path, FILE_MOST, &len, &err);

    or_die(!text, &err);
    naming.words = take_words(text, &len, &lines);
    if (data_classes_parse(&classes, text, len, &err))
        die("'%s': %s", path, err.msg);
    free(text);
    if (templates)
        each_line(templates, add_template, &naming);
    for (size_t i = 0; !templates && i < 2; i++)
        add_template(&naming, usual[i], strlen(usual[i]), i);
    while (lines)
        free(naming.words[--lines]);
    free(naming.words);
    embed_texts(texts, job, &all);
    gather_classes(&all, classes.n, features);
    features->classes = classes;
    data_features_release(&all);
}

/* Adds all captions of a data set; returns the number of samples without. */
static size_t
add_captions(struct texts *texts, const char *path, const char *output)
{
    struct data_set *set = data_open_or_die(path, 0);
    size_t without = 0, len;

    data_protect_or_die(set, output);
    for (size_t id = 0; id < data_size(set); id++) {
        const char *captions = data_caption(set, id);
        const size_t n = text_captions_count(captions);

        without += !n;
        for (size_t k = 0; k < n; k++) {
            const char *text = text_captions_get(captions, k, &len);

            collect_text(texts, text, len, (int64_t)id);
        }
    }
    if (without)
        log_message("samples without a caption: %zu of %zu", without,
                    data_size(set));
    if (!texts->n)
        die("'%s' has no caption: see foil-data(1) on captions in an index",
            path);
    data_close(set);
    return without;
}

/* Returns 1 if the encoder of texts reads rows of numbers. */
static int
reads_rows(const struct embed_options *job)
{
    struct nn_model model;
    struct err err;
    int rows;

    if (!job->captions || !job->checkpoint)
        return 0;
    or_die(nn_model_read(&model, job->checkpoint, 1, &err), &err);
    rows = nn_encoder_of_rows(model.spec.arch);
    nn_model_release(&model);
    return rows;
}

void
embed_text_job(const struct embed_options *job)
{
    struct data_features features;
    struct texts texts;
    size_t without = 0;
    struct err err;
    char hex[DIGEST_HEX];

    if (reads_rows(job)) {
        embed_image_job(job);
        return;
    }
    open_texts(&texts, job);
    if (job->classes) {
        make_classes(&texts, job, &features);
    } else {
        if (job->lines)
            each_line(job->lines, add_line, &texts);
        else
            without = add_captions(&texts, job->data, job->output);
        embed_texts(&texts, job, &features);
    }
    features.about = json_pack(
        "{s:s s:s s:O? s:s s:s s:I s:I s:I s:o* s:o* s:o*}", "tool",
        "foil-embed", "version", FOIL_VERSION, "encoder",
        texts.encoder.model.about, "layer",
        !job->checkpoint     ? "tokens"
        : texts.encoder.head ? "z"
                             : "h",
        "vocabulary", digest_hex(text_vocabulary_digest(texts.vocabulary), hex),
        "context", (json_int_t)texts.context, "batch", (json_int_t)job->batch,
        "without_caption", (json_int_t)without, "texts",
        json_string(job->lines ? job->lines : job->classes), "data",
        json_string(job->data), "templates", json_string(job->templates));
    REQUIRE(features.about);
    or_die(data_features_write(job->output, &features, &err), &err);
    data_features_release(&features);
    embed_encoder_close(&texts.encoder);
    text_vocabulary_free(texts.vocabulary);
    mem_free(texts.owner, texts.offset, texts.token);
}
