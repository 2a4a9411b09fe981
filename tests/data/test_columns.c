/* Tables from elsewhere: lists of images, and of captions. */
#include <sys/stat.h>

#include "fixture.h"
#include "t.h"

static char *notes; /* messages about the last index */

/* Indexes a list, or captions for a.tar, and opens it; NULL with err. */
static struct data_set *
open_table(const char *list, const char *table, const char *columns)
{
    const struct data_index_settings how = {.max_pixels = IMAGE_MAX_PIXELS};
    struct data_index *index = data_index_new(&how);
    struct data_index_report report;
    struct data_index_rows rows;
    int rc = columns ? data_index_columns(index, columns, &err) : 0;

    free(notes);
    notes = mem_text("");
    if (!rc)
        rc = data_index_add(index, list, &err);
    while (!rc && (rc = data_index_next(index, &err)) > 0)
        rc = 0;
    if (!rc && table)
        rc = data_index_table(index, table, &rows, &err);
    if (!rc)
        rc = data_index_write(index, "t.foil", &err);
    report = data_index_report(index);
    for (size_t i = 0; i < report.n_notes; i++) {
        char *more = mem_format("%s%s; ", notes, report.note[i]);

        free(notes);
        notes = more;
    }
    data_index_free(index);
    return rc ? NULL : data_open("t.foil", &err);
}

static int
first_line(const char *text)
{
    return (int)strcspn(text, "\n");
}

/* Reads a list of 0.jpg, and checks its label, caption and messages. */
static void
reads(const char *text, const char *columns, const char *label,
      const char *caption, const char *note)
{
    struct data_set *set;

    put_text("t.csv", text);
    set = open_table("t.csv", NULL, columns);
    T(set && data_size(set) == 1 && !strcmp(data_name(set, 0), "0.jpg") &&
          (data_label(set, 0) < 0
               ? !*label
               : !strcmp(data_class_name(set, (size_t)data_label(set, 0)),
                         label)) &&
          !strcmp(data_caption(set, 0), caption) &&
          (*note ? strstr(notes, note) != NULL : !*notes),
      "%.*s is read%s%s: %s", first_line(text), text, columns ? " with " : "",
      columns ? columns : "", set ? notes : err.msg);
    data_close(set);
}

static void
refuses(const char *text, const char *columns, const char *why)
{
    struct data_set *set;

    put_text("t.csv", text);
    set = open_table("t.csv", NULL, columns);
    T(!set && strstr(err.msg, why), "%.*s is refused: %s", first_line(text),
      text, set ? "no" : err.msg);
    data_close(set);
}

static void
columns_are_known_by_usual_names(void)
{
    reads("path,labels\n0.jpg,cat\n", NULL, "cat", "", "");
    reads("filename,class_name\n0.jpg,cat\n", NULL, "cat", "", "");
    reads("file_name,text\n0.jpg,a cat\n", NULL, "", "a cat", "");
    reads("image_path,Class Name\n0.jpg,cat\n", NULL, "cat", "", "");
    reads("id,img,description\n7,0.jpg,a cat\n", NULL, "", "a cat",
          "columns of 't.csv' that are not used: id; ");
    reads("label,class,file-path\n3,cat,0.jpg\n", NULL, "3", "", "used: class");
    reads("season,name,year\nSummer,0.jpg,2016\n", NULL, "", "",
          "not used: season, year");
}

static void
columns_are_what_the_user_says(void)
{
    const char shop[] = "id,gender,type,said\n0.jpg,Men,Shirt,a shirt\n";

    reads(shop, "label=type,caption=said", "Shirt", "a shirt",
          "not used: gender");
    reads(shop, "name=id,label=gender", "Men", "", "not used: type, said");
    reads("1,Men,0.jpg\n", "name=3,label=2", "Men", "", "");
    refuses(shop, "label=season",
            "is called 'season': it has id, gender, type, said");
    refuses("Bild,Art\n0.jpg,cat\n", "label=Art", "--columns name=...");
    T(!open_table("t.csv", NULL, "nme=x") &&
          strstr(err.msg, "want name, label"),
      "an unknown kind of column: %s", err.msg);
    T(!open_table("t.csv", NULL, "name") && strstr(err.msg, "WHAT=COLUMN"),
      "no column: %s", err.msg);
    T(!open_table("t.csv", NULL, "name=1,label=type") &&
          strstr(err.msg, "either names of columns or numbers"),
      "no mixture: %s", err.msg);
    T(!open_table("t.csv", NULL, "name=a,name=b") &&
          strstr(err.msg, "two columns are to be the name"),
      "not twice: %s", err.msg);
}

static void
a_heading_is_no_sample(void)
{
    refuses("Image Index,Finding\n0.jpg,none\n", NULL,
            "line 1 of 't.csv' names no file, and no columns that are known: "
            "Image Index, Finding; ");
    reads("0.jpg,Men\n", NULL, "Men", "", "");
    refuses("none.jpg,Men\n0.jpg,Men\n", NULL, "cannot open");
    reads("path,label\n0.jpg,cat\n,dog\n", NULL, "cat", "",
          "1 row of 't.csv' without a name (such as line 3): not used");
    refuses("path,label\n0.jpg,\"cat\n0.jpg,dog\n", NULL,
            "line 2 of 't.csv' has quotes");
}

/* Adds a caption to 0.jpg of a tar. */
static void
captions(const char *text, const char *columns, const char *want,
         const char *note)
{
    struct data_set *set;

    put_text("c.csv", text);
    set = open_table("a.tar", "c.csv", columns);
    T(set && !strcmp(data_caption(set, 0), want) && strstr(notes, note),
      "%.*s has a caption: %s", first_line(text), text, set ? notes : err.msg);
    data_close(set);
}

static void
captions_have_columns_too(void)
{
    const char shop[] = "id,gender,productDisplayName\n0,Men,a shirt\n";

    captions("image_id,description\n0,a cat\n", NULL, "a cat", "");
    captions(shop, "caption=productDisplayName", "a shirt", "used: gender");
    captions("Men,a shirt,0\n", "name=3,caption=2", "a shirt", "");
    captions("0,a shirt,Men\n", NULL, "a shirt", "");
    captions("none.jpg,a shirt\n0.jpg,a hat\n", NULL, "a hat", "");
    put_text("c.csv", shop);
    T(!open_table("a.tar", "c.csv", NULL) &&
          strstr(err.msg, "line 1 of 'c.csv' names no sample, and no columns "
                          "that are known: id, gender, productDisplayName"),
      "the second column is no caption by default: %s", err.msg);
    T(!open_table("a.tar", "c.csv", "name=id") &&
          strstr(err.msg, "--columns caption=..."),
      "a table without a column of captions is refused: %s", err.msg);
    T(!open_table("a.tar", "c.csv", "caption=gender,label=id") &&
          strstr(err.msg, "no column of labels"),
      "labels are not taken from it: %s", err.msg);
}

int
main(void)
{
    static const char *const tar[] = {"0.jpg", NULL};

    enter_folder();
    put_tar("a.tar", tar);
    put_jpeg("0.jpg", 1);
    columns_are_known_by_usual_names();
    columns_are_what_the_user_says();
    a_heading_is_no_sample();
    captions_have_columns_too();
    free(notes);
    leave_folder();
    return t_done();
}
