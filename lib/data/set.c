#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/set.h"
#include "text/captions.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

#include "layout.h"

void
data_close(struct data_set *set)
{
    if (!set)
        return;
    data_fetch_close(set->fetch);
    data_list_end(set);
    data_set_unmap(set);
}

struct data_set *
data_open_parts(const char *path, struct err *err)
{
    struct data_set *set = data_set_map(path, err);

    if (set && set->shard)
        data_list_start(set);
    if (!set || (!data_fetch_open(set, err) &&
                 (set->shard || !data_set_find_files(set, err))))
        return set;
    data_close(set);
    return NULL;
}

struct data_set *
data_open(const char *path, struct err *err)
{
    struct data_set *set = data_open_parts(path, err);

    if (!set || !data_check(set, err))
        return set;
    data_close(set);
    return NULL;
}

size_t
data_size(const struct data_set *set)
{
    return set->head->samples;
}

struct digest
data_digest(const struct data_set *set)
{
    return set->head->data;
}

uint64_t
data_seed(const struct data_set *set, uint64_t seed)
{
    return seed ^ digest_word(&set->head->images);
}

size_t
data_classes(const struct data_set *set)
{
    return set->head->classes;
}

const char *
data_class_name(const struct data_set *set, size_t label)
{
    REQUIRE(label < set->head->classes);
    return set->text + set->class[label];
}

/* Returns a sample, and the index that has it. */
static const struct layout_sample *
sample_of(const struct data_set **set, size_t id)
{
    REQUIRE(id < (*set)->head->samples);
    *set = data_list_find(*set, &id);
    REQUIRE(data_check_done(*set, &(*set)->sample[id], sizeof *(*set)->sample));
    return &(*set)->sample[id];
}

int
data_label(const struct data_set *set, size_t id)
{
    const int label = sample_of(&set, id)->label;

    return data_list_label(set, label);
}

int64_t *
data_labels_of(const struct data_set *set)
{
    int64_t *label = mem_array(data_size(set), sizeof *label);

    for (size_t i = 0; i < data_size(set); i++)
        label[i] = data_label(set, i);
    return label;
}

struct data_file
data_file(const struct data_set *set, size_t id)
{
    const struct layout_sample *sample = sample_of(&set, id);

    return (struct data_file){(enum image_codec)sample->codec, sample->bytes,
                              sample->width, sample->height};
}

const char *
data_name(const struct data_set *set, size_t id)
{
    const uint64_t name = sample_of(&set, id)->name;

    return set->text + name;
}

const char *
data_caption(const struct data_set *set, size_t id)
{
    const uint64_t caption = sample_of(&set, id)->caption;

    return set->text + caption;
}

static void
widen_range(uint64_t range[2], uint64_t x)
{
    range[0] = x < range[0] ? x : range[0];
    range[1] = x > range[1] ? x : range[1];
}

int
data_facts(const struct data_set *set, struct data_facts *facts,
           struct err *err)
{
    *facts =
        (struct data_facts){.width[0] = UINT64_MAX, .height[0] = UINT64_MAX};
    if (set->facts)
        *facts = *set->facts;
    else if (data_check(set, err))
        return -1;
    for (size_t i = 0; !set->facts && i < data_size(set); i++) {
        const struct data_file file = data_file(set, i);
        const size_t captions = text_captions_count(data_caption(set, i));

        facts->captioned += captions > 0;
        facts->captions += captions;
        if (captions > facts->most_captions)
            facts->most_captions = captions;
        facts->bytes += file.bytes;
        if (file.codec != IMAGE_CODEC_ROW)
            facts->codec[file.codec]++;
        widen_range(facts->width, file.width);
        widen_range(facts->height, file.height);
    }
    return 0;
}

char *
data_where(const struct data_set *set, size_t id, uint64_t *offset,
           struct err *err)
{
    const struct layout_sample *sample = sample_of(&set, id);
    const int own = set->file[sample->file].kind == LAYOUT_FOLDER;
    char *path = own ? data_layout_path(set->place[sample->file],
                                        set->text + sample->name)
                     : mem_text(set->place[sample->file]);
    char *absolute = data_layout_absolute(path, err);

    free(path);
    *offset = own ? 0 : sample->offset;
    return absolute;
}

/* Returns 1 if a path is the index, the data that it is called by, or one of
 * its files. */
static int
index_reads(const struct data_set *set, const char *path)
{
    const size_t n = strlen(set->path), end = strlen(LAYOUT_SUFFIX);
    const char *data =
        mem_temp("%.*s", (int)(n > end ? n - end : 0), set->path);
    int same = file_same(path, set->path) || file_same(path, data);

    for (size_t i = 0; !same && set->place && i < set->head->files; i++)
        same = file_same(path, set->place[i]);
    return same;
}

int
data_reads(const struct data_set *set, const char *path)
{
    int same = index_reads(set, path);

    for (size_t i = 0; !same && file_exists(path) && i < data_list_shards(set);
         i++)
        same = index_reads(data_list_shard(set, i), path);
    return same;
}

/* Returns the descriptor of an archive; if too many are open, it closes the
 * oldest; and those that were removed from the cache. */
static int
archive_of(const struct data_set *set, size_t file, struct err *err)
{
    struct archives *archives = set->archives;
    struct archive *archive = archives->open;
    struct stat st;
    int fd;

    for (size_t i = 0; i < OPEN_ARCHIVES; i++)
        if (archive[i].fd && archive[i].set == set && archive[i].file == file)
            return archive[i].fd - 1;
    for (size_t i = 0; set->fetch && i < OPEN_ARCHIVES; i++)
        if (archive[i].fd && !fstat(archive[i].fd - 1, &st) && !st.st_nlink)
            data_set_close_archive(archive[i].set, archive[i].file);
    archive += archives->opened % OPEN_ARCHIVES;
    if (archive->fd)
        close(archive->fd - 1);
    *archive = (struct archive){0};
    fd = set->fetch ? data_fetch_file(set->fetch, set->number, err)
                    : data_layout_open(set->place[file], &st, err);
    if (fd < 0)
        return DATA_UNREAD; // it existed when the set was opened
    *archive = (struct archive){set, file, fd + 1};
    archives->opened++;
    return fd;
}

/* Adds the remedy to a message about a sample. */
static int
add_advice(const struct data_set *set, struct err *err)
{
    const struct err why = *err;
    char *advice = data_layout_advice(set);

    err_set(err, "%s: %s", why.msg, advice);
    free(advice);
    return -1;
}

/* Reads a sample that is a file of its own. */
static int
read_own(const struct data_set *set, const struct layout_sample *sample,
         struct data_bytes *bytes, struct err *err)
{
    const char *name = set->text + sample->name;
    char *path = data_layout_path(set->place[sample->file], name);
    int rc = data_layout_read_file(path, bytes, err);

    if (rc == -1 && !file_exists(path))
        add_advice(set, err);
    else if (rc == -1 && access(path, R_OK))
        rc = DATA_UNREAD; // permission denied: it was readable when indexed
    free(path);
    return rc;
}

/* Reads a sample in a tar, without retries. */
static int
read_member(const struct data_set *set, const struct layout_sample *sample,
            struct data_bytes *bytes, struct err *err)
{
    const int fd = archive_of(set, sample->file, err);
    struct err why;

    if (fd < 0)
        return fd;
    if (!data_layout_read(fd, sample->offset, sample->bytes, bytes,
                          set->text + sample->name, &why))
        return 0;
    data_set_close_archive(set, sample->file);
    if (set->fetch || !data_set_check_file(set, sample->file, err))
        err_set(err, "'%s': %s", set->place[sample->file], why.msg);
    return DATA_UNREAD;
}

/* Reads sample `id` of an index that is no list. */
static int
read_sample(const struct data_set *set, size_t id, struct data_bytes *bytes,
            struct err *err)
{
    const struct layout_sample *sample = &set->sample[id];
    struct digest digest;
    int rc, tried = 0, fetched = 0;

again:
    if (set->file[sample->file].kind == LAYOUT_FOLDER)
        rc = read_own(set, sample, bytes, err);
    else
        do
            rc = read_member(set, sample, bytes, err);
        while (rc == DATA_UNREAD && !set->fetch && data_layout_retry(tried++));
    if (rc)
        return rc;
    digest = digest_bytes(bytes->data, bytes->len);
    if (!memcmp(&digest, &sample->digest, sizeof digest))
        return 0;
    if (set->fetch && !fetched++) { // the file may have been damaged on its way
        data_set_close_archive(set, sample->file);
        data_fetch_drop(set->fetch, set->number);
        goto again;
    }
    err_set(err, "'%s' has changed since it was indexed",
            set->text + sample->name);
    return add_advice(set, err);
}

int
data_read(struct data_set *set, size_t id, struct data_bytes *bytes,
          struct err *err)
{
    const struct data_set *shard;
    struct err why;
    int rc;

    if (data_touch(set, id, err))
        return DATA_UNREAD;
    shard = data_list_find(set, &id);
    rc = read_sample(shard, id, bytes, &why);
    if (rc && shard != set && (!set->fetch || rc == -1))
        err_set(err, "'%s': %s", shard->place[0], why.msg);
    else if (rc)
        *err = why;
    return rc;
}

static struct digest *
digests_of(const struct data_set *set)
{
    const size_t n = data_size(set);
    struct digest *digest = mem_array(n, sizeof *digest);

    for (size_t i = 0; i < n; i++) {
        const struct data_set *in = set;

        digest[i] = sample_of(&in, i)->digest;
    }
    return digest;
}

size_t
data_count_common(const struct data_set *set, const struct data_set *other)
{
    struct digest *some = digests_of(set), *others = digests_of(other);
    const size_t shared =
        digest_shared(data_size(set), some, data_size(other), others);

    mem_free(others, some);
    return shared;
}

static struct data_set *
compare_with_index(struct data_set *set, int lenient, struct err *err)
{
    const int stale = set ? data_stale(set, err) : 0;

    or_die(!set || (stale < 0 && !lenient), err);
    if (stale)
        log_message("%s", err->msg);
    return set;
}

struct data_set *
data_open_or_die(const char *path, int lenient)
{
    struct err err;

    return compare_with_index(data_open(path, &err), lenient, &err);
}

struct data_set *
data_open_parts_or_die(const char *path, int lenient)
{
    struct err err;

    return compare_with_index(data_open_parts(path, &err), lenient, &err);
}

void
data_protect_or_die(const struct data_set *set, const char *output)
{
    if (data_reads(set, output))
        opt_misuse("'%s' is an input and would be overwritten", output);
}
