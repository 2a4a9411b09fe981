#include "watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_number.h"
#include "util/asset.h"
#include "util/mem.h"

enum { IMAGE_COLUMNS = 64, PLACES_MOST = 4000000 /* points, in all frames */ };

/* The stored images of the page, each once. */
struct image_list {
    size_t size;               /* samples in the data set */
    struct picture_name *name; /* [n] */
    size_t n;
};

/* Returns a prefix and the bytes in base64.  Frees the bytes. */
static json_t *
encode_bytes(const char *prefix, void *bytes, size_t size)
{
    char *base64 = base64_encode(bytes, size);
    json_t *text = json_sprintf("%s%s", prefix, base64);

    mem_free(base64, bytes);
    return text;
}

/* Returns a JPEG as a data URL, "" if rc says that there is none.  Frees it. */
static json_t *
encode_jpeg(int rc, struct data_bytes *jpeg)
{
    if (!rc)
        return encode_bytes("data:image/jpeg;base64,", jpeg->data, jpeg->len);
    data_bytes_release(jpeg);
    return json_string("");
}

static void
add_image(struct image_list *list, int64_t id)
{
    if (id < 0 || (size_t)id >= list->size || list->n == EXPORT_IMAGES)
        return;
    for (size_t i = 0; i < list->n; i++)
        if (list->name[i].id == id)
            return;
    list->name[list->n++] = (struct picture_name){id, 0, -1};
}

/* Adds the ids that any object within a value has under a key. */
static void
add_named(struct image_list *list, json_t *value, const char *key)
{
    const char *name;
    json_t *part;

    for (size_t i = 0; i < json_array_size(value); i++)
        add_named(list, json_array_get(value, i), key);
    json_object_foreach(value, name, part)
    {
        if (!strcmp(name, key))
            add_image(list, json_integer_value(part));
        else
            add_named(list, part, key);
    }
}

/* Returns {columns, ids, sprite}: the stored images of the batch, of the panels
 * of extremes and neighbours, and of the map. */
static json_t *
images_json(struct watch *watch, const struct data_set *set,
            const struct batch_view *batch, const json_t *all)
{
    const json_t *samples = json_object_get(all, "samples");
    struct image_list list = {.size = data_size(set)};
    struct data_bytes jpeg = {0};
    struct err ignored;
    json_t *ids = json_array();
    const int64_t *mapped;
    size_t n;
    int rc;

    list.name = mem_array(EXPORT_IMAGES, sizeof *list.name);
    for (size_t i = 0; i < batch->n; i++)
        add_image(&list, batch->ids[i]);
    add_named(&list, json_object_get(samples, "columns"), "id");
    add_named(&list, json_object_get(samples, "replaced"), "used");
    mapped = map_frames_points(watch->maps, &n);
    for (size_t i = 0; i < n; i++)
        add_image(&list, mapped[i]);
    for (size_t i = 0; i < list.n; i++)
        json_array_append_new(ids, json_integer(list.name[i].id));
    rc = list.n ? picture_draw(&watch->pictures, list.name, list.n,
                               IMAGE_COLUMNS, &jpeg, &ignored)
                : -1;
    free(list.name);
    return json_pack("{s:i s:o s:o}", "columns", IMAGE_COLUMNS, "ids", ids,
                     "sprite", encode_jpeg(rc, &jpeg));
}

static void
add_batch(json_t *file, struct watch *watch, const struct batch_view *batch,
          const json_t *all)
{
    const int sampled = batch->top.heaviest.k || watch->trail.n;
    const size_t rows = sampled && batch->z ? batch->n * batch->views : 0;
    json_t *anchors = json_array();
    struct data_bytes jpeg = {0};
    struct err ignored;
    const int rc = picture_batch(&watch->pictures, batch, &jpeg, &ignored);

    for (size_t row = 0; row < rows && row < EXPORT_ANCHORS; row++)
        json_array_append_new(anchors, watch_anchor(watch, batch, row));
    json_object_set_new(file, "anchors", anchors);
    if (batch->z)
        json_object_set_new(file, "embeddings", batch_view_embeddings(batch));
    json_object_set_new(file, "sprite", encode_jpeg(rc, &jpeg));
    if (!rc)
        json_object_set_new(file, "images",
                            images_json(watch,
                                        pictures_set(&watch->pictures, NULL),
                                        batch, all));
}

/* Adds map: {points, frames: {epoch}}, the bytes of map_frames.h in base64.
 * Beyond PLACES_MOST the first frames are left out. */
static void
add_map(json_t *file, struct watch *watch, json_t *map)
{
    json_t *epochs = json_object_get(map, "epochs");
    json_t *frames = json_object();
    size_t n, size;
    void *bytes;

    map_frames_points(watch->maps, &n);
    while (json_array_size(epochs) > 1 &&
           json_array_size(epochs) * n > PLACES_MOST)
        json_array_remove(epochs, 0);
    for (size_t i = 0; i < json_array_size(epochs); i++) {
        const int64_t epoch = json_integer_value(json_array_get(epochs, i));
        char name[32];

        snprintf(name, sizeof name, "%jd", (intmax_t)epoch);
        bytes = map_frames_find(watch->maps, epoch, &size);
        json_object_set_new(frames, name, encode_bytes("", bytes, size));
    }
    bytes = map_frames_labels(watch->maps, pictures_set(&watch->pictures, NULL),
                              &size);
    json_object_set_new(file, "map",
                        json_pack("{s:o s:o}", "points",
                                  encode_bytes("", bytes, bytes ? size : 0),
                                  "frames", frames));
}

static json_t *
assets_json(void)
{
    json_t *files = json_object();

    for (const struct asset *asset = assets; asset->name; asset++)
        json_object_set_new(
            files, asset->name,
            json_stringn((const char *)asset->bytes, asset->size));
    return files;
}

/* Writes JSON within a script.  "<" is escaped: "</script>" would end it. */
static void
put_json(FILE *to, json_t *object)
{
    char *text = json_number_text(object);

    REQUIRE(text);
    for (const char *at = text; *at; at++)
        if (*at == '<')
            fputs("\\u003c", to);
        else
            putc(*at, to);
    free(text);
}

char *
export_page(struct watch *watch, size_t *size)
{
    json_t *all = watch_json(watch);
    json_t *file = json_pack("{s:o s:o}", "all", all, "files", assets_json());
    const struct batch_view *batch = watch_newest(watch);
    char *start = mem_text(json_string_value(
        json_object_get(json_object_get(file, "files"), "exported.js")));
    char *text = NULL;
    FILE *to = open_memstream(&text, size);

    REQUIRE(to);
    json_object_set(all, "folder", json_object_get(all, "run")); // no path
    if (batch)
        add_batch(file, watch, batch, all);
    add_map(file, watch, json_object_get(all, "map"));
    fputs("<!doctype html>\n<meta charset=\"utf-8\">\n"
          "<script id=\"file\" type=\"application/json\">",
          to);
    put_json(to, file);
    fprintf(to, "</script>\n<script>\n%s</script>\n", start);
    REQUIRE(!fclose(to));
    free(start);
    return text;
}
