#include <inttypes.h>
#include <stdlib.h>

#include "eval.h"
#include "eval/knn.h"
#include "eval/probe.h"
#include "eval/retrieve.h"
#include "util/digest.h"
#include "util/mem.h"
#include "util/progress.h"

/* The verbs that name classes or neighbours: knn, neighbours, probe and
 * zero-shot. */

enum {
    MAX_CLASSES = 1 << 20, // labels are less
    SHARE = 100            // reported if 1 / SHARE of rows are shared
};

/* Features to train on, and features to test on. */
struct pair {
    struct data_features train, other;
    const struct data_features *test; /* &other, or &train without other */
    size_t classes;
    const char *matched; /* how labels match: "names", "numbers"; or NULL */
    size_t unseen;       /* rows of test with a class that train lacks */
    size_t shared;       /* rows of test that are also in train, bit for bit */
};

/* The number of classes, at least `most`. */
static size_t
count_classes(const struct data_features *f, const char *path, size_t most)
{
    if (!f->labels)
        die("'%s' has no labels: it has no .labels.npy, and no option, such "
            "as --labels FILE, names one",
            path);
    for (size_t i = 0; i < f->n; i++) {
        if (f->labels[i] < 0 || f->labels[i] >= MAX_CLASSES)
            die("row %zu of '%s' has the label %jd: want 0 .. %d", i, path,
                (intmax_t)f->labels[i], MAX_CLASSES - 1);
        if ((size_t)f->labels[i] >= most)
            most = (size_t)f->labels[i] + 1;
    }
    return most;
}

/* Counts and reports rows with classes that are not in TRAIN. */
static size_t
count_unseen(const struct pair *pair, char **path)
{
    const struct data_features *train = &pair->train, *test = pair->test;
    uint8_t *seen = mem_array(pair->classes, sizeof *seen);
    size_t unseen = 0, class = 0;
    char number[24];

    for (size_t i = 0; i < train->n; i++)
        seen[train->labels[i]] = 1;
    for (size_t i = 0; i < test->n; i++)
        if (!seen[test->labels[i]])
            class = unseen++ ? class : (size_t)test->labels[i];
    free(seen);
    if (unseen)
        log_message(
            "'%s': rows that count as wrong: %zu; '%s' has no row of their "
            "classes, such as '%s'",
            path[1], unseen, path[0],
            class_name(&train->classes, (int64_t) class, number));
    return unseen;
}

static struct digest *
digests_of(const struct data_features *f)
{
    struct digest *digest = mem_array(f->n, sizeof *digest);

    for (size_t i = 0; i < f->n; i++)
        digest[i] = digest_bytes(f->x + i * f->d, f->d * sizeof *f->x);
    return digest;
}

/* Counts rows in both files, which test nothing; reports if they are many. */
static size_t
count_shared(const struct pair *pair, char **path)
{
    const size_t n = pair->test->n;
    struct digest *some = digests_of(pair->test);
    struct digest *others = digests_of(&pair->train);
    const size_t shared = digest_shared(n, some, pair->train.n, others);

    if (shared >= (n + SHARE - 1) / SHARE)
        log_message("'%s': rows that are also in '%s': %zu of %zu", path[1],
                    path[0], shared, n);
    mem_free(others, some);
    return shared;
}

/* Loads path[0] and path[1], which must have the same width and labels on all
 * rows; without path[1] the first serves twice.  Makes labels of both files
 * consistent.
 *   labels  files of labels for each, of --labels and --test-labels; NULL: the
 *           files next to the features */
static void
pair_load(struct pair *pair, const char *const *labels, char **path)
{
    struct data_features *train = &pair->train, *test = &pair->other;
    struct err err;
    int by_name;

    *pair = (struct pair){.test = train};
    load(train, path[0], labels ? labels[0] : NULL);
    pair->classes = count_classes(train, path[0], 0);
    if (!path[1])
        return;
    load(test, path[1], labels ? labels[1] : NULL);
    count_classes(test, path[1], 0);
    if (test->d != train->d)
        die("'%s' has %zu columns and '%s' %zu", path[0], train->d, path[1],
            test->d);
    by_name = data_features_match(path[0], train, path[1], test, &err);
    if (by_name < 0)
        die("%s%s", err.msg,
            !labels || (train->classes.n && test->classes.n)
                ? ""
                : ", or set the numbers of both with --labels and "
                  "--test-labels");
    pair->test = test;
    pair->classes = count_classes(test, path[1], pair->classes);
    pair->matched = by_name ? "names" : "numbers";
    pair->unseen = count_unseen(pair, path);
    pair->shared = count_shared(pair, path);
}

static void
pair_release(struct pair *pair)
{
    data_features_release(&pair->train);
    data_features_release(&pair->other);
}

static json_t *
pair_origin(const struct pair *pair, char **path)
{
    json_t *how = json_pack(
        "{s:I s:I s:o s:o}", "classes", (json_int_t)pair->classes, "d",
        (json_int_t)pair->train.d, "train", origin(path[0], &pair->train),
        "test", origin(path[!!path[1]], pair->test));

    if (pair->matched)
        json_object_update_new(
            how, json_pack("{s:s s:I s:I}", "matched", pair->matched, "unseen",
                           (json_int_t)pair->unseen, "shared",
                           (json_int_t)pair->shared));
    return how;
}

static const char *picture;

enum {
    MOST_CLASSES = 1000, // of a picture
    NAMED = 40,          // of a picture with names
    WRITTEN = 20         // of a picture with all shares as numbers
};

/* A confusion matrix: count [classes,classes], a row for the class of a query,
 * a column for the predicted class; without a picture it has no classes. */
struct confusion {
    size_t classes;
    size_t *count;
    const struct data_classes *names; /* n = 0: classes are numbers */
};

static struct confusion
confusion_new(const struct pair *pair)
{
    struct confusion c = {.names = &pair->train.classes};

    if (!picture)
        return c;
    if (pair->classes > MOST_CLASSES)
        die("a picture of %zu classes would show nothing: at most %d",
            pair->classes, MOST_CLASSES);
    c.classes = pair->classes;
    c.count = mem_array(c.classes * c.classes, sizeof *c.count);
    return c;
}

static void
write_names(FILE *out, const struct confusion *c, const char *axis)
{
    char room[24];

    fprintf(out, "set %s noenhanced (", axis);
    for (size_t k = 0; k < c->classes; k++) {
        fputs(k ? ", " : "", out);
        plot_text(out, class_name(c->names, (int64_t)k, room));
        fprintf(out, " %zu", k);
    }
    fputs(")\n", out);
}

/* Writes the share of each predicted class, a row for each class; returns the
 * accuracy of each class with queries. */
static json_t *
write_shares(FILE *out, const struct confusion *c)
{
    json_t *right = json_object();

    fputs("$shares << END\n", out);
    for (size_t row = 0; row < c->classes; row++) {
        const size_t *count = c->count + row * c->classes;
        size_t sum = 0;
        char room[24];

        for (size_t k = 0; k < c->classes; k++)
            sum += count[k];
        for (size_t k = 0; k < c->classes; k++)
            fprintf(out, "%s%.4g", k ? " " : "",
                    sum ? (double)count[k] / (double)sum : 0);
        fputs("\n", out);
        if (sum)
            json_object_set_new(right, class_name(c->names, (int64_t)row, room),
                                json_real((double)count[row] / (double)sum));
    }
    fputs("END\n", out);
    return right;
}

/* Draws the matrix, and adds the accuracy of each class to a protocol. */
static void
confusion_show(const struct confusion *c, json_t *how)
{
    struct plot script;
    FILE *out = plot_open(&script);
    json_t *right = write_shares(out, c);

    fputs("set terminal pngcairo size 900,860\nset size square\n"
          "set xlabel \"taken for\"\nset ylabel \"class\"\n"
          "set cblabel \"share of the class\"\nset cbrange [0:1]\n"
          "set palette defined (0 \"#ffffff\", 0.5 \"#56b4e9\", 1 "
          "\"#00305a\")\nset tics out nomirror\n",
          out);
    fprintf(out, "set xrange [-0.5:%zu.5]\nset yrange [%zu.5:-0.5]\n",
            c->classes - 1, c->classes - 1);
    if (c->classes <= NAMED) {
        write_names(out, c, "xtics rotate by 45 right");
        write_names(out, c, "ytics");
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
    json_object_set_new(how, "by_class", right);
}

enum { QUERIES = 1024 }; // at a time, between two updates of the progress

static enum eval_metric metric;
static const char *k_list = "1,10";
static double temperature = 0.07;
static long nearest = 10;

static const struct opt knn_own[] = {
    {"neighbours", 'k', OPT_TEXT, &k_list, 0, 0, "K,...",
     "numbers of neighbours that vote"},
    {"metric", 0, OPT_CHOICE, &metric, 0, 0, "cosine|euclidean",
     "measure of distance"},
    {"temperature", 0, OPT_REAL, &temperature, 1e-3, 1e3, "X",
     "a weighted vote counts exp(cosine / X)"},
    {"confusion", 0, OPT_TEXT, &picture, 0, 0, "FILE",
     "draw the confusion matrix for the first K, as PNG"},
    {0},
};
static const struct opt neighbours_own[] = {
    {"neighbours", 'k', OPT_WHOLE, &nearest, 1, 65536, "K",
     "neighbours of each row"},
    {"metric", 0, OPT_CHOICE, &metric, 0, 0, "cosine|euclidean",
     "measure of distance"},
    {0},
};
verb_opts knn_opts = {knn_own, labels_opts, threads_opts, output_opts, NULL};
verb_opts neighbours_opts = {neighbours_own, threads_opts, NULL};

/* Votes of the first k[0], k[1] ... neighbours, and the number of correct
 * queries for each, by plain and by weighted votes. */
struct votes {
    const struct pair *pair;
    size_t k[LIST_MOST], n, plain[LIST_MOST], weighted[LIST_MOST];
    struct confusion confusion;
};

static void
count_votes(struct votes *votes, size_t first, size_t m, size_t most,
            const uint32_t *ids, const double *near)
{
    const int64_t *labels = votes->pair->train.labels;
    const size_t classes = votes->pair->classes;
    struct confusion *c = &votes->confusion;
    double *room = mem_array(classes, sizeof *room);

    for (size_t i = 0; i < m; i++, ids += most, near += most) {
        const size_t want = (size_t)votes->pair->test->labels[first + i];

        for (size_t j = 0; j < votes->n; j++) {
            const size_t k = votes->k[j], top = eval_vote(k, ids, NULL, labels,
                                                          classes, 0, room);

            votes->plain[j] += top == want;
            votes->weighted[j] += eval_vote(k, ids, near, labels, classes,
                                            temperature, room) == want;
            if (!j && c->classes)
                c->count[want * classes + top]++;
        }
    }
    free(room);
}

/* Prints a line for each of m rows from `first` on: its sample, and those of
 * its neighbours.  Without ids, samples are row numbers. */
static void
print_lists(const struct data_features *from, const struct data_features *to,
            size_t first, size_t m, size_t k, const uint32_t *ids)
{
    for (size_t i = 0; i < m; i++) {
        const size_t row = first + i;

        printf("%" PRId64, from->ids ? from->ids[row] : (int64_t)row);
        for (size_t j = 0; j < k; j++) {
            const uint32_t at = ids[i * k + j];

            printf("\t%" PRId64, to->ids ? to->ids[at] : (int64_t)at);
        }
        putchar('\n');
    }
}

/* Finds the k nearest rows of each row of a file in another, or among the
 * other rows of the same; they vote, or are printed.
 *   votes  NULL: print them */
static void
search_rows(const struct data_features *from, const struct data_features *to,
            size_t k, struct votes *votes)
{
    const size_t most = to->n - (from == to);
    struct eval_knn *knn;
    struct progress progress;
    uint32_t *ids;
    double *near;

    if (k > most)
        die("cannot find %zu neighbour%s among %zu row%s: want a smaller -k", k,
            plural(k), most, plural(most));
    if (votes)
        votes->confusion = confusion_new(votes->pair);
    knn = eval_knn_new(to->n, to->d, to->x, metric);
    ids = mem_array(QUERIES * k, sizeof *ids);
    near = votes ? mem_array(QUERIES * k, sizeof *near) : NULL;
    progress_start(&progress, "queries", 0, (double)from->n);
    for (size_t first = 0; first < from->n; first += QUERIES) {
        const size_t m = from->n - first < QUERIES ? from->n - first : QUERIES;

        eval_knn_find(knn, m, from->x + first * from->d, k,
                      from == to ? first : EVAL_NO_SELF, ids, near);
        if (votes) {
            count_votes(votes, first, m, k, ids, near);
        } else {
            progress_clear(&progress);
            print_lists(from, to, first, m, k, ids);
        }
        progress_show(&progress, (double)(first + m), "");
    }
    progress_clear(&progress);
    mem_free(near, ids);
    eval_knn_free(knn);
}

void
run_knn(char **path)
{
    struct votes votes = {.n = 0};
    struct pair pair;
    json_t *how;
    size_t most = 0;

    votes.n =
        read_list("neighbours", k_list, 1, 65536, "from 1 to 65536", votes.k);
    for (size_t i = 0; i < votes.n; i++)
        most = votes.k[i] > most ? votes.k[i] : most;
    pair_load(&pair, common_options.labels, path);
    votes.pair = &pair;
    search_rows(pair.test, &pair.train, most, &votes);
    how = json_pack("{s:s s:s s:b}", "metric", opt_choice(&metric), "ties",
                    "lower id, smallest label", "leave_one_out", !path[1]);
    json_object_update_new(how, pair_origin(&pair, path));
    if (picture)
        confusion_show(&votes.confusion, how);
    for (size_t i = 0; i < votes.n; i++) {
        const double n = (double)pair.test->n;
        json_t *line = json_pack("{s:s s:I s:f}", "measure", "knn", "k",
                                 (json_int_t)votes.k[i], "accuracy",
                                 (double)votes.plain[i] / n);

        if (metric == EVAL_COSINE)
            json_object_update_new(line,
                                   json_pack("{s:f s:f}", "weighted",
                                             (double)votes.weighted[i] / n,
                                             "temperature", temperature));
        print(line, json_copy(how));
        json_object_del(how, "by_class"); // only for the first K
    }
    json_decref(how);
    free(votes.confusion.count);
    pair_release(&pair);
}

void
run_neighbours(char **path)
{
    struct data_features train = {0}, test = {0};
    const struct data_features *from = path[1] ? &test : &train;

    load(&train, path[0], NULL);
    if (path[1])
        load(&test, path[1], NULL);
    if (from->d != train.d)
        die("'%s' has %zu columns and '%s' has %zu: they must be features of "
            "one encoder",
            path[0], train.d, path[1], from->d);
    search_rows(from, &train, (size_t)nearest, NULL);
    data_features_release(&test);
    data_features_release(&train);
}

static enum { LBFGS } protocol; // k > 0: eval_sgd_protocols[k - 1]
static double l2, held_out = 0.1, tolerance = 1e-4;
static long iterations = 1000, seed;

static const struct opt probe_own[] = {
    {"protocol", 0, OPT_CHOICE, &protocol, 0, 0,
     "lbfgs|emc2|isogclr|isogclr-paper|sogclr", "how to train the classifier"},
    {"l2", 0, OPT_REAL, &l2, 0, 1e6, "X",
     "lbfgs: penalty; 0: chosen on held-out rows"},
    {"held-out", 0, OPT_REAL, &held_out, 0.001, 0.9, "SHARE",
     "lbfgs: share of held-out rows of TRAIN"},
    {"iterations", 0, OPT_WHOLE, &iterations, 1, 1e6, "N",
     "lbfgs: maximum iterations of a fit"},
    {"tolerance", 0, OPT_REAL, &tolerance, 1e-9, 1, "X",
     "lbfgs: a fit ends if no derivative is larger"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N",
     "seed of held-out rows and of SGD"},
    {"confusion", 0, OPT_TEXT, &picture, 0, 0, "FILE",
     "draw the confusion matrix, as PNG"},
    {0},
};
verb_opts probe_opts = {probe_own, labels_opts, threads_opts, output_opts,
                        NULL};

/* The protocol of the logistic probe. */
static json_t *
logistic_protocol(const struct eval_probe *probe)
{
    json_t *how = json_pack("{s:s s:s s:f s:f s:I s:I}", "protocol",
                            opt_choice(&protocol), "features",
                            "standardised by mean and deviation of train", "l2",
                            probe->l2, "tolerance", tolerance, "iterations",
                            (json_int_t)probe->iterations, "most_iterations",
                            (json_int_t)iterations);
    json_t *grid;

    if (l2 > 0)
        return how;
    grid = json_array();
    for (size_t i = 0; i < EVAL_PROBE_GRID; i++)
        json_array_append_new(grid, json_real(eval_probe_grid[i]));
    json_object_update_new(
        how, json_pack("{s:o s:f s:f}", "l2_grid", grid, "held_out_share",
                       held_out, "held_out_accuracy", probe->held_out));
    return how;
}

/* Counts passes over TRAIN; only for SGD is their number known before. */
struct passes {
    struct progress progress;
    size_t done;
};

static void
pass_step(void *self)
{
    struct passes *passes = self;

    progress_show(&passes->progress, (double)++passes->done, "");
}

/* Trains and tests the classifier; returns the protocol.
 *   count  [classes,classes], or NULL */
static json_t *
train_probe(const struct pair *pair, size_t *count, struct eval_probe *probe)
{
    const struct data_features *train = &pair->train, *test = pair->test;
    const struct eval_rows fit = {train->n, train->d, train->x, train->labels};
    const struct eval_rows tests = {test->n, test->d, test->x, test->labels};
    struct passes passes = {.done = 0};
    const struct eval_watch watch = {pass_step, &passes};
    const struct eval_probe_spec spec = {
        .classes = pair->classes,
        .l2 = l2,
        .share = held_out,
        .seed = (uint64_t)seed,
        .iterations = (size_t)iterations,
        .tolerance = tolerance,
        .count = count,
        .watch = &watch,
    };
    const struct eval_sgd *sgd =
        protocol == LBFGS ? NULL : &eval_sgd_protocols[protocol - 1];
    struct err err;

    progress_start(&passes.progress, "passes over the features", 0,
                   sgd ? (double)sgd->epochs : 0);
    if (!sgd)
        eval_probe_logistic(&spec, &fit, &tests, probe);
    else if (eval_probe_sgd(sgd, &spec, &fit, &tests, probe, &err)) {
        progress_clear(&passes.progress);
        die("%s", err.msg);
    }
    progress_clear(&passes.progress);
    if (!sgd)
        return logistic_protocol(probe);
    return json_pack("{s:s s:s s:f s:f s:I s:I s:I s:b s:b}", "protocol",
                     sgd->name, "features", "as they are", "rate", sgd->rate,
                     "momentum", 0.9, "batch", (json_int_t)sgd->batch, "epochs",
                     (json_int_t)sgd->epochs, "epoch", (json_int_t)probe->epoch,
                     "shuffled", sgd->shuffle, "best_epoch_on_test", sgd->best);
}

void
run_probe(char **path)
{
    struct confusion confusion;
    struct eval_probe probe;
    struct pair pair;
    json_t *how;

    pair_load(&pair, common_options.labels, path);
    if (pair.train.n < 2)
        die("'%s' has one row, and a probe needs two", path[0]);
    confusion = confusion_new(&pair);
    how = train_probe(&pair, confusion.count, &probe);
    json_object_update_new(how, json_pack("{s:I s:I}", "seed", (json_int_t)seed,
                                          "threads",
                                          (json_int_t)common_options.threads));
    json_object_update_new(how, pair_origin(&pair, path));
    if (picture)
        confusion_show(&confusion, how);
    print(json_pack("{s:s s:f s:f s:f}", "measure", "probe", "accuracy",
                    probe.accuracy, "train_accuracy", probe.train, "loss",
                    probe.loss),
          how);
    free(confusion.count);
    pair_release(&pair);
}

verb_opts zero_shot_opts = {threads_opts, output_opts, NULL};

static const struct {
    const char *name;
    double rank;
} tops[] = {{"top1", 1}, {"top3", 3}, {"top5", 5}};
enum { TOPS = sizeof tops / sizeof *tops };

/* Numbers of images: all, and for each of tops[] those whose class has at most
 * that rank. */
struct hits {
    size_t images, at[TOPS];
};

/* Counts the images of each class, and the correct ones: rank 0 means that
 * their class has no text. */
static struct hits *
count_hits(const struct pair *pair)
{
    const struct data_features *images = pair->test, *texts = &pair->train;
    struct eval_answers own =
        eval_answers_by_key(images->n, images->labels, texts->n, texts->labels);
    double *rank = mem_array(images->n, sizeof *rank);
    struct hits *hits = mem_array(pair->classes, sizeof *hits);

    eval_answers_rank(&own, texts->n, images->d, images->x, texts->x,
                      EVAL_PAIR_COSINE, rank);
    for (size_t i = 0; i < images->n; i++) {
        struct hits *h = &hits[images->labels[i]];

        h->images++;
        for (size_t k = 0; k < TOPS; k++)
            h->at[k] += rank[i] > 0 && rank[i] <= tops[k].rank;
    }
    free(rank);
    eval_answers_release(&own);
    return hits;
}

/* Adds the shares of correct images; null without images. */
static void
add_shares(json_t *to, const struct hits *h)
{
    for (size_t k = 0; k < TOPS; k++)
        json_object_set_new(
            to, tops[k].name,
            h->images ? json_real((double)h->at[k] / (double)h->images)
                      : json_null());
}

/* Lists all classes; sums up the correct images. */
static json_t *
list_classes(const struct pair *pair, const struct hits *hits, struct hits *all,
             double *mean)
{
    const struct data_classes *names = &pair->train.classes;
    json_t *list = json_array();
    size_t seen = 0;

    for (size_t c = 0; c < pair->classes; c++) {
        const struct hits h = hits[c];
        json_t *name = c < names->n ? json_string(names->name[c])
                                    : json_integer((json_int_t)c);
        json_t *class =
            json_pack("{s:o s:I}", "class", name, "size", (json_int_t)h.images);

        all->images += h.images;
        for (size_t k = 0; k < TOPS; k++)
            all->at[k] += h.at[k];
        seen += h.images > 0;
        *mean += h.images ? (double)h.at[0] / (double)h.images : 0;
        add_shares(class, &h);
        json_array_append_new(list, class);
    }
    *mean /= (double)seen;
    return list;
}

/* The texts of classes serve as TRAIN; each class must have one text. */
void
run_zero_shot(char **path)
{
    char *turned[] = {path[1], path[0], NULL};
    struct pair pair;
    const struct data_features *images, *texts = &pair.train;
    struct hits *hits, all = {0};
    double mean = 0;
    json_t *line, *classes, *how;
    uint8_t *there;

    pair_load(&pair, NULL, turned);
    images = pair.test;
    there = mem_array(pair.classes, sizeof *there);
    for (size_t j = 0; j < texts->n; j++)
        if (there[texts->labels[j]]++)
            die("'%s' has several rows of class %jd: want one a class, as "
                "'foil-embed --classes' writes them",
                path[1], (intmax_t)texts->labels[j]);
    hits = count_hits(&pair);
    classes = list_classes(&pair, hits, &all, &mean);
    how = json_pack(
        "{s:s s:s s:s s:I s:I s:I s:o s:o}", "metric", "cosine", "ties", "half",
        "matched", pair.matched, "texts", (json_int_t)texts->n, "unseen",
        (json_int_t)pair.unseen, "d", (json_int_t)images->d, "images",
        origin(path[0], images), "classes_from", origin(path[1], texts));
    line = json_pack("{s:s}", "measure", "zero-shot");
    add_shares(line, &all);
    json_object_update_new(line, json_pack("{s:f s:f s:o}", "class_mean", mean,
                                           "chance", 1 / (double)texts->n,
                                           "classes", classes));
    print(line, how);
    mem_free(there, hits);
    pair_release(&pair);
}
