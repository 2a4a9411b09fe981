/* Labels from files, and from folders. */
#include <sys/stat.h>

#include "fixture.h"
#include "t.h"

enum { MOST = 8 };

static char *notes;
static struct data_index_report sum;

/* Indexes a list of images with these labels, up to NULL; -1 with err. */
static int
index_labels(const char *const *label)
{
    const struct data_index_settings how = {.max_pixels = IMAGE_MAX_PIXELS};
    struct data_index *index = data_index_new(&how);
    char text[256] = "";
    size_t len = 0;
    int rc;

    for (size_t i = 0; label[i]; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "0.jpg\t%s\n",
                                label[i]);
    put_text("list", text);
    rc = data_index_add(index, "list", &err);
    while (!rc && (rc = data_index_next(index, &err)) > 0)
        rc = 0;
    if (!rc)
        rc = data_index_write(index, "list.foil", &err);
    sum = data_index_report(index);
    free(notes);
    notes = mem_text(sum.n_notes ? sum.note[0] : "");
    data_index_free(index);
    return rc;
}

/* Checks that these labels become those, in so many classes. */
static void
become(const char *const *label, const int *want, size_t classes,
       const char *what)
{
    struct data_set *set =
        index_labels(label) ? NULL : data_open("list.foil", &err);
    int64_t *all = set ? data_labels_of(set) : NULL;
    int right = set && data_classes(set) == classes;

    for (size_t i = 0; right && label[i]; i++)
        right = data_label(set, i) == want[i] && all[i] == want[i];
    free(all);
    T(right, "%s%s%s", what, set ? "" : ": ", set ? "" : err.msg);
    data_close(set);
}

#define LABELS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NUMBERS(...) ((const int[]){__VA_ARGS__})

static void
numbers_are_labels(void)
{
    become(LABELS("5", "3", "5"), NUMBERS(5, 3, 5), 6, "whole numbers");
    become(LABELS("1", "01", "+1", "1.0", "1."), NUMBERS(1, 1, 1, 1, 1), 2,
           "spellings of one number");
    become(LABELS("5", "-1", "3", "-1.0", ""), NUMBERS(5, -1, 3, -1, -1), 6,
           "-1 is no label");
    T(sum.unlabelled == 3 && sum.images == 5 && sum.classes == 6 && !*notes,
      "images without a label are counted");
    become(LABELS("-1", "-1"), NUMBERS(-1, -1), 0, "for all images, too");
    become(LABELS("5", "1048575"), NUMBERS(5, 1048575), 1048576,
           "up to 2^20 - 1");
}

static void
numbers_that_are_no_labels(void)
{
    T(index_labels(LABELS("5", "2147483648")) == -1 &&
          strstr(err.msg, "the label '2147483648' is out of"),
      "one too large is refused: %s", err.msg);
    T(index_labels(LABELS("5", "99999999999999999999999")) == -1,
      "however large: %s", err.msg);
    T(index_labels(LABELS("5", "-2")) == -1 &&
          strstr(err.msg, "the label '-2' is out of range"),
      "a negative label is refused: %s", err.msg);
    become(LABELS("4000000001", "4000000000"), NUMBERS(1, 0), 2,
           "if all are large they are names");
}

static void
words_are_names(void)
{
    become(LABELS("dog", "cat", "dog"), NUMBERS(1, 0, 1), 2,
           "words are ranks in byte order");
    T(!*notes, "without a message");
    become(LABELS("5", "3", "n/a"), NUMBERS(1, 0, 2), 3,
           "with words among them numbers are names, too");
    T(strstr(notes, "labels are numbers (such as '3') and words (such as "
                    "'n/a')"),
      "with a message: %s", notes);
}

static void
folders_may_be_splits(void)
{
    static const char *const place[] = {"all", NULL};
    const struct data_index_settings how = {.max_pixels = IMAGE_MAX_PIXELS};
    struct data_index *index = data_index_new(&how);

    REQUIRE(!mkdir("all", 0700) && !mkdir("all/Train", 0700) &&
            !mkdir("all/test", 0700) && !mkdir("all/.cache", 0700));
    put_jpeg("all/Train/1.jpg", 1);
    put_jpeg("all/test/2.jpg", 2);
    put_jpeg("all/stray.jpg", 3);
    put_jpeg("all/.4.jpg", 3);
    REQUIRE(!data_index_add(index, *place, &err));
    while (data_index_next(index, &err) > 0)
        continue;
    REQUIRE(!data_index_write(index, "all.foil", &err));
    sum = data_index_report(index);
    T(sum.images == 3 && sum.classes == 2 && sum.unlabelled == 1,
      "three images, two classes, one without a label");
    T(!strcmp(data_index_class(index, 1), "test"), "classes have names");
    T(sum.hidden == 2, "a hidden file and a hidden folder: %zu", sum.hidden);
    T(sum.n_notes && strstr(sum.note[0], "the classes 'Train' and 'test' look "
                                         "like parts of a data set"),
      "there is a message about splits");
    data_index_free(index);
}

int
main(void)
{
    enter_folder();
    put_jpeg("0.jpg", 1);
    numbers_are_labels();
    numbers_that_are_no_labels();
    words_are_names();
    folders_may_be_splits();
    free(notes);
    leave_folder();
    return t_done();
}
