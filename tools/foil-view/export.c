#include "export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "util/asset.h"
#include "util/base64.h"
#include "util/mem.h"

enum { IMAGE_COLUMNS = 64, PLACES = 4000000 /* of points, in all frames */ };

static const struct asset *
find_asset(const char *name, size_t length)
{
    const struct asset *asset = assets;

    while (asset->name && (strncmp(asset->name, name, length) ||
                           strlen(asset->name) != length))
        asset++;
    REQUIRE(asset->name);
    return asset;
}

static void
write_data(FILE *to, const char *type, const void *bytes, size_t size)
{
    char *text = base64_encode(bytes, size);

    fprintf(to, "data:%s;base64,%s", type, text);
    free(text);
}

/* ---- modules: an import map has each by its name, and they call one another
 * by it, since an address of "data:" has no neighbours ---- */

static const char neighbour[] = "from './";

/* A module as text, to be given to free(), which takes others by their names:
 * from 'x.js', not './x.js'. */
static char *
name_imports(const struct asset *module, size_t *size)
{
    const char *at = (const char *)module->bytes, *end = at + module->size;
    const size_t kept = strlen("from '");
    char *text = mem_array(module->size + 1, 1), *to = text;

    while (at < end) {
        const int found = (size_t)(end - at) > sizeof neighbour &&
                          !strncmp(at, neighbour, sizeof neighbour - 1);
        const size_t n = found ? kept : 1;

        memcpy(to, at, n);
        to += n;
        at += found ? sizeof neighbour - 1 : 1;
    }
    *size = (size_t)(to - text);
    return text;
}

static int
is_module(const struct asset *asset)
{
    const char *end = strrchr(asset->name, '.');

    return end && !strcmp(end, ".js") && strcmp(asset->name, "dygraph.js") != 0;
}

static void
write_modules(FILE *to)
{
    const char *between = "";

    fputs("<script type=\"importmap\">{\"imports\":{", to);
    for (const struct asset *asset = assets; asset->name; asset++)
        if (is_module(asset)) {
            size_t size;
            char *text = name_imports(asset, &size);

            fprintf(to, "%s\"%s\":\"", between, asset->name);
            write_data(to, "text/javascript", text, size);
            fputs("\"", to);
            free(text);
            between = ",\n";
        }
    fputs("}}</script>\n<script type=\"module\">import 'view.js';</script>\n",
          to);
}

/* ---- what the page shows ---- */

/* Writes JSON inside of a script: "<" would end it in "</script>". */
static void
write_json(FILE *to, json_t *object)
{
    char *text = number_text(object);

    for (const char *at = text; at && *at; at++)
        if (*at == '<')
            fputs("\\u003c", to);
        else
            putc(*at, to);
    free(text);
}

/* Takes over a JPEG, which is an empty text where it was not drawn. */
static void
write_jpeg(FILE *to, int rc, struct data_bytes *jpeg)
{
    putc('"', to);
    if (!rc)
        write_data(to, "image/jpeg", jpeg->data, jpeg->len);
    putc('"', to);
    data_bytes_release(jpeg);
}

static void
write_anchors(FILE *to, struct watch *watch, const struct moment *moment)
{
    const size_t rows = moment->z ? moment->n * moment->views : 0;

    fputs("anchors:[", to);
    for (size_t row = 0; row < rows && row < EXPORT_ANCHORS; row++) {
        fputs(row ? ",\n" : "", to);
        write_json(to, watch_anchor(watch, moment, row));
    }
    fputs("],\n", to);
}

/* Adds a sample where it is not there yet. */
static void
add_image(json_t *ids, char *known, int64_t id)
{
    if (known[id] || json_array_size(ids) == EXPORT_IMAGES)
        return;
    known[id] = 1;
    json_array_append_new(ids, json_integer(id));
}

/* Adds those that a list of objects names by a key. */
static void
add_named(json_t *ids, char *known, size_t size, const json_t *list,
          const char *key)
{
    const json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        const int64_t id = json_integer_value(json_object_get(one, key));

        if (id >= 0 && (size_t)id < size)
            add_image(ids, known, id);
    }
}

/* Of what the checkpoint keeps of samples. */
static void
add_samples(json_t *ids, char *known, size_t size, const json_t *samples)
{
    const json_t *replaced = json_object_get(samples, "replaced"), *column;
    size_t i;

    json_array_foreach(json_object_get(samples, "columns"), i, column)
    {
        add_named(ids, known, size, json_object_get(column, "smallest"), "id");
        add_named(ids, known, size, json_object_get(column, "largest"), "id");
    }
    add_named(ids, known, size, json_object_get(replaced, "list"), "used");
}

/* Of the neighbours after each epoch, the newest first. */
static void
add_near(json_t *ids, char *known, const struct film *film, const json_t *map)
{
    const json_t *epochs = json_object_get(map, "epochs");

    for (size_t i = json_array_size(epochs); i--;) {
        const int64_t epoch = json_integer_value(json_array_get(epochs, i));
        const size_t n = FILM_LOOKED * (1 + FILM_NEAR);
        size_t bytes;
        char *frame = film_frame(film, epoch, &bytes);
        int32_t near[FILM_LOOKED * (1 + FILM_NEAR)];

        memcpy(near, frame + bytes - sizeof near, sizeof near);
        for (size_t k = 0; k < n; k++)
            add_image(ids, known, near[k]);
        free(frame);
    }
}

/* The samples of the batch, of the extremes and of the map. */
static json_t *
list_images(struct watch *watch, const struct data_set *set,
            const struct moment *moment, const json_t *all)
{
    const size_t size = data_size(set);
    char *known = mem_array(size, 1);
    json_t *ids = json_array();
    const int64_t *mapped;
    size_t n;

    for (size_t i = 0; i < moment->n; i++)
        if ((size_t)moment->ids[i] < size)
            add_image(ids, known, moment->ids[i]);
    add_samples(ids, known, size, json_object_get(all, "samples"));
    add_near(ids, known, watch->film, json_object_get(all, "map"));
    mapped = film_points(watch->film, &n);
    for (size_t i = 0; i < n; i++)
        add_image(ids, known, mapped[i]);
    free(known);
    return ids;
}

/* images: {ids, columns, sprite}, images as they are stored. */
static void
write_images(FILE *to, struct watch *watch, const struct moment *moment,
             const json_t *all)
{
    struct pictures *pictures = &watch->pictures;
    struct err ignored;
    struct data_bytes jpeg = {0};
    json_t *ids =
        list_images(watch, pictures_set(pictures, &ignored), moment, all);
    const size_t n = json_array_size(ids);
    int64_t *id = mem_array(n, sizeof *id);
    int rc;

    for (size_t i = 0; i < n; i++)
        id[i] = json_integer_value(json_array_get(ids, i));
    rc = picture_plain(pictures, id, n, IMAGE_COLUMNS, &jpeg, &ignored);
    fprintf(to, "images:{columns:%d,ids:", IMAGE_COLUMNS);
    write_json(to, ids);
    fputs(",sprite:", to);
    write_jpeg(to, rc, &jpeg);
    fputs("},\n", to);
    free(id);
}

static void
write_pictures(FILE *to, struct watch *watch, const struct moment *moment,
               const json_t *all)
{
    struct data_bytes jpeg = {0};
    struct err ignored;
    const int rc = picture_batch(&watch->pictures, moment, &jpeg, &ignored);

    fputs("sprite:", to);
    write_jpeg(to, rc, &jpeg);
    fputs(",\n", to);
    if (!rc)
        write_images(to, watch, moment, all);
}

/* Takes over bytes. */
static void
write_bytes(FILE *to, void *bytes, size_t size)
{
    char *text = base64_encode(bytes, size);

    fprintf(to, "\"%s\"", text);
    free(text);
    free(bytes);
}

/* map: {points, frames: {epoch}}, as film.h has them, in base64.  Of very many
 * frames, the first ones are left out. */
static void
write_map(FILE *to, struct watch *watch, json_t *map)
{
    json_t *epochs = json_object_get(map, "epochs");
    struct err ignored;
    size_t n, size;
    void *bytes;

    film_points(watch->film, &n);
    if (!n)
        return;
    while (json_array_size(epochs) > 1 && json_array_size(epochs) * n > PLACES)
        json_array_remove(epochs, 0);
    bytes = film_labels(watch->film, pictures_set(&watch->pictures, &ignored),
                        &size);
    fputs("map:{points:", to);
    write_bytes(to, bytes, size);
    fputs(",frames:{", to);
    for (size_t i = 0; i < json_array_size(epochs); i++) {
        const int64_t epoch = json_integer_value(json_array_get(epochs, i));

        fprintf(to, "%jd:", (intmax_t)epoch);
        bytes = film_frame(watch->film, epoch, &size);
        write_bytes(to, bytes, size);
        fputs(",", to);
    }
    fputs("}},\n", to);
}

static void
write_run(FILE *to, struct watch *watch)
{
    json_t *all = watch_show(watch);
    const struct moment *moment = watch_newest(watch);

    fputs("<script>window.FOIL = {\n", to);
    if (moment) {
        write_anchors(to, watch, moment);
        write_pictures(to, watch, moment, all);
    }
    write_map(to, watch, json_object_get(all, "map"));
    fputs("all:", to);
    write_json(to, all);
    fputs("};</script>\n", to);
}

/* ---- the page, with what its head names in its place ---- */

static void
write_asset(FILE *to, const char *open, const struct asset *asset,
            const char *close)
{
    fputs(open, to);
    fwrite(asset->bytes, asset->size, 1, to);
    fputs(close, to);
}

/* The value of an attribute in a line; NULL where it has none. */
static const char *
find_value(const char *line, const char *attribute, size_t *length)
{
    const char *at = strstr(line, attribute);

    if (!at)
        return NULL;
    at += strlen(attribute);
    *length = strcspn(at, "\"");
    return at;
}

/* Writes a line as it is, with the icon in it. */
static void
write_plain(FILE *to, const char *line)
{
    static const char name[] = "icon.svg";
    const char *at = strstr(line, name);
    const struct asset *icon = find_asset(name, sizeof name - 1);

    if (at) {
        fwrite(line, (size_t)(at - line), 1, to);
        write_data(to, "image/svg+xml", icon->bytes, icon->size);
        line = at + sizeof name - 1;
    }
    fputs(line, to);
}

static void
put_line(FILE *to, struct watch *watch, const char *line)
{
    size_t n = 0;
    const char *style = find_value(line, "stylesheet\" href=\"", &n);
    const char *script = style ? NULL : find_value(line, "script src=\"", &n);

    if (style)
        write_asset(to, "<style>", find_asset(style, n), "</style>\n");
    else if (script)
        write_asset(to, "<script>", find_asset(script, n), "</script>\n");
    else if (strstr(line, "type=\"module\"")) {
        write_run(to, watch);
        write_modules(to);
    } else
        write_plain(to, line);
}

char *
export_page(struct watch *watch, size_t *size)
{
    const struct asset *page = find_asset("index.html", strlen("index.html"));
    const char *at = (const char *)page->bytes, *end = at + page->size;
    char *text = NULL;
    FILE *to = open_memstream(&text, size);

    REQUIRE(to);
    while (at < end) {
        const size_t n = strcspn(at, "\n");
        char *line = mem_format("%.*s\n", (int)n, at);

        put_line(to, watch, line);
        free(line);
        at += n + 1;
    }
    REQUIRE(!fclose(to));
    return text;
}
