#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/index.h"
#include "data/row.h"
#include "image/codec.h"
#include "text/text.h"
#include "util/mem.h"

#include "captions.h"
#include "cells.h"
#include "input.h"
#include "labels.h"

enum {
    COMPLAINTS = 100,
    MAX_CLASS = 255 // bytes of the name of a class
};

struct data_index {
    struct data_index_settings settings;
    struct data_columns columns; // as the user described them
    struct input *input;
    struct siblings siblings;

    struct layout_parts parts;
    uint64_t *class; // [samples] offsets in the text, 0: none
    size_t class_room;
    size_t *first; // [files] first sample of each
    size_t first_room;
    int explicit; // some label is from a file, not from a folder's name
    int tars;     // some file of a folder is a tar
    int assigned; // labels are assigned

    struct data_bytes bytes;
    struct image_decoder *decoder;
    struct image image;
    char *complaint[COMPLAINTS];
    size_t bad, files, sidecars, hidden, unlabelled;
    struct skipped skipped;
    struct data_index_captions captions;
    struct data_notes notes;
};

struct data_index *
data_index_new(const struct data_index_settings *how)
{
    struct data_index *index = mem_array(1, sizeof *index);

    index->settings = *how;
    data_layout_text(&index->parts, "", 0);
    return index;
}

void
data_index_free(struct data_index *index)
{
    if (!index)
        return;
    data_input_close(index->input);
    data_skipped_release(&index->skipped);
    data_siblings_release(&index->siblings);
    data_layout_release(&index->parts);
    data_bytes_release(&index->bytes);
    image_release(&index->image);
    image_jpeg_free(index->decoder);
    for (size_t i = 0; i < index->bad && i < COMPLAINTS; i++)
        free(index->complaint[i]);
    data_columns_release(&index->columns);
    data_notes_release(&index->notes);
    mem_free(index->class, index->first, index);
}

int
data_index_columns(struct data_index *index, const char *spec, struct err *err)
{
    data_columns_release(&index->columns);
    return data_columns_parse(&index->columns, spec, err);
}

/* Ends a group of files that belong together; without an image, its files of
 * captions and classes count as skipped, such as a readme.txt. */
static void
end_siblings(struct data_index *index)
{
    const struct data_bytes *files = &index->siblings.files;
    const char *name = (const char *)files->data;

    if (index->siblings.first < index->parts.samples)
        return;
    for (size_t at = 0; at < files->len; at += strlen(name + at) + 1) {
        data_skipped_count(&index->skipped, DATA_KIND_OTHER, name + at);
        index->sidecars--;
    }
}

/* Closes the input and adds its counts. */
static void
end_input(struct data_index *index)
{
    struct layout_parts *parts = &index->parts;
    struct input *input = index->input;
    size_t first;

    if (!input)
        return;
    first = index->first[parts->files - 1];
    data_skipped_add_classes(&index->skipped, parts, first,
                             parts->samples - first);
    if (input->nameless)
        data_notes_add(
            &index->notes,
            mem_format("%zu row%s of '%s' without a name (such as line %zu): "
                       "not used",
                       input->nameless, plural(input->nameless),
                       input->rows.cells.path, input->nameless_line));
    index->hidden += input->tar ? input->tar->hidden : input->tree.hidden;
    data_input_close(input);
    index->input = NULL;
    end_siblings(index);
    data_siblings_reset(&index->siblings, parts->samples);
}

int
data_index_add(struct data_index *index, const char *path, struct err *err)
{
    const size_t files = index->parts.files;
    const struct tree *tree;
    struct input *input;

    end_input(index);
    input = data_input_open(path, &index->columns, &index->notes, err);
    if (!input)
        return -1;
    index->input = input;
    mem_grow(&index->first, &index->first_room, files + 1,
             sizeof *index->first);
    index->first[files] = index->parts.samples;
    if (data_layout_file(
            &index->parts, input->root,
            input->tar || input->array.fd ? LAYOUT_TAR : LAYOUT_FOLDER,
            input->tar ? input->tar->bytes : input->array.bytes, err))
        return -1;
    if (input->list_path)
        data_layout_mark(&index->parts,
                         input->list_path + data_kind_folders(input->list_path),
                         1, &input->list_state);
    tree = &input->tree;
    for (size_t i = 0; i < tree->folders; i++)
        data_layout_mark(&index->parts, tree->text + tree->folder[i].name, 0,
                         &tree->folder[i].state);
    return 0;
}

static int
check_image(struct data_index *index, struct layout_sample *sample,
            struct err *err)
{
    const struct data_bytes *bytes = &index->bytes;
    size_t width, height, most = index->settings.max_pixels;

    if (image_codec_header(&index->decoder, bytes->data, bytes->len, most,
                           &width, &height, err))
        return -1;
    if (index->settings.decode &&
        image_codec_decode(&index->decoder, bytes->data, bytes->len, most,
                           IMAGE_REFUSE, NULL, &index->image, err))
        return -1;
    sample->width = (uint16_t)width;
    sample->height = (uint16_t)height;
    sample->bytes = (uint32_t)bytes->len;
    sample->codec = (uint32_t)image_codec_of(bytes->data, bytes->len);
    sample->digest = digest_bytes(bytes->data, bytes->len);
    return 0;
}

/* Describes a row of an array, which must be finite. */
static int
check_row(const struct data_index *index, struct layout_sample *sample,
          struct err *err)
{
    const struct array *array = &index->input->array;
    const struct data_row row = {array->d, array->item};
    const struct data_bytes *bytes = &index->bytes;
    float view[DATA_ROW_MAX];

    data_row_view(&row, NULL, bytes->data, 0, 0, 0, 0, (uint8_t *)view);
    for (size_t i = 0; i < array->d; i++)
        if (!isfinite(view[i]))
            return err_set(err, "is not finite");
    sample->width = (uint16_t)array->d;
    sample->height = 1;
    sample->bytes = (uint32_t)bytes->len;
    sample->codec = IMAGE_CODEC_ROW;
    sample->digest = digest_bytes(bytes->data, bytes->len);
    return 0;
}

static int
take_image(struct data_index *index, const struct input_item *item,
           struct err *err)
{
    struct layout_parts *parts = &index->parts;
    const size_t n = parts->samples;
    struct layout_sample sample = {
        .offset = item->offset,
        .file = (uint32_t)parts->files - 1,
        .label = -1,
    };
    uint64_t class = index->siblings.class;
    struct data_bytes tidy = {0};
    int rc = data_input_read(index->input, item, &index->bytes, err);

    if (rc || (rc = index->input->array.fd ? check_row(index, &sample, err)
                                           : check_image(index, &sample, err)))
        return rc;
    sample.name = data_layout_text(parts, item->name, strlen(item->name));
    if (item->caption) {
        data_captions_line(item->caption, strlen(item->caption), &tidy,
                           &index->captions);
        sample.caption = data_layout_text(parts, (char *)tidy.data, tidy.len);
    }
    if (item->label && *item->label) {
        tidy.len = 0;
        text_append(&tidy, item->label, strlen(item->label));
        class =
            data_layout_text(parts, (char *)tidy.data,
                             data_captions_tidy((char *)tidy.data, tidy.len));
        index->explicit = 1;
    }
    data_bytes_release(&tidy);
    mem_grow(&parts->sample, &parts->sample_room, n + 1, sizeof *parts->sample);
    mem_grow(&index->class, &index->class_room, n + 1, sizeof *index->class);
    parts->sample[n] = sample;
    index->class[n] = class;
    parts->samples++;
    data_siblings_assign(&index->siblings, &index->parts, &index->captions);
    return 0;
}

/* Assigns the class in index->bytes to its sibling images, earlier or later
 * ones. */
static int
take_class(struct data_index *index, struct err *err)
{
    struct siblings *siblings = &index->siblings;
    struct data_bytes *bytes = &index->bytes;

    if (bytes->len > MAX_CLASS)
        return err_set(err, "is longer than %d bytes", MAX_CLASS);
    siblings->class =
        data_layout_text(&index->parts, (char *)bytes->data,
                         data_captions_tidy((char *)bytes->data, bytes->len));
    index->explicit |= siblings->class != 0;
    for (size_t i = siblings->first; i < index->parts.samples; i++)
        index->class[i] = siblings->class;
    return 0;
}

/* Records a bad file and returns 1, or completes the message and returns rc,
 * which is -1 or DATA_UNREAD. */
static int
note_bad_file(struct data_index *index, const char *name, int rc,
              struct err *err)
{
    struct err reason = *err;
    const char *hint = "";

    if (index->input->list && strpbrk(name, " ,"))
        hint = ": between path and label a list has a tab, or a comma if its "
               "name ends in .csv";
    else if (index->input->list && data_kind_of(name) == DATA_KIND_OTHER)
        hint = ": a list has paths of files, with their endings, such as .jpg";
    if (!index->settings.skip_bad || rc == DATA_UNREAD) {
        err_set(err, "'%s' in '%s': %s%s", name, index->input->root, reason.msg,
                hint);
        return rc;
    }
    if (index->bad < COMPLAINTS)
        index->complaint[index->bad] = mem_format("'%s': %s", name, reason.msg);
    index->bad++;
    return 1;
}

/* Adds or skips a file of the input; -1 if it is bad. */
static int
take_file(struct data_index *index, const struct input_item *item,
          enum data_kind kind, struct err *err)
{
    struct siblings *siblings = &index->siblings;
    int rc;

    if (item->bad)
        return err_set(err, "%s", item->bad);
    if (kind == DATA_KIND_JSON &&
        data_input_size(index->input, item) > CAPTIONS_MAX_JSON)
        kind = DATA_KIND_OTHER;
    if (kind >= DATA_KIND_PICTURE) {
        index->tars |= data_kind_ends(item->name, ".tar");
        data_skipped_count(&index->skipped, kind, item->name);
        return 0;
    }
    if (kind == DATA_KIND_IMAGE)
        return take_image(index, item, err);
    rc = data_input_read(index->input, item, &index->bytes, err);
    if (!rc && kind == DATA_KIND_CLASS) {
        rc = take_class(index, err);
    } else if (!rc) {
        data_siblings_captions(siblings, kind == DATA_KIND_JSON,
                               (char *)index->bytes.data, index->bytes.len);
        data_siblings_assign(siblings, &index->parts, &index->captions);
    }
    if (!rc) {
        text_append(&siblings->files, item->name, strlen(item->name) + 1);
        index->sidecars++;
    }
    return rc;
}

int
data_index_next(struct data_index *index, struct err *err)
{
    struct input_item item;
    enum data_kind kind;
    int got, list, rc;

    REQUIRE(index->input);
    list = index->input->list || index->input->array.fd;
    got = data_input_next(index->input, &item, err);
    if (got == -1 && index->settings.skip_bad) {
        index->files++;
        note_bad_file(index, index->input->root, got, err);
        return 0; // the rest of a damaged archive is lost
    }
    if (got <= 0)
        return got;
    kind = list ? DATA_KIND_IMAGE : data_kind_of(item.name);
    index->files += !list && kind != DATA_KIND_HIDDEN;
    index->hidden += kind == DATA_KIND_HIDDEN;
    if (kind < DATA_KIND_PICTURE && !list &&
        !data_siblings_has(&index->siblings, item.name)) {
        end_siblings(index);
        data_siblings_begin(&index->siblings, item.name, index->parts.samples);
    }
    rc = take_file(index, &item, kind, err);
    if (!rc)
        return 1;
    if (kind == DATA_KIND_IMAGE)
        data_names_add(&index->skipped.folders, item.name,
                       data_kind_folders(item.name));
    return note_bad_file(index, item.name, rc, err);
}

double
data_index_share(const struct data_index *index)
{
    return index->input ? data_input_share(index->input) : 0;
}

size_t
data_index_size(const struct data_index *index)
{
    return index->parts.samples;
}

struct data_index_report
data_index_report(const struct data_index *index)
{
    const struct skipped *skipped = &index->skipped;
    struct data_index_report report = {
        .images = index->parts.samples,
        .classes = index->parts.classes,
        .unlabelled = index->unlabelled,
        .files = index->files,
        .sidecars = index->sidecars,
        .skipped = {skipped->of[0], skipped->of[1]},
        .bad = index->bad,
        .hidden = index->hidden,
        .captions = index->captions,
        .n_complaints = index->bad < COMPLAINTS ? index->bad : COMPLAINTS,
        .n_notes = index->notes.n,
        .n_lost = skipped->classes.n,
        .complaint = index->complaint,
        .note = index->notes.text,
        .lost = skipped->classes.name,
    };

    for (size_t i = 0; i < index->parts.samples; i++)
        report.captions.captioned += index->parts.sample[i].caption != 0;
    return report;
}

const char *
data_index_class(const struct data_index *index, size_t i)
{
    REQUIRE(i < index->parts.classes);
    return index->parts.text + index->parts.class[i];
}

char *
data_index_kinds(const struct data_index *index, int pictures)
{
    return data_skipped_kinds(&index->skipped, pictures);
}

int
data_index_table(struct data_index *index, const char *path,
                 struct data_index_rows *rows, struct err *err)
{
    end_input(index);
    return data_table_read(&index->parts, path, &index->columns,
                           &index->captions, &index->notes, rows, err);
}

/* Reports that there is no sample, and what there is instead. */
static int
no_sample(const struct data_index *index, const char *path, struct err *err)
{
    const struct layout_parts *parts = &index->parts;
    const struct data_index_skipped *pictures = &index->skipped.of[1];
    const char *where =
        parts->files ? parts->text + parts->file[0].absolute : path;

    if (index->tars)
        return err_set(err, "there is no image in '%s', only tars: name these",
                       where);
    if (pictures->n)
        return err_set(err,
                       "there is no image in '%s', only images of other forms "
                       "(%zu, such as '%s'): convert them to JPEG or PNG first",
                       where, pictures->n, pictures->first);
    return err_set(err,
                   "there is no image in '%s': want JPEG, PNG or WebP files, "
                   "or folders of them",
                   where);
}

int
data_index_assign_labels(struct data_index *index, struct err *err)
{
    struct layout_parts *parts = &index->parts;

    end_input(index);
    for (size_t i = 0; !index->explicit && i < parts->files; i++) {
        size_t end =
            i + 1 < parts->files ? index->first[i + 1] : parts->samples;

        data_labels_from_folders(parts, index->first[i], end - index->first[i],
                                 index->class);
    }
    if (data_labels_assign(parts, index->class, index->explicit, &index->notes,
                           err))
        return -1;
    for (size_t i = 0; i < parts->samples; i++)
        index->unlabelled += parts->sample[i].label < 0;
    data_skipped_remove_found(&index->skipped, parts, index->explicit);
    index->assigned = 1;
    return 0;
}

int
data_index_write(struct data_index *index, const char *path, struct err *err)
{
    end_input(index);
    if (!index->parts.samples)
        return no_sample(index, path, err);
    if (!index->assigned && data_index_assign_labels(index, err))
        return -1;
    return data_layout_write(&index->parts, path, err);
}
