#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/split.h"
#include "util/mem.h"
#include "util/rng.h"

#include "layout.h"

/* The samples of one class; slot 0 is for samples without a class. */
struct stratum {
    size_t n, take;
    double left; // fraction lost by rounding down
};

static size_t
label_slot_of(const struct data_set *set, size_t id)
{
    return (size_t)(data_label(set, id) + 1);
}

/* Counts the samples of each stratum; *slots is their number. */
static struct stratum *
count_strata(const struct data_set *set, size_t *slots)
{
    struct stratum *stratum;

    *slots = data_classes(set) + 1;
    stratum = mem_array(*slots, sizeof *stratum);
    for (size_t i = 0; i < data_size(set); i++)
        stratum[label_slot_of(set, i)].n++;
    return stratum;
}

/* Marks `take` samples of each stratum, chosen at random. */
static void
draw_stratum_samples(const struct data_set *set, const struct stratum *stratum,
                     size_t slots, uint64_t seed, uint8_t *in_part)
{
    const size_t n = data_size(set);
    size_t *start = mem_array(slots + 1, sizeof *start);
    int64_t *id = mem_array(n, sizeof *id);

    memset(in_part, 0, n);
    for (size_t i = 0; i < slots; i++)
        start[i + 1] = start[i] + stratum[i].n;
    for (size_t i = 0; i < n; i++)
        id[start[label_slot_of(set, i)]++] = (int64_t)i;
    for (size_t i = 0, at = 0; i < slots; at += stratum[i++].n) {
        struct rng rng;

        rng_init(&rng, seed, RNG_SPLIT, i, 0, 0);
        rng_shuffle(&rng, stratum[i].n, id + at);
        for (size_t j = 0; j < stratum[i].take; j++)
            in_part[id[at + j]] = 1;
    }
    mem_free(id, start);
}

void
data_split(const struct data_set *set, double share, uint64_t seed,
           uint8_t *in_part)
{
    size_t slots;
    struct stratum *stratum = count_strata(set, &slots);
    size_t total = (size_t)(share * (double)data_size(set) + .5);

    REQUIRE(share > 0 && share < 1);
    // takes the whole part of each stratum's share, and what is missing to
    // `total` from the largest fractions, the first of equals first
    for (size_t i = 0; i < slots; i++) {
        double exact = share * (double)stratum[i].n;

        stratum[i].take = (size_t)exact;
        stratum[i].left = exact - floor(exact);
        total -= stratum[i].take;
    }
    while (total) {
        size_t best = 0;

        for (size_t i = 1; i < slots; i++)
            if (stratum[i].left > stratum[best].left)
                best = i;
        stratum[best].take++;
        stratum[best].left = -1;
        total--;
    }
    draw_stratum_samples(set, stratum, slots, seed, in_part);
    free(stratum);
}

size_t
data_longtail(const struct data_set *set, double factor, uint64_t seed,
              uint8_t *in_part)
{
    size_t slots, remaining = 0, labelled = 0;
    struct stratum *stratum = count_strata(set, &slots);
    double last = slots > 2 ? (double)(slots - 2) : 1;

    REQUIRE(factor > 0 && slots > 1);
    for (size_t i = 1; i < slots; i++)
        labelled += stratum[i].n;
    for (size_t i = 1; i < slots; i++) {
        double most = (double)labelled / (double)(slots - 1) *
                      pow(factor, (double)(i - 1) / last) / fmax(1, factor);
        // the last class has a whole number, which pow() may miss by rounding
        size_t want = (size_t)(most * (1 + 1e-12));

        stratum[i].take = want < stratum[i].n ? want : stratum[i].n;
        remaining += stratum[i].take;
    }
    draw_stratum_samples(set, stratum, slots, seed, in_part);
    free(stratum);
    return remaining;
}

static uint64_t
copy_text(struct layout_parts *parts, const struct data_set *set, uint64_t at)
{
    const char *text = set->text + at;

    return data_layout_text(parts, text, strlen(text));
}

/* Copies the files of an index, and its samples whose keep[] is `which`. */
static int
copy_shard(const struct data_set *set, const uint8_t *keep, uint8_t which,
           struct layout_parts *parts, struct err *err)
{
    const struct layout_head *head = set->head;
    const uint32_t before = (uint32_t)parts->files;

    for (size_t i = 0, m = 0; i < head->files; i++) {
        if (data_layout_file(parts, set->place[i],
                             (enum layout_kind)set->file[i].kind,
                             set->file[i].bytes, err))
            return -1;
        for (; m < head->marks && set->mark[m].file == i; m++)
            data_layout_mark(parts, set->text + set->mark[m].name,
                             (int)set->mark[m].list, &set->mark[m].state);
    }
    for (size_t i = 0; i < head->samples; i++) {
        struct layout_sample sample = set->sample[i];

        if (keep[i] != which)
            continue;
        sample.name = copy_text(parts, set, sample.name);
        sample.caption = copy_text(parts, set, sample.caption);
        sample.label = data_list_label(set, sample.label);
        sample.file += before;
        mem_grow(&parts->sample, &parts->sample_room, parts->samples + 1,
                 sizeof *parts->sample);
        parts->sample[parts->samples++] = sample;
    }
    return 0;
}

int
data_subset(const struct data_set *set, const uint8_t *keep, uint8_t which,
            const char *path, struct err *err)
{
    struct layout_parts parts = {0};
    const size_t classes = data_classes(set);
    int rc = 0;

    data_layout_text(&parts, "", 0);
    parts.class = mem_array(classes, sizeof *parts.class);
    parts.classes = classes;
    for (size_t i = 0; i < classes; i++)
        parts.class[i] = copy_text(&parts, set, set->class[i]);
    for (size_t i = 0; !rc && i < data_list_shards(set); i++) {
        const struct data_set *shard = data_list_open(set, i, err);

        rc = shard ? copy_shard(shard, keep, which, &parts, err) : -1;
        keep += shard ? data_size(shard) : 0;
    }
    if (!rc && !parts.samples)
        rc = err_set(err, "no sample is left for '%s'", path);
    if (!rc)
        rc = data_layout_write(&parts, path, err);
    data_layout_release(&parts);
    return rc;
}
