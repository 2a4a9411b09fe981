#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "image/codec.h"
#include "util/mem.h"

#include "layout.h"

/* Bytes of a row of each table, of a list in place of an index. */
struct rows {
    size_t facts, file, sample, mark;
};

static struct rows
rows_of(const struct layout_head *head)
{
    if (head->version == LAYOUT_LIST)
        return (struct rows){sizeof(struct data_facts),
                             sizeof(struct layout_shard), 0, sizeof(int32_t)};
    return (struct rows){0, sizeof(struct data_layout_file),
                         sizeof(struct layout_sample),
                         sizeof(struct data_layout_mark)};
}

/* Returns the size of all that follows the digests of the parts; the counts
 * must be checked. */
static uint64_t
body_bytes(const struct layout_head *head)
{
    const struct rows rows = rows_of(head);

    return rows.facts + head->files * rows.file +
           head->classes * sizeof(uint64_t) + head->samples * rows.sample +
           head->marks * rows.mark + head->text;
}

static int
has_sound_counts(const struct layout_head *head)
{
    const int list = head->version == LAYOUT_LIST;

    return head->files <= LAYOUT_MAX_FILES &&
           head->classes <= LAYOUT_MAX_CLASSES && head->samples >= 1 &&
           head->samples <= LAYOUT_MAX_SAMPLES &&
           head->marks <= (list ? LAYOUT_MAX_LABELS : LAYOUT_MAX_MARKS) &&
           head->text >= 1 && head->text <= LAYOUT_MAX_TEXT;
}

/* Sets the tables by their order. */
static void
place_tables(struct data_set *set)
{
    const struct layout_head *head = set->head;
    const struct rows rows = rows_of(head);
    const uint8_t *files = set->body + rows.facts,
                  *classes = files + head->files * rows.file,
                  *samples = classes + head->classes * sizeof *set->class,
                  *marks = samples + head->samples * rows.sample;

    set->class = (const void *)classes;
    set->text = (const char *)(marks + head->marks * rows.mark);
    if (head->version == LAYOUT_LIST) {
        set->facts = (const void *)set->body;
        set->shard = (const void *)files;
        set->label = (const void *)marks;
    } else {
        set->file = (const void *)files;
        set->sample = (const void *)samples;
        set->mark = (const void *)marks;
    }
}

int
data_check_head(struct data_set *set, struct err *err)
{
    const struct layout_head *head = set->head;
    const int old = head->version == LAYOUT_VERSION_ONE_DIGEST;
    struct digest digest =
        digest_bytes(head, offsetof(struct layout_head, head));
    size_t parts, bytes;

    if (head->order != LAYOUT_ORDER)
        return err_set(err,
                       "'%s' was made on a machine of another byte order: make "
                       "it again with foil-data index",
                       set->path);
    if (head->version < LAYOUT_VERSION_ONE_DIGEST ||
        head->version > LAYOUT_LIST)
        return err_set(err,
                       "'%s' is an index of version %u, not %d to %d: make it "
                       "again with foil-data index",
                       set->path, head->version, LAYOUT_VERSION_ONE_DIGEST,
                       LAYOUT_LIST);
    if (head->bytes > set->bytes)
        return err_set(err, "'%s' is cut off", set->path);
    if (memcmp(&digest, &head->head, sizeof digest) ||
        head->bytes < set->bytes || !has_sound_counts(head))
        return err_set(err, "the head of '%s' is damaged", set->path);
    bytes = body_bytes(head);
    parts = data_layout_parts(bytes);
    if (head->bytes !=
        sizeof *head + bytes + (old ? 0 : parts * sizeof *set->part))
        return err_set(err, "the head of '%s' is damaged", set->path);
    set->part = (const void *)((const struct layout_head *)set->map + 1);
    set->body = (const void *)(set->part + (old ? 0 : parts));
    place_tables(set);
    digest = old ? digest_bytes(set->body, bytes)
                 : digest_bytes(set->part, parts * sizeof *set->part);
    if (memcmp(&digest, &head->body, sizeof digest))
        return err_set(err, "'%s' is damaged", set->path);
    set->parts = parts;
    set->checked = mem_array(parts, 1);
    memset(set->checked, old, parts);
    return 0;
}

static int
check_part(const struct data_set *set, size_t i)
{
    const size_t all = body_bytes(set->head), from = i * LAYOUT_PART,
                 n = all - from < LAYOUT_PART ? all - from : LAYOUT_PART;
    struct digest digest;

    if (!set->checked[i]) {
        digest = digest_bytes(set->body + from, n);
        set->checked[i] = !memcmp(&digest, &set->part[i], sizeof digest);
    }
    return set->checked[i];
}

/* Return the first and last part that n >= 1 bytes of the body are in. */
static size_t
first_part(const struct data_set *set, const void *at)
{
    return (size_t)((const uint8_t *)at - set->body) / LAYOUT_PART;
}

static size_t
last_part(const struct data_set *set, const void *at, size_t n)
{
    return first_part(set, (const uint8_t *)at + n - 1);
}

static int
check_bytes(const struct data_set *set, const void *at, size_t n)
{
    if (!n)
        return 1;
    for (size_t i = first_part(set, at); i <= last_part(set, at, n); i++)
        if (!check_part(set, i))
            return 0;
    return 1;
}

int
data_check_done(const struct data_set *set, const void *at, size_t n)
{
    return set->checked[first_part(set, at)] &&
           set->checked[last_part(set, at, n)];
}

/* Checks a string in the text, up to its end; the text ends in a zero. */
static int
check_text(const struct data_set *set, uint64_t place)
{
    const char *at = set->text + place, *end = set->text + set->head->text;

    if (place >= set->head->text || !check_bytes(set, end - 1, 1) || end[-1])
        return 0;
    for (;;) {
        const size_t part = first_part(set, at);
        const char *next = (const char *)set->body + (part + 1) * LAYOUT_PART;

        if (!check_part(set, part))
            return 0;
        next = next < end ? next : end;
        if (memchr(at, 0, (size_t)(next - at)))
            return 1;
        at = next;
    }
}

/* The digest detects accidents; this detects malicious files. */
static int
is_sample(const struct data_set *set, const struct layout_sample *sample)
{
    const struct layout_head *head = set->head;
    const struct data_layout_file *file;

    if (sample->file >= head->files || sample->name >= head->text ||
        sample->caption >= head->text || sample->label < -1 ||
        sample->label >= (int64_t)head->classes ||
        sample->codec > IMAGE_CODEC_ROW || sample->bytes < 1 ||
        sample->bytes > LAYOUT_MAX_IMAGE_BYTES)
        return 0;
    file = &set->file[sample->file];
    return file->kind == LAYOUT_FOLDER ||
           (sample->offset <= file->bytes &&
            sample->bytes <= file->bytes - sample->offset);
}

/* Checks the tables of a list, which is read as a whole. */
static int
is_list(const struct data_set *set)
{
    const struct layout_head *head = set->head;
    uint64_t first = 0;
    int good = head->files > 0;

    for (size_t i = 0; good && i < set->parts; i++)
        good = check_part(set, i);
    for (size_t i = 0; good && i < head->files; i++) {
        const struct layout_shard *shard = &set->shard[i];

        good = shard->first == first && shard->samples >= 1 &&
               shard->samples <= head->samples - first &&
               shard->absolute < head->text && shard->relative < head->text &&
               shard->place < head->text && shard->classes <= head->marks;
        first += shard->samples;
    }
    for (size_t i = 0; good && i < head->marks; i++)
        good = set->label[i] >= 0 && set->label[i] < (int64_t)head->classes;
    return good && first == head->samples;
}

int
data_check_tables(struct data_set *set, struct err *err)
{
    const struct layout_head *head = set->head;
    const size_t files = set->shard ? 0 : head->files,
                 marks = set->shard ? 0 : head->marks;
    int good =
        check_text(set, head->text - 1) && (!set->shard || is_list(set)) &&
        check_bytes(set, set->file, files * sizeof *set->file) &&
        check_bytes(set, set->class, head->classes * sizeof *set->class) &&
        check_bytes(set, set->mark, marks * sizeof *set->mark);

    for (size_t i = 0; good && i < files; i++)
        good = check_text(set, set->file[i].absolute) &&
               check_text(set, set->file[i].relative) &&
               set->file[i].kind <= LAYOUT_FOLDER;
    for (size_t i = 0; good && i < head->classes; i++)
        good = check_text(set, set->class[i]);
    for (size_t i = 0; good && i < marks; i++)
        good = check_text(set, set->mark[i].name) &&
               set->mark[i].file < head->files && set->mark[i].list <= 1;
    return good ? 0 : err_set(err, "'%s' is damaged", set->path);
}

int
data_check_untouched(const struct data_set *set, struct err *err)
{
    const struct stat *was = &set->state;
    struct stat st;

    if (stat(set->path, &st) || st.st_dev != was->st_dev ||
        st.st_ino != was->st_ino ||
        (st.st_size == was->st_size &&
         st.st_mtim.tv_sec == was->st_mtim.tv_sec &&
         st.st_mtim.tv_nsec == was->st_mtim.tv_nsec))
        return 1;
    err_set(err,
            "'%s' was overwritten while in use: start again, and replace an "
            "index by mv",
            set->path);
    return 0;
}

int
data_check_sample(const struct data_set *set, size_t id, struct err *err)
{
    const struct layout_sample *sample = &set->sample[id];

    if (!data_check_untouched(set, err))
        return -1;
    if (check_bytes(set, sample, sizeof *sample) && is_sample(set, sample) &&
        check_text(set, sample->name) && check_text(set, sample->caption))
        return 0;
    return err_set(err, "'%s' is damaged", set->path);
}

int
data_check_samples(const struct data_set *set, struct err *err)
{
    int good = data_check_untouched(set, err);

    if (!good)
        return -1;
    for (size_t i = 0; good && i < set->parts; i++)
        good = check_part(set, i);
    for (size_t i = 0; good && i < set->head->samples; i++)
        good = is_sample(set, &set->sample[i]);
    return good ? 0 : err_set(err, "'%s' is damaged", set->path);
}
