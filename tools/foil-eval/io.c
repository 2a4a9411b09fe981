#include <stdio.h>
#include <stdlib.h>

#include "eval.h"
#include "util/digest.h"
#include "util/mem.h"
#include "util/opt.h"

enum {
    MAX_CLASSES = 1 << 20, // labels are below
    SHARE = 100            // of the rows, in both: many
};

void
load(struct data_features *f, const char *path, const char *label_path)
{
    struct err err;

    if (data_features_read(f, path, &err))
        die("%s", err.msg);
    if (!label_path)
        return;
    free(f->labels);
    data_classes_release(&f->classes); // they are of other labels
    f->labels = data_labels_read(label_path, f->n, &err);
    if (!f->labels)
        die("%s", err.msg);
}

/* The number of classes, or `most` where that is more. */
static size_t
count_classes(const struct data_features *f, const char *path, size_t most)
{
    if (!f->labels)
        die("'%s' has no labels: there is no .labels.npy beside it, and no "
            "option names one",
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

/* Rows that cannot be named right, which is said once. */
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
    snprintf(number, sizeof number, "%zu", class);
    if (unseen)
        say("'%s': rows that count as wrong: %zu; '%s' has no row of their "
            "classes, such as '%s'",
            path[1], unseen, path[0],
            train->classes.n ? train->classes.name[class] : number);
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

/* Rows that both have, which are no test of anything; said if they are many. */
static size_t
count_shared(const struct pair *pair, char **path)
{
    const size_t n = pair->test->n;
    struct digest *some = digests_of(pair->test);
    struct digest *others = digests_of(&pair->train);
    const size_t shared = digest_shared(n, some, pair->train.n, others);

    if (shared >= (n + SHARE - 1) / SHARE)
        say("'%s': rows that '%s' has, too: %zu of %zu", path[1], path[0],
            shared, n);
    free(others);
    free(some);
    return shared;
}

void
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
                : ", or give the numbers of both with --labels and "
                  "--test-labels");
    pair->test = test;
    pair->classes = count_classes(test, path[1], pair->classes);
    pair->matched = by_name ? "names" : "numbers";
    pair->unseen = count_unseen(pair, path);
    pair->shared = count_shared(pair, path);
}

void
pair_release(struct pair *pair)
{
    data_features_release(&pair->train);
    data_features_release(&pair->other);
}

json_t *
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

json_t *
origin(const char *path, const struct data_features *f)
{
    struct digest digest = digest_bytes(f->x, f->n * f->d * sizeof *f->x);
    char hex[DIGEST_HEX];

    return json_pack("{s:s s:I s:s s:O*}", "file", path, "n", (json_int_t)f->n,
                     "digest", digest_hex(&digest, hex), "made", f->about);
}
