/*
 * Header and frames of every message, by its table.
 */
#include "message_each.h"

/* ---- valid messages ------------------------------------------------------ */

static void
round_trip(int full)
{
    struct wire_msg *msg = example(full), *back;
    void *x = example_take(message->bytes + 1);
    struct err err = {""};
    const int rc = wire_decode(kind, x, msg, size, &err);

    T(!rc, "%s: %s is accepted: %s", message->name,
      full ? "with all fields" : "with required fields only", err.msg);
    if (rc)
        return;
    if (message->held)
        wire_msg_free(wire_msg_hold(msg));
    back = wire_encode(kind, x);
    T(same_bytes(msg, back),
      "%s: a decoded struct is encoded to the same bytes", message->name);
    wire_msg_free(msg);
    if (message->held) {
        struct wire_msg *later = wire_encode(kind, x);

        T(same_bytes(later, back),
          "%s: arrays outlive our reference to the message", message->name);
        wire_msg_free(later);
        wire_release(kind, x);
        T(is_empty(x), "%s: a released struct is empty", message->name);
        wire_release(kind, x);
    }
    wire_msg_free(back);
}

/* For an array of a decoded struct. */
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
    static const struct wire_tensor colour = {"colour", DTYPE_U1, 1,
                                              {1},      1,        "x"};
    struct draft d;

    draft_start(&d, msg);
    draft_add(&d, NULL, "colour", draft_text("blue"));
    taken(&d, "with an unknown key", "colour");
    draft_start(&d, msg);
    d.tensor[d.n++] = colour;
    taken(&d, "with an unknown tensor", "colour");
    all_good("unknown fields are ignored");
}

/* ---- wrong keys ---------------------------------------------------------- */

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
    all_good("required keys are present, and none is twice");
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

/* The lower bound of a number in this message. */
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
        char want[100];

        snprintf(want, sizeof want, "'%s' is not a whole number in", f->name);
        if (is_number(f)) {
            const int64_t least = least_of(msg, f), most = f->greatest;
            msgpack_object more = draft_whole(most);

            more.via.u64++; // also beyond INT64_MAX
            set(&d, msg, f, draft_whole(least - 1));
            refused(&d, want, "below", f->name);
            set(&d, msg, f, more);
            refused(&d, want, "above", f->name);
            set(&d, msg, f, draft_whole(least));
            within(&d, want, "the least", f->name);
            set(&d, msg, f, draft_whole(most));
            within(&d, want, "the greatest", f->name);
        } else if (f->type == WIRE_REAL) {
            const double wrong[] = {nextafter(f->low, -1e300),
                                    nextafter(f->high, 1e300), INFINITY, NAN};

            for (size_t i = 0; i < 4; i++) {
                set(&d, msg, f, draft_real(wrong[i]));
                refused(&d, "is not a number in", "outside", f->name);
            }
            set(&d, msg, f, draft_real(f->low));
            taken(&d, "the least", f->name);
            set(&d, msg, f, draft_real(f->high));
            taken(&d, "the greatest", f->name);
        }
    }
    all_good(
        "a number outside of its range is refused, the bounds are accepted");
}

static void
texts(const struct wire_msg *msg)
{
    static char text[8192];
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
        within(&d, "is not a text", "the longest", f->name);
        set(&d, msg, f, draft_text(longest - 1));
        refused(&d, "is not a text of", "too long", f->name);
        set(&d, msg, f, draft_text(""));
        if (f->least)
            refused(&d, "is not a text of 1 to", "an empty one", f->name);
        set(&d, msg, f, zero);
        refused(&d, "is not a text", "a zero byte", f->name);
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
    all_good("texts have an allowed length, words are known");
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
                refused(&d, "is not [i, n] with i < n", "no part", f->name);
            else
                taken(&d, "a part", f->name);
            set(&d, msg, f, draft_list(i % 2 ? 1 : 3, list));
            refused(&d, "is not [i, n]", "of one or three", f->name);
        }
    }
    all_good("a part is below the number of parts");
}

/* A list of n elements, the first as passed and the rest valid. */
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
        taken(&d, "the most elements", f->name);
        set_list(&d, msg, f, most + 1,
                 (msgpack_object_kv){draft_text("n"), good});
        refused(&d, f->name, "one too many", f->name);
        for (size_t i = 0; i < 3; i++) {
            set_list(&d, msg, f, 1, wrong[i]);
            refused(&d, "", "a wrong element", f->name);
        }
    }
    all_good("lists have no more elements than allowed, and valid ones");
}

/* ---- frames cut short ---------------------------------------------------- */

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
    all_good("a message with frames cut anywhere is refused");
}

static void
look(const struct wire_msg *msg)
{
    T(!strcmp(message->name, wire_kind_name(kind)), "%s has its name",
      message->name);
    round_trip(1);
    round_trip(0);
    not_copied(msg);
    unknown(msg);
    missing_and_twice(msg);
    wrong_types(msg);
    ranges(msg);
    texts(msg);
    parts(msg);
    lists(msg);
    cut(msg);
}

int
main(void)
{
    each_kind(look);
    return t_done();
}
