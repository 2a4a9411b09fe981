#pragma once

#include <stddef.h>
#include <stdint.h>

#include "image/codec.h"
#include "util/digest.h"
#include "util/err.h"
#include "util/mem.h"

/*
 * A data set: samples with ids 0 .. size - 1, each an image in some file, with
 * a label, a caption and a name if the input has them.  Random access by id
 * through an index file of data_index_*() (foil-data index).
 *
 * `path` in data_open() is the index, or the data next to its index ("x.tar"
 * and "x.tar.foil", "dir" and "dir.foil").  Errors, each with a message: no
 * index, an index of another version, a missing folder or tar, a tar of another
 * size.  The data is searched at its old path relative to the index, then at
 * its old absolute path.
 *
 * A list of indexes, its shards (data/join.h), is a set of all their samples,
 * equal to the index of all their data.  It opens a shard when one of its
 * samples is read.  At most 4096 are open: texts of a shard are valid until as
 * many others were opened after it.  A process ends with a message if a shard
 * that it had opened is missing when a function without `err` reads it again.
 */
struct data_set;

struct data_set *data_open(const char *path, struct err *err);
void data_close(struct data_set *set);

/*
 * data_open_parts() is a data_open() that reads little of the index and does
 * not check its samples: call data_read() or data_touch() for a sample before
 * any other function. data_check() checks all samples, as data_open() does.
 * data_facts() of a list needs neither.
 * Both return 0, or -1 with a message if the index is damaged, or was
 * overwritten since it was opened.
 */
struct data_set *data_open_parts(const char *path, struct err *err);
int data_touch(const struct data_set *set, size_t id, struct err *err);
int data_check(const struct data_set *set, struct err *err);

/*
 * data_stale() compares the data with the index. 0: no change; 1: files or
 * folders were added or removed, but not those of samples, or a file list has
 * changed; -1: the file of a sample is missing.  Except for 0, err names the
 * change and the remedy.
 *
 * Only names count. data_read() detects changes within a file; files that an
 * index skips may come and go; times of files are only a hint, so a copy of the
 * data is as good as the original.
 *
 * Costs a stat() of each of the first 65,536 folders.  Only folders with
 * another time, as in a copy, are listed; there is no stat() of each file.
 * data_open() compares tars.  Of a list by data_open_parts() a shard is
 * compared when it is opened, by its tars alone.
 */
int data_stale(const struct data_set *set, struct err *err);

size_t data_size(const struct data_set *set);

/* data_digest() returns the digest that identifies the set: of the samples'
 * digests and labels in their order and of the captions, if there are any. */
struct digest data_digest(const struct data_set *set);

/* data_seed() mixes a seed with the digests and labels of the samples, but not
 * with captions: views of two sets differ, and views of one set do not depend
 * on captions. */
uint64_t data_seed(const struct data_set *set, uint64_t seed);

/*
 * data_classes() returns the number of classes, 0 if there are no labels;
 * data_class_name() the name of one, which is the number if labels were whole
 * numbers.  Labels of two sets mean one class if the names are equal
 * (data/classes.h).
 */
size_t data_classes(const struct data_set *set);
const char *data_class_name(const struct data_set *set, size_t label);

/* One sample, id < size: label -1 and caption "" if there is none.  Captions
 * are separated by '\n'.  The set owns the texts. */
int data_label(const struct data_set *set, size_t id);
const char *data_name(const struct data_set *set, size_t id);
const char *data_caption(const struct data_set *set, size_t id);

/* The file of a sample's image, by the index. */
struct data_file {
    enum image_codec codec;
    size_t bytes, width, height; /* pixels as stored, before EXIF orientation */
};

struct data_file data_file(const struct data_set *set, size_t id);

/* data_facts() returns sums over all samples.  A list of indexes has them; of
 * an index all samples are read and checked, and -1 is that of data_check(). */
struct data_facts {
    uint64_t captioned;               /* samples with captions */
    uint64_t captions, most_captions; /* of all samples; of one */
    uint64_t bytes;                   /* of all images */
    uint64_t codec[IMAGE_CODECS];     /* images of each format */
    uint64_t width[2], height[2];     /* least and most pixels, as stored */
};

int data_facts(const struct data_set *set, struct data_facts *facts,
               struct err *err);

/* data_labels_of() returns the labels of all samples.  The caller frees
 * them. */
int64_t *data_labels_of(const struct data_set *set);

/* data_shards() returns the first samples of the shards of a list, or of the
 * tars and folders of an index, and at the end [*n] the size of the set; the
 * caller frees them.  NULL if the index is damaged. */
uint64_t *data_shards(const struct data_set *set, size_t *n, struct err *err);

/* data_shard() returns the number of the shard of a sample of a list. */
size_t data_shard(const struct data_set *set, size_t id);

/* data_where() returns the absolute path of the file of a sample, its own or a
 * tar; the caller frees it.  The image begins at *offset of that file, and its
 * length is data_file().bytes.  NULL if the file does not exist. */
char *data_where(const struct data_set *set, size_t id, uint64_t *offset,
                 struct err *err);

/* data_reads() returns 1 if writing to a path would replace a file that the set
 * reads: the index, the file or folder that it is made of, or an archive or
 * folder of samples, by any of its names; else 0. */
int data_reads(const struct data_set *set, const char *path);

/* data_is_index() returns 1 for an index, 0 for anything else or a missing
 * file, and -1 for a file that cannot be read. */
int data_is_index(const char *path, struct err *err);

/*
 * data_read() reads the file of a sample into `bytes`, overwriting them, and
 * checks its digest.  Returns 0; -1 if its file is missing or has other
 * contents than when it was indexed; or DATA_UNREAD if its file could not be
 * read, in four tries within half a second, for a reason outside of the image:
 * an I/O error, no descriptor or memory left, a tar that is being rewritten, a
 * damaged index.  Except for 0, err has the sample's name and the reason.
 */
enum { DATA_UNREAD = -2 };
int data_read(struct data_set *set, size_t id, struct data_bytes *bytes,
              struct err *err);

/*
 * data_count_common() counts the samples of a set that are in another set, too,
 * byte for byte and under any name: the overlap of TRAIN and TEST, for example.
 * It compares digests, O(n log m) for n and m samples, and uses 16 bytes for
 * each sample of both.
 */
size_t data_count_common(const struct data_set *set,
                         const struct data_set *other);

/*
 * data_open_or_die() is data_open() and data_stale(), only for main(), as
 * util/opt.h: it ends the process if the data set cannot be opened or the file
 * of a sample is missing, and prints a line if the index is otherwise out of
 * date.
 *   lenient  1: if the file of a sample is missing, only print that; the sample
 *            is then bad when it is read
 */
struct data_set *data_open_or_die(const char *path, int lenient);

/* data_open_parts_or_die() is the same by data_open_parts(). */
struct data_set *data_open_parts_or_die(const char *path, int lenient);

/* data_protect_or_die() ends the process, as for a wrong command line, if
 * writing `output` would replace a file that the set reads (data_reads()). */
void data_protect_or_die(const struct data_set *set, const char *output);
