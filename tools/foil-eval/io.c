#include <stdio.h>
#include <stdlib.h>

#include "eval.h"
#include "util/digest.h"
#include "util/opt.h"

enum { MAX_CLASSES = 1 << 20 }; // labels are below

struct data_set *
open_set(const char *path)
{
    struct err err;
    struct data_set *set = data_open(path, &err);
    int stale = set ? data_stale(set, &err) : -1;

    if (stale < 0)
        die("%s", err.msg);
    if (stale)
        say("%s", err.msg);
    return set;
}

void
load(struct data_features *f, const char *path, const char *label_path)
{
    struct err err;

    if (data_features_read(f, path, &err))
        die("%s", err.msg);
    if (!label_path)
        return;
    free(f->labels);
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

const struct data_features *
load_both(const struct options *options, char **path,
          struct data_features *train, struct data_features *test,
          size_t *classes)
{
    load(train, path[0], options->labels);
    *classes = count_classes(train, path[0], 0);
    if (!path[1])
        return train;
    load(test, path[1], options->test_labels);
    *classes = count_classes(test, path[1], *classes);
    if (test->d != train->d)
        die("'%s' has %zu columns and '%s' %zu", path[0], train->d, path[1],
            test->d);
    return test;
}

json_t *
origin(const char *path, const struct data_features *f)
{
    struct digest digest = digest_bytes(f->x, f->n * f->d * sizeof *f->x);
    char hex[DIGEST_HEX];

    return json_pack("{s:s s:I s:s s:O*}", "file", path, "n", (json_int_t)f->n,
                     "digest", digest_hex(&digest, hex), "made", f->about);
}

void
print(json_t *result, json_t *protocol)
{
    char *text;

    REQUIRE(result && protocol);
    json_object_update(result, protocol);
    json_object_set_new(result, "version", json_string(FOIL_VERSION));
    text = json_brief(result);
    fputs(text, stdout);
    free(text);
    json_decref(protocol);
    json_decref(result);
}
