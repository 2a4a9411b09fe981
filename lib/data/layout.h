#pragma once

#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "data/set.h"
#include "util/digest.h"
#include "util/err.h"

#include "tree.h"

/*
 * The index file, as on disk and in mapped memory:
 *
 *     head | digests | files | classes | samples | marks | text
 *
 * or, of version 6, a list of such indexes, its shards, whose samples it has in
 * their order:
 *
 *     head | digests | facts | shards | classes | labels | text
 *
 * All after the digests is the body; each part of LAYOUT_PART bytes of it has a
 * digest, and so has the shorter last part.  An index of version 4 has one
 * digest of the body instead.
 *
 * Numbers are in the byte order of the machine that wrote it, which `order`
 * reveals.  A class, and every name, path and caption, is the offset in `text`
 * of a string that ends in a zero byte; offset 0 is the empty string.
 */

enum { LAYOUT_VERSION_ONE_DIGEST = 4, LAYOUT_VERSION = 5, LAYOUT_LIST = 6 };
enum { LAYOUT_ORDER = 0x01020304 };
enum { LAYOUT_PART = 1 << 20 }; /* bytes */

#define LAYOUT_MAGIC "foil-set"
#define LAYOUT_SUFFIX ".foil"

/* Limits far above those of any real set: sums of them cannot overflow. */
#define LAYOUT_MAX_SAMPLES ((uint64_t)1 << 40)
#define LAYOUT_MAX_CLASSES ((uint64_t)1 << 20)
#define LAYOUT_MAX_FILES ((uint64_t)1 << 24)
#define LAYOUT_MAX_MARKS ((uint64_t)1 << 16)
#define LAYOUT_MAX_LABELS ((uint64_t)1 << 32)
#define LAYOUT_MAX_TEXT ((uint64_t)1 << 44)

struct layout_head {
    char magic[8];
    uint32_t version, order;
    uint64_t bytes;                                /* of the whole index */
    uint64_t files, classes, samples, marks, text; /* a list: files are shards,
                                                      marks are labels */
    struct digest images; /* of the samples' digests and labels */
    struct digest data;   /* of `images` and the captions, if there are any */
    struct digest body;   /* of the digests of the parts */
    struct digest head;   /* of the fields above */
};

/* The kinds of files that contain samples. */
enum layout_kind {
    LAYOUT_TAR,   /* at `offset` in an archive of `bytes` bytes */
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

/* The state of a folder of the data, or of a list of files, when it was
 * indexed.  Only the first LAYOUT_MAX_MARKS folders have one. */
struct data_layout_mark {
    struct tree_state state;
    uint64_t name;       /* within the folder `file`; "": that folder */
    uint32_t file, list; /* list: 1 for a file list */
};

/* A shard of a list.  Its class i has the label label[classes + i] in the
 * list. */
struct layout_shard {
    uint64_t first, samples;     /* ids first .. first + samples - 1 */
    uint64_t absolute, relative; /* paths of its index */
    uint64_t place;              /* of its data, a path or a URL */
    uint64_t bytes;              /* of its data if that is a tar, else 0 */
    uint64_t classes;            /* offset in the labels */
    struct digest digest;        /* data_list_digest() */
};

/* A larger file is refused as an image. */
enum { LAYOUT_MAX_IMAGE_BYTES = 1 << 28 };

/* Files that are open, at most so many for any number of shards. */
enum { OPEN_ARCHIVES = 64 };

struct archives {
    struct archive {
        const struct data_set *set;
        size_t file;
        int fd; /* + 1; 0: a free place */
    } open[OPEN_ARCHIVES];
    size_t opened; /* number of open() calls so far */
};

/* An open set: the mapped index, and the paths of its data. */
struct data_set {
    char *path;        /* of the index */
    struct stat state; /* when it was opened */
    const void *map;
    size_t bytes;
    const struct layout_head *head; /* a copy: the file may change */
    const struct digest *part;      /* [parts] */
    size_t parts;
    uint8_t *checked; /* [parts] 1: the part matches its digest */
    const uint8_t *body;
    const struct data_layout_file *file;
    const uint64_t *class;
    const struct layout_sample *sample;
    const struct data_layout_mark *mark;
    const char *text;
    char **place; /* [files] path of each */
    struct archives *archives;

    const struct data_facts *facts; /* of a list, with the next; else NULL */
    const struct layout_shard *shard;
    const int32_t *label;        /* of a list; of a shard: of its classes */
    struct open_shards *open;    /* of a list */
    const struct data_set *list; /* of a shard, or NULL */
    size_t number;               /* of a shard */
    struct data_fetch *fetch;    /* of a list that is fetched, and its shards */
};

/* The open shards of a list, at most so many; each has a place. */
enum { OPEN_SHARDS = 4096 };

struct open_shards {
    int whole;             /* all samples were checked: check a shard again when
                              it is opened again */
    size_t last;           /* the shard that was used last */
    uint64_t clock;        /* changes of it so far */
    struct data_set **set; /* [shards] or NULL */
    uint16_t *where;       /* [shards] place of each that is open */
    struct place {
        size_t shard;
        uint64_t used; /* clock when it was used; 0: a free place */
    } place[OPEN_SHARDS];
};

/* The parts of an index before it is written. */
struct layout_parts {
    struct data_layout_file *file;
    uint64_t *class;
    struct layout_sample *sample;
    struct data_layout_mark *mark;
    char *text;
    size_t files, classes, samples, marks, text_len;
    size_t file_room, class_room, sample_room, mark_room, text_room;
};

/* data_layout_text() adds a string of n bytes and returns its offset. */
uint64_t data_layout_text(struct layout_parts *parts, const char *text,
                          size_t n);

/* data_layout_file() adds a file or folder; data_layout_write() sets its
 * relative path. */
int data_layout_file(struct layout_parts *parts, const char *path,
                     enum layout_kind kind, uint64_t bytes, struct err *err);

/* data_layout_mark() adds a mark to the last file or folder, unless there are
 * too many. */
void data_layout_mark(struct layout_parts *parts, const char *name, int list,
                      const struct tree_state *state);

/* data_layout_write() writes an index, all or nothing. */
int data_layout_write(struct layout_parts *parts, const char *path,
                      struct err *err);

/* data_layout_save() writes a head, whose counts and digests of the samples are
 * set, and the tables of its body, all or nothing. */
struct body_table {
    const void *data;
    size_t bytes;
};

enum { BODY_TABLES = 5 };
int data_layout_save(struct layout_head *head,
                     const struct body_table table[BODY_TABLES],
                     const char *path, struct err *err);

/* data_layout_digest_add() adds a sample's digest and label to the digest of
 * the samples of a set, head.images. */
void data_layout_digest_add(struct digest_stream *stream,
                            const struct layout_sample *sample, int32_t label);

/* data_layout_relative() returns the relative path from an absolute folder to
 * an absolute path; the caller frees it. */
char *data_layout_relative(const char *folder, const char *path);
void data_layout_release(struct layout_parts *parts);

/* data_layout_parts() counts the parts of a body. */
size_t data_layout_parts(uint64_t bytes);

/* data_layout_advice() returns the remedy for an index that does not match its
 * data, as the end of a message; the caller frees it. */
char *data_layout_advice(const struct data_set *set);

/*
 * The following functions return DATA_UNREAD if the file could not be read, for
 * a reason outside of it, and -1 if the file itself is wrong.
 * data_layout_fault() distinguishes the two by an errno; data_layout_retry()
 * waits a little before another try, and returns 0 after too many.
 */
int data_layout_fault(int error);
int data_layout_retry(int tried);

/* data_layout_open() opens a regular file, without blocking on a pipe. */
int data_layout_open(const char *path, struct stat *st, struct err *err);

/* data_layout_read() reads n bytes at an offset; `name` is for the message. */
int data_layout_read(int fd, uint64_t offset, size_t n,
                     struct data_bytes *bytes, const char *name,
                     struct err *err);

/* data_layout_path() returns the path of a name, absolute or in a folder; the
 * caller frees it. */
char *data_layout_path(const char *folder, const char *name);

/* data_layout_absolute() returns an absolute path without links, NULL if it
 * does not exist; the caller frees it. */
char *data_layout_absolute(const char *path, struct err *err);

/* data_layout_read_file() reads a whole file. */
int data_layout_read_file(const char *path, struct data_bytes *bytes,
                          struct err *err);

/*
 * Checks of an index.  Its body is read in parts, and each is checked by its
 * digest when it is first read: an index of 10^7 samples has 750 parts, and to
 * open it and read some samples checks only a few of them.  Entries are also
 * checked, against malicious files.
 */

/* data_check_head() checks the mapped header and the digests of the parts, and
 * sets the tables. */
int data_check_head(struct data_set *set, struct err *err);

/* data_check_tables() checks files, classes and marks with their texts. */
int data_check_tables(struct data_set *set, struct err *err);

/* data_check_untouched() returns 1 if the index file was not modified since it
 * was opened: tools write another file and rename it. */
int data_check_untouched(const struct data_set *set, struct err *err);

/* data_check_sample() and data_check_samples() are data_touch() and
 * data_check() of an index that is no list. */
int data_check_sample(const struct data_set *set, size_t id, struct err *err);
int data_check_samples(const struct data_set *set, struct err *err);

/* data_check_done() returns 1 if n bytes of the body have been checked. */
int data_check_done(const struct data_set *set, const void *at, size_t n);

/*
 * data_set_map() opens an index without its data, or a list without its shards,
 * data_set_unmap() closes it. data_set_find_files() finds the data of an index,
 * data_set_check_file() checks that file i exists, with its size;
 * data_set_close_archive() closes a file, or all of a set by SIZE_MAX.
 */
int data_set_check_file(const struct data_set *set, size_t i, struct err *err);
struct data_set *data_set_map(const char *path, struct err *err);
void data_set_unmap(struct data_set *set);
int data_set_find_files(struct data_set *set, struct err *err);
void data_set_close_archive(const struct data_set *set, size_t file);

/*
 * Lists.  An index that is no list has one shard, itself.
 *
 * data_list_map() opens the index of shard i without its data, NULL on error;
 * the caller closes it.  data_list_open() returns shard i, NULL on error: it is
 * missing, or has changed since it was joined.  At most OPEN_SHARDS are open,
 * the longest unused is closed.  data_list_shard() ends the process on error;
 * data_list_find() is that for the shard of a sample, whose number becomes its
 * number there.
 */
size_t data_list_shards(const struct data_set *set);
struct data_set *data_list_map(const struct data_set *set, size_t i,
                               struct err *err);
const struct data_set *data_list_open(const struct data_set *set, size_t i,
                                      struct err *err);
const struct data_set *data_list_shard(const struct data_set *set, size_t i);
const struct data_set *data_list_find(const struct data_set *set, size_t *id);

/* data_list_start() prepares an open list; data_list_end() closes its
 * shards. */
void data_list_start(struct data_set *set);
void data_list_end(struct data_set *set);

/* data_list_digest() returns the digest of an index's samples, captions and
 * names of classes. */
struct digest data_list_digest(const struct data_set *set);

/*
 * data_fetch_open() sets set->fetch if data_fetch_use() was called
 * (data/fetch.h); data_fetch_close() ends its threads and commands.
 * data_fetch_file() returns a descriptor of the tar of shard i, which it
 * fetches if necessary, or DATA_UNREAD; data_fetch_drop() removes the tar.
 */
int data_fetch_open(struct data_set *set, struct err *err);
void data_fetch_close(struct data_fetch *fetch);
int data_fetch_file(struct data_fetch *fetch, size_t i, struct err *err);
void data_fetch_drop(struct data_fetch *fetch, size_t i);

/* data_list_label() returns the label in the list of a class of its shard, or
 * -1 for -1. */
int data_list_label(const struct data_set *shard, int label);
