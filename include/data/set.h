#ifndef DATA_SET_H
#define DATA_SET_H

#include <stddef.h>
#include <stdint.h>

#include "image/codec.h"
#include "util/buffer.h"
#include "util/digest.h"
#include "util/err.h"

/*
 * A data set: samples with ids 0 .. size - 1, each an image somewhere, with a
 * label, a caption and a name where the form has them.  Random access by id
 * through an index file that data_index_*() made (foil-data index).
 *
 * `path` in data_open() is the index itself, or the data with its index
 * beside it ("x.tar" with "x.tar.foil", "dir" with "dir.foil").  Refused, with
 * a sentence that says so: no index, an index of another version, an index
 * whose folder or tar is missing, a tar that has changed in size.  The data is
 * looked for where it was relative to the index, then where it was on the whole
 * machine.
 */
struct data_set;

struct data_set *data_open(const char *path, struct err *err);
void data_close(struct data_set *set);

/*
 * data_open_parts() is a data_open() that reads little of the index and does
 * not check what it says of samples: before anything is asked of a sample, it
 * has to be read by data_read() or checked by data_touch().  data_check()
 * checks all samples, as data_open() does.  Both return 0, or -1 with a
 * sentence where the index is damaged, or was written over since it was opened.
 */
struct data_set *data_open_parts(const char *path, struct err *err);
int data_touch(const struct data_set *set, size_t id, struct err *err);
int data_check(const struct data_set *set, struct err *err);

/*
 * data_stale() compares the data with what the index says of it.  0: it has not
 * changed; 1: files or folders have come or gone since, but those of all
 * samples are there, or a file list has changed; -1: the file of a sample has
 * gone.  But for 0, err is a sentence that says what has changed, and how to
 * mend it.
 *
 * Only names count.  What has changed within a file is found by data_read();
 * files that an index passes over may come and go; times of files are a hint
 * where to look, so that a copy of the data is as good as the original.
 *
 * Costs a stat() of each folder, of more than 65,536 the first so many.  Only
 * the names of a folder whose time differs are listed, as in a copy; no file is
 * looked at one by one.  Tars are compared by data_open().
 */
int data_stale(const struct data_set *set, struct err *err);

size_t data_size(const struct data_set *set);

/*
 * data_digest() returns what names the set: a digest of the samples' digests
 * and labels in their order and, where there are any, of the captions.
 */
struct digest data_digest(const struct data_set *set);

/*
 * data_seed() mixes a seed with all that the digest covers, but for captions:
 * views of two sets differ, and those of a set are the same whatever is said of
 * its images.
 */
uint64_t data_seed(const struct data_set *set, uint64_t seed);

/* data_classes() returns the number of classes, 0 where there are no labels;
 * data_class_name() the name of one, the number itself where classes came as
 * whole numbers.  Labels of two sets are of one class where the names are the
 * same (data/classes.h). */
size_t data_classes(const struct data_set *set);
const char *data_class_name(const struct data_set *set, size_t label);

/*
 * Of one sample, id < size: label -1 and caption "" where there is none.
 * Captions are lines separated by '\n'.  The codec is the form of the image's
 * file, by the index; length is that of this file in bytes; width and height
 * are in pixels as stored, before an EXIF orientation turns the image.  Texts
 * belong to the set.
 */
int data_label(const struct data_set *set, size_t id);
enum image_codec data_codec(const struct data_set *set, size_t id);
size_t data_length(const struct data_set *set, size_t id);
size_t data_width(const struct data_set *set, size_t id);
size_t data_height(const struct data_set *set, size_t id);
const char *data_name(const struct data_set *set, size_t id);
const char *data_caption(const struct data_set *set, size_t id);

/* data_captions_most() returns how many captions a sample of the set has at
 * most, O(bytes). */
size_t data_captions_most(const struct data_set *set);

/* data_labels_of() returns the labels of all samples, to be given to free(). */
int64_t *data_labels_of(const struct data_set *set);

/*
 * data_where() returns the absolute path of the file that holds a sample, to be
 * given to free(): its own file, or a tar.  *offset is where its image begins
 * in that file, and data_length() how long it is.  NULL when that path leads
 * nowhere.
 */
char *data_where(const struct data_set *set, size_t id, uint64_t *offset,
                 struct err *err);

/* data_reads() returns 1 where writing to a path would replace what the set is
 * read from: the index, the file or folder that it lies beside, or an archive
 * or folder of samples, by whatever name; else 0. */
int data_reads(const struct data_set *set, const char *path);

/* data_is_index() returns 1 for an index, 0 for anything else or nothing at
 * all, and -1 for a file that cannot be read. */
int data_is_index(const char *path, struct err *err);

/*
 * data_read() reads the file of a sample over what `bytes` held, and checks its
 * digest.
 * Returns 0; -1 where the image that was indexed is not there, since its file
 * has gone or has another content; or DATA_UNREAD where its file could not be
 * read, in four tries within half a second.  The latter says nothing about the
 * image: it is an I/O error, no descriptor or memory is left, a tar is being
 * written anew, the index is damaged.  But for 0, err has the sample's name and
 * the reason.
 */
enum { DATA_UNREAD = -2 };
int data_read(struct data_set *set, size_t id, struct data_bytes *bytes,
              struct err *err);

/*
 * data_shared() counts the samples of a set whose files another set has, too,
 * byte for byte, under whatever names: the samples that are in both TRAIN and
 * TEST.  It compares digests, O(n log m) of n and m samples, and takes 16 bytes
 * for each sample of both.
 */
size_t data_shared(const struct data_set *set, const struct data_set *other);

/*
 * data_open_or_die() is data_open() and data_stale() for main() alone, as
 * util/opt.h: it ends the process where the data set cannot be opened or the
 * file of a sample has gone, and prints a line where the index is otherwise out
 * of date.
 *   lenient  1: where the file of a sample has gone, print that and go on; the
 *            sample is bad when it is read
 */
struct data_set *data_open_or_die(const char *path, int lenient);

/* data_open_parts_or_die() is the same by data_open_parts(), always lenient. */
struct data_set *data_open_parts_or_die(const char *path);

/* data_spare_or_die() ends the process, as for a wrong command line, where
 * writing `output` would replace what the set is read from (data_reads()). */
void data_spare_or_die(const struct data_set *set, const char *output);

#endif
