#include "text_job.h"

#include <stdlib.h>
#include <string.h>

#include "data/set.h"
#include "num/vec.h"
#include "text/captions.h"
#include "texts.h"
#include "util/digest.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

enum { FILE_MOST = 1 << 30 }; // bytes of a file of lines

static size_t
add_all_captions(struct embed_texts *texts, const struct data_set *set)
{
    size_t without = 0;

    for (size_t id = 0; id < data_size(set); id++) {
        const char *captions = data_caption(set, id);
        const size_t n = data_captions_count(captions);

        without += !n;
        for (size_t k = 0; k < n; k++) {
            size_t len;
            const char *text = data_captions_get(captions, k, &len);

            embed_texts_add(texts, text, len, (int64_t)id);
        }
    }
    return without;
}

/* Calls add() with each line of a file, without its end. */
static void
each_line(const char *path,
          void (*add)(void *self, const char *line, size_t len, size_t i),
          void *self)
{
    struct err err;
    size_t len = 0, from = 0, i = 0;
    char *text = file_read(path, FILE_MOST, &len, &err);

    if (!text)
        die("%s", err.msg);
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
    embed_texts_add(self, line, len, (int64_t)i);
}

static void
add_lines(struct embed_texts *texts, const char *path)
{
    each_line(path, add_line, texts);
}

/* ---------------------------------------------------------------- classes */

/* A class on its way through the templates. */
struct naming {
    struct embed_texts *texts;
    const struct data_classes *classes;
    char **words; /* [classes] in place of the name; NULL: the name */
    const char *path;
};

/*
 * Takes what stands behind the tabs of `len` bytes of lines out of them: the
 * words of each line, NULL where it has no tab; to be freed, n lines of them.
 */
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

/* Adds a template with each of the names in it. */
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

        embed_texts_add(naming->texts, text, strlen(text), (int64_t)c);
        free(text);
    }
}

/* The mean of the unit rows of each class, of unit length. */
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
make_classes(struct embed_texts *texts, const char *path, const char *templates,
             struct data_features *features)
{
    static const char *const usual[] = {"{}", "a photo of a {}."};
    struct data_classes classes;
    struct naming naming = {texts, &classes, NULL, templates};
    struct data_features all;
    struct err err;
    size_t len, lines = 0;
    char *text = file_read(path, FILE_MOST, &len, &err);

    if (!text)
        die("%s", err.msg);
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
    embed_texts_run(texts, &all);
    gather_classes(&all, classes.n, features);
    features->classes = classes;
    data_features_release(&all);
}

/* -------------------------------------------------------------------- job */

/* How the features were made: x.json. */
static json_t *
describe_job(const struct embed_text_job *job, const struct embed_texts *texts,
             size_t without)
{
    const struct digest digest = data_vocabulary_digest(texts->vocabulary);
    char hex[DIGEST_HEX];
    json_t *how = json_pack(
        "{s:s s:s s:O? s:s s:s s:I s:I s:I}", "tool", "foil-embed", "version",
        FOIL_VERSION, "encoder", texts->model.about, "layer",
        !job->checkpoint ? "tokens"
        : texts->head    ? "z"
                         : "h",
        "vocabulary", digest_hex(&digest, hex), "context",
        (json_int_t)texts->context, "batch", (json_int_t)job->batch,
        "without_caption", (json_int_t)without);

    REQUIRE(how);
    if (job->lines || job->classes)
        json_object_set_new(
            how, "texts", json_string(job->lines ? job->lines : job->classes));
    if (job->data)
        json_object_set_new(how, "data", json_string(job->data));
    if (job->templates)
        json_object_set_new(how, "templates", json_string(job->templates));
    return how;
}

static size_t
add_captions(struct embed_texts *texts, const char *path, const char *output)
{
    struct data_set *set = data_open_or_die(path, 0);
    size_t without;

    data_spare_or_die(set, output);
    without = add_all_captions(texts, set);
    if (without)
        say("samples without a caption: %zu of %zu", without, data_size(set));
    if (!texts->n)
        die("'%s' has no caption: foil-data(1) says how captions get into an "
            "index",
            path);
    data_close(set);
    return without;
}

void
embed_text_job(const struct embed_text_job *job)
{
    struct data_features features;
    struct embed_texts texts;
    size_t without = 0;
    struct err err;

    if (job->checkpoint)
        embed_texts_open(&texts, job->checkpoint, job->batch, job->head,
                         job->average);
    else
        embed_texts_open_raw(&texts, job->vocabulary);
    if (job->classes) {
        make_classes(&texts, job->classes, job->templates, &features);
    } else {
        if (job->lines)
            add_lines(&texts, job->lines);
        else
            without = add_captions(&texts, job->data, job->output);
        embed_texts_run(&texts, &features);
    }
    features.about = describe_job(job, &texts, without);
    if (data_features_write(job->output, &features, &err))
        die("%s", err.msg);
    data_features_release(&features);
    embed_texts_close(&texts);
}
