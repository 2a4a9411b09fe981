#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/features.h"
#include "data/row.h"
#include "data/set.h"
#include "eval/descriptor.h"
#include "image/view.h"
#include "nn/model.h"
#include "util/digest.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/progress.h"

#include "embed.h"

/* A cell of a table: tabs and ends of lines become blanks. */
static void
write_cell(FILE *to, const char *text)
{
    for (; *text; text++)
        putc(strchr("\t\r\n", *text) ? ' ' : *text, to);
}

/* Opens a file of the projector's folder, or ends the tool. */
static void
open_file(struct file_draft *draft, const char *folder, const char *name)
{
    struct err err;

    *draft = (struct file_draft){0};
    or_die(file_draft_open(draft, mem_temp("%s/%s", folder, name), &err), &err);
}

static void
keep_file(struct file_draft *draft)
{
    struct err err;

    or_die(file_draft_keep(draft, &err), &err);
}

/* Writes features for TensorBoard's projector: tensors.tsv, a row a line;
 * metadata.tsv, with id, class and file of each row; and a file that names
 * both. */
static void
write_projector(const char *folder, const struct data_features *f,
                const struct data_set *set)
{
    struct file_draft draft;
    struct err err;

    or_die(file_mkdir(folder, 0777, &err), &err);
    open_file(&draft, folder, "tensors.tsv");
    for (size_t i = 0; i < f->n && !ferror(draft.file); i++)
        for (size_t k = 0; k < f->d; k++)
            fprintf(draft.file, "%.6g%c", (double)f->x[i * f->d + k],
                    k + 1 < f->d ? '\t' : '\n');
    keep_file(&draft);
    open_file(&draft, folder, "metadata.tsv");
    fprintf(draft.file, "id\tclass\tfile\n");
    for (size_t i = 0; i < f->n && !ferror(draft.file); i++) {
        const int64_t label = f->labels ? f->labels[i] : -1;

        fprintf(draft.file, "%" PRId64 "\t", f->ids[i]);
        write_cell(draft.file, label < 0 ? "" : f->classes.name[label]);
        putc('\t', draft.file);
        write_cell(draft.file, data_name(set, (size_t)f->ids[i]));
        putc('\n', draft.file);
    }
    keep_file(&draft);
    open_file(&draft, folder, "projector_config.pbtxt");
    fprintf(draft.file, "embeddings {\n  tensor_name: \"features\"\n"
                        "  tensor_path: \"tensors.tsv\"\n"
                        "  metadata_path: \"metadata.tsv\"\n}\n");
    keep_file(&draft);
}

/* The state of a job. */
struct work {
    const struct embed_options *job;
    struct data_set *set;
    struct image_recipe recipe; /* of random views, if job->recipe is set */
    uint64_t seed;              /* mixed with the data set's digest */
    struct data_bytes bytes;
    struct image_decoder *decoder;
    struct image image;
    struct image_scratch *scratch;
    struct embed_encoder encoder;
    struct data_row row; /* d is 0 if the samples are images */
    size_t size, width;  /* of an image, or numbers in a row; of its features */
    int32_t *ids;        /* [batch] rows of an embedding table; or NULL */
};

/* Bytes of an image, or of a row. */
static size_t
pixels_of(const struct work *work)
{
    return work->row.d ? work->size * sizeof(float)
                       : work->size * work->size * 3;
}

/* Makes the view of a sample, [size,size,3], or sets ids[i] for a table: 0, -1
 * for a bad image, or DATA_UNREAD. */
static int
load_view(struct work *work, size_t id, size_t i, uint8_t *out, struct err *err)
{
    struct err why;
    int rc;

    if (work->ids) {
        work->ids[i] = (int32_t)(id * (size_t)work->encoder.model.spec.views +
                                 (size_t)work->job->view);
        return data_touch(work->set, id, err) ? DATA_UNREAD : 0;
    }
    rc = data_read(work->set, id, &work->bytes, err);
    if (rc)
        return rc;
    if (work->row.d) {
        memset(out, 0, pixels_of(work));
        if (work->bytes.len != work->row.d * work->row.item)
            return err_set(err, "%s: want %zu numbers",
                           data_name(work->set, id), work->row.d);
        data_row_view(&work->row, work->job->recipe ? &work->recipe : NULL,
                      work->bytes.data, work->seed, id, 0,
                      (uint64_t)work->job->view, out);
        return 0;
    }
    if (image_codec_decode(&work->decoder, work->bytes.data, work->bytes.len,
                           (size_t)work->job->max_pixels, IMAGE_REFUSE, NULL,
                           &work->image, &why))
        return err_set(err, "sample %zu, '%s': %s", id,
                       data_name(work->set, id), why.msg);
    if (work->job->recipe)
        image_view(&work->recipe, &work->image, work->seed, id, 0,
                   (uint64_t)work->job->view, &work->scratch, out);
    else
        image_plain(work->size, &work->image, &work->scratch, out);
    return 0;
}

static void
open_model(struct work *work)
{
    const struct embed_options *job = work->job;
    const struct nn_model *model = &work->encoder.model;
    struct err err;
    int rows;

    embed_encoder_open(&work->encoder, job, job->captions);
    rows = nn_encoder_of_rows(model->spec.arch);
    work->size = model->spec.image_width;
    if (!work->row.d != !rows)
        die("'%s' reads %s, and '%s' has %s", job->checkpoint,
            rows ? "rows of numbers" : "images", job->data,
            rows ? "images" : "rows of numbers");
    if (work->row.d > work->size)
        die("'%s' reads rows of %zu numbers, and '%s' has %zu in each",
            job->checkpoint, work->size, job->data, work->row.d);
    if (!work->row.d && model->spec.height != work->size)
        die("'%s' is for images of %zu x %zu, not for square ones",
            job->checkpoint, work->size, model->spec.height);
    work->width = embed_encoder_width(&work->encoder);
    if (nn_encoder_reads(model->spec.arch, NN_IDS))
        work->ids = mem_array((size_t)job->batch, sizeof *work->ids);
    or_die(
        nn_model_fits(model, data_size(work->set), (size_t)job->view + 1, &err),
        &err);
}

/* Writes the features of n images, [n,size,size,3], to x [n,d]. */
static void
embed_batch(struct work *work, size_t n, const uint8_t *images, float *x)
{
    const struct nn_input input = {.n = n, .images = images, .ids = work->ids};

    if (work->job->descriptor)
        for (size_t i = 0; i < n; i++)
            eval_descriptor(work->size, images + i * pixels_of(work),
                            x + i * EVAL_DESCRIPTOR);
    else if (work->job->raw && work->row.d)
        memcpy(x, images, n * pixels_of(work));
    else if (work->job->raw)
        for (size_t i = 0; i < n * pixels_of(work); i++)
            x[i] = images[i] / 255.f;
    else
        embed_encoder_infer(&work->encoder, &input, x);
}

/* The first sample of this job's part, or of the part `later` parts after
 * it. */
static size_t
begin_of(const struct work *work, size_t later)
{
    const size_t all = data_size(work->set);
    const size_t parts = (size_t)work->job->parts;
    const size_t part = (size_t)work->job->part - 1 + later;

    return all / parts * part + (part < all % parts ? part : all % parts);
}

/* Embeds all samples; returns the number of skipped ones. */
static size_t
embed_all(struct work *work, struct data_features *f)
{
    const struct data_set *set = work->set;
    const size_t each = pixels_of(work), end = begin_of(work, 1);
    const size_t first = begin_of(work, 0), all = end - first;
    const size_t batch = (size_t)work->job->batch;
    uint8_t *pixels = mem_array(batch, each);
    struct progress progress;
    size_t waiting = 0;
    struct err err;

    data_features_room(f, set, work->width);
    progress_start(&progress, "images", 0, (double)all);
    for (size_t id = first; id < end; id++) {
        const int rc =
            load_view(work, id, waiting, pixels + waiting * each, &err);

        if (rc) {
            progress_clear(&progress);
            // reports a bad image; dies unless --bad skip allows it
            if (rc == DATA_UNREAD)
                die("%s", err.msg);
            if (!work->job->skip)
                die("%s (--bad skip leaves out bad images)", err.msg);
            log_message("%s", err.msg);
        } else {
            f->ids[f->n + waiting] = (int64_t)id;
            if (f->labels)
                f->labels[f->n + waiting] = data_label(set, id);
            waiting++;
        }
        if (waiting == batch || (id + 1 == end && waiting)) {
            embed_batch(work, waiting, pixels, f->x + f->n * f->d);
            f->n += waiting;
            waiting = 0;
            progress_show(&progress, (double)(id + 1 - first), "");
        }
    }
    progress_clear(&progress);
    free(pixels);
    if (!f->n)
        die(all ? "no image could be decoded: see foil-data index --decode"
                : "the part is empty: there are fewer images than parts");
    return all - f->n;
}

/* Describes how the features were made, for x.json. */
static json_t *
describe_job(const struct work *work, size_t skipped)
{
    const struct embed_options *job = work->job;
    const char *layer = work->encoder.head ? "z" : "h";
    char hex[DIGEST_HEX];
    json_t *how;

    if (!job->checkpoint)
        layer = job->descriptor ? "descriptor"
                : work->row.d   ? "rows"
                                : "pixels / 255";
    how = json_pack(
        "{s:s s:s s:{s:s s:s s:I} s:O? s:s s:I s:s s:I s:I s:I s:I s:o* s:o*}",
        "tool", "foil-embed", "version", FOIL_VERSION, "data", "path",
        job->data, "digest", digest_hex(data_digest(work->set), hex), "size",
        (json_int_t)data_size(work->set), "encoder", work->encoder.model.about,
        "layer", layer, "image_size", (json_int_t)work->size, "view",
        job->recipe ? job->recipe : "plain", "seed", (json_int_t)job->seed,
        "skipped", (json_int_t)skipped, "batch", (json_int_t)job->batch,
        "threads", (json_int_t)job->threads, "shard",
        job->parts > 1
            ? json_pack("[I,I]", (json_int_t)job->part, (json_int_t)job->parts)
            : NULL,
        "view_number", job->recipe ? json_integer(job->view) : NULL);

    REQUIRE(how);
    return how;
}

/* Takes ids and groups of equal texts from the files next to the array of all
 * rows, if it has these: they are of the samples that it was made of. */
static void
keep_ids(const struct work *work, struct data_features *f)
{
    struct data_features of = {.n = data_size(work->set)};
    uint64_t offset;
    struct err err;
    char *array = data_where(work->set, 0, &offset, &err);

    if (array && !data_features_sidecars(&of, array, &err)) {
        if (of.same)
            f->same = mem_array(f->n, sizeof *f->same);
        for (size_t i = 0; i < f->n; i++) {
            if (of.same)
                f->same[i] = of.same[f->ids[i]];
            if (of.ids)
                f->ids[i] = of.ids[f->ids[i]];
        }
    }
    data_features_release(&of);
    free(array);
}

void
embed_image_job(const struct embed_options *job)
{
    struct work work = {.job = job};
    struct data_features features = {0};
    struct err err;
    size_t skipped;

    if (job->recipe && image_recipe_find(job->recipe, &work.recipe, &err))
        opt_misuse("%s", err.msg);
    work.set = data_open_parts_or_die(job->data, job->skip);
    work.seed = data_seed(work.set, (uint64_t)job->seed);
    or_die(data_row_of(work.set, &work.row, &err), &err);
    if (work.row.d && job->descriptor)
        opt_misuse("--descriptor is for images, not for rows of numbers");
    data_protect_or_die(work.set, job->output);
    // opens the encoder, or sets the size of an image without one
    if (job->checkpoint) {
        open_model(&work);
    } else if (job->descriptor) {
        if (job->size % EVAL_CELLS)
            opt_misuse("--size %ld: want a multiple of %d with --descriptor",
                       job->size, EVAL_CELLS);
        work.size = job->size ? (size_t)job->size : 64;
        work.width = EVAL_DESCRIPTOR;
    } else {
        work.size = work.row.d  ? work.row.d
                    : job->size ? (size_t)job->size
                                : 32;
        work.width = work.row.d ? work.row.d : pixels_of(&work);
    }
    if (job->view && !job->recipe && !work.ids)
        opt_misuse("--view %ld is a random view: add --recipe, which makes it",
                   job->view);
    work.recipe.size = work.size;
    skipped = embed_all(&work, &features);
    if (work.row.d)
        keep_ids(&work, &features);
    features.about = describe_job(&work, skipped);
    or_die(data_features_write(job->output, &features, &err), &err);
    if (job->projector)
        write_projector(job->projector, &features, work.set);
    if (skipped)
        log_message("bad images, left out: %zu of %zu", skipped,
                    begin_of(&work, 1) - begin_of(&work, 0));
    data_features_release(&features);
    embed_encoder_close(&work.encoder);
    free(work.ids);
    image_scratch_free(work.scratch);
    image_release(&work.image);
    image_jpeg_free(work.decoder);
    data_bytes_release(&work.bytes);
    data_close(work.set);
}
