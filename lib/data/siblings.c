#include <stdlib.h>
#include <string.h>

#include "text/captions.h"
#include "text/text.h"
#include "util/json.h"
#include "util/mem.h"

#include "captions.h"

size_t
data_captions_tidy(char *text, size_t n)
{
    size_t len = 0;

    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == '\r' || (!len && c <= ' '))
            continue;
        text[len++] = c >= ' ' && c != 127 ? (char)c : ' ';
    }
    while (len && text[len - 1] == ' ')
        len--;
    return len;
}

void
data_captions_line(const char *text, size_t n, struct data_bytes *lines,
                   struct data_index_captions *notes)
{
    char *copy = mem_array(n + 1, 1);
    size_t len, start, count = lines->len > 0;

    for (size_t i = 0; i < lines->len; i++)
        count += lines->data[i] == '\n';
    if (n)
        memcpy(copy, text, n);
    len = data_captions_tidy(copy, n);
    if (len && count == TEXT_CAPTIONS_MAX) {
        notes->many++;
    } else if (len) {
        if (lines->len)
            text_append(lines, "\n", 1);
        start = lines->len;
        notes->repaired += (size_t)text_append_utf8(lines, copy, len);
        len = text_utf8_cut(lines->data + start, lines->len - start,
                            TEXT_CAPTION_BYTES);
        notes->cut += len < lines->len - start;
        lines->len = start + len;
    }
    free(copy);
}

void
data_captions_text(const char *text, size_t n, struct data_bytes *lines,
                   struct data_index_captions *notes)
{
    for (size_t at = 0, len; at < n;) {
        const char *line = text_line(text, n, &at, &len);

        data_captions_line(line, len, lines, notes);
    }
}

static void
add_string(const json_t *string, struct data_bytes *lines,
           struct data_index_captions *notes)
{
    if (json_is_string(string))
        data_captions_line(json_string_value(string),
                           json_string_length(string), lines, notes);
}

/* Adds the captions of a JSON object: the string "caption", or the strings of
 * the list "captions".  Text that is not an object is counted as broken. */
static void
read_json(const char *text, size_t n, struct data_bytes *lines,
          struct data_index_captions *notes)
{
    struct err err;
    json_t *object = json_parse(text, n, "", &err);
    const json_t *list = json_object_get(object, "captions");

    add_string(json_object_get(object, "caption"), lines, notes);
    if (lines->len)
        list = NULL;
    for (size_t i = 0; i < json_array_size(list); i++)
        add_string(json_array_get(list, i), lines, notes);
    notes->broken += !object;
    json_decref(object);
}

/* Returns the length of the part of a name that siblings share. */
static size_t
key_length(const char *name)
{
    size_t folders = data_kind_folders(name);

    return folders + strcspn(name + folders, ".");
}

void
data_siblings_reset(struct siblings *siblings, size_t samples)
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
data_siblings_begin(struct siblings *siblings, const char *name, size_t samples)
{
    const size_t len = key_length(name);

    data_siblings_reset(siblings, samples);
    mem_grow(&siblings->key, &siblings->room, len, 1);
    memcpy(siblings->key, name, len);
    siblings->len = len;
}

void
data_siblings_captions(struct siblings *siblings, int json, const char *text,
                       size_t n)
{
    struct data_bytes lines = {0};
    struct data_index_captions notes = {0};

    if (json && siblings->has_text)
        return;
    if (json)
        read_json(text, n, &lines, &notes);
    else
        data_captions_text(text, n, &lines, &notes);
    if (!json && !lines.len)
        return;
    data_bytes_release(&siblings->lines);
    siblings->lines = lines;
    siblings->notes = notes;
    siblings->has_text = !json;
}

void
data_siblings_assign(struct siblings *siblings, struct layout_parts *parts,
                     struct data_index_captions *notes)
{
    if (siblings->first == parts->samples)
        return;
    if (siblings->lines.len)
        siblings->caption = data_layout_text(
            parts, (char *)siblings->lines.data, siblings->lines.len);
    siblings->lines.len = 0;
    notes->cut += siblings->notes.cut;
    notes->many += siblings->notes.many;
    notes->repaired += siblings->notes.repaired;
    notes->broken += siblings->notes.broken;
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
