#include "instrument.h"
#include <math.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eval/column.h"
#include "eval/retrieve.h"
#include "nn/checkpoint.h"
#include "num/vec.h"
#include "stage/process.h"
#include "util/mem.h"

static int negatives; // the index of all|cross

const struct opt instrument_opts[] = {
    {"negatives", 0, OPT_CHOICE, &negatives, 0, 0, "all|cross",
     "negatives of a row: rows of other samples, in all or other views"},
    {"labels", 0, OPT_TEXT, &common_options.labels[0], 0, 0, "FILE",
     "labels of the samples, instead of their own"},
    {0},
};

/* Whether an operand names a file of features. */
static int
is_features(const char *path)
{
    const size_t n = strlen(path);

    return n > 4 && !strcmp(path + n - 4, ".npy");
}

/* Copies the rows of a view in the order of the samples of the first file, by
 * their ids if both files have them; if a sample has several rows, such as
 * captions, the first.  Samples without labels form a group if their captions
 * are equal. */
static void
copy_view(struct instrument *in, char **path, size_t view,
          const struct data_features *first, const struct data_features *f)
{
    const size_t samples = in->rows.samples, d = in->rows.d;
    const int by_number = !first->ids || !f->ids;
    struct eval_answers own = {0};
    size_t *row;

    if (f->d != d)
        die("'%s' has %zu columns and '%s' has %zu: they must be of one "
            "encoder",
            path[0], d, path[view], f->d);
    if (by_number && f->n != samples)
        die("'%s' has %zu rows and '%s' has %zu, and not both have an .ids.npy",
            path[0], samples, path[view], f->n);
    if (!by_number)
        own = eval_answers_by_key(samples, first->ids, f->n, f->ids);
    row = mem_array(samples, sizeof *row);
    for (size_t i = 0; i < samples; i++) {
        if (!by_number && own.offset[i] == own.offset[i + 1])
            die("'%s' has no row of sample %jd, which '%s' has", path[view],
                (intmax_t)first->ids[i], path[0]);
        row[i] = by_number ? i : own.j[own.offset[i]];
        memcpy(in->z + (view * samples + i) * d, f->x + row[i] * d,
               d * sizeof *in->z);
    }
    if (f->same && !in->group) {
        in->group = mem_array(samples, sizeof *in->group);
        for (size_t i = 0; i < samples; i++)
            in->group[i] = f->same[row[i]];
    }
    eval_answers_release(&own);
    free(row);
}

static void
open_features(struct instrument *in, char **path)
{
    struct data_features first, f;
    json_t *files = json_array();
    size_t views = 0;

    while (path[views])
        views++;
    load(&first, path[0], common_options.labels[0]);
    in->rows =
        (struct eval_views){.samples = first.n, .views = views, .d = first.d};
    in->id = mem_array(first.n, sizeof *in->id);
    for (size_t i = 0; i < first.n; i++)
        in->id[i] = first.ids ? first.ids[i] : (int64_t)i;
    in->z = mem_array(first.n * views * first.d, sizeof *in->z);
    if (first.labels) {
        in->group = mem_array(first.n, sizeof *in->group);
        memcpy(in->group, first.labels, first.n * sizeof *in->group);
    }
    for (size_t k = 0; k < views; k++) {
        if (!is_features(path[k]))
            die("'%s' is no file of features, but '%s' is: want .npy files, a "
                "view each, or CHECKPOINT DATA",
                path[k], path[0]);
        load(&f, path[k], NULL);
        copy_view(in, path, k, &first, &f);
        json_array_append_new(files, origin(path[k], &f));
        data_features_release(&f);
    }
    in->classes = first.classes;
    first.classes = (struct data_classes){0};
    data_features_release(&first);
    in->origin = json_pack("{s:o}", "rows", files);
}

static void
open_checkpoint(struct instrument *in, char **path, int train)
{
    struct measured *m = &in->measured;
    struct err err;

    measured_open(m, path, train);
    progress_start(&m->progress, "rows", 0, (double)m->n);
    measured_embed(m);
    progress_clear(&m->progress);
    m->progress.unit = NULL; // an instrument shows its own
    in->encoder = 1;
    in->rows = (struct eval_views){
        .samples = m->images, .views = m->n / m->images, .d = m->dim};
    in->z = m->z;
    in->id = mem_array(m->images, sizeof *in->id);
    for (size_t i = 0; i < m->images; i++)
        in->id[i] = (int64_t)i;
    if (common_options.labels[0]) {
        in->group = data_labels_read(common_options.labels[0], m->images, &err);
        or_die(!in->group, &err);
    } else if (data_classes(m->set)) {
        in->classes = data_classes_of(m->set);
        in->group = data_labels_of(m->set);
    }
    in->origin = measured_origin(m, path);
}

/* The folder of a checkpoint with a text encoder, which the caller frees; NULL
 * if it has none. */
static char *
find_bimodal(const char *path)
{
    struct err err;
    char *folder = nn_checkpoint_need(path, &err);
    json_t *config = folder ? nn_checkpoint_config(folder, &err) : NULL;

    or_die(!config, &err);
    if (!json_object_get(config, "text")) {
        free(folder);
        folder = NULL;
    }
    json_decref(config);
    return folder;
}

/* Makes a folder in TMPDIR.  A shell makes it and removes it when the other end
 * of a pipe, *life, is closed: by this process, or by the kernel once this
 * process and foil-embed, which inherits it, have ended.  So not even SIGKILL
 * leaves a folder. */
static char *
make_folder(struct stage_process *remover, int *life)
{
    static char sh[] = "sh", option[] = "-c",
                line[] = "made=$(mktemp -d -- \"$0\") || exit; echo \"$made\"; "
                         "cat; rm -rf -- \"$made\"";
    const char *base = getenv("TMPDIR");
    char *folder = mem_format("%s/foil-XXXXXX", base ? base : "/tmp");
    char *argv[] = {sh, option, line, folder, NULL};
    const ssize_t len = (ssize_t)strlen(folder);
    int ends[2], name[2], rc;
    struct stage_process_config config = {
        .argv = argv,
        .n_fd = 2,
        .ask = STAGE_TERMINATE_INPUT,
        .grace_s = 20, // longer than that of foil-embed (io.c)
    };

    if (pipe(ends) || pipe(name) || fcntl(ends[1], F_SETFD, FD_CLOEXEC))
        die("cannot make a pipe: %s", strerror(errno));
    config.fd = (const int[]){ends[0], name[1]};
    rc = stage_process_start(remover, &config);
    if (rc)
        die("cannot start a process: %s", strerror(rc));
    close(ends[0]);
    close(name[1]);
    if (read(name[0], folder, (size_t)len) != len)
        die("cannot make a folder in '%s'", base ? base : "/tmp");
    close(name[0]);
    fcntl(ends[1], F_SETFD, 0); // foil-embed inherits it
    *life = ends[1];
    return folder;
}

/* Options on views are useless if the operands are views already. */
static void
refuse_views(const char *what)
{
    const void *const of_views[] = {
        &measured_settings.views, &measured_settings.recipe,
        &measured_settings.chunk, &measured_settings.max_pixels};

    for (size_t i = 0; i < sizeof of_views / sizeof *of_views; i++)
        if (opt_is_set(of_views[i]))
            opt_misuse("--views, --recipe, --chunk and --max-pixels are for "
                       "random views, not for %s",
                       what);
}

/* Embeds images and captions with the two encoders of a checkpoint, by
 * foil-embed. */
static void
open_bimodal(struct instrument *in, char **path)
{
    const char *const names[] = {"images", "captions"};
    const char *const sets[] = {path[1], path[1]};
    struct stage_process remover;
    json_t *files;
    char *folder, *file[3] = {NULL};
    int life, done;

    refuse_views("images and captions");
    folder = make_folder(&remover, &life);
    for (int k = 0; k < 2; k++)
        file[k] = mem_format("%s/%s.npy", folder, names[k]);
    done = embed_both(-1, in->bimodal, sets, 1, measured_settings.average,
                      common_options.threads, file) > 0;
    if (done)
        open_features(in, file);
    close(life);
    stage_process_wait(&remover, -1);
    if (!done)
        die("foil-embed could not embed '%s' with '%s'", path[1], in->bimodal);
    files = json_object_get(in->origin, "rows");
    for (size_t k = 0; k < 2; k++) {
        json_object_set_new(json_array_get(files, k), "file",
                            json_string(names[k]));
        free(file[k]);
    }
    free(folder);
    json_object_set_new(in->origin, "data", json_string(path[1]));
    if (!opt_is_set(&negatives))
        negatives = 1;
}

void
instrument_open(struct instrument *in, char **path, int train)
{
    size_t n;

    *in = (struct instrument){.encoder = 0};
    if (is_features(path[0])) {
        refuse_views("features");
        if (opt_is_set(&measured_settings.average))
            opt_misuse("--average is for CHECKPOINT DATA, not for features");
        open_features(in, path);
    } else if (!path[1] || path[2]) {
        opt_misuse("needs CHECKPOINT DATA, or files of features, which end in "
                   ".npy");
    } else if ((in->bimodal = find_bimodal(path[0]))) {
        open_bimodal(in, path);
    } else {
        open_checkpoint(in, path, train);
    }
    n = eval_views_count(&in->rows);
    in->rows.cross = negatives;
    if (in->rows.samples < 2)
        die("'%s' has one sample: want two or more", path[0]);
    if (in->rows.cross && in->rows.views < 2)
        opt_misuse("--negatives cross needs two views");
    in->v = mem_array(n * in->rows.d, sizeof *in->v);
    num_unit_rows(n, in->rows.d, in->z, in->v, NULL);
    in->rows.v = in->v;
    in->rows.z = in->z;
    in->rows.group = in->group;
}

void
instrument_release(struct instrument *in)
{
    if (in->encoder)
        measured_release(&in->measured);
    else
        free(in->z);
    free(in->bimodal);
    data_classes_release(&in->classes);
    json_decref(in->origin);
    mem_free(in->v, in->id, in->group);
}

json_t *
instrument_protocol(const struct instrument *in)
{
    json_t *how = json_pack(
        "{s:I s:I s:I s:s s:I}", "samples", (json_int_t)in->rows.samples,
        "views", (json_int_t)in->rows.views, "d", (json_int_t)in->rows.d,
        "negatives", opt_choice(&negatives), "seed",
        (json_int_t)measured_settings.seed);

    json_object_update(how, in->origin);
    return how;
}

const char *
instrument_group(const struct instrument *in, size_t sample, char text[24])
{
    const int64_t group = in->group ? in->group[sample] : -1;

    return group < 0 ? NULL : class_name(&in->classes, group, text);
}

json_t *
spread(size_t n, const double *x)
{
    json_t *out = json_object();
    double *sorted = describe_numbers(out, n, x);
    const double deviation = json_real_value(json_object_get(out, "deviation"));

    json_object_update_new(out,
                           json_pack("{s:f s:f s:f s:f}", "mean_error",
                                     deviation / sqrt((double)n), "low",
                                     eval_quantile(n, sorted, .05), "median",
                                     eval_quantile(n, sorted, .5), "high",
                                     eval_quantile(n, sorted, .95)));
    free(sorted);
    return out;
}

json_t *
figure_json(struct eval_figure figure)
{
    return json_pack("{s:f s:f}", "value", figure.value, "half_width",
                     figure.half);
}
