#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/pool.h"
#include "eval.h"
#include "image/png.h"
#include "image/view.h"
#include "map.h"
#include "util/mem.h"

enum { NAMED = 30, ACROSS = 4, BOARD = 1280 };

static const int forms[] = {7, 6, 5, 4, 9, 8}; // gnuplot's discs, rings ...
enum { FORMS = sizeof forms / sizeof *forms };

static size_t
count_labels(const struct frame *frame)
{
    int64_t most = -1;

    for (size_t i = 0; frame->f.labels && i < frame->f.n; i++)
        if (frame->f.labels[i] > most)
            most = frame->f.labels[i];
    return (size_t)(most + 1);
}

/* The points of a class, or of no class: returns how many. */
static size_t
put_points(FILE *out, const struct frame *frame, int64_t label)
{
    size_t n = 0;

    for (size_t i = 0; i < frame->f.n; i++) {
        const int64_t own = frame->f.labels ? frame->f.labels[i] : -1;

        if ((own < 0 ? -1 : own) != label)
            continue;
        fprintf(out, "%.5g %.5g\n", (double)frame->y[2 * i],
                (double)frame->y[2 * i + 1]);
        n++;
    }
    return n;
}

/* A row of the legend, in larger points than those of the map. */
static void
put_legend(FILE *out, const struct frame *frame, int64_t label)
{
    char number[24];

    snprintf(number, sizeof number, "%jd", (intmax_t)label);
    fprintf(out,
            ", \\\n    keyentry with points pt %d ps 1.2 lc rgb \"#%s\" title ",
            forms[label / PLOT_HUES % FORMS], plot_hue((size_t)label));
    plot_text(out, frame->f.classes.n ? frame->f.classes.name[label] : number);
    fputs(" noenhanced", out);
}

/* Blocks of data $p0, $p1 ..., one for each class that has points, and the
 * command that draws them; grey where there is no class. */
static void
put_frame(FILE *out, const struct frame *frame, double radius)
{
    const size_t classes = count_labels(frame);
    size_t len;
    char *draws;
    FILE *command = open_memstream(&draws, &len);
    const char *between = "plot ";

    REQUIRE(command);
    for (int64_t label = -1; label < (int64_t)classes; label++) {
        fprintf(out, "$p%jd << END\n", (intmax_t)label + 1);
        if (put_points(out, frame, label)) {
            fprintf(command,
                    "%s$p%jd using 1:2 with points pt %d ps %g lc rgb "
                    "\"#%s\" notitle",
                    between, (intmax_t)label + 1,
                    label < 0 ? 7 : forms[label / PLOT_HUES % FORMS], radius,
                    label < 0 ? "999999" : plot_hue((size_t)label));
            if (label >= 0 && classes <= NAMED)
                put_legend(command, frame, label);
            between = ", \\\n    ";
        }
        fputs("END\n", out);
    }
    fclose(command);
    fputs("set title ", out);
    plot_text(out, frame->path);
    fprintf(out, " noenhanced\n%s\n", draws);
    free(draws);
}

void
map_plot(const char *picture, const struct frame *frame, size_t n)
{
    const size_t across = n < ACROSS ? n : ACROSS;
    const size_t down = (n + across - 1) / across, side = n > 1 ? 600 : 900;
    const double radius = fmin(1, 30 / sqrt((double)frame->f.n));
    struct plot script;
    FILE *out = plot_open(&script);

    fprintf(out,
            "set terminal pngcairo size %zu,%zu\nset size ratio -1\n"
            "unset tics\nset key outside bottom center horizontal\n"
            "set multiplot layout %zu,%zu\n",
            across * side, down * side, down, across);
    for (size_t k = 0; k < n; k++)
        put_frame(out, &frame[k], radius);
    plot(&script, picture);
}

/* For each place of the board the row that is nearest to its middle, of those
 * that lie in it; -1 where none does. */
static int64_t *
choose_rows(const struct frame *frame, size_t places)
{
    int64_t *row = mem_array(places * places, sizeof *row);
    double *best = mem_array(places * places, sizeof *best);
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY},
           side;

    for (size_t i = 0; i < 2 * frame->f.n; i++) {
        low[i % 2] = fmin(low[i % 2], frame->y[i]);
        high[i % 2] = fmax(high[i % 2], frame->y[i]);
    }
    side = fmax(high[0] - low[0], high[1] - low[1]) * 1.0001 + 1e-30;
    low[0] = (low[0] + high[0] - side) / 2; // in the middle
    high[1] = (low[1] + high[1] + side) / 2;
    for (size_t i = 0; i < places * places; i++)
        row[i] = -1;
    for (size_t i = 0; i < frame->f.n; i++) {
        const double x = (frame->y[2 * i] - low[0]) / side * (double)places;
        const double y =
            (high[1] - frame->y[2 * i + 1]) / side * (double)places;
        const size_t at = (size_t)y * places + (size_t)x;
        const double far = hypot(x - floor(x) - .5, y - floor(y) - .5);

        if (row[at] < 0 || far < best[at]) {
            row[at] = (int64_t)i;
            best[at] = far;
        }
    }
    free(best);
    return row;
}

void
map_check_images(const struct frame *frame, const char *images)
{
    struct data_set *set = data_open_or_die(images, 1);
    const json_t *data = json_object_get(frame->f.about, "data");
    const char *known = json_string_value(json_object_get(data, "digest"));
    const struct digest digest = data_digest(set);
    char hex[DIGEST_HEX];

    if (known && strcmp(known, digest_hex(&digest, hex)))
        die("'%s' is not the data set of '%s': that is '%s', digest %s", images,
            frame->path, json_string_value(json_object_get(data, "path")),
            known);
    for (size_t i = 0; i < frame->f.n; i++) {
        const int64_t id = frame->f.ids ? frame->f.ids[i] : (int64_t)i;

        if (id < 0 || (size_t)id >= data_size(set))
            die("'%s' has sample %jd, and '%s' has %zu images", frame->path,
                (intmax_t)id, images, data_size(set));
    }
    data_close(set);
}

/* One image at its place; white where it cannot be read. */
static void
paint_image(uint8_t *board, size_t at, size_t places, size_t size,
            const uint8_t *view)
{
    const size_t wide = places * size;
    uint8_t *to = board + (at / places * wide + at % places) * size * 3;

    for (size_t y = 0; y < size; y++)
        memcpy(to + y * wide * 3, view + y * size * 3, size * 3);
}

void
map_thumbnails(const char *picture, const struct frame *frame,
               const char *images, size_t size)
{
    const struct data_pool_how how = {.policy = DATA_ACCEPT,
                                      .max_pixels = DATA_MAX_PIXELS};
    const size_t places = BOARD / size, side = places * size;
    struct data_set *set = data_open_or_die(images, 1);
    struct data_pool *pool = data_pool_new(set, &how);
    int64_t *row = choose_rows(frame, places);
    uint8_t *board = mem_array(side * side, 3);
    uint8_t *view = mem_array(size * size, 3);
    struct data_scratch *scratch = NULL;
    size_t lost = 0;
    struct err err;

    memset(board, 255, side * side * 3);
    for (size_t at = 0; at < places * places; at++) {
        const int64_t *ids = frame->f.ids;
        const struct data_image *image;

        if (row[at] < 0)
            continue;
        image =
            data_pool_get(pool, (size_t)(ids ? ids[row[at]] : row[at]), &err);
        lost += !image;
        if (!image)
            continue;
        data_plain(size, image, &scratch, view);
        paint_image(board, at, places, size, view);
    }
    if (lost)
        say("'%s': %zu place%s stay%s white, whose images cannot be read: %s",
            picture, lost, plural(lost), lost == 1 ? "s" : "", err.msg);
    if (data_png_write(picture, board, side, side, &err))
        die("%s", err.msg);
    data_scratch_free(scratch);
    data_pool_free(pool);
    data_close(set);
    free(view);
    free(board);
    free(row);
}
