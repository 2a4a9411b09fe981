#include <stdlib.h>
#include <string.h>

#include "text/captions.h"
#include "util/json.h"
#include "util/mem.h"

#include "sidecar.h"
#include "text/text.h"
#include "text/utf8.h"

size_t
data_sidecar_tidy(char *text, size_t n)
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

/* Appends a text with U+FFFD for what is no UTF-8; 1 where that was so. */
static int
append_utf8(struct data_bytes *to, const char *text, size_t n)
{
    int mended = 0;

    for (size_t at = 0, more; at < n; at += more) {
        uint32_t c;

        more = data_utf8_next(text + at, n - at, &c);
        if (c == UTF8_BAD &&
            (more != 3 || memcmp(text + at, "\xef\xbf\xbd", 3))) {
            data_text_append(to, "\xef\xbf\xbd", 3);
            mended = 1;
        } else {
            data_text_append(to, text + at, more);
        }
    }
    return mended;
}

static size_t
count_lines(const struct data_bytes *lines)
{
    size_t n = lines->len > 0;

    for (size_t i = 0; i < lines->len; i++)
        n += lines->data[i] == '\n';
    return n;
}

void
data_sidecar_line(const char *text, size_t n, struct data_bytes *lines,
                  struct data_index_captions *notes)
{
    char *copy = mem_array(n + 1, 1);
    size_t len, start;

    if (n)
        memcpy(copy, text, n);
    len = data_sidecar_tidy(copy, n);
    if (len && count_lines(lines) == DATA_CAPTIONS_MAX) {
        notes->many++;
    } else if (len) {
        if (lines->len)
            data_text_append(lines, "\n", 1);
        start = lines->len;
        notes->mended += (size_t)append_utf8(lines, copy, len);
        len = data_utf8_cut(lines->data + start, lines->len - start,
                            DATA_CAPTION_BYTES);
        notes->cut += len < lines->len - start;
        lines->len = start + len;
    }
    free(copy);
}

void
data_sidecar_text(const char *text, size_t n, struct data_bytes *lines,
                  struct data_index_captions *notes)
{
    for (size_t at = 0; at < n;) {
        const char *end = memchr(text + at, '\n', n - at);
        const size_t len = end ? (size_t)(end - text) - at : n - at;

        data_sidecar_line(text + at, len, lines, notes);
        at += len + 1;
    }
}

static void
add_string(const json_t *string, struct data_bytes *lines,
           struct data_index_captions *notes)
{
    if (json_is_string(string))
        data_sidecar_line(json_string_value(string), json_string_length(string),
                          lines, notes);
}

void
data_sidecar_json(const char *text, size_t n, struct data_bytes *lines,
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

void
data_sidecar_add(struct data_index_captions *sum,
                 const struct data_index_captions *more)
{
    sum->cut += more->cut;
    sum->many += more->many;
    sum->mended += more->mended;
    sum->broken += more->broken;
}
