#pragma once

#include "pack.h"

/* The extension of a batch with views of two sizes. */
#define WIRE_GROUPS "groups"

/* The fields of a message of each kind, defined only here.  Codec, tests and
 * fuzzers follow these tables, and foil-wire(5) is compared with them.
 * lib/README.md 5 says how to add a field or a message. */
enum wire_field_type {
    WIRE_WHOLE,   /* int64_t */
    WIRE_COUNT,   /* size_t, sent as WIRE_WHOLE */
    WIRE_REAL,    /* double */
    WIRE_FLAG,    /* int: 1 or 0 */
    WIRE_TEXT,    /* char [room], no zero byte inside; one of `words` if any */
    WIRE_MAP,     /* a map with the keys of the next `members` rows */
    WIRE_SHARE,   /* int64_t [2]: i, n with i < n <= greatest; 0, 0: missing */
    WIRE_VALUES,  /* struct value [count] */
    WIRE_COUPLES, /* int64_t (*)[2], [count]: two samples each */
    WIRE_TENSOR,  /* const T * of that dtype and shape */
    WIRE_IDS,     /* const int64_t *, likewise: samples of the data set */
    WIRE_TABLES   /* struct table_rows *, [count] */
};

struct wire_field {
    const char *name; /* key of the header, or name of the tensor */
    enum wire_field_type type;
    size_t at; /* offset in the struct */

    /* An optional field that is missing in the message is `missing` in the
     * struct (text: "", arrays: NULL), and a field with that value is not
     * sent. */
    int optional;
    int64_t missing;
    const char *with; /* required if that field is present, else absent; an
                       * optional field may be present only with it */

    /* Whole numbers: least .. greatest.  Texts: at least `least` bytes.  Values
     * and couples: at most `greatest`.  Elements of a tensor: least ..
     * greatest, if least < greatest. */
    int64_t least, greatest;
    double low, high;  /* of reals, and of elements if low < high */
    const char *above; /* the whole number that it must exceed */
    size_t above_at;   /* its offset, of an int64_t; as below_at */
    char least_size;   /* not less than that size; 0: none */
    const char *below; /* elements are 0 .. that number - 1 */
    size_t below_at;
    int once;              /* all elements differ */
    int placed;            /* rows of tables have indices */
    const char *extension; /* that a message with this field requires */

    size_t room, members, count; /* count: offset of a size_t */
    const char *words;           /* "train, eval" */

    enum dtype dtype;
    const char *shape;   /* a size each, or a digit: "vbhwc", "a2" */
    const char *lengths; /* the tensor with the number of valid elements of each
                          * row; NULL: all are valid */
    size_t half;         /* offset of the pointer to elements sent as f2; 0: not
                          * allowed */
};

/* A size that tensors of a message share by name, a letter.  A number in the
 * header or the first tensor with that size sets it; the others must agree. */
struct wire_size {
    char name;
    size_t at;       /* offset of a size_t */
    size_t greatest; /* it is 1 .. greatest */
};

/* Conditions between fields, each valid by itself: lib/wire/checks.c calls
 * wire_read_fail() for the first that does not hold. */
struct wire_decoder;
void wire_check_hello(struct wire_decoder *d);
void wire_check_want(struct wire_decoder *d);
void wire_check_item(struct wire_decoder *d);
void wire_check_batch(struct wire_decoder *d);
void wire_check_request(struct wire_decoder *d);
void wire_check_weights(struct wire_decoder *d);
void wire_check_state(struct wire_decoder *d);

struct wire_message {
    const char *name;                /* after "foil3." */
    size_t bytes;                    /* of the struct */
    size_t held;                     /* offset of `msg`; 0: none */
    size_t images;                   /* offset of the message's own size of the
                                      * data set; 0: none */
    const struct wire_field *fields; /* in the order in which they are sent */
    const struct wire_size *sizes;   /* both lists end with a row of zeros */
    void (*check)(struct wire_decoder *d); /* NULL: no condition */
    unsigned up, down; /* edges (WIRE_EDGE_BIT) on which the connecting end (up)
                          or the binder (down) may send it */
};

extern const struct wire_message wire_messages[WIRE_KINDS];

/* wire_field_find() returns the field of that name, which must exist. */
const struct wire_field *wire_field_find(const struct wire_message *message,
                                         const char *name);

/* wire_size_find() returns the first size of that name, which must exist. */
const struct wire_size *wire_size_find(const struct wire_message *message,
                                       char name);
