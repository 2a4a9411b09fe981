#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/npy.h"
#include "data/pool.h"
#include "eval.h"
#include "eval/pca.h"
#include "eval/tsne.h"
#include "image/codec.h"
#include "image/view.h"
#include "num/vec.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/progress.h"

/* The verbs pca and map. */

static const char *output, *coordinates, *thumbnails, *images;
static enum { TSNE, COMPONENTS } method;
static enum { COSINE, EUCLIDEAN } metric;
static double perplexity = 30;
static long components = 64, patch, steps = 1000, size = 32;

static const struct opt pca_own[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE", "output, .npy; required"},
    {"coordinates", 0, OPT_TEXT, &coordinates, 0, 0, "FILE",
     "also write the rows' coordinates, for foil-train --rows"},
    {"components", 'k', OPT_WHOLE, &components, 1, 65536, "N",
     "number of directions"},
    {"patch", 0, OPT_WHOLE, &patch, 0, 64, "N",
     "of all patches of NxN pixels of the images that the rows are; 0: of "
     "rows"},
    {0},
};
verb_opts pca_opts = {pca_own, threads_opts, output_opts, NULL};

static const struct opt map_own[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE",
     "the points, .npy, for all files of features in order"},
    {"plot", 0, OPT_TEXT, &common_options.plot, 0, 0, "FILE",
     "draw as PNG, coloured by class, and save the script"},
    {"thumbnails", 0, OPT_TEXT, &thumbnails, 0, 0, "FILE",
     "draw the images at their points, as PNG"},
    {"images", 0, OPT_TEXT, &images, 0, 0, "DATA", "data set for --thumbnails"},
    {"size", 0, OPT_WHOLE, &size, 8, 160, "N",
     "width and height of a thumbnail"},
    {"method", 0, OPT_CHOICE, &method, 0, 0, "tsne|pca",
     "by neighbours, or by two principal components"},
    {"metric", 0, OPT_CHOICE, &metric, 0, 0, "cosine|euclidean",
     "measure of distance"},
    {"perplexity", 0, OPT_REAL, &perplexity, 1, 1e4, "X",
     "approximate number of neighbours"},
    {"iterations", 0, OPT_WHOLE, &steps, 0, 1e6, "N",
     "steps, after 250 with early exaggeration"},
    {0},
};
verb_opts map_opts = {map_own, threads_opts, output_opts, NULL};

/* Writes an .npy of rows x columns, or ends the process. */
static void
save_matrix(const char *path, size_t rows, size_t columns, float *x)
{
    const struct data_npy npy = {
        .type = DTYPE_F4, .rank = 2, .shape = {rows, columns}, .data = x};
    struct err err;

    or_die(data_npy_write(path, &npy, &err), &err);
}

/* Ends the process if the output file `written`, or NULL, is also an input. */
static void
refuse_input(const char *written, const char *path)
{
    if (written && file_same(written, path))
        opt_misuse("'%s' is an input and would be overwritten", written);
}

/* Returns <e_i, x - m> of a row for a basis of k directions [k,d], followed by
 * the mean m. */
static float
project_row(size_t d, const float *basis, size_t k, size_t i, const float *x)
{
    return (float)(num_dot(d, basis + i * d, x) -
                   num_dot(d, basis + i * d, basis + k * d));
}

/* All rows of all files, and their origin. */
struct pool {
    size_t n, d, room;
    size_t each; /* rows of each file; 0: they differ */
    float *x;
    json_t *from;
};

static void
add_file(struct pool *pool, const char *path)
{
    struct data_features f;

    load(&f, path, NULL);
    if (pool->n && f.d != pool->d)
        die("'%s' has %zu columns, the files before it %zu", path, f.d,
            pool->d);
    pool->d = f.d;
    pool->each = !pool->n || pool->each == f.n ? f.n : 0;
    mem_grow(&pool->x, &pool->room, (pool->n + f.n) * f.d, sizeof *pool->x);
    memcpy(pool->x + pool->n * f.d, f.x, f.n * f.d * sizeof *f.x);
    pool->n += f.n;
    json_array_append_new(pool->from, origin(path, &f));
    data_features_release(&f);
}

/* Writes the coordinates of all rows, whose files are views: all views of the
 * first sample, then of the second. */
static void
write_coordinates(const struct pool *pool, size_t k, const float *basis)
{
    const size_t views = json_array_size(pool->from), d = pool->d,
                 samples = pool->n / views;
    float *y = mem_array(pool->n * k, sizeof *y);

    if (pool->each != samples)
        die("--coordinates needs the same number of rows in each file, which "
            "are views of the same samples");
    for (size_t r = 0; r < pool->n; r++)
        for (size_t i = 0; i < k; i++)
            y[(r % samples * views + r / samples) * k + i] =
                project_row(d, basis, k, i, pool->x + r * d);
    save_matrix(coordinates, pool->n, k, y);
    free(y);
}

/* Replaces rows, square images of three channels, by all their patches. */
static void
cut_into_patches(struct pool *pool)
{
    const size_t side = (size_t)lround(sqrt((double)pool->d / 3));
    const size_t p = (size_t)patch, line = 3 * p, each = side + 1 - p;
    float *cut, *to;

    if (3 * side * side != pool->d || side < p)
        die("--patch %zu: rows of %zu numbers are no square images of three "
            "channels that have such patches",
            p, pool->d);
    cut = to = mem_array(pool->n * each * each * line * p, sizeof *cut);
    for (size_t r = 0; r < pool->n * each * each; r++) {
        const float *from = pool->x + r / (each * each) * pool->d +
                            3 * (r / each % each * side + r % each);

        for (size_t y = 0; y < p; y++, to += line)
            memcpy(to, from + 3 * y * side, line * sizeof *to);
    }
    free(pool->x);
    pool->x = cut;
    pool->n *= each * each;
    pool->d = line * p;
}

void
run_pca(char **path)
{
    struct pool pool = {.from = json_array()};
    const size_t k = (size_t)components;
    struct eval_pca pca;
    float *basis;

    if (!output)
        opt_misuse("needs a file to write to, -o FILE");
    for (; *path; path++) {
        refuse_input(output, *path);
        refuse_input(coordinates, *path);
        add_file(&pool, *path);
    }
    if (patch)
        cut_into_patches(&pool);
    if (pool.n < 2 || k > pool.n || k > pool.d)
        die("%zu rows of %zu columns have no %zu components", pool.n, pool.d,
            k);
    basis = mem_array((k + 1) * pool.d, sizeof *basis);
    pca = eval_pca(pool.n, pool.d, pool.x, k, basis);
    save_matrix(output, k + 1, pool.d, basis);
    if (coordinates)
        write_coordinates(&pool, k, basis);
    print(json_pack("{s:s s:s s:f s:f s:f s:f}", "measure", "pca", "basis",
                    output, "share", pca.share, "scale", pca.scale,
                    "first_deviation", pca.first, "last_deviation", pca.last),
          json_pack("{s:I s:I s:I s:o}", "components", (json_int_t)k, "d",
                    (json_int_t)pool.d, "rows", (json_int_t)pool.n, "from",
                    pool.from));
    mem_free(basis, pool.x);
}

/* A frame of a film: features, and the points of their rows. */
struct frame {
    const char *path;
    struct data_features f;
    float *y; /* [n,2] */
};

/* Projects a frame; the result is the share of the variance. */
static json_t *
project_frame(struct frame *frame)
{
    const size_t n = frame->f.n, d = frame->f.d;
    float *basis = mem_array(3 * d, sizeof *basis);
    struct eval_pca pca;

    if (d < 2)
        die("'%s' has one column, and a map has two", frame->path);
    pca = eval_pca(n, d, frame->f.x, 2, basis);
    for (size_t i = 0; i < 2 * n; i++)
        frame->y[i] = project_row(d, basis, 2, i % 2, frame->f.x + i / 2 * d);
    free(basis);
    return json_pack("{s:s s:s s:f}", "measure", "map", "method", "pca",
                     "share", pca.share);
}

static json_t *
embed_frame(struct frame *frame, const float *start)
{
    const double most = ((double)frame->f.n - 1) / 3; // t-SNE uses 3 * fit
    const double fit = perplexity < most ? perplexity : most;
    const double total = (double)steps + EVAL_TSNE_EARLY;
    struct eval_tsne *map;
    struct progress progress;
    json_t *line;

    if (fit < perplexity)
        log_message("'%s' has %zu rows: the perplexity is %.4g", frame->path,
                    frame->f.n, fit);
    progress_start(&progress, "steps", 0, total);
    map = eval_tsne_new(frame->f.n, frame->f.d, frame->f.x, fit, start);
    for (double done = 0; done < total; done++) {
        progress_show(&progress, done, frame->path);
        eval_tsne_step(map);
    }
    progress_clear(&progress);
    memcpy(frame->y, eval_tsne_points(map), 2 * frame->f.n * sizeof *frame->y);
    if (start)
        eval_tsne_turn(frame->f.n, start, frame->y);
    line = json_pack("{s:s s:s s:f s:f s:I}", "measure", "map", "method",
                     "tsne", "divergence", eval_tsne_divergence(map),
                     "perplexity", fit, "steps", (json_int_t)total);
    eval_tsne_free(map);
    return line;
}

/* Reads features of the same samples as the frame before. */
static void
load_frame(struct frame *frame, const char *path, const struct frame *before)
{
    struct data_features *f = &frame->f;

    frame->path = path;
    load(f, path, NULL);
    if (f->n < 4)
        die("'%s' has %zu row%s, and a map needs four", path, f->n,
            plural(f->n));
    if (before &&
        (f->n != before->f.n || !f->ids != !before->f.ids ||
         (f->ids && memcmp(f->ids, before->f.ids, f->n * sizeof *f->ids))))
        die("'%s' and '%s' are of other samples: the frames of a film are "
            "features of the same ones",
            before->path, path);
    if (metric == COSINE)
        num_unit_rows(f->n, f->d, f->x, f->x, NULL);
}

enum { NAMED = 30, ACROSS = 4, BOARD = 1280 };

static const int forms[] = {7, 6, 5, 4, 9, 8}; // gnuplot's discs, rings ...
enum { FORMS = sizeof forms / sizeof *forms };

/* Writes the points of a class, or of no class (-1); returns their number. */
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

/* Writes data blocks $p0, $p1 ..., one for each class, and the command that
 * draws them; points without class are grey. */
static void
put_frame(FILE *out, const struct frame *frame, double radius)
{
    int64_t classes = 0;
    size_t len;
    char *draws;
    FILE *command = open_memstream(&draws, &len);
    const char *between = "plot ";

    REQUIRE(command);
    for (size_t i = 0; frame->f.labels && i < frame->f.n; i++)
        if (frame->f.labels[i] >= classes)
            classes = frame->f.labels[i] + 1;
    for (int64_t label = -1; label < classes; label++) {
        fprintf(out, "$p%jd << END\n", (intmax_t)label + 1);
        if (put_points(out, frame, label)) {
            fprintf(command,
                    "%s$p%jd using 1:2 with points pt %d ps %g lc rgb "
                    "\"#%s\" notitle",
                    between, (intmax_t)label + 1,
                    label < 0 ? 7 : forms[label / PLOT_HUES % FORMS], radius,
                    label < 0 ? "999999" : plot_hue((size_t)label));
            if (label >= 0 && classes <= NAMED) {
                char number[24];

                // writes a row of the legend, with larger points than on the
                // map
                fprintf(command,
                        ", \\\n    keyentry with points pt %d ps 1.2 lc rgb "
                        "\"#%s\" title ",
                        forms[label / PLOT_HUES % FORMS],
                        plot_hue((size_t)label));
                plot_text(command,
                          class_name(&frame->f.classes, label, number));
                fputs(" noenhanced", command);
            }
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

/* Draws n frames side by side as points, coloured by class. */
static void
plot_frames(const struct frame *frame, size_t n)
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
    plot(&script, common_options.plot);
}

/* For each cell of the board, the row in it that is nearest to its centre; -1
 * if it is empty. */
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
    low[0] = (low[0] + high[0] - side) / 2; // centred
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

/* Ends the process if the data set is not that of the features. */
static void
check_images(const struct frame *frame)
{
    struct data_set *set = data_open_parts_or_die(images, 1);
    const json_t *data = json_object_get(frame->f.about, "data");
    const char *known = json_string_value(json_object_get(data, "digest"));
    char hex[DIGEST_HEX];

    if (known && strcmp(known, digest_hex(data_digest(set), hex)))
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

/* Draws a frame as a board of images, one in each cell; cells whose image
 * cannot be read stay white. */
static void
draw_thumbnails(const struct frame *frame)
{
    const struct data_pool_settings how = {.policy = IMAGE_ACCEPT,
                                           .max_pixels = IMAGE_MAX_PIXELS};
    const size_t pixels = (size_t)size, places = BOARD / pixels,
                 side = places * pixels;
    struct data_set *set = data_open_parts_or_die(images, 1);
    struct data_pool *pool = data_pool_new(set, &how);
    int64_t *row = choose_rows(frame, places);
    uint8_t *board = mem_array(side * side, 3);
    uint8_t *view = mem_array(pixels * pixels, 3);
    struct image_scratch *scratch = NULL;
    size_t lost = 0;
    struct err err;

    memset(board, 255, side * side * 3);
    for (size_t at = 0; at < places * places; at++) {
        const int64_t *ids = frame->f.ids, i = row[at];
        const struct image *image =
            i < 0 ? NULL
                  : data_pool_get(pool, (size_t)(ids ? ids[i] : i), NULL, &err);
        uint8_t *to;

        lost += i >= 0 && !image;
        if (!image)
            continue;
        image_plain(pixels, image, &scratch, view);
        to = board + (at / places * side + at % places) * pixels * 3;
        for (size_t y = 0; y < pixels; y++)
            memcpy(to + y * side * 3, view + y * pixels * 3, pixels * 3);
    }
    if (lost)
        log_message(
            "'%s': %zu cell%s stay%s white, as images cannot be read: %s",
            thumbnails, lost, plural(lost), lost == 1 ? "s" : "", err.msg);
    or_die(image_png_write(thumbnails, board, side, side, &err), &err);
    image_scratch_free(scratch);
    data_pool_free(pool);
    data_close(set);
    mem_free(view, board, row);
}

static void
check_options(char **path)
{
    const char *dot = output ? strrchr(output, '.') : NULL;

    if (!output && !common_options.plot && !thumbnails)
        opt_misuse("needs an output: -o, --plot or --thumbnails");
    if (dot && opt_index(".png|.jpg|.jpeg|.svg|.pdf", dot) >= 0)
        opt_misuse("-o '%s': -o writes an array, .npy; --plot draws a picture",
                   output);
    if (!thumbnails != !images)
        opt_misuse("--thumbnails and --images need each other");
    for (char **each = path; *each; each++)
        refuse_input(output, *each);
    if (thumbnails && path[1])
        opt_misuse("--thumbnails draws one file of features");
}

void
run_map(char **path)
{
    struct frame *frame;
    size_t n = 0, rows;
    float *y;

    check_options(path);
    while (path[n])
        n++;
    frame = mem_array(n, sizeof *frame);
    for (size_t k = 0; k < n; k++)
        load_frame(&frame[k], path[k], k ? &frame[k - 1] : NULL);
    rows = frame->f.n;
    y = mem_array(n * rows * 2, sizeof *y);
    for (size_t k = 0; k < n; k++)
        frame[k].y = y + k * rows * 2;
    if (thumbnails)
        check_images(frame);
    for (size_t k = 0; k < n; k++) {
        json_t *origins = origin(path[k], &frame[k].f);
        json_t *line = method == TSNE
                           ? embed_frame(&frame[k], k ? frame[k - 1].y : NULL)
                           : project_frame(&frame[k]);

        print(line, json_pack("{s:s s:o}", "metric", opt_choice(&metric),
                              "features", origins));
    }
    if (output)
        save_matrix(output, n * rows, 2, y);
    if (common_options.plot)
        plot_frames(frame, n);
    if (thumbnails)
        draw_thumbnails(frame);
    for (size_t k = 0; k < n; k++)
        data_features_release(&frame[k].f);
    mem_free(frame, y);
}
