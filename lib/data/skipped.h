#ifndef DATA_SKIPPED_H
#define DATA_SKIPPED_H

#include <stddef.h>

#include "kind.h"
#include "layout.h"

/* Names without doubles, in byte order. */
struct skipped_names {
    char **name;
    size_t n, room;
};

/* Files by what their names end in, a kind each. */
struct skipped_kind {
    char end[16]; /* ".gif"; "" of names without a dot, or with a long end */
    int picture;
    size_t n;
};

/* What an index is made without, to be told when it is done. */
struct skipped {
    size_t pictures, others;   /* files that are no samples by name */
    char *picture, *other;     /* the first of each, or NULL */
    struct skipped_kind *kind; /* [kinds] */
    size_t kinds, kind_room;
    struct skipped_names folders; /* of one input: images are missing */
    struct skipped_names classes; /* of all inputs: so are some of these */
};

/* data_skipped_count() counts a file that is skipped. */
void data_skipped_count(struct skipped *skipped, enum data_kind kind,
                        const char *name);

/* data_skipped_kinds() is data_index_kinds(). */
char *data_skipped_kinds(const struct skipped *skipped, int pictures);

/* data_skipped_image() notes that an image of this name has no sample. */
void data_skipped_image(struct skipped *skipped, const char *name);

/*
 * data_skipped_input() turns the folders of an input into the classes that they
 * would say, by the samples first .. first + n - 1 that it has (see labels.h).
 */
void data_skipped_input(struct skipped *skipped,
                        const struct layout_parts *parts, size_t first,
                        size_t n);

/*
 * data_skipped_lost() leaves the classes that no sample has; none where labels
 * are given, for then folders say nothing.
 */
void data_skipped_lost(struct skipped *skipped,
                       const struct layout_parts *parts, int given);

void data_skipped_release(struct skipped *skipped);

#endif
