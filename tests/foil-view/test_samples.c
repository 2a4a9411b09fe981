#include "foil-view/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nn/safetensors.h"
#include "t.h"
#include "util/file.h"
#include "util/mem.h"

enum { N = 100 };

/* Saves a checkpoint of a hundred samples; those from 90 on were not trained.
 * Sample i has the temperature i / 100 + more. */
static void
save_checkpoint(const char *run, const char *name, float more)
{
    float tau[N], seen[N];
    const int64_t replaced[4][4] = {
        {5, 6, 0, 1}, {8, 9, 0, 2}, {5, 7, 1, 4}, {5, 6, 2, 3}};
    struct nn_array array[4];
    char *folder = mem_format("%s/%s", run, name);
    char *path = mem_format("%s/samples.safetensors", folder);
    char *latest = mem_format("%s/latest", run);
    struct err err;

    for (int i = 0; i < N; i++) {
        tau[i] = (float)i / 100 + more;
        seen[i] = i < 90;
    }
    nn_array_init(&array[0], "view1.tau", "F32", 1, (size_t[]){N}, tau);
    nn_array_init(&array[1], "view1.seen", "F32", 1, (size_t[]){N}, seen);
    nn_array_init(&array[2], "quarantine", "I64", 2, (size_t[]){4, 4},
                  replaced);
    nn_array_init(&array[3], "tau", "F32", 2, (size_t[]){N / 2, 2}, tau);
    unlink(latest);
    if (mkdir(folder, 0777) || symlink(name, latest) ||
        nn_arrays_write(path, array, 4, NULL, &err))
        exit(1);
    for (int i = 0; i < 4; i++) {
        free(array[i].name);
        free(array[i].data);
    }
    free(latest);
    free(path);
    free(folder);
}

static double
number_at(const json_t *list, size_t i, const char *key)
{
    return json_number_value(json_object_get(json_array_get(list, i), key));
}

static void
temperatures_of_seen_samples(const json_t *json)
{
    const json_t *columns = json_object_get(json, "columns");
    const json_t *column = json_array_get(columns, 0);
    const json_t *smallest = json_object_get(column, "smallest");
    const json_t *largest = json_object_get(column, "largest");
    const json_t *counts = json_object_get(column, "counts");
    double sum = 0;

    for (size_t b = 0; b < json_array_size(counts); b++)
        sum += json_number_value(json_array_get(counts, b));
    T(json_array_size(columns) == 2 &&
          json_integer_value(json_object_get(column, "n")) == 90 && sum == 90,
      "only trained samples count");
    T(json_array_size(smallest) == SAMPLES_EXTREMES &&
          number_at(smallest, 0, "id") == 0 &&
          number_at(smallest, 11, "id") == 11,
      "the lowest temperatures, lowest first");
    T(json_array_size(largest) == SAMPLES_EXTREMES &&
          number_at(largest, 0, "id") == 89 &&
          fabs(number_at(largest, 0, "x") - .89) < 1e-6 &&
          number_at(largest, 11, "id") == 78,
      "the highest, highest first");
}

/* Two captions of each of fifty samples. */
static void
temperatures_of_captions(const json_t *json)
{
    const json_t *columns = json_object_get(json, "columns");
    const json_t *column = json_array_get(columns, 1);
    const json_t *largest = json_object_get(column, "largest");

    T(json_integer_value(json_object_get(column, "each")) == 2 &&
          json_integer_value(json_object_get(column, "n")) == N &&
          number_at(largest, 0, "id") == 49 &&
          number_at(largest, 1, "id") == 49 &&
          number_at(largest, 2, "id") == 48,
      "a number for each caption, with its sample");
    T(json_is_null(json_object_get(json_array_get(largest, 0), "caption")),
      "without a data set there are no texts");
}

static void
samples_that_were_replaced(const json_t *json)
{
    const json_t *replaced = json_object_get(json, "replaced");
    const json_t *list = json_object_get(replaced, "list");

    T(json_integer_value(json_object_get(replaced, "n")) == 2 &&
          json_array_size(list) == 2,
      "four replacements of two samples");
    T(number_at(list, 0, "id") == 5 && number_at(list, 0, "times") == 3 &&
          number_at(list, 0, "used") == 6 && number_at(list, 0, "epoch") == 2 &&
          number_at(list, 1, "id") == 8 && number_at(list, 1, "times") == 1,
      "each once, with its count and last time, newest first");
    T(json_is_null(json_object_get(json_array_get(list, 0), "reason")),
      "without a data set there is no reason");
}

int
main(void)
{
    char run[] = "/tmp/samples-XXXXXX";
    struct samples samples = {0};
    struct pictures pictures = {0};
    struct err err;
    json_t *json;

    if (!mkdtemp(run))
        return 1;
    pictures.views = run_views_open(run, NULL);
    T(!samples_read(&samples, run, &pictures),
      "a run without a checkpoint has none to read");
    save_checkpoint(run, "step-1", 0);
    T(samples_read(&samples, run, &pictures), "its first checkpoint is read");
    T(!samples_read(&samples, run, &pictures), "a checkpoint is read once");
    json = samples_json(&samples);
    temperatures_of_seen_samples(json);
    temperatures_of_captions(json);
    samples_that_were_replaced(json);
    json_decref(json);
    save_checkpoint(run, "step-2", 7);
    T(samples.due > 0, "the next one is read after a pause");
    samples.due = INFINITY;
    T(!samples_read(&samples, run, &pictures),
      "the next one is not read before the pause");
    samples.due = 0;
    T(samples_read(&samples, run, &pictures),
      "the next one is read after the pause");
    json = samples_json(&samples);
    T(!strcmp(json_string_value(json_object_get(json, "checkpoint")), "step-2"),
      "it has its name");
    json_decref(json);
    samples_release(&samples);
    run_views_close(pictures.views);
    file_remove(run, &err);
    return t_done();
}
