#ifndef DATA_LAYOUT_H
#define DATA_LAYOUT_H

#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "data/set.h"
#include "util/digest.h"
#include "util/err.h"

#include "layout.h"
#include "tree.h"

/*
 * The index file, as it lies on disk and is mapped:
 *
 *     head | digests | files | classes | samples | marks | text
 *
 * All behind the digests is the body, and each part of LAYOUT_PART bytes of it
 * has one of these, the last part what is left.  An index of version 4 has no
 * digests of parts and one of the body instead.
 *
 * Numbers are in the byte order of the machine that wrote it, which `order`
 * tells.  A class, and every name, path and caption, is the place in `text` of
 * a string that ends in a zero byte; place 0 is the empty string.
 */

enum { LAYOUT_VERSION = 5, LAYOUT_WHOLE = 4, LAYOUT_ORDER = 0x01020304 };
enum { LAYOUT_PART = 1 << 20 }; /* bytes */

#define LAYOUT_MAGIC "foil-set"
#define LAYOUT_SUFFIX ".foil"

/* Limits that no set of real use comes near: sums of them cannot overflow. */
#define LAYOUT_MAX_SAMPLES ((uint64_t)1 << 40)
#define LAYOUT_MAX_CLASSES ((uint64_t)1 << 20)
#define LAYOUT_MAX_FILES ((uint64_t)1 << 24)
#define LAYOUT_MAX_MARKS ((uint64_t)1 << 16)
#define LAYOUT_MAX_TEXT ((uint64_t)1 << 44)

struct layout_head {
    char magic[8];
    uint32_t version, order;
    uint64_t bytes; /* of the whole index */
    uint64_t files, classes, samples, marks, text;
    struct digest images; /* of the samples' digests and labels */
    struct digest data;   /* of these and the captions, if there are any */
    struct digest body;   /* of the digests of the parts */
    struct digest head;   /* of the fields above */
};

/* What samples lie in. */
enum layout_kind {
    LAYOUT_TAR,   /* at `offset` of an archive of so many bytes */
    LAYOUT_FOLDER /* in a file of their own, `name` within the folder */
};

struct data_layout_file {
    uint64_t bytes;              /* of a tar; 0 for a folder */
    uint64_t absolute, relative; /* paths; relative to the index's folder */
    uint64_t kind;
};

struct layout_sample {
    uint64_t offset;
    uint64_t name, caption;
    uint32_t bytes;
    uint32_t file;
    int32_t label; /* -1: none */
    uint16_t width, height;
    uint32_t codec, unused; /* enum image_codec; 0 */
    struct digest digest;
};

/*
 * What a folder of the data, or a list of files, was like when it was indexed.
 * Of more folders than LAYOUT_MAX_MARKS the first so many have one.
 */
struct data_layout_mark {
    struct tree_state state;
    uint64_t name; /* within the folder that is `file`; "" is that itself */
    uint32_t file, list; /* list: 1 of a file list */
};

/* An image larger than this is not believed to be one. */
enum { LAYOUT_MAX_BYTES = 1 << 28 };

/* An open set: the mapped index, and where its data was found. */
struct data_set {
    char *path; /* of the index */
    int own;    /* its descriptor */
    struct timespec written;
    const void *map;
    size_t bytes;
    const struct layout_head *head; /* a copy: the file may change */
    const struct digest *part;      /* [parts] */
    size_t parts;
    uint8_t *checked; /* [parts] 1 where the part fits its digest */
    const uint8_t *body;
    const struct data_layout_file *file;
    const uint64_t *class;
    const struct layout_sample *sample;
    const struct data_layout_mark *mark;
    const char *text;
    char **place;  /* [files] where each was found */
    int *fd;       /* [files] or -1 */
    size_t *ring;  /* the files that are open, oldest overwritten first */
    size_t opened; /* how many were opened so far */
};

/* The parts of an index that is to be written. */
struct layout_parts {
    struct data_layout_file *file;
    uint64_t *class;
    struct layout_sample *sample;
    struct data_layout_mark *mark;
    char *text;
    size_t files, classes, samples, marks, text_len;
    size_t file_room, class_room, sample_room, mark_room, text_room;
};

/* data_layout_text() adds a string of n bytes and returns its place. */
uint64_t data_layout_text(struct layout_parts *parts, const char *text,
                          size_t n);

/*
 * data_layout_file() adds a file or folder, whose relative path
 * data_layout_write() works out.
 */
int data_layout_file(struct layout_parts *parts, const char *path,
                     enum layout_kind kind, uint64_t bytes, struct err *err);

/*
 * data_layout_mark() adds a mark to the file or folder that came last, unless
 * there are too many.
 */
void data_layout_mark(struct layout_parts *parts, const char *name, int list,
                      const struct tree_state *state);

/* data_layout_write() writes an index, all or nothing. */
int data_layout_write(struct layout_parts *parts, const char *path,
                      struct err *err);
void data_layout_release(struct layout_parts *parts);

/* data_layout_parts() counts the parts of a body. */
size_t data_layout_parts(uint64_t bytes);

/*
 * data_layout_digest_images() is that of the samples' digests and labels;
 * data_layout_digest_data() that of this and all captions, each with a zero
 * byte behind it, or this itself where there are none.
 */
struct digest data_layout_digest_images(const struct layout_parts *parts);
struct digest data_layout_digest_data(const struct layout_parts *parts,
                                      const struct digest *images);

/*
 * data_layout_mend() is what to do about an index that does not fit its data,
 * as the end of a sentence; to be given to free().
 */
char *data_layout_mend(const struct data_set *set);

/*
 * What follows returns DATA_UNREAD where the machine could not read, which says
 * nothing about the file, and -1 where the file is not what it should be.
 * data_layout_fault() tells the two apart by an errno; data_layout_again()
 * waits a little before another try, and is 0 where there were enough.
 */
int data_layout_fault(int error);
int data_layout_again(int tried);

/* data_layout_open() opens a file, and nothing else: a pipe does not block. */
int data_layout_open(const char *path, struct stat *st, struct err *err);

/* data_layout_read() reads n bytes at an offset; `name` is for the sentence. */
int data_layout_read(int fd, uint64_t offset, size_t n,
                     struct data_bytes *bytes, const char *name,
                     struct err *err);

/* data_layout_path() is the path of a name in a folder, or an absolute one; to
 * be given to free(). */
char *data_layout_path(const char *folder, const char *name);

/* data_layout_absolute() is a path from the root on, without links; to be given
 * to free(), NULL when nothing is there. */
char *data_layout_absolute(const char *path, struct err *err);

/* data_layout_read_file() reads a whole file. */
int data_layout_read_file(const char *path, struct data_bytes *bytes,
                          struct err *err);

/*
 * What is believed of an index.  Its body is read in parts, each checked by its
 * digest when it is first touched, so that to open an index of 10^7 samples
 * reads a few of its 750 parts, and so does each process that needs a few
 * samples.  Entries are checked besides, for files made to mislead.
 */

/* data_check_head() judges the mapped head and the digests of the parts, and
 * finds where everything is. */
int data_check_head(struct data_set *set, struct err *err);

/* data_check_tables() judges what any user of a set may ask for: files, classes
 * and marks with their texts. */
int data_check_tables(struct data_set *set, struct err *err);

/* data_check_touched() is 1 where n bytes of the body have been checked. */
int data_check_touched(const struct data_set *set, const void *at, size_t n);

#endif
