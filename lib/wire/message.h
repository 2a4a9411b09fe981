#ifndef WIRE_MESSAGE_H
#define WIRE_MESSAGE_H

#include "pack.h"

/*
 * What there is in a message of each kind: the one place that says so.  Codec,
 * test and fuzzer follow these tables, and foil-wire(5) is compared with them.
 *
 * To add a field: a member of the struct in include/wire/, a row in message.c,
 * a line in foil-wire(5).  To add a message: a kind in wire/msg.h, a struct, a
 * table, a subsection.
 */
enum wire_field_type {
    WIRE_WHOLE,   /* int64_t */
    WIRE_COUNT,   /* size_t; the same in a message */
    WIRE_REAL,    /* double */
    WIRE_FLAG,    /* int: 1 or 0 */
    WIRE_TEXT,    /* char [room], no zero byte inside; one of `words` if any */
    WIRE_MAP,     /* a map, whose keys are the next `members` rows */
    WIRE_SHARE,   /* int64_t [2]: i, n with i < n <= greatest; 0, 0: missing */
    WIRE_VALUES,  /* struct value [count] */
    WIRE_COUPLES, /* int64_t (*)[2], [count]: two samples each */
    WIRE_TENSOR,  /* const T * of that dtype and shape */
    WIRE_IDS,     /* const int64_t *, the same: samples of the data set */
    WIRE_TABLES   /* struct table_rows *, [count]: lib/wire/tables.h */
};

struct wire_field {
    const char *name; /* key of the header, or name of the tensor */
    enum wire_field_type type;
    size_t at; /* offset in the struct */

    /* A field that is optional and missing is `missing` in the struct (text:
     * "", arrays: NULL), and one that is so there is not sent. */
    int optional;
    int64_t missing;
    const char *with; /* both are there or neither; an optional one only where
                       * that one is */

    /* Whole numbers: least .. greatest.  Texts: at least least bytes.  Values
     * and couples: at most greatest.  Elements of a tensor: least .. greatest,
     * where least < greatest. */
    int64_t least, greatest;
    double low, high;  /* of reals, and of elements where low < high */
    const char *above; /* more than that whole number, at above_at */
    size_t above_at;   /* offset of an int64_t, as below_at */
    char least_size;   /* and no less than that size; 0: none */
    const char *below; /* elements are 0 .. that number - 1 */
    size_t below_at;
    int once;   /* no element is there twice */
    int placed; /* rows of tables have places */

    size_t room, members, count; /* count: offset of a size_t */
    const char *words;           /* "train, eval" */

    enum wire_dtype dtype;
    const char *shape;   /* a size each, or a digit: "vbhwc", "a2" */
    const char *lengths; /* the tensor that says how many elements of each row
                          * count; NULL: all do */
    size_t half; /* offset of the pointer to elements that came as f2; 0:
                  * they may not */
};

/*
 * A size that tensors of a message share by name, a letter.  It is settled by a
 * number in the header or by the first tensor that has it; the others must
 * agree.
 */
struct wire_size {
    char name;
    size_t at;       /* offset of a size_t */
    size_t greatest; /* it is 1 .. greatest */
};

/* What must hold between fields: wire_read_fail() when it does not.  Called
 * with a message of which each field by itself is right; size as in
 * wire_decode(). */
struct wire_check {
    const char *what;
    void (*check)(struct wire_reader *r, const void *x, int64_t size);
};

struct wire_message {
    const char *name;                /* behind "foil2." */
    size_t bytes;                    /* of the struct */
    size_t held;                     /* offset of `msg`; 0: none */
    size_t images;                   /* offset of its own size of the data set;
                                      * 0: none */
    const struct wire_field *fields; /* in the order in which they are sent */
    const struct wire_size *sizes;
    const struct wire_check *checks; /* each list ends with a row of zeros */
    unsigned up, down; /* WIRE_EDGE_BIT()s of the edges on which the end that
                        * connects, the binder may send it */
};

extern const struct wire_message wire_messages[WIRE_KINDS];

/* wire_field_find() returns a field by its name; there is such. */
const struct wire_field *wire_field_find(const struct wire_message *message,
                                         const char *name);

/* wire_size_find() returns the first size of that name; there is such. */
const struct wire_size *wire_size_find(const struct wire_message *message,
                                       char name);

#endif
