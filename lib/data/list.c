#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "data/set.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

#include "layout.h"

void
data_list_start(struct data_set *set)
{
    struct open_shards *open = mem_array(1, sizeof *open);

    open->set = mem_array(set->head->files, sizeof *open->set);
    open->where = mem_array(set->head->files, sizeof *open->where);
    set->archives = mem_array(1, sizeof *set->archives);
    set->open = open;
}

static void
close_shard(struct open_shards *open, struct place *place)
{
    if (!place->used)
        return;
    data_set_unmap(open->set[place->shard]);
    open->set[place->shard] = NULL;
    place->used = 0;
}

void
data_list_end(struct data_set *set)
{
    struct open_shards *open = set->open;

    if (!open)
        return;
    for (size_t i = 0; i < OPEN_SHARDS; i++)
        close_shard(open, &open->place[i]);
    mem_free(open->set, open->where, open);
}

size_t
data_list_shards(const struct data_set *set)
{
    return set->shard ? set->head->files : 1;
}

struct digest
data_list_digest(const struct data_set *set)
{
    struct digest_stream *stream = digest_new();

    digest_add(stream, &set->head->data, sizeof set->head->data);
    for (size_t i = 0; i < set->head->classes; i++) {
        const char *name = set->text + set->class[i];

        digest_add(stream, name, strlen(name) + 1);
    }
    return digest_end(stream);
}

struct data_set *
data_list_map(const struct data_set *set, size_t i, struct err *err)
{
    const struct layout_shard *shard = &set->shard[i];
    char *copy = mem_text(set->path);
    char *path = data_layout_path(dirname(copy), set->text + shard->relative);
    const char *absolute = set->text + shard->absolute;
    struct data_set *opened = data_set_map(
        file_exists(path) || !file_exists(absolute) ? path : absolute, err);
    struct digest digest;

    mem_free(path, copy);
    if (!opened)
        return NULL;
    digest = data_list_digest(opened);
    if (!opened->shard && opened->head->samples == shard->samples &&
        opened->head->classes <= set->head->marks - shard->classes &&
        !memcmp(&digest, &shard->digest, sizeof digest))
        return opened;
    err_set(err,
            "'%s' is shard %zu of '%s' and has changed since they were joined: "
            "run foil data join again",
            opened->path, i, set->path);
    data_set_unmap(opened);
    return NULL;
}

const struct data_set *
data_list_open(const struct data_set *set, size_t i, struct err *err)
{
    struct open_shards *open = set->open;
    struct data_set *shard;
    struct place *place;

    if (!set->shard)
        return set;
    if (i == open->last && open->set[i])
        return open->set[i];
    shard = open->set[i];
    if (!shard) {
        shard = data_list_map(set, i, err);
        if (!shard)
            return NULL;
        shard->list = set;
        shard->archives = set->archives;
        shard->label = set->label + set->shard[i].classes;
        shard->number = i;
        shard->fetch = set->fetch;
        if (data_set_find_files(shard, err) ||
            (open->whole && data_check_samples(shard, err))) {
            data_set_unmap(shard);
            return NULL;
        }
        // of the shard that is unused for the longest time, or a free one
        place = open->place;
        for (size_t k = 1; place->used && k < OPEN_SHARDS; k++)
            if (open->place[k].used < place->used)
                place = &open->place[k];
        close_shard(open, place);
        place->shard = i;
        open->set[i] = shard;
        open->where[i] = (uint16_t)(place - open->place);
    }
    open->last = i;
    open->place[open->where[i]].used = ++open->clock;
    return shard;
}

const struct data_set *
data_list_shard(const struct data_set *set, size_t i)
{
    struct err err;
    const struct data_set *shard = data_list_open(set, i, &err);

    if (!shard)
        die("%s", err.msg);
    return shard;
}

size_t
data_shard(const struct data_set *set, size_t id)
{
    const struct layout_shard *shard = set->shard;
    size_t low = set->open->last, high = low + 1;

    if (id < shard[low].first || id - shard[low].first >= shard[low].samples) {
        low = 0;
        high = set->head->files;
    }
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (shard[middle].first <= id)
            low = middle;
        else
            high = middle;
    }
    return low;
}

const struct data_set *
data_list_find(const struct data_set *set, size_t *id)
{
    const struct layout_sample *sample;
    struct err err;
    size_t i;

    if (!set->shard)
        return set;
    i = data_shard(set, *id);
    *id -= set->shard[i].first;
    set = data_list_shard(set, i);
    sample = &set->sample[*id];
    // it may have been closed and opened since the sample was touched
    if (!data_check_done(set, sample, sizeof *sample) &&
        data_check_sample(set, *id, &err))
        die("%s", err.msg);
    return set;
}

int
data_list_label(const struct data_set *shard, int label)
{
    return label >= 0 && shard->list ? shard->label[label] : label;
}

/* Finds the first sample of an index in file `file`, or in a later one, from
 * sample `low` on. */
static int
find_first(const struct data_set *set, size_t file, uint64_t *low,
           struct err *err)
{
    uint64_t high = set->head->samples;

    while (*low < high) {
        const uint64_t middle = *low + (high - *low) / 2;

        if (data_check_sample(set, middle, err))
            return -1;
        if (set->sample[middle].file < file)
            *low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

uint64_t *
data_shards(const struct data_set *set, size_t *n, struct err *err)
{
    const size_t files = set->head->files;
    uint64_t *first = mem_array(files + 1, sizeof *first), at = 0;

    *n = 0;
    for (size_t i = 0; i < files; i++) {
        if (set->shard) {
            at = set->shard[i].first;
        } else if (find_first(set, i, &at, err)) {
            free(first);
            return NULL;
        }
        *n -= *n && first[*n - 1] == at; // a file without samples
        first[(*n)++] = at;
    }
    *n -= first[*n - 1] == set->head->samples;
    first[*n] = set->head->samples;
    return first;
}

int
data_touch(const struct data_set *set, size_t id, struct err *err)
{
    size_t i;

    REQUIRE(id < set->head->samples);
    if (!set->shard)
        return data_check_sample(set, id, err);
    if (!data_check_untouched(set, err))
        return -1;
    i = data_shard(set, id);
    id -= set->shard[i].first;
    set = data_list_open(set, i, err);
    return set ? data_check_sample(set, id, err) : -1;
}

int
data_check(const struct data_set *set, struct err *err)
{
    if (!set->shard)
        return data_check_samples(set, err);
    if (!data_check_untouched(set, err))
        return -1;
    set->open->whole = 1; // what is open is checked here, the rest when opened
    for (size_t i = 0; i < set->head->files; i++) {
        const struct data_set *shard = data_list_open(set, i, err);

        if (!shard || data_check_samples(shard, err))
            return -1;
    }
    return 0;
}
