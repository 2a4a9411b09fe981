#include <math.h>
#include <stdlib.h>

#include "t.h"
#include "wire/codec.h"
#include "wire/table.h"

#include "draft.h"
#include "example.h"

/*
 * Every message, by its table: nothing here names a field, but for what tables
 * do not say, at the end.  A new message is tested by being there.
 */
static enum wire_kind kind;
static const struct wire_message *message;
static int64_t size; /* of our data set, for the decoder */

/* What tensors of another shape have: each id once. */
static int64_t counted[4 << 20];

/* As a stranger's. */
static struct wire_msg *
example(int full)
{
    example_start();
    return draft_again(wire_encode(kind, example_make(kind, full)));
}

static int
same_bytes(const struct wire_msg *a, const struct wire_msg *b)
{
    int same = wire_msg_parts(a) == wire_msg_parts(b);

    for (size_t i = 0; same && i < wire_msg_parts(a); i++) {
        const struct wire_part p = wire_msg_part(a, i), q = wire_msg_part(b, i);

        same = p.len == q.len && (!p.len || !memcmp(p.data, q.data, p.len));
    }
    return same;
}

static int
is_empty(const void *x)
{
    for (size_t i = 0; i < message->bytes; i++)
        if (((const char *)x)[i])
            return 0;
    return 1;
}

/* 0 or -1 with a sentence; what was taken is let go of. */
static int
decode(const struct wire_msg *msg, struct err *err)
{
    static _Alignas(16) char x[1 << 15];
    int rc;

    REQUIRE(message->bytes <= sizeof x);
    rc = wire_decode(kind, x, msg, size, err);
    if (!rc && message->held)
        wire_release(kind, x);
    return rc;
}

/* What a draft comes to: NULL when it is taken. */
static const char *
verdict(const struct draft *d)
{
    static struct err err;
    struct wire_msg *msg = draft_send(d, &err);
    const int rc = msg ? decode(msg, &err) : -1;

    wire_msg_free(msg);
    return rc ? err.msg : NULL;
}

/* Each check counts what was not as it should be, and says what that was. */
static int bad;

static void
expect(int good, const char *why, const char *what, const char *field)
{
    if (good)
        return;
    bad++;
    printf("# %s: %s: %s\n", field, what, why ? why : "taken");
}

static void
refused(const struct draft *d, const char *part, const char *what,
        const char *field)
{
    const char *why = verdict(d);

    expect(why && strstr(why, part), why, what, field);
}

static void
taken(const struct draft *d, const char *what, const char *field)
{
    const char *why = verdict(d);

    expect(!why, why, what, field);
}

/* Taken, or refused for another reason. */
static void
within(const struct draft *d, const char *part, const char *what,
       const char *field)
{
    const char *why = verdict(d);

    expect(!why || !strstr(why, part), why, what, field);
}

static void
all_good(const char *what)
{
    T(!bad, "%s: %s", message->name, what);
    bad = 0;
}

/* The key of the map that a field is in; NULL: the header. */
static const char *
map_of(const struct wire_field *field)
{
    const struct wire_field *f;

    for (f = message->fields; f->name; f++)
        if (f->type == WIRE_MAP && field > f && field <= f + f->members)
            return f->name;
    return NULL;
}

static int
is_key(const struct wire_field *f)
{
    return !f->shape;
}

static int
is_number(const struct wire_field *f)
{
    return f->type == WIRE_WHOLE || f->type == WIRE_COUNT;
}

static void
set(struct draft *d, const struct wire_msg *msg, const struct wire_field *f,
    msgpack_object value)
{
    draft_start(d, msg);
    draft_set(d, map_of(f), f->name, value);
}

/* ---- what is right ------------------------------------------------------ */

static void
round_trip(int full)
{
    struct wire_msg *msg = example(full), *back;
    void *x = example_take(message->bytes + 1);
    struct err err = {""};
    const int rc = wire_decode(kind, x, msg, size, &err);

    T(!rc, "%s: %s is taken: %s", message->name,
      full ? "all that there may be" : "only what there must be", err.msg);
    if (rc)
        return;
    if (message->held)
        wire_msg_free(wire_msg_hold(msg));
    back = wire_encode(kind, x);
    T(same_bytes(msg, back), "%s: what was decoded is sent as the same bytes",
      message->name);
    wire_msg_free(msg);
    if (message->held) {
        struct wire_msg *later = wire_encode(kind, x);

        T(same_bytes(later, back), "%s: arrays outlive our hold of the message",
          message->name);
        wire_msg_free(later);
        wire_release(kind, x);
        T(is_empty(x), "%s: what was released is empty", message->name);
        wire_release(kind, x);
    }
    wire_msg_free(back);
}

/* Of an array of a decoded struct. */
static const void *
pointer(const char *x, size_t at)
{
    const void *to;

    memcpy(&to, x + at, sizeof to);
    return to;
}

static void
not_copied(const struct wire_msg *msg)
{
    char *x = example_take(message->bytes + 1);
    const struct wire_field *f;
    struct err err;

    if (!message->held)
        return;
    REQUIRE(!wire_decode(kind, x, msg, size, &err));
    for (f = message->fields; f->name; f++)
        bad +=
            f->shape && pointer(x, f->at) != wire_msg_find(msg, f->name)->data;
    all_good("tensors are not copied");
    wire_release(kind, x);
}

static void
unknown(const struct wire_msg *msg)
{
    static const struct wire_tensor colour = {"colour", WIRE_U1, 1,
                                              {1},      1,       "x"};
    struct draft d;

    draft_start(&d, msg);
    draft_add(&d, NULL, "colour", draft_text("blue"));
    taken(&d, "with an unknown key", "colour");
    draft_start(&d, msg);
    d.tensor[d.n++] = colour;
    taken(&d, "with an unknown tensor", "colour");
    all_good("what is not known is ignored");
}

/* ---- keys that are wrong ------------------------------------------------ */

/* 1 when a tensor is only there together with that field. */
static int
is_leaned_on(const struct wire_field *field)
{
    const struct wire_field *f;

    for (f = message->fields; f->name; f++)
        if (f->shape && f->with && !strcmp(f->with, field->name))
            return 1;
    return 0;
}

static void
missing_and_twice(const struct wire_msg *msg)
{
    const struct wire_field *f;
    struct draft d;

    for (f = message->fields; f->name; f++) {
        if (!is_key(f))
            continue;
        draft_start(&d, msg);
        draft_remove(&d, map_of(f), f->name);
        if (is_leaned_on(f))
            refused(&d, f->name, "without it", f->name);
        else if (f->optional)
            taken(&d, "without it", f->name);
        else
            refused(&d, "is missing", "without it", f->name);
        draft_start(&d, msg);
        draft_add(&d, map_of(f), f->name, draft_whole(1));
        refused(&d, "is there twice", "twice", f->name);
    }
    all_good("keys that must be there are, and none is twice");
}

static void
wrong_types(const struct wire_msg *msg)
{
    static const msgpack_object list = {.type = MSGPACK_OBJECT_ARRAY},
                                map = {.type = MSGPACK_OBJECT_MAP},
                                nil = {.type = MSGPACK_OBJECT_NIL},
                                yes = {.type = MSGPACK_OBJECT_BOOLEAN,
                                       .via.boolean = 1};
    const struct wire_field *f;

    for (f = message->fields; f->name; f++) {
        const int is_map = f->type == WIRE_MAP || f->type == WIRE_VALUES;
        const int is_text = f->type == WIRE_TEXT;
        const struct {
            const char *what;
            msgpack_object value;
            int right;
        } tries[] = {
            {"nil", nil, 0},
            {"a list", list, f->type == WIRE_COUPLES || f->type == WIRE_TABLES},
            {"a map", map, is_map},
            {"true", yes, f->type == WIRE_FLAG},
            {"a text", draft_text("7"), is_text},
            {"a whole number", draft_whole(1),
             is_number(f) || f->type == WIRE_REAL},
            {"a real number", draft_real(1.5), f->type == WIRE_REAL},
        };

        for (size_t i = 0; is_key(f) && i < sizeof tries / sizeof *tries; i++) {
            struct draft d;

            if (tries[i].right)
                continue;
            set(&d, msg, f, tries[i].value);
            refused(&d, f->name, tries[i].what, f->name);
        }
    }
    all_good("a key of a wrong type is refused");
}

/* The least that a number may be in this message. */
static int64_t
least_of(const struct wire_msg *msg, const struct wire_field *f)
{
    const char *x = example_take(message->bytes + 1);
    int64_t least = f->least;
    struct err err;

    if (!f->above && !f->least_size)
        return least;
    REQUIRE(!wire_decode(kind, (void *)x, msg, size, &err));
    least =
        f->above
            ? *(const int64_t *)(x + f->above_at) + 1
            : (int64_t) *
                  (const size_t *)(x +
                                   wire_size_find(message, f->least_size)->at);
    wire_release(kind, (void *)x);
    return least;
}

static void
ranges(const struct wire_msg *msg)
{
    const struct wire_field *f;
    struct draft d;

    for (f = message->fields; f->name; f++) {
        char say[100];

        snprintf(say, sizeof say, "'%s' is no whole number in", f->name);
        if (is_number(f)) {
            const int64_t least = least_of(msg, f), most = f->greatest;
            msgpack_object more = draft_whole(most);

            more.via.u64++; // also behind INT64_MAX
            set(&d, msg, f, draft_whole(least - 1));
            refused(&d, say, "below", f->name);
            set(&d, msg, f, more);
            refused(&d, say, "above", f->name);
            set(&d, msg, f, draft_whole(least));
            within(&d, say, "the least", f->name);
            set(&d, msg, f, draft_whole(most));
            within(&d, say, "the greatest", f->name);
        } else if (f->type == WIRE_REAL) {
            const double wrong[] = {nextafter(f->low, -1e300),
                                    nextafter(f->high, 1e300), INFINITY, NAN};

            for (size_t i = 0; i < 4; i++) {
                set(&d, msg, f, draft_real(wrong[i]));
                refused(&d, "is no number in", "outside", f->name);
            }
            set(&d, msg, f, draft_real(f->low));
            taken(&d, "the least", f->name);
            set(&d, msg, f, draft_real(f->high));
            taken(&d, "the greatest", f->name);
        }
    }
    all_good("a number outside of its range is refused, the bounds are taken");
}

static void
texts(const struct wire_msg *msg)
{
    static char text[2048];
    const struct wire_field *f;
    msgpack_object zero = draft_text("a.c");
    struct draft d;

    zero.via.str.ptr = "a\0c";
    memset(text, 'x', sizeof text - 1);
    for (f = message->fields; f->name; f++) {
        const char *longest = text + sizeof text - f->room;

        if (f->type != WIRE_TEXT)
            continue;
        set(&d, msg, f, draft_text(longest));
        within(&d, "is no text", "the longest", f->name);
        set(&d, msg, f, draft_text(longest - 1));
        refused(&d, "is no text of", "too long", f->name);
        set(&d, msg, f, draft_text(""));
        if (f->least)
            refused(&d, "is no text of 1 to", "an empty one", f->name);
        set(&d, msg, f, zero);
        refused(&d, "is no text", "a zero byte", f->name);
        if (!f->words)
            continue;
        set(&d, msg, f, draft_text(""));
        refused(&d, "is none of", "no word", f->name);
        set(&d, msg, f, draft_text("ste"));
        refused(&d, "is none of", "another word", f->name);
        for (const char *word = f->words; *word; word += strspn(word, ", ")) {
            msgpack_object known = draft_text(word);

            known.via.str.size = (uint32_t)strcspn(word, ",");
            word += known.via.str.size;
            set(&d, msg, f, known);
            taken(&d, "a word", f->name);
        }
    }
    all_good("texts have their length, words are known");
}

static void
parts(const struct wire_msg *msg)
{
    const struct wire_field *f;
    struct draft d;

    for (f = message->fields; f->name; f++) {
        const int64_t most = f->type == WIRE_SHARE ? f->greatest : 1,
                      two[][2] = {{0, 0},          {1, 1},        {-1, 2},
                                  {2, 1},          {0, most + 1}, {0, 1},
                                  {most - 1, most}};

        if (f->type != WIRE_SHARE)
            continue;
        for (size_t i = 0; i < 7; i++) {
            msgpack_object list[] = {draft_whole(two[i][0]),
                                     draft_whole(two[i][1]), draft_whole(9)};

            set(&d, msg, f, draft_list(2, list));
            if (i < 5)
                refused(&d, "is no [i, n] with i < n", "no part", f->name);
            else
                taken(&d, "a part", f->name);
            set(&d, msg, f, draft_list(i % 2 ? 1 : 3, list));
            refused(&d, "is no [i, n]", "of one or three", f->name);
        }
    }
    all_good("a part is below the number of parts");
}

/* A list of n elements, of which the first is given and the rest are right. */
static void
set_list(struct draft *d, const struct wire_msg *msg,
         const struct wire_field *f, size_t n, msgpack_object_kv first)
{
    static msgpack_object two[2], couples[1025];
    static msgpack_object_kv values[1025];
    static char names[1025][24];
    msgpack_object list = {.type = MSGPACK_OBJECT_MAP};

    two[0] = two[1] = draft_whole(0);
    for (size_t i = 1; i < n; i++) {
        snprintf(names[i], sizeof *names, "n%zu", i);
        values[i] =
            (msgpack_object_kv){draft_text(names[i]), draft_real((double)i)};
        couples[i] = draft_list(2, two);
    }
    values[0] = first;
    couples[0] = first.val;
    list.via.map.ptr = values;
    list.via.map.size = (uint32_t)n;
    set(d, msg, f,
        f->type == WIRE_VALUES ? list : draft_list((uint32_t)n, couples));
}

static void
lists(const struct wire_msg *msg)
{
    static char long_name[65];
    msgpack_object two[2] = {draft_whole(0), draft_whole(1)},
                   odd[2] = {draft_whole(0), draft_whole(-1)};
    const struct wire_field *f;
    struct draft d;

    memset(long_name, 'n', sizeof long_name - 1);
    for (f = message->fields; f->name; f++) {
        const int is_map = f->type == WIRE_VALUES;
        const msgpack_object good = is_map ? draft_real(1) : draft_list(2, two);
        const msgpack_object_kv wrong[] = {
            {draft_text("n"), is_map ? draft_real(INFINITY) : draft_whole(1)},
            {draft_text(long_name), is_map ? good : draft_list(1, two)},
            {draft_text(""), is_map ? good : draft_list(2, odd)},
        };
        const size_t most = (size_t)f->greatest;

        if (!is_map && f->type != WIRE_COUPLES)
            continue;
        set_list(&d, msg, f, most, (msgpack_object_kv){draft_text("n"), good});
        taken(&d, "as many as there may be", f->name);
        set_list(&d, msg, f, most + 1,
                 (msgpack_object_kv){draft_text("n"), good});
        refused(&d, f->name, "one too many", f->name);
        for (size_t i = 0; i < 3; i++) {
            set_list(&d, msg, f, 1, wrong[i]);
            refused(&d, "", "a wrong element", f->name);
        }
    }
    all_good("lists have no more elements than they may, and right ones");
}

/* ---- tensors that are wrong --------------------------------------------- */

/* How many tensors and numbers of the header say that size. */
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
    size_t most;

    for (int by = -1; by <= 1; by += 2) {
        draft_start(&d, msg);
        t = draft_tensor(&d, f->name);
        t->data = counted;
        t->shape[k] += (size_t)by;
        if (alone)
            taken(&d, "of a size that it alone has", f->name);
        else
            refused(&d, "tensor '", "of another size", f->name);
    }
    draft_start(&d, msg);
    t = draft_tensor(&d, f->name);
    t->data = counted;
    t->shape[k] = 0;
    refused(&d, "tensor '", "without elements", f->name);
    most = name > '9' ? wire_size_find(message, name)->greatest : SIZE_MAX;
    if (most > 65536)
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
        for (enum wire_dtype dtype = 0; dtype <= WIRE_F2; dtype++) {
            draft_start(&d, msg);
            t = draft_tensor(&d, f->name);
            t->data = counted;
            t->dtype = dtype;
            if (dtype == WIRE_F2 && f->half)
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

/* Of t, which is of a draft, with element 1 changed. */
static const void *
elements(const struct wire_tensor *t, int64_t whole, float real)
{
    const size_t bytes = t->count * wire_dtype_bytes(t->dtype);
    void *data = example_take(bytes);

    memcpy(data, t->data, bytes);
    if (t->dtype == WIRE_I8)
        ((int64_t *)data)[1] = whole;
    else if (t->dtype == WIRE_I4)
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
            with_element(msg, f, 1 << 20, 0, "an element that is not below");
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

/* ---- frames that are cut ------------------------------------------------ */

static int
is_message(size_t n, const struct wire_part *part)
{
    struct err err = {""};
    struct wire_msg *msg = wire_msg_from(n, part, &err);

    const int is_it = msg ? wire_msg_kind(msg) == kind : !*err.msg;

    wire_msg_free(msg);
    return is_it;
}

static void
cut(const struct wire_msg *msg)
{
    struct wire_part part[WIRE_PARTS_MAX];
    const size_t n = wire_msg_parts(msg);

    for (size_t i = 0; i < n; i++)
        part[i] = wire_msg_part(msg, i);
    for (size_t i = 0; i < n; i++) {
        const struct wire_part whole = part[i];

        bad += is_message(i, part);
        for (size_t len = 0; len < whole.len && len < 400; len++) {
            part[i].len = i ? len : whole.len - 1 - len;
            bad += is_message(n, part);
        }
        part[i] = whole;
    }
    all_good("frames that are cut anywhere are no such message");
}

/* ---- what tables do not say: checks between fields ---------------------- */

/* For each check of a table, fields that break it: element 1 of a tensor, or
 * that the tensor is gone. */
static const struct breach {
    enum wire_kind kind;
    const char *check, *in, *field, *text;
    double value;
} breaches[] = {
    {WIRE_HELLO, "the digest is one", "dataset", "digest", "0123", 0},
    {WIRE_HELLO, "the digest is one", "dataset", "digest",
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
    {WIRE_PAIRS, "rows of extra_texts are captions", NULL, "extra_texts", NULL,
     60},
    {WIRE_PAIRS, "kind pair has what it wants", NULL, "captions", "gone", 0},
    {WIRE_WEIGHTS, "rows of w are weights", NULL, "w", NULL, -0.25},
    {WIRE_WEIGHTS, "rows of w are weights", NULL, "w", NULL, 0.9},
    {WIRE_STATE_PUT, "a piece is of one table", NULL, "from", NULL, 29},
    {WIRE_STATE_PUT, "a piece is of one table", NULL, "from", NULL, 1e12},
    {WIRE_NEXT, "have is places in order", NULL, "have", NULL, -1},
    {WIRE_NEXT, "no more than the window is held", NULL, "window", NULL, 1},
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
    const size_t n = sizeof breaches / sizeof *breaches;

    for (const struct wire_check *c = message->checks; c->what; c++) {
        int seen = 0;

        for (size_t i = 0; i < n; i++)
            if (breaches[i].kind == kind &&
                !strcmp(breaches[i].check, c->what)) {
                breach(msg, &breaches[i]);
                seen = 1;
            }
        T(seen, "%s: there is a breach of: %s", message->name, c->what);
    }
}

/* Weights may drop a share of a row where they say so. */
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
    refused(&d, "is no set of weights", "without partial", "w");
    all_good("a row may sum to less than 1 where they are partial");
}

/* ---- tables -------------------------------------------------------------- */

/* A list of n tables; the last one is given. */
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
    static char longest[WIRE_TABLE_NAME], longer[WIRE_TABLE_NAME + 1];
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
    refused(&d, "is no table", "a number as name", f->name);
    set_tables(&d, msg, f, 2, draft_text("t0"), 1, 1);
    refused(&d, "'t0' is there twice", "two of one name", f->name);
    set_tables(&d, msg, f, 1, draft_text("x"), 0, 1);
    refused(&d, "is no table", "no rows", f->name);
    set_tables(&d, msg, f, 1, draft_text("x"), WIRE_SIZE_MAX + 1, 1);
    refused(&d, "is no table", "too many rows", f->name);
    set_tables(&d, msg, f, 1, draft_text("x"), 1, 0);
    refused(&d, "is no table", "no width", f->name);
    set_tables(&d, msg, f, 1, draft_text("x"), 1, WIRE_WIDTH_MAX);
    taken(&d, "the widest", f->name);
    set_tables(&d, msg, f, 1, draft_text("x"), 1, WIRE_WIDTH_MAX + 1);
    refused(&d, "is no table", "wider", f->name);
    set_tables(&d, msg, f, WIRE_TABLES_MAX, draft_text("x"), 1, 1);
    taken(&d, "as many as there may be", f->name);
    set_tables(&d, msg, f, WIRE_TABLES_MAX + 1, draft_text("x"), 1, 1);
    refused(&d, "at most 16 tables", "one too many", f->name);
    two[0] = draft_text("x");
    two[1] = draft_whole(1);
    one = draft_list(2, two);
    set(&d, msg, f, draft_list(1, &one));
    refused(&d, "is no table", "two elements", f->name);
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
    refused(&d, "no u1 [k,3]", "narrower rows", f->name);
    draft_start(&d, msg);
    t = draft_tensor(&d, "a.row");
    t->data = counted;
    t->dtype = WIRE_I4;
    refused(&d, "no u1 [k,3]", "of another dtype", f->name);
    draft_start(&d, msg);
    draft_tensor(&d, "a.row")->rank = 1;
    refused(&d, "no u1 [k,3]", "of another rank", f->name);
    draft_start(&d, msg);
    t = draft_tensor(&d, "a.row");
    *t = d.tensor[--d.n];
    if (!f->placed) {
        taken(&d, "a piece without rows", f->name);
        return;
    }
    refused(&d, "no i8 [0]", "places without rows", f->name);
    draft_start(&d, msg);
    draft_tensor(&d, "a.at")->data = places;
    taken(&d, "the last row", f->name);
    draft_tensor(&d, "a.at")->data = elements(draft_tensor(&d, "a.at"), 30, 0);
    refused(&d, "'a.at' has 30, want 0 .. 29", "behind it", f->name);
    draft_tensor(&d, "a.at")->data = elements(draft_tensor(&d, "a.at"), -1, 0);
    refused(&d, "'a.at' has -1", "before the first", f->name);
    draft_start(&d, msg);
    draft_tensor(&d, "a.at")->shape[0] = 1;
    refused(&d, "no i8 [2]", "a place too few", f->name);
    draft_start(&d, msg);
    draft_tensor(&d, "a.at")->name[0] = 'x';
    refused(&d, "no i8 [2]", "no places", f->name);
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
        all_good("tables and their rows are right");
    }
}

/* One piece has rows of one table, and no more than 16 MiB. */
static void
pieces(const struct wire_msg *msg)
{
    static uint8_t bytes[WIRE_PIECE_MAX + 3];
    const struct wire_field *f = wire_field_find(message, "tables");
    struct wire_tensor *t;
    struct draft d;

    draft_start(&d, msg);
    d.tensor[d.n] = (struct wire_tensor){"b.row", WIRE_U1, 2, {1, 8}, 8, bytes};
    d.n++;
    draft_set(&d, NULL, "from", draft_whole(0));
    refused(&d, "rows of 2 tables", "rows of two tables", "tables");
    set_tables(&d, msg, f, 1, draft_text("a"), 1 << 24, 3);
    t = draft_tensor(&d, "a.row");
    t->data = bytes;
    t->shape[0] = WIRE_PIECE_MAX / 3;
    taken(&d, "as many rows as there may be", "tables");
    t->shape[0]++;
    refused(&d, "more than 16777216 bytes", "one row more", "tables");
    all_good("a piece is of one table, and not too large");
}

int
main(void)
{
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        counted[i] = (int64_t)i;
    for (kind = 0; kind < WIRE_KINDS; kind++) {
        struct wire_msg *msg;

        message = &wire_messages[kind];
        T(!strcmp(message->name, wire_kind_name(kind)), "%s has its name",
          message->name);
        round_trip(1);
        round_trip(0);
        msg = example(1);
        not_copied(msg);
        unknown(msg);
        missing_and_twice(msg);
        wrong_types(msg);
        ranges(msg);
        texts(msg);
        parts(msg);
        lists(msg);
        wrong_tensors(msg);
        wrong_elements(msg);
        cut(msg);
        breach_all(msg);
        tables(msg);
        if (kind == WIRE_WEIGHTS)
            dropped_share(msg);
        if (kind == WIRE_STATE_PUT)
            pieces(msg);
        wire_msg_free(msg);
    }
    return t_done();
}
