#include <stdlib.h>

#include "confusion.h"
#include "eval/vote.h"
#include "util/mem.h"

enum { NAMED = 40, WRITTEN = 20 }; // classes, at most

void
confusion_init(struct confusion *c, size_t classes)
{
    if (classes > CONFUSION_MOST)
        die("a picture of %zu classes would show nothing: at most %d", classes,
            CONFUSION_MOST);
    c->classes = classes;
    c->count = mem_array(classes * classes, sizeof *c->count);
}

void
confusion_release(struct confusion *c)
{
    free(c->count);
    *c = (struct confusion){0};
}

void
confusion_vote(struct confusion *c, size_t m, size_t most, const uint32_t *ids,
               const int64_t *want, const int64_t *labels, size_t k)
{
    double *votes = mem_array(c->classes, sizeof *votes);

    for (size_t i = 0; i < m; i++)
        c->count[(size_t)want[i] * c->classes +
                 eval_vote(k, ids + i * most, NULL, labels, c->classes, 0,
                           votes)]++;
    free(votes);
}

/* Of a class. */
static size_t
count_queries(const struct confusion *c, size_t row)
{
    size_t sum = 0;

    for (size_t k = 0; k < c->classes; k++)
        sum += c->count[row * c->classes + k];
    return sum;
}

/* Its name, or number in the room. */
static const char *
name_class(const struct data_classes *names, size_t k, char room[24])
{
    if (k < names->n)
        return names->name[k];
    snprintf(room, 24, "%zu", k);
    return room;
}

json_t *
confusion_show(const struct confusion *c, const struct data_classes *names)
{
    json_t *shares = json_object();
    char room[24];

    for (size_t k = 0; k < c->classes; k++) {
        const size_t sum = count_queries(c, k);

        if (sum)
            json_object_set_new(
                shares, name_class(names, k, room),
                json_real((double)c->count[k * c->classes + k] / (double)sum));
    }
    return shares;
}

static void
write_shares(FILE *out, const struct confusion *c)
{
    fputs("$shares << END\n", out);
    for (size_t row = 0; row < c->classes; row++) {
        const size_t sum = count_queries(c, row);

        for (size_t k = 0; k < c->classes; k++)
            fprintf(out, "%s%.4g", k ? " " : "",
                    sum ? (double)c->count[row * c->classes + k] / (double)sum
                        : 0);
        fputs("\n", out);
    }
    fputs("END\n", out);
}

static void
write_names(FILE *out, const struct confusion *c,
            const struct data_classes *names, const char *axis)
{
    char room[24];

    fprintf(out, "set %s noenhanced (", axis);
    for (size_t k = 0; k < c->classes; k++) {
        fputs(k ? ", " : "", out);
        plot_text(out, name_class(names, k, room));
        fprintf(out, " %zu", k);
    }
    fputs(")\n", out);
}

void
confusion_plot(const struct confusion *c, const struct data_classes *names,
               const char *picture)
{
    struct plot script;
    FILE *out = plot_open(&script);

    write_shares(out, c);
    fputs("set terminal pngcairo size 900,860\nset size square\n"
          "set xlabel \"taken for\"\nset ylabel \"class\"\n"
          "set cblabel \"share of the class\"\nset cbrange [0:1]\n"
          "set palette defined (0 \"#ffffff\", 0.5 \"#56b4e9\", 1 "
          "\"#00305a\")\nset tics out nomirror\n",
          out);
    fprintf(out, "set xrange [-0.5:%zu.5]\nset yrange [%zu.5:-0.5]\n",
            c->classes - 1, c->classes - 1);
    if (c->classes <= NAMED) {
        write_names(out, c, names, "xtics rotate by 45 right");
        write_names(out, c, names, "ytics");
    }
    fputs("plot $shares matrix with image notitle", out);
    if (c->classes <= WRITTEN)
        fputs(", \\\n    $shares matrix using 1:2:"
              "($3 < 0.005 ? \"\" : gprintf(\"%.2f\", $3)):"
              "($3 > 0.6 ? 0xffffff : 0x303030) with labels font \",9\" "
              "textcolor rgb variable notitle",
              out);
    fputs("\n", out);
    plot(&script, picture);
}
