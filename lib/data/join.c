#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/classes.h"
#include "data/join.h"
#include "text/lexicon.h"
#include "util/file.h"
#include "util/mem.h"

#include "labels.h"
#include "layout.h"

/* Indexes often have the same classes: each different table is stored once,
 * with its labels.  Table 0 is for indexes whose classes are the whole numbers
 * 0, 1, ...: the longest such table begins with the others. */
struct data_join {
    struct layout_shard *shard; /* [shards]; classes: the number of a table */
    size_t shards, room;
    struct layout_parts parts; /* of the list: its text, and its classes */
    struct data_facts facts;
    uint64_t samples;
    size_t numbers;         /* length of table 0 */
    struct lexicon classes; /* text of table 1, 2, ... */
};

struct data_join *
data_join_new(void)
{
    struct data_join *join = mem_array(1, sizeof *join);

    data_layout_text(&join->parts, "", 0);
    join->facts =
        (struct data_facts){.width[0] = UINT64_MAX, .height[0] = UINT64_MAX};
    return join;
}

void
data_join_free(struct data_join *join)
{
    if (!join)
        return;
    free(join->shard);
    data_layout_release(&join->parts);
    text_lexicon_release(&join->classes);
    free(join);
}

static void
add_range(uint64_t range[2], const uint64_t other[2])
{
    range[0] = other[0] < range[0] ? other[0] : range[0];
    range[1] = other[1] > range[1] ? other[1] : range[1];
}

/* Returns 1 if the names are "0", "1", ..., as an index has them whose labels
 * are whole numbers. */
static int
are_numbered(const struct data_classes *classes)
{
    for (size_t i = 0; i < classes->n; i++) {
        char number[24];

        snprintf(number, sizeof number, "%zu", i);
        if (strcmp(classes->name[i], number))
            return 0;
    }
    return 1;
}

/* Returns the number of the table of an index's classes. */
static size_t
find_table(struct data_join *join, const struct data_set *set)
{
    struct data_classes classes = data_classes_of(set);
    size_t table = 0, len;

    if (are_numbered(&classes)) {
        if (classes.n > join->numbers)
            join->numbers = classes.n;
    } else {
        char *text = data_classes_text(&classes, &len);

        table = 1 + text_lexicon_add(&join->classes, text, len);
        free(text);
    }
    data_classes_release(&classes);
    return table;
}

static uint64_t
add_text(struct data_join *join, const char *text)
{
    return data_layout_text(&join->parts, text, strlen(text));
}

static int
add_index(struct data_join *join, const struct data_set *set, const char *place,
          struct err *err)
{
    char *absolute = data_layout_absolute(set->path, err);
    const struct data_layout_file *file = set->file;
    struct data_facts facts;

    if (!absolute || data_facts(set, &facts, err)) {
        free(absolute);
        return -1;
    }
    join->facts.captioned += facts.captioned;
    join->facts.captions += facts.captions;
    if (facts.most_captions > join->facts.most_captions)
        join->facts.most_captions = facts.most_captions;
    join->facts.bytes += facts.bytes;
    for (size_t i = 0; i < IMAGE_CODECS; i++)
        join->facts.codec[i] += facts.codec[i];
    add_range(join->facts.width, facts.width);
    add_range(join->facts.height, facts.height);
    mem_grow(&join->shard, &join->room, join->shards + 1, sizeof *join->shard);
    join->shard[join->shards++] = (struct layout_shard){
        .first = join->samples,
        .samples = set->head->samples,
        .absolute = add_text(join, absolute),
        .place = add_text(join, place ? place : set->text + file->absolute),
        .bytes = set->head->files == 1 ? file->bytes : 0,
        .classes = find_table(join, set),
        .digest = data_list_digest(set),
    };
    join->samples += set->head->samples;
    free(absolute);
    return 0;
}

int
data_join_add(struct data_join *join, const char *index, const char *place,
              struct err *err)
{
    struct data_set *set = data_set_map(index, err);
    int rc = set ? 0 : -1;

    if (set && !set->shard)
        rc = add_index(join, set, place, err);
    for (size_t i = 0; !rc && set->shard && i < set->head->files; i++) {
        struct data_set *shard = data_list_map(set, i, err);
        const char *its = set->text + set->shard[i].place;

        rc = shard ? add_index(join, shard, its, err) : -1;
        data_set_unmap(shard);
    }
    data_set_unmap(set);
    return rc;
}

size_t
data_join_size(const struct data_join *join)
{
    return join->shards;
}

/* The classes of all tables, as samples that an index of all would have. */
struct all_classes {
    struct layout_parts *parts;
    uint64_t *text; /* [parts->samples] of the name of each */
    size_t room;
};

static void
add_class(struct all_classes *all, const char *name)
{
    struct layout_parts *parts = all->parts;

    mem_grow(&parts->sample, &parts->sample_room, parts->samples + 1,
             sizeof *parts->sample);
    mem_grow(&all->text, &all->room, parts->samples + 1, sizeof *all->text);
    all->text[parts->samples++] = data_layout_text(parts, name, strlen(name));
}

/* Joins the tables: parts.class gets the classes, and parts.sample their
 * labels, table by table. */
static int
join_classes(struct data_join *join, char **note, struct err *err)
{
    const size_t tables = join->classes.n;
    struct all_classes all = {.parts = &join->parts};
    size_t *start = mem_array(tables + 1, sizeof *start);
    struct data_notes notes = {0};
    int rc = 0;

    for (size_t i = 0; i < join->numbers; i++) {
        char name[24];

        snprintf(name, sizeof name, "%zu", i);
        add_class(&all, name);
    }
    for (size_t t = 0; !rc && t < tables; t++) {
        struct data_classes classes;
        size_t len;
        const char *text = text_lexicon_text(&join->classes, t, &len);

        start[t + 1] = join->parts.samples;
        rc = data_classes_parse(&classes, text, len, err);
        for (size_t i = 0; !rc && i < classes.n; i++)
            add_class(&all, classes.name[i]);
        data_classes_release(&classes);
    }
    if (!rc)
        rc = data_labels_assign(&join->parts, all.text, !tables, &notes, err);
    // replaces the numbers of tables by offsets in the labels of all
    for (size_t i = 0; i < join->shards; i++)
        join->shard[i].classes = start[join->shard[i].classes];
    if (join->numbers && tables)
        *note = mem_format("some indexes have whole numbers as labels, others "
                           "names: all are names of classes");
    data_notes_release(&notes);
    mem_free(all.text, start);
    return rc;
}

/* Adds the digests and labels of the samples of an index, or their captions, to
 * the digest of all, as data_layout_write() does. */
static void
add_samples(struct digest_stream *stream, const struct data_set *set,
            const struct layout_sample *label, int captions)
{
    for (size_t i = 0; i < set->head->samples; i++) {
        const struct layout_sample *sample = &set->sample[i];
        const char *caption = set->text + sample->caption;

        if (captions)
            digest_add(stream, caption, strlen(caption) + 1);
        else
            data_layout_digest_add(
                stream, sample,
                sample->label < 0 ? -1 : label[sample->label].label);
    }
}

/* Returns in *digest that of `before`, if not NULL, and of all samples. */
static int
digest_all(const struct data_join *join, const struct digest *before,
           struct digest *digest, struct err *err)
{
    struct digest_stream *stream = digest_new();
    int rc = 0;

    if (before)
        digest_add(stream, before, sizeof *before);
    for (size_t i = 0; !rc && i < join->shards; i++) {
        const struct layout_shard *shard = &join->shard[i];
        const char *path = join->parts.text + shard->absolute;
        struct data_set *set = data_set_map(path, err);
        struct digest now;

        rc = !set ? -1 : set->shard ? 0 : data_check_samples(set, err);
        if (!rc) {
            now = data_list_digest(set);
            if (set->shard || memcmp(&now, &shard->digest, sizeof now))
                rc = err_set(err, "'%s' has changed while it was joined", path);
            else
                add_samples(stream, set, join->parts.sample + shard->classes,
                            before != NULL);
        }
        data_set_unmap(set);
    }
    *digest = digest_end(stream);
    return rc;
}

/* Sets the paths relative to the list, which must replace no index. */
static int
set_paths(struct data_join *join, const char *path, struct err *err)
{
    char *copy = mem_text(path);
    char *folder = data_layout_absolute(dirname(copy), err);
    const int exists = file_exists(path);
    int rc = folder ? 0 : -1;

    for (size_t i = 0; !rc && i < join->shards; i++) {
        struct layout_shard *shard = &join->shard[i];
        char *absolute = mem_text(join->parts.text + shard->absolute);
        char *relative = data_layout_relative(folder, absolute);

        shard->relative = add_text(join, relative);
        if (exists && file_same(path, absolute))
            rc = err_set(err, "'%s' is one of the indexes: name another list",
                         path);
        mem_free(relative, absolute);
    }
    mem_free(folder, copy);
    return rc;
}

static int
write_list(struct data_join *join, const char *path, struct err *err)
{
    const struct layout_parts *parts = &join->parts;
    int32_t *label = mem_array(parts->samples, sizeof *label);
    struct layout_head head = {.version = LAYOUT_LIST,
                               .files = join->shards,
                               .classes = parts->classes,
                               .samples = join->samples,
                               .marks = parts->samples,
                               .text = parts->text_len};
    const struct body_table table[BODY_TABLES] = {
        {&join->facts, sizeof join->facts},
        {join->shard, join->shards * sizeof *join->shard},
        {parts->class, parts->classes * sizeof *parts->class},
        {label, parts->samples * sizeof *label},
        {parts->text, parts->text_len},
    };
    int rc;

    for (size_t i = 0; i < parts->samples; i++)
        label[i] = parts->sample[i].label;
    rc = digest_all(join, NULL, &head.images, err);
    head.data = head.images;
    if (!rc && join->facts.captioned)
        rc = digest_all(join, &head.images, &head.data, err);
    if (!rc)
        rc = data_layout_save(&head, table, path, err);
    free(label);
    return rc;
}

int
data_join_write(struct data_join *join, const char *path, char **note,
                struct err *err)
{
    *note = NULL;
    if (!join->shards)
        return err_set(err, "there is no index to join in '%s'", path);
    if (set_paths(join, path, err) || join_classes(join, note, err))
        return -1;
    return write_list(join, path, err);
}
