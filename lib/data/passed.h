#ifndef DATA_PASSED_H
#define DATA_PASSED_H

#include <stddef.h>

#include "kind.h"
#include "layout.h"

/* Names without doubles, in byte order. */
struct passed_names {
    char **name;
    size_t n, room;
};

/* What an index is made without, to be told when it is done. */
struct passed {
    size_t pictures, others;     /* files that are no JPEG by name */
    char *picture, *other;       /* the first of each, or NULL */
    struct passed_names folders; /* of one place: images are missing */
    struct passed_names classes; /* of all places: so are some of these */
};

/* data_passed_note() counts a file that is passed over. */
void data_passed_note(struct passed *passed, enum data_kind kind,
                      const char *name);

/* data_passed_image() notes that an image of this name has no sample. */
void data_passed_image(struct passed *passed, const char *name);

/*
 * data_passed_place() turns the folders of a place into the classes that they
 * would say, by the samples first .. first + n - 1 that it has (see labels.h).
 */
void data_passed_place(struct passed *passed, const struct layout_parts *parts,
                       size_t first, size_t n);

/*
 * data_passed_lost() leaves the classes that no sample has; none where labels
 * are given, for then folders say nothing.
 */
void data_passed_lost(struct passed *passed, const struct layout_parts *parts,
                      int given);

void data_passed_release(struct passed *passed);

#endif
