#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/pool.h"
#include "data/row.h"
#include "image/view.h"
#include "run/metrics.h"
#include "run/views.h"
#include "text/captions.h"
#include "util/mem.h"
#include "util/opt.h"

enum { MAX_PIXELS = 1000000000, CACHE_BYTES = 64 << 20 };

static const int64_t most_seed = INT64_MAX, most_epoch = UINT32_MAX,
                     most_view = UINT16_MAX;

struct run_views {
    const char *run, *data; /* of run_views_open() */
    json_t *line;           /* of the current step */
    int64_t *memory;        /* of the current struct run_batch_record */

    char *path; /* of `set` */
    struct data_set *set;
    struct data_pool *pool;
    struct image_recipe recipe;
    uint64_t seed;
    int texts; /* 1: captions were used, chosen by `caption` */
    enum text_caption caption;
    struct image_scratch *scratch;
};

struct run_views *
run_views_open(const char *run, const char *data)
{
    struct run_views *views = mem_array(1, sizeof *views);

    views->run = run;
    views->data = data;
    return views;
}

static void
close_data(struct run_views *views)
{
    data_pool_free(views->pool);
    data_close(views->set);
    free(views->path);
    views->pool = NULL;
    views->set = NULL;
    views->path = NULL;
}

static void
drop_step(struct run_views *views)
{
    json_decref(views->line);
    free(views->memory);
    views->line = NULL;
    views->memory = NULL;
}

void
run_views_close(struct run_views *views)
{
    if (!views)
        return;
    close_data(views);
    drop_step(views);
    image_scratch_free(views->scratch);
    free(views);
}

/* Opens the data set unless it is open. */
static int
open_data(struct run_views *views, const json_t *view_options, struct err *err)
{
    const struct data_pool_settings how = {.policy = IMAGE_ACCEPT,
                                           .max_pixels = MAX_PIXELS,
                                           .keep_bytes = CACHE_BYTES};
    const char *path = views->data;
    struct data_row row;
    struct err why;

    if (!path && json_get_text(view_options, "data", &path, &why))
        return err_set(
            err, "'%s' does not record where its data set is; add --data DATA",
            views->run);
    if (!views->set || strcmp(views->path, path) != 0) {
        close_data(views);
        views->set = data_open(path, &why);
        if (!views->set)
            return err_set(err, "%s%s", why.msg,
                           views->data ? ""
                                       : "; if the data set has moved, add "
                                         "--data DATA");
        views->path = mem_text(path);
        views->pool = data_pool_new(views->set, &how);
    }
    if (data_row_of(views->set, &row, err))
        return -1;
    return row.d
               ? err_set(err, "'%s' has rows of numbers, and no pictures", path)
               : 0;
}

/* Reads which caption of an image was used; without the member, none was. */
static int
read_caption(struct run_views *views, const json_t *view_options,
             struct err *err)
{
    const char *name;
    int index;

    views->texts = json_object_get(view_options, "caption") != NULL;
    if (!views->texts)
        return 0;
    if (json_get_text(view_options, "caption", &name, err))
        return -1;
    index = opt_index(TEXT_CAPTION_WORDS, name);
    if (index < 0)
        return err_set(
            err, "'caption' is '%s', want one of " TEXT_CAPTION_WORDS, name);
    views->caption = (enum text_caption)index;
    return 0;
}

/* Reads the size of the views of an epoch. */
static int
read_size(const json_t *view_options, int64_t epoch, size_t *size,
          struct err *err)
{
    struct image_sizes sizes;
    const char *text;
    int64_t one;

    if (!json_object_get(view_options, "sizes")) {
        if (json_get_whole(view_options, "size", 1, IMAGE_SIZE_MAX, &one, err))
            return -1;
        *size = (size_t)one;
        return 0;
    }
    if (json_get_text(view_options, "sizes", &text, err) ||
        image_sizes_parse(text, &sizes, err))
        return -1;
    *size = image_sizes_at(&sizes, epoch);
    return 0;
}

static int
read_view_options(struct run_views *views, const json_t *view_options,
                  const struct run_batch_record *record, struct err *err)
{
    int64_t seed;
    size_t size;
    const char *recipe, *was;
    char is[DIGEST_HEX];

    if (!view_options)
        return err_set(err,
                       "'%s' does not record how the views of step %jd were "
                       "made: its augmenter did not send it",
                       views->run, (intmax_t)record->total);
    if (json_is_true(json_object_get(view_options, "command")))
        return err_set(err,
                       "the views of step %jd were made by a user's program "
                       "(foil-augment --view-command) and cannot be made here",
                       (intmax_t)record->total);
    if (json_get_text(view_options, "recipe", &recipe, err) ||
        read_size(view_options, record->batch.epoch, &size, err) ||
        json_get_whole(view_options, "seed", 0, most_seed, &seed, err) ||
        read_caption(views, view_options, err) ||
        image_recipe_find(recipe, &views->recipe, err) ||
        open_data(views, view_options, err) ||
        json_get_text(views->line, "digest", &was, err))
        return -1;
    if (strcmp(digest_hex(data_digest(views->set), is), was))
        return err_set(
            err,
            "'%s' is not the data set of the run: its digest is %.8s, not %.8s",
            views->path, is, was);
    views->recipe.size = size;
    views->seed = data_seed(views->set, (uint64_t)seed);
    return 0;
}

int
run_views_step(struct run_views *views, int64_t total,
               struct run_batch_record *record, struct err *err)
{
    const json_t *view_options;

    drop_step(views);
    if (run_batches_get(views->run, total, record, &views->line, &views->memory,
                        err))
        return -1;
    view_options = json_object_get(views->line, "view_options");
    if (!view_options)
        view_options =
            json_object_get(views->line, run_metrics_old_name("view_options"));
    return read_view_options(views, view_options, record, err);
}

void
run_views_key(const struct run_batch_record *s, size_t row, int64_t *id,
              int64_t *epoch, int64_t *view)
{
    const size_t batch = s->batch.v * s->batch.b, extra = row - batch;

    REQUIRE(row < batch + s->batch.extra.n);
    if (row >= batch) {
        *id = s->batch.extra.ids[extra];
        *epoch = s->batch.extra.epoch[extra];
        *view = s->batch.extra.view[extra];
    } else {
        *id = s->batch.ids[row % s->batch.b];
        *epoch = s->batch.view_of ? 0 : s->batch.epoch;
        *view = s->batch.view_of ? s->batch.view_of[row]
                                 : (int64_t)(row / s->batch.b);
    }
}

size_t
run_views_size(const struct run_views *views)
{
    return views->recipe.size;
}

const struct data_set *
run_views_set(const struct run_views *views)
{
    return views->set;
}

static const struct image *
find_image(struct run_views *views, int64_t id, struct err *err)
{
    REQUIRE(views->pool);
    if (id < 0 || (size_t)id >= data_size(views->set)) {
        err_set(err, "'%s' has no sample %jd", views->path, (intmax_t)id);
        return NULL;
    }
    return data_pool_get(views->pool, (size_t)id, NULL, err);
}

int
run_views_make(struct run_views *views, int64_t id, int64_t epoch, int64_t view,
               uint8_t *out, struct err *err)
{
    const struct image *image = find_image(views, id, err);

    if (!image)
        return -1;
    if (epoch < 0 || epoch > most_epoch || view < 0 || view > most_view)
        return err_set(err, "there is no view %jd of epoch %jd", (intmax_t)view,
                       (intmax_t)epoch);
    image_view(&views->recipe, image, views->seed, (uint64_t)id,
               (uint64_t)epoch, (uint64_t)view, &views->scratch, out);
    return 0;
}

int
run_views_plain(struct run_views *views, int64_t id, uint8_t *out,
                struct err *err)
{
    const struct image *image = find_image(views, id, err);

    if (!image)
        return -1;
    image_plain(views->recipe.size, image, &views->scratch, out);
    return 0;
}

int
run_views_texts(const struct run_views *views)
{
    return views->texts;
}

char *
run_views_text(const struct run_views *views, int64_t id, int64_t epoch)
{
    size_t count, first, end, size;
    char *text = NULL;
    FILE *out;

    if (!views->texts || id < 0 || (size_t)id >= data_size(views->set) ||
        epoch < 0 || epoch > most_epoch ||
        !(count = text_captions_count(data_caption(views->set, (size_t)id))))
        return NULL;
    first = text_captions_draw(views->caption, views->seed, (size_t)id,
                               (uint64_t)epoch, count);
    end = views->caption == TEXT_CAPTION_ALL ? count : first + 1;
    out = open_memstream(&text, &size);
    REQUIRE(out);
    for (size_t k = first; k < end; k++) {
        size_t len;
        const char *caption =
            text_captions_get(data_caption(views->set, (size_t)id), k, &len);

        fprintf(out, "%s%.*s", k > first ? " " : "", (int)len, caption);
    }
    REQUIRE(!fclose(out));
    return text;
}
