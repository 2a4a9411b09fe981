#include <sys/stat.h>

#include "fixture.h"
#include "t.h"

/* Returns 1 if a sample has this name, label, class and caption, and its
 * file. */
static int
is(struct data_set *set, size_t id, const char *name, int level, int label,
   const char *class, const char *caption)
{
    return set && id < data_size(set) && !strcmp(data_name(set, id), name) &&
           level_of(set, id) == level && data_label(set, id) == label &&
           (label < 0 || !strcmp(data_class_name(set, (size_t)label), class)) &&
           !strcmp(data_caption(set, id), caption) &&
           data_file(set, id).width == 8 && data_file(set, id).height == 8;
}

static void
a_tar_of_classes(void)
{
    static const char *const name[] = {
        "./dog/b.jpg", "cat/a.JPEG", "dog/readme", "no image",
        "dog/._b.jpg", "cat/c.jpeg", NULL};
    struct data_set *set;

    put_tar("classes.tar", name);
    set = open_indexed("classes.tar");
    T(set && data_size(set) == 3 && data_classes(set) == 2,
      "three samples, two classes");
    T(is(set, 0, "dog/b.jpg", 1, 1, "dog", ""), "in the archive's order");
    T(is(set, 1, "cat/a.JPEG", 2, 0, "cat", ""), "classes in byte order");
    T(is(set, 2, "cat/c.jpeg", 4, 0, "cat", ""), "hidden files apart");
    data_close(set);
}

static void
a_folder(void)
{
    struct data_set *set;

    mkdir("tree", 0700);
    mkdir("tree/b", 0700);
    mkdir("tree/a", 0700);
    mkdir("tree/a/deep", 0700);
    mkdir("tree/a-", 0700);
    put_jpeg("tree/b/1.jpg", 1);
    put_jpeg("tree/a/2.jpg", 2);
    put_jpeg("tree/a/deep/0.jpg", 3);
    put_jpeg("tree/a-/1.jpg", 4);
    put_text("tree/a/2.txt", " a caption\r\n\n");
    set = open_indexed("tree/");
    T(set && data_size(set) == 4 && data_classes(set) == 3, "%s",
      set ? "four files" : err.msg);
    T(is(set, 0, "a/2.jpg", 2, 0, "a", "a caption"), "with its caption");
    T(is(set, 1, "a/deep/0.jpg", 3, 0, "a", ""), "the first folder counts");
    T(is(set, 2, "a-/1.jpg", 4, 1, "a-", ""), "folders in byte order");
    T(is(set, 3, "b/1.jpg", 1, 2, "b", ""), "the last");
    data_close(set);
}

static void
folders_common_to_all_are_no_class(void)
{
    static const char *const deep[] = {"set/train/x/1.jpg", "set/train/y/1.jpg",
                                       NULL};
    static const char *const one[] = {"set/x/1.jpg", "set/x/2.jpg", NULL};
    static const char *const flat[] = {"1.jpg", "2.jpg", NULL};
    static const char *const mixed[] = {"x/1.jpg", "2.jpg", NULL};
    struct data_set *set;

    put_tar("t.tar", deep);
    set = open_indexed("t.tar");
    T(is(set, 1, "set/train/y/1.jpg", 2, 1, "y", ""), "set/train/ is not");
    data_close(set);
    put_tar("t.tar", one);
    set = open_indexed("t.tar");
    T(is(set, 1, "set/x/2.jpg", 2, 0, "x", ""), "one class stays a class");
    data_close(set);
    put_tar("t.tar", flat);
    set = open_indexed("t.tar");
    T(is(set, 1, "2.jpg", 2, -1, "", "") && !data_classes(set),
      "without folders there are none");
    data_close(set);
    put_tar("t.tar", mixed);
    set = open_indexed("t.tar");
    T(is(set, 0, "x/1.jpg", 1, 0, "x", "") &&
          is(set, 1, "2.jpg", 2, -1, "", ""),
      "some may have none");
    data_close(set);
}

static void
webdataset_shards(void)
{
    static const char *const first[] = {
        "000.cls",   "2",       "000.jpg", "000.txt", "one\ntwo\n",
        "001.jpg",   "001.cls", " 0 \n",   "001.txt", "a\tb\033",
        "000b.json", "{}",      NULL};
    static const char *const second[] = {"000.jpg", "dir/000.jpg", NULL};
    static const char *const shards[] = {"s1.tar", "s0.tar", NULL};
    struct data_set *set;

    put_tar("s1.tar", first);
    put_tar("s0.tar", second);
    T(!make_index(shards, "shards.foil", 0), "two shards");
    set = data_open("shards.foil", &err);
    T(set && data_size(set) == 4 && data_classes(set) == 3,
      "labels are whole numbers: 3 classes");
    T(is(set, 0, "000.jpg", 1, 2, "2", "one\ntwo"), "two captions");
    T(is(set, 1, "001.jpg", 2, 0, "0", "a b"), "without control characters");
    T(is(set, 2, "000.jpg", 1, -1, "", ""), "shards in the order of the calls");
    T(is(set, 3, "dir/000.jpg", 2, -1, "", ""), "folders are no classes then");
    data_close(set);
}

static void
classes_may_have_names(void)
{
    static const char *const name[] = {
        "0.jpg", "0.cls", "zebra",   "1.jpg", "1.cls", "7", "2.jpg",
        "2.cls", "ant",   "3.1.jpg", "3.cls", "ant",   NULL};
    struct data_set *set;

    put_tar("t.tar", name);
    set = open_indexed("t.tar");
    T(is(set, 0, "0.jpg", 1, 2, "zebra", "") &&
          is(set, 1, "1.jpg", 2, 0, "7", "") &&
          is(set, 3, "3.1.jpg", 4, 1, "ant", ""),
      "ranked unless all are whole numbers");
    data_close(set);
}

static void
a_file_list(void)
{
    struct data_set *set;

    mkdir("pics", 0700);
    put_jpeg("pics/x", 1);
    put_jpeg("pics/y.png", 2);
    put_jpeg("z.jpg", 3);
    put_text("pics/list", "x\tfrog\ta frog\n\n./y.png\t\tno label\r\n"
                          "../z.jpg\tbee");
    set = open_indexed("pics/list");
    T(set && data_size(set) == 3, "%s", set ? "three lines" : err.msg);
    T(is(set, 0, "x", 1, 1, "frog", "a frog"), "label and caption");
    T(is(set, 1, "y.png", 2, -1, "", "no label"), "any name will do");
    T(is(set, 2, "../z.jpg", 3, 0, "bee", ""), "relative to the list");
    data_close(set);
    put_text("pics/list", "x\nnone.jpg\n");
    T(!open_indexed("pics/list") && strstr(err.msg, "none.jpg"), "%s", err.msg);
}

/* The digest depends on contents and labels, not on paths. */
static void
the_digest_distinguishes_sets(void)
{
    static const char *const same[] = {"x/a/1.jpg", "x/b/2.jpg", NULL};
    static const char *const other[] = {"a/1.jpg", "a/2.jpg", NULL};
    struct digest digest[3];
    struct data_set *set;

    mkdir("d", 0700);
    mkdir("d/c", 0700);
    mkdir("d/e", 0700);
    put_jpeg("d/c/1.jpg", 1);
    put_jpeg("d/e/1.jpg", 2);
    put_tar("same.tar", same);
    put_tar("other.tar", other);
    static const char *const place[] = {"d", "same.tar", "other.tar"};
    for (size_t i = 0; i < 3; i++) {
        set = open_indexed(place[i]);
        T(set != NULL, "%s", place[i]);
        if (set)
            digest[i] = data_digest(set);
        data_close(set);
    }
    T(!memcmp(&digest[0], &digest[1], sizeof digest[0]),
      "tar and folder: same");
    T(memcmp(&digest[1], &digest[2], sizeof digest[0]),
      "other labels: another");
}

static void
bad_places_are_refused(void)
{
    static const char *const text[] = {"a.txt", "no image", NULL};
    static const struct {
        const char *place, *why;
    } bad[] = {
        {"nothing", "cannot open 'nothing': No such file"},
        {"empty", "'empty' is empty"},
        {"hollow", "there is no image in"},
        {"text.tar", "there is no image in"},
        {"packed", "is compressed, and samples are read at random: unpack it "
                   "first (gunzip)"},
        {"zeros", "there is no image in"},
        {"noise", "is not a tar archive"},
        {"of-tars", "only tars: name these"},
    };
    static char noise[2048];

    mkdir("hollow", 0700);
    mkdir("of-tars", 0700);
    put_tar("text.tar", text);
    put_tar("of-tars/a.tar", text);
    put_text("empty", "");
    put_text("packed", "\x1f\x8b\x08");
    REQUIRE(!file_write("zeros", noise, sizeof noise, &err));
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)(i * 7);
    REQUIRE(!file_write("noise", noise, sizeof noise, &err));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        T(!open_indexed(bad[i].place) && strstr(err.msg, bad[i].why), "%s",
          err.msg);
}

static void
bad_images_are_refused_or_skipped(void)
{
    const char *const place[] = {"bad", NULL};
    struct data_bytes jpeg = tiny_jpeg(9);
    struct data_set *set;

    mkdir("bad", 0700);
    put_jpeg("bad/0.jpg", 1);
    put_text("bad/1.jpg", "GIF89a, by another name");
    put_text("bad/2.jpg", "");
    file_write("bad/3.jpg", jpeg.data, jpeg.len - 9, &err);
    put_jpeg("bad/4.jpg", 2);
    T(make_index(place, "bad.foil", 0) == -1 &&
          strstr(err.msg, "'1.jpg' in 'bad': is not a JPEG"),
      "%s", err.msg);
    T(make_index(place, "bad.foil", 1) == 3, "three are skipped");
    set = data_open("bad.foil", &err);
    T(set && data_size(set) == 2 && level_of(set, 1) == 2, "two are left");
    data_close(set);
    data_bytes_release(&jpeg);
}

/* Dangling or circular links are skipped or refused, by name. */
static void
bad_links_are_refused_or_skipped(void)
{
    static const struct {
        const char *to, *from, *why;
    } link[] = {
        {"nowhere", "links/a/x.jpg",
         "'a/x.jpg' in 'links': cannot be followed: No such file"},
        {".", "links/loop",
         "'loop' in 'links': is a link to a folder that it lies in"},
        {"..", "links/a/up",
         "'a/up' in 'links': is a link to a folder that it lies in"},
        {"self", "links/self", "'self' in 'links': cannot be followed: Too"},
        {"nowhere", "links/class", "'class' in 'links': cannot be followed"},
    };
    const char *const place[] = {"links", NULL};
    struct data_set *set;

    mkdir("links", 0700);
    mkdir("links/a", 0700);
    put_jpeg("links/a/0.jpg", 1);
    put_jpeg("links/a/1.jpg", 2);
    for (size_t i = 0; i < sizeof link / sizeof *link; i++) {
        REQUIRE(!symlink(link[i].to, link[i].from));
        T(make_index(place, "links.foil", 0) == -1 &&
              strstr(err.msg, link[i].why),
          "refused: %s", err.msg);
        T(make_index(place, "links.foil", 1) == 1,
          "'%s' is skipped with a message", link[i].from);
        set = data_open("links.foil", &err);
        T(set && data_size(set) == 2, "the sound images are indexed once");
        data_close(set);
        REQUIRE(!unlink(link[i].from));
    }
}

static void
sound_links_are_followed(void)
{
    const char *const place[] = {"links", NULL};
    struct data_set *set;

    mkdir("elsewhere", 0700);
    put_jpeg("elsewhere/2.jpg", 3);
    REQUIRE(!symlink("../elsewhere", "links/b") &&
            !symlink("../../elsewhere/2.jpg", "links/a/2.jpg"));
    T(make_index(place, "links.foil", 0) == 0, "sound links are followed: %s",
      err.msg);
    set = data_open("links.foil", &err);
    T(set && data_size(set) == 4 && is(set, 3, "b/2.jpg", 3, 1, "b", ""),
      "a linked folder is a class");
    data_close(set);
}

static void
a_tree_too_deep_is_bad(void)
{
    const char *const place[] = {"deep", NULL};
    char path[256] = "deep";

    mkdir(path, 0700);
    put_jpeg("deep/1.jpg", 1);
    for (int i = 0; i < 40; i++) {
        snprintf(path + strlen(path), 4, "/d");
        mkdir(path, 0700);
    }
    T(make_index(place, "deep.foil", 0) == -1 && strstr(err.msg, "too many"),
      "refused: %s", err.msg);
    T(make_index(place, "deep.foil", 1) == 1, "left out");
}

/* Indexes an input, skipping bad files, without writing the index. */
static struct data_index *
take_in(const char *place)
{
    struct data_index_settings how = {.skip_bad = 1,
                                      .max_pixels = IMAGE_MAX_PIXELS};
    struct data_index *index = data_index_new(&how);
    int rc = data_index_add(index, place, &err);

    while (!rc && (rc = data_index_next(index, &err)) > 0)
        rc = 0;
    REQUIRE(!rc);
    return index;
}

static void
skipped_files_are_counted(void)
{
    struct data_index *index;
    struct data_index_report report;

    mkdir("mixed", 0700);
    mkdir("mixed/b", 0700);
    mkdir("mixed/c", 0700);
    mkdir("mixed/c/in", 0700);
    mkdir("mixed/d", 0700);
    mkdir("mixed/e", 0700);
    put_jpeg("mixed/b/1.jpg", 1);
    put_text("mixed/b/1.txt", "a caption");
    put_text("mixed/b/2.GIF", "GIF");
    put_text("mixed/b/.x.gif", "hidden");
    put_text("mixed/c/x.gif", "GIF");
    put_text("mixed/c/in/y.Jp2", "JPEG 2000");
    put_text("mixed/d/z.jpg", "GIF89a");
    put_text("mixed/e/readme", "text");
    put_text("mixed/index.xml", "<x/>");
    index = take_in("mixed");
    report = data_index_report(index);
    T(report.skipped[1].n == 3 && !strcmp(report.skipped[1].first, "b/2.GIF"),
      "three images are of other forms, the first is %s",
      report.skipped[1].first);
    T(report.skipped[0].n == 2 && !strcmp(report.skipped[0].first, "e/readme"),
      "two files are no images, the first is %s", report.skipped[0].first);
    T(report.bad == 1, "the bad one is counted apart");
    T(!data_index_write(index, "mixed.foil", &err), "the index is written");
    report = data_index_report(index);
    T(report.n_lost == 2 && !strcmp(report.lost[0], "c") &&
          !strcmp(report.lost[1], "d"),
      "classes that lost all their images are c and d");
    data_index_free(index);
}

static void
images_are_known_by_each_of_their_suffixes(void)
{
    static const char *const suffix[] = {"jpg", "jpeg", "jfif", "jpe",
                                         "JPG", "JPEG", "JFIF", "JpE"};
    enum { N = sizeof suffix / sizeof *suffix };
    struct data_index *index;

    mkdir("suffixes", 0700);
    for (int i = 0; i < N; i++) {
        char path[32];

        snprintf(path, sizeof path, "suffixes/%d.%s", i, suffix[i]);
        put_jpeg(path, i);
    }
    index = take_in("suffixes");
    T(data_index_size(index) == N && !data_index_report(index).skipped[1].n,
      "all of %d suffixes are those of samples", N);
    data_index_free(index);
}

static void
classes_are_lost_of_tars_too(void)
{
    static const char *const name[] = {"top/train/a/1.jpg",
                                       "top/train/b/1.jpg",
                                       "top/train/c/1.gif",
                                       "PNG",
                                       "top/train/a/2.gif",
                                       "PNG",
                                       NULL};
    static const char *const labelled[] = {"a/1.jpg", "a/1.cls", "ant",
                                           "b/1.gif", "PNG",     NULL};
    struct data_index *index;

    put_tar("lost.tar", name);
    index = take_in("lost.tar");
    T(!data_index_write(index, "lost.foil", &err) &&
          data_index_report(index).n_lost == 1 &&
          !strcmp(data_index_report(index).lost[0], "c"),
      "after the common folders, c is lost");
    data_index_free(index);
    put_tar("lost.tar", labelled);
    index = take_in("lost.tar");
    T(!data_index_write(index, "lost.foil", &err) &&
          !data_index_report(index).n_lost,
      "with explicit labels folders are no classes");
    data_index_free(index);
}

static void
only_other_images_are_an_error(void)
{
    mkdir("gifs", 0700);
    put_text("gifs/1.gif", "GIF");
    put_text("gifs/2.gif", "GIF");
    put_text("gifs/readme", "text");
    T(!open_indexed("gifs") && strstr(err.msg, "there is no image in '") &&
          strstr(err.msg, "only images of other forms (2, such as '1.gif'): "
                          "convert them to JPEG or PNG first"),
      "a folder of GIF is refused: %s", err.msg);
}

/* A tar cut anywhere is refused, or its sound part is indexed. */
static void
truncated_tars(void)
{
    static const char *const name[] = {"a/1.jpg", "b/2.jpg", NULL};
    static const char *const place[] = {"cut.tar", NULL};
    int refused = 0, silent = 0, taken = 0;
    size_t len, end = 4 * 1024;
    char *bytes;

    put_tar("whole.tar", name);
    bytes = file_read("whole.tar", 1 << 20, &len, &err);
    REQUIRE(bytes);
    for (end = len; end && !bytes[end - 1]; end--)
        ;
    for (size_t n = 1; n < end; n += n % 512 < 2 || n % 512 == 511 ? 1 : 85) {
        REQUIRE(!file_write("cut.tar", bytes, n, &err));
        if (make_index(place, "cut.foil", 0) < 0)
            refused++;
        else
            silent++;
        taken += make_index(place, "cut.foil", 1) == 1;
    }
    T(!silent && refused > 20, "%d cuts, all refused: %s", refused, err.msg);
    T(taken > 10 && taken < refused, "--bad skip takes the first image: %d",
      taken);
    free(bytes);
}

static void
an_index_appears_whole(void)
{
    const char *const place[] = {"classes.tar", NULL};

    T(make_index(place, "/dev/full", 0) == -1 && strstr(err.msg, "/dev/full"),
      "%s", err.msg);
    T(make_index(place, "no/index", 0) == -1, "%s", err.msg);
}

int
main(void)
{
    if (enter_folder())
        return 1;
    a_tar_of_classes();
    a_folder();
    folders_common_to_all_are_no_class();
    webdataset_shards();
    classes_may_have_names();
    a_file_list();
    the_digest_distinguishes_sets();
    bad_places_are_refused();
    bad_images_are_refused_or_skipped();
    bad_links_are_refused_or_skipped();
    sound_links_are_followed();
    a_tree_too_deep_is_bad();
    skipped_files_are_counted();
    images_are_known_by_each_of_their_suffixes();
    classes_are_lost_of_tars_too();
    only_other_images_are_an_error();
    truncated_tars();
    an_index_appears_whole();
    if (leave_folder())
        return 1;
    return t_done();
}
