/*
 * Tensors of every message, by its table; and conditions that are not in the
 * tables: checks between fields, rows of tables.
 */
#include <math.h>

#include "message_each.h"

/* Data for tensors of another shape: each id once. */
static int64_t counted[4 << 20];

/* ---- wrong tensors ------------------------------------------------------ */

/* How many tensors and numbers of the header have that size. */
static int
sayings(char name)
{
    const struct wire_field *f;
    const struct wire_size *s;
    int n = 0;

    for (f = message->fields; f->name; f++) {
        n += f->shape && strchr(f->shape, name);
        for (s = message->sizes; s->name; s++)
            n += s->name == name && f->type == WIRE_COUNT && f->at == s->at;
    }
    return n;
}

static void
wrong_size(const struct wire_msg *msg, const struct wire_field *f, size_t k)
{
    const char name = f->shape[k];
    const int alone = name > '9' && sayings(name) == 1;
    struct wire_tensor *t;
    struct draft d;
    size_t most, others;

    for (int by = -1; by <= 1; by += 2) {
        draft_start(&d, msg);
        t = draft_tensor(&d, f->name);
        t->data = counted;
        t->shape[k] += (size_t)by;
        if (alone)
            taken(&d, "with a size of its own", f->name);
        else
            refused(&d, "tensor '", "of another size", f->name);
    }
    draft_start(&d, msg);
    t = draft_tensor(&d, f->name);
    others = t->count / t->shape[k];
    t->data = counted;
    t->shape[k] = 0;
    refused(&d, "tensor '", "without elements", f->name);
    most = name > '9' ? wire_size_find(message, name)->greatest : SIZE_MAX;
    if (most > 65536 ||
        others * (most + 1) * dtype_about(t->dtype)->bytes > sizeof counted)
        return;
    t->shape[k] = most + 1;
    refused(&d, f->name, "of too large a size", f->name);
}

static void
wrong_tensors(const struct wire_msg *msg)
{
    const struct wire_field *f;
    struct wire_tensor *t;
    struct draft d;

    for (f = message->fields; f->name; f++) {
        if (!f->shape)
            continue;
        for (enum dtype dtype = 0; dtype <= DTYPE_F2; dtype++) {
            draft_start(&d, msg);
            t = draft_tensor(&d, f->name);
            t->data = counted;
            t->dtype = dtype;
            if (dtype == DTYPE_F2 && f->half)
                taken(&d, "in half precision", f->name);
            else if (dtype != f->dtype)
                refused(&d, "want", "of another dtype", f->name);
        }
        draft_start(&d, msg);
        t = draft_tensor(&d, f->name);
        t->shape[t->rank++] = 1;
        refused(&d, "want", "of a rank more", f->name);
        draft_start(&d, msg);
        draft_tensor(&d, f->name)->rank--;
        refused(&d, "want", "of a rank less", f->name);
        for (size_t k = 0; f->shape[k]; k++)
            wrong_size(msg, f, k);
        draft_start(&d, msg);
        t = draft_tensor(&d, f->name);
        *t = d.tensor[--d.n];
        if (!f->optional || is_leaned_on(f))
            refused(&d, f->name, "without it", f->name);
    }
    all_good(
        "a tensor of a wrong dtype or shape is refused, or one that misses");
}

/* A copy of a draft's tensor t with element 1 changed. */
static const void *
elements(const struct wire_tensor *t, int64_t whole, float real)
{
    const size_t bytes = t->count * dtype_about(t->dtype)->bytes;
    void *data = example_take(bytes);

    memcpy(data, t->data, bytes);
    if (t->dtype == DTYPE_I8)
        ((int64_t *)data)[1] = whole;
    else if (t->dtype == DTYPE_I4)
        ((int32_t *)data)[1] = (int32_t)whole;
    else
        ((float *)data)[1] = real;
    return data;
}

static void
with_element(const struct wire_msg *msg, const struct wire_field *f,
             int64_t whole, float real, const char *what)
{
    struct wire_tensor *t;
    struct draft d;

    draft_start(&d, msg);
    t = draft_tensor(&d, f->name);
    t->data = elements(t, whole, real);
    refused(&d, f->name, what, f->name);
}

static void
wrong_elements(const struct wire_msg *msg)
{
    const int64_t images = message->images ? INT64_MAX : 100;
    const struct wire_field *f;

    for (f = message->fields; f->name; f++) {
        if (f->type == WIRE_IDS) {
            size = message->images ? 0 : images;
            with_element(msg, f, -1, 0, "an id below 0");
            with_element(msg, f, images, 0, "an id outside of the data set");
            size = 0;
        }
        if (f->once)
            with_element(msg, f, 0, 0, "an id twice");
        if (f->below)
            with_element(msg, f, 1 << 20, 0, "an element not below its bound");
        if (f->below)
            with_element(msg, f, -1, 0, "an element below 0");
        if (f->shape && f->least < f->greatest) {
            with_element(msg, f, f->least - 1, 0, "an element below");
            if (f->greatest < INT32_MAX)
                with_element(msg, f, f->greatest + 1, 0, "an element above");
        }
        if (f->shape && f->low < f->high)
            with_element(msg, f, 0, (float)f->low - 1, "an element below");
    }
    all_good("an element out of range is refused");
}

/* ---- conditions not in tables: checks between fields -------------------- */

/* For each condition, fields that break it: element 1 of a tensor, or the
 * absence of the tensor. */
static const struct breach {
    enum wire_kind kind;
    const char *check, *in, *field, *text;
    double value;
} breaches[] = {
    {WIRE_HELLO, "the digest is valid", "dataset", "digest", "0123", 0},
    {WIRE_HELLO, "the digest is valid", "dataset", "digest",
     "0123456789abcdef0123456789abcdeg", 0},
    {WIRE_HELLO, "a data set has a digest and images, or neither", "dataset",
     "digest", "", 0},
    {WIRE_HELLO, "a data set has a digest and images, or neither", "dataset",
     "size", NULL, 0},
    {WIRE_ITEM, "the data set is ours", NULL, "size", NULL, 99},
    {WIRE_ITEM, "rows of extra_texts are captions", NULL, "extra_texts", NULL,
     64},
    {WIRE_ITEM, "rows of extra_texts are captions", NULL, "extra_texts", NULL,
     -1},
    {WIRE_BATCH, "texts are no longer than their rows", NULL, "lengths", NULL,
     100},
    {WIRE_BATCH, "texts are no longer than their rows", NULL, "extra_lengths",
     NULL, 100},
    {WIRE_BATCH, "rows of extra_texts are captions", NULL, "extra_texts", NULL,
     60},
    {WIRE_BATCH, "rows of extra_texts are captions", NULL, "tokens", "gone", 0},
    {WIRE_WEIGHTS_GET, "rows of extra_texts are captions", NULL, "extra_texts",
     NULL, 60},
    {WIRE_WEIGHTS_GET, "kind pair has 2 views and captions", NULL, "captions",
     "gone", 0},
    {WIRE_WEIGHTS, "rows of w are weights", NULL, "w", NULL, -0.25},
    {WIRE_WEIGHTS, "rows of w are weights", NULL, "w", NULL, 0.9},
    {WIRE_STATE_PUT, "a piece is of one table", NULL, "from", NULL, 29},
    {WIRE_STATE_PUT, "a piece is of one table", NULL, "from", NULL, 1e12},
    {WIRE_WANT, "have lists places in order", NULL, "have", NULL, -1},
    {WIRE_WANT, "no more than the window is held", NULL, "window", NULL, 1},
};

static void
breach(const struct wire_msg *msg, const struct breach *b)
{
    struct wire_tensor *t;
    struct draft d;
    const char *why;

    draft_start(&d, msg);
    t = draft_tensor(&d, b->field);
    if (t && b->text)
        *t = d.tensor[--d.n];
    else if (t)
        t->data = elements(t, (int64_t)b->value, (float)b->value);
    else
        draft_set(&d, b->in, b->field,
                  b->text ? draft_text(b->text)
                          : draft_whole((int64_t)b->value));
    size = strcmp(b->check, "the data set is ours") ? 0 : 100;
    why = verdict(&d);
    size = 0;
    T(why, "%s: refused unless %s: %s", message->name, b->check,
      why ? why : "taken");
}

static void
breach_all(const struct wire_msg *msg)
{
    int seen = 0;

    for (size_t i = 0; i < sizeof breaches / sizeof *breaches; i++)
        if (breaches[i].kind == kind) {
            breach(msg, &breaches[i]);
            seen = 1;
        }
    T(seen == (message->check != NULL), "%s: drafts break its conditions",
      message->name);
}

/* Weights may drop a share of a row if they are partial. */
static void
dropped_share(const struct wire_msg *msg)
{
    struct wire_tensor *t;
    struct draft d;

    draft_start(&d, msg);
    t = draft_tensor(&d, "w");
    t->data = elements(t, 0, 0.25f);
    taken(&d, "with a share dropped", "w");
    draft_remove(&d, NULL, "partial");
    refused(&d, "is not a set of weights", "without partial", "w");
    all_good("a row of partial weights may sum to less than 1");
}

/* ---- tables -------------------------------------------------------------- */

/* A list of n tables, the last one as passed. */
static void
set_tables(struct draft *d, const struct wire_msg *msg,
           const struct wire_field *f, size_t n, msgpack_object name,
           int64_t rows, int64_t width)
{
    static msgpack_object entry[20][3], list[20];
    static char names[20][24];

    for (size_t i = 0; i < n; i++) {
        snprintf(names[i], sizeof *names, "t%zu", i);
        entry[i][0] = i + 1 < n ? draft_text(names[i]) : name;
        entry[i][1] = draft_whole(i + 1 < n ? 1 : rows);
        entry[i][2] = draft_whole(i + 1 < n ? 1 : width);
        list[i] = draft_list(3, entry[i]);
    }
    set(d, msg, f, draft_list((uint32_t)n, list));
}

static void
wrong_entries(const struct wire_msg *msg, const struct wire_field *f)
{
    static char longest[TABLE_NAME_MAX], longer[TABLE_NAME_MAX + 1];
    msgpack_object zero = draft_text("a.c"), two[2], one;
    struct draft d;

    zero.via.str.ptr = "a\0c";
    memset(longest, 'n', sizeof longest - 1);
    memset(longer, 'n', sizeof longer - 1);
    set_tables(&d, msg, f, 1, draft_text(longest), 1, 1);
    taken(&d, "the longest name", f->name);
    set_tables(&d, msg, f, 1, draft_text(longer), 1, 1);
    refused(&d, "a name has 1 .. 59 bytes", "a longer name", f->name);
    set_tables(&d, msg, f, 1, draft_text(""), 1, 1);
    refused(&d, "a name has 1 .. 59 bytes", "no name", f->name);
    set_tables(&d, msg, f, 1, zero, 1, 1);
    refused(&d, "a name has 1 .. 59 bytes", "a zero byte", f->name);
    set_tables(&d, msg, f, 1, draft_whole(3), 1, 1);
    refused(&d, "is not a table", "a number as name", f->name);
    set_tables(&d, msg, f, 2, draft_text("t0"), 1, 1);
    refused(&d, "'t0' is there twice", "two of one name", f->name);
    set_tables(&d, msg, f, 1, draft_text("x"), 0, 1);
    refused(&d, "is not a table", "no rows", f->name);
    set_tables(&d, msg, f, 1, draft_text("x"), WIRE_SIZE_MAX + 1, 1);
    refused(&d, "is not a table", "too many rows", f->name);
    set_tables(&d, msg, f, 1, draft_text("x"), 1, 0);
    refused(&d, "is not a table", "no width", f->name);
    set_tables(&d, msg, f, 1, draft_text("x"), 1, TABLE_WIDTH_MAX);
    taken(&d, "the widest", f->name);
    set_tables(&d, msg, f, 1, draft_text("x"), 1, TABLE_WIDTH_MAX + 1);
    refused(&d, "is not a table", "wider", f->name);
    set_tables(&d, msg, f, TABLES_MAX, draft_text("x"), 1, 1);
    taken(&d, "the most tables", f->name);
    set_tables(&d, msg, f, TABLES_MAX + 1, draft_text("x"), 1, 1);
    refused(&d, "at most 16 tables", "one too many", f->name);
    two[0] = draft_text("x");
    two[1] = draft_whole(1);
    one = draft_list(2, two);
    set(&d, msg, f, draft_list(1, &one));
    refused(&d, "is not a table", "two elements", f->name);
}

/* The example has 2 rows of table 'a', 30 x 3. */
static void
wrong_rows(const struct wire_msg *msg, const struct wire_field *f)
{
    static const int64_t places[] = {29, 0};
    struct wire_tensor *t;
    struct draft d;

    draft_start(&d, msg);
    draft_tensor(&d, "a.row")->shape[1] = 2;
    refused(&d, "is not u1 [k,3]", "narrower rows", f->name);
    draft_start(&d, msg);
    t = draft_tensor(&d, "a.row");
    t->data = counted;
    t->dtype = DTYPE_I4;
    refused(&d, "is not u1 [k,3]", "of another dtype", f->name);
    draft_start(&d, msg);
    draft_tensor(&d, "a.row")->rank = 1;
    refused(&d, "is not u1 [k,3]", "of another rank", f->name);
    draft_start(&d, msg);
    t = draft_tensor(&d, "a.row");
    *t = d.tensor[--d.n];
    if (!f->placed) {
        taken(&d, "a piece without rows", f->name);
        return;
    }
    refused(&d, "is not i8 [0]", "indices without rows", f->name);
    draft_start(&d, msg);
    draft_tensor(&d, "a.at")->data = places;
    taken(&d, "the last row", f->name);
    draft_tensor(&d, "a.at")->data = elements(draft_tensor(&d, "a.at"), 30, 0);
    refused(&d, "'a.at' has 30, want 0 .. 29", "after the last", f->name);
    draft_tensor(&d, "a.at")->data = elements(draft_tensor(&d, "a.at"), -1, 0);
    refused(&d, "'a.at' has -1", "before the first", f->name);
    draft_start(&d, msg);
    draft_tensor(&d, "a.at")->shape[0] = 1;
    refused(&d, "is not i8 [2]", "an index too few", f->name);
    draft_start(&d, msg);
    draft_tensor(&d, "a.at")->name[0] = 'x';
    refused(&d, "is not i8 [2]", "no indices", f->name);
}

static void
tables(const struct wire_msg *msg)
{
    const struct wire_field *f;

    for (f = message->fields; f->name; f++) {
        if (f->type != WIRE_TABLES)
            continue;
        wrong_entries(msg, f);
        wrong_rows(msg, f);
        all_good("tables and their rows are checked");
    }
}

/* One piece has rows of one table, and no more than 16 MiB. */
static void
pieces(const struct wire_msg *msg)
{
    static uint8_t bytes[TABLE_PIECE_MAX + 3];
    const struct wire_field *f = wire_field_find(message, "tables");
    struct wire_tensor *t;
    struct draft d;

    draft_start(&d, msg);
    d.tensor[d.n] =
        (struct wire_tensor){"b.row", DTYPE_U1, 2, {1, 8}, 8, bytes};
    d.n++;
    draft_set(&d, NULL, "from", draft_whole(0));
    refused(&d, "rows of 2 tables", "rows of two tables", "tables");
    set_tables(&d, msg, f, 1, draft_text("a"), 1 << 24, 3);
    t = draft_tensor(&d, "a.row");
    t->data = bytes;
    t->shape[0] = TABLE_PIECE_MAX / 3;
    taken(&d, "the most rows", "tables");
    t->shape[0]++;
    refused(&d, "more than 16777216 bytes", "one row more", "tables");
    all_good("a piece is of one table, and not too large");
}

static void
look(const struct wire_msg *msg)
{
    wrong_tensors(msg);
    wrong_elements(msg);
    breach_all(msg);
    tables(msg);
    if (kind == WIRE_WEIGHTS)
        dropped_share(msg);
    if (kind == WIRE_STATE_PUT)
        pieces(msg);
}

int
main(void)
{
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        counted[i] = (int64_t)i;
    each_kind(look);
    return t_done();
}
