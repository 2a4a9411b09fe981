#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "kind.h"
#include "siblings.h"
#include "sidecar.h"

/* The part of a name that they share. */
static size_t
key_length(const char *name)
{
    size_t folders = data_kind_folders(name);

    return folders + strcspn(name + folders, ".");
}

void
data_siblings_leave(struct siblings *siblings, size_t samples)
{
    siblings->len = 0;
    siblings->first = samples;
    siblings->caption = siblings->class = 0;
    siblings->lines.len = 0;
    siblings->files.len = 0;
    siblings->has_text = 0;
    siblings->notes = (struct data_index_captions){0};
}

int
data_siblings_has(const struct siblings *siblings, const char *name)
{
    const size_t len = key_length(name);

    return siblings->len == len && len && !memcmp(siblings->key, name, len);
}

void
data_siblings_enter(struct siblings *siblings, const char *name, size_t samples)
{
    const size_t len = key_length(name);

    data_siblings_leave(siblings, samples);
    mem_grow(&siblings->key, &siblings->room, len, 1);
    memcpy(siblings->key, name, len);
    siblings->len = len;
}

void
data_siblings_file(struct siblings *siblings, const char *name)
{
    struct data_bytes *files = &siblings->files;
    const size_t len = strlen(name) + 1;

    mem_grow(&files->data, &files->room, files->len + len, 1);
    memcpy(files->data + files->len, name, len);
    files->len += len;
}

void
data_siblings_text(struct siblings *siblings, const char *text, size_t n)
{
    struct data_bytes lines = {0};
    struct data_index_captions notes = {0};

    data_sidecar_text(text, n, &lines, &notes);
    if (!lines.len)
        return;
    data_bytes_release(&siblings->lines);
    siblings->lines = lines;
    siblings->notes = notes;
    siblings->has_text = 1;
}

void
data_siblings_json(struct siblings *siblings, const char *text, size_t n)
{
    if (siblings->has_text)
        return;
    siblings->lines.len = 0;
    siblings->notes = (struct data_index_captions){0};
    data_sidecar_json(text, n, &siblings->lines, &siblings->notes);
}

void
data_siblings_settle(struct siblings *siblings, struct layout_parts *parts,
                     struct data_index_captions *notes)
{
    if (siblings->first == parts->samples)
        return;
    if (siblings->lines.len)
        siblings->caption = data_layout_text(
            parts, (char *)siblings->lines.data, siblings->lines.len);
    siblings->lines.len = 0;
    data_sidecar_add(notes, &siblings->notes);
    siblings->notes = (struct data_index_captions){0};
    for (size_t i = siblings->first; i < parts->samples; i++)
        if (siblings->caption)
            parts->sample[i].caption = siblings->caption;
}

void
data_siblings_release(struct siblings *siblings)
{
    free(siblings->key);
    data_bytes_release(&siblings->lines);
    data_bytes_release(&siblings->files);
    *siblings = (struct siblings){0};
}
