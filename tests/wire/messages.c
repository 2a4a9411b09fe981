#include <float.h>
#include <stdio.h>
#include <string.h>

#include "util/weights.h"
#include "wire/edge.h"
#include "wire/message.h"

/*
 * Prints the tables of all messages: kind, name and type of each field, then
 * the sizes of its tensors, with tabs between; or, with an argument, those of
 * the edges and roles.  make lint compares that with foil-wire(5)
 * (scripts/check-messages).
 */

/* 2^32 rather than 4294967296. */
static void
print_number(int64_t x)
{
    int bits = 62;

    while (bits > 17 && x != (int64_t)1 << bits)
        bits--;
    if (bits > 17)
        printf("2^%d", bits);
    else
        printf("%jd", (intmax_t)x);
}

static void
print_whole(const struct wire_field *f)
{
    const int is_power =
        f->greatest >= 1 << 17 && !(f->greatest & (f->greatest + 1));

    printf("whole");
    if (f->greatest == INT64_MAX) {
        printf("%s", f->least ? " > 0" : "");
    } else if (!f->least && is_power) {
        printf(" < ");
        print_number(f->greatest + 1);
    } else {
        printf(" ");
        if (f->above)
            printf("%s+1", f->above);
        else if (f->least_size)
            printf("%c", f->least_size);
        else
            print_number(f->least);
        printf("..");
        print_number(f->greatest);
    }
}

static void
print_real(const struct wire_field *f)
{
    if (f->low > 0 && f->low <= DBL_MIN)
        printf("real > 0, up to %g", f->high);
    else
        printf("real %g..%g", f->low, f->high);
}

static void
print_text(const struct wire_field *f)
{
    printf("text ");
    if (f->least)
        printf("%jd..", (intmax_t)f->least);
    printf("%zu", f->room - 1);
}

static void
print_shape(const char *shape)
{
    printf("[");
    for (; *shape; shape++)
        printf("%c%s", *shape, shape[1] ? "," : "");
    printf("]");
}

static void
print_tensor(const struct wire_field *f)
{
    printf("%s%s ", dtype_about(f->dtype)->wire, f->half ? " or f2" : "");
    print_shape(f->shape);
    if (f->type == WIRE_IDS)
        printf(" ids%s", f->once ? ", each once" : "");
    else if (f->below)
        printf(" < %s", f->below);
    else if (f->least < f->greatest && f->greatest == INT32_MAX)
        printf(" >= %jd", (intmax_t)f->least);
    else if (f->least < f->greatest)
        printf(" %jd..%jd", (intmax_t)f->least, (intmax_t)f->greatest);
    else if (f->low < f->high)
        printf(" >= %g", f->low);
}

static void
print_type(const struct wire_field *f)
{
    switch (f->type) {
    case WIRE_WHOLE:
    case WIRE_COUNT:
        print_whole(f);
        break;
    case WIRE_REAL:
        print_real(f);
        break;
    case WIRE_FLAG:
        printf("bool");
        break;
    case WIRE_TEXT:
        if (f->words)
            printf("one of %s", f->words);
        else
            print_text(f);
        break;
    case WIRE_MAP:
        printf("map");
        break;
    case WIRE_SHARE:
        printf("[i, n], i < n <= %jd", (intmax_t)f->greatest);
        break;
    case WIRE_VALUES:
        printf("up to %jd reals", (intmax_t)f->greatest);
        break;
    case WIRE_COUPLES:
        printf("up to %jd pairs of ids", (intmax_t)f->greatest);
        break;
    case WIRE_TENSOR:
    case WIRE_IDS:
        print_tensor(f);
        break;
    case WIRE_TABLES:
        printf("up to %d tables%s", TABLES_MAX,
               f->placed ? ", with places" : "");
    }
}

static void
print_fields(const struct wire_message *m)
{
    const struct wire_field *f;
    const char *in = NULL;
    size_t inside = 0;

    for (f = m->fields; f->name; f++) {
        const int may_miss = f->optional || f->with;

        printf("%s\t%s%s%s%s%s\t", m->name, may_miss ? "[" : "",
               inside ? in : "", inside ? "." : "", f->name,
               may_miss ? "]" : "");
        print_type(f);
        if (f->with)
            printf(", with %s", f->with);
        printf("\n");
        inside -= !!inside;
        if (f->type == WIRE_MAP) {
            in = f->name;
            inside = f->members;
        }
    }
}

/* Those with a limit that no number in the header has. */
static void
print_sizes(const struct wire_message *m)
{
    const struct wire_size *size;
    const struct wire_field *f;

    for (size = m->sizes; size->name; size++) {
        for (f = m->fields; f->name; f++)
            if (f->type == WIRE_COUNT && f->at == size->at)
                break;
        if (!f->name && size->greatest < WIRE_SIZE_MAX)
            printf("%s\t%c\tsize 1..%zu\n", m->name, size->name,
                   size->greatest);
    }
}

/* "64 KiB" */
static void
print_bytes(size_t n)
{
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB"};
    size_t i = 0;

    for (; i < 3 && n % 1024 == 0; i++)
        n /= 1024;
    printf("%zu %s", n, unit[i]);
}

static const char *const sides[] = {"connects", "binds"};

/* For both ends of each edge: the largest parts and messages, or the kinds that
 * it may send. */
static void
print_limits(enum wire_edge edge, enum wire_side from)
{
    printf("%s\t%s\t", wire_edge_name(edge), sides[from]);
    print_bytes(wire_edge_part(edge, from, 0));
    printf("\t");
    print_bytes(wire_edge_message(edge, from, 0));
    printf("\n");
}

static void
print_kinds(enum wire_edge edge, enum wire_side from)
{
    int n = 0;

    for (enum wire_kind kind = 0; kind < WIRE_KINDS; kind++) {
        if (!wire_edge_allows_kind(edge, from, kind))
            continue;
        if (!n++)
            printf("%s\t%s\t", wire_edge_name(edge), sides[from]);
        printf("%s%s", n > 1 ? ", " : "", wire_kind_name(kind));
    }
    if (n)
        printf("\n");
}

/* The roles of keys that are allowed there. */
static void
print_roles(enum wire_edge edge, enum wire_side side)
{
    static const char *const roles[] = {"select", "augment", "train",
                                        "negatives", "tap"};
    const size_t all = sizeof roles / sizeof *roles;
    size_t n = 0;

    for (size_t i = 0; i < all; i++)
        n += (size_t)wire_edge_allows_role(edge, side, roles[i]);
    printf("%s\t%s\t", wire_edge_name(edge), sides[side]);
    if (n == all)
        printf("all");
    for (size_t i = 0, printed = 0; n < all && i < all; i++)
        if (wire_edge_allows_role(edge, side, roles[i]))
            printf("%s%s", printed++ ? ", " : "", roles[i]);
    printf("\n");
}

static void
print_ends(void)
{
    for (enum wire_edge edge = 0; edge < WIRE_EDGE_ANY; edge++)
        for (enum wire_side from = 0; from < 2; from++) {
            print_limits(edge, from);
            print_kinds(edge, from);
            print_roles(edge, from);
        }
}

int
main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        print_ends();
        return 0;
    }
    for (size_t kind = 0; kind < WIRE_KINDS; kind++) {
        print_fields(&wire_messages[kind]);
        print_sizes(&wire_messages[kind]);
    }
    return 0;
}
