#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "child.h"
#include "t.h"
#include "util/file.h"
#include "util/mem.h"

/* Returns 1 when the file holds exactly this text. */
static int
holds(const char *path, const char *text)
{
    struct err err;
    size_t n = 0;
    char *data = file_read(path, 1 << 20, &n, &err);
    int same = data && n == strlen(text) && !strcmp(data, text);

    free(data);
    return same;
}

static void
write_then_read(void)
{
    struct err err = {""};
    size_t n = 0;
    char big[200000], *data;

    T(!file_write("a", "one", 3, &err) && holds("a", "one"), "a new file");
    T(!file_write("a", "two!", 4, &err) && holds("a", "two!"), "replaced");
    T(!file_write("b", "", 0, &err) && holds("b", ""), "an empty one");
    T(!file_remove("b", &err), "removed");

    memset(big, 'x', sizeof big);
    T(!file_write("big", big, sizeof big, &err), "200 kB");
    data = file_read("big", sizeof big, &n, &err);
    T(data && n == sizeof big && !memcmp(data, big, n), "whole again");
    T(data && data[n] == 0, "a zero follows the last byte");
    free(data);

    T(!file_read("big", sizeof big - 1, &n, &err) &&
          !strcmp(err.msg, "'big' is larger than 199999 bytes"),
      "%s", err.msg);
    T(!file_read("none", 10, &n, &err) && strstr(err.msg, "No such file"), "%s",
      err.msg);
    T(!file_read(".", 10, &n, &err) && strstr(err.msg, "Is a directory"), "%s",
      err.msg);
}

static void
write_to_a_small_disk(const void *arg)
{
    struct rlimit limit = {1000, 1000};
    struct err err = {""};
    char data[5000] = {0};

    (void)arg;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    if (file_write("a", data, sizeof data, &err))
        fprintf(stderr, "%s", err.msg);
}

/* A disk that is full only for a while. */
static void
write_with_a_hole(const void *arg)
{
    struct rlimit limit;
    struct file_draft draft = {0};
    struct err err = {""};
    char data[100000] = {0};

    (void)arg;
    signal(SIGXFSZ, SIG_IGN);
    file_draft_open(&draft, "a", &err);
    getrlimit(RLIMIT_FSIZE, &limit);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000, limit.rlim_max});
    fwrite(data, 1, sizeof data, draft.file);
    setrlimit(RLIMIT_FSIZE, &limit);
    fputs("end", draft.file);
    if (file_draft_keep(&draft, &err))
        fprintf(stderr, "%s", err.msg);
}

/* A link with the name of the temporary file is not followed. */
static void
linked(void)
{
    char name[64];
    struct err err;
    size_t n;
    char *text;

    snprintf(name, sizeof name, "linked.%ld.new", (long)getpid());
    T(!file_write("precious", "gold", 4, &err) && !symlink("precious", name) &&
          !file_write("linked", "lead", 4, &err),
      "a link at the path of the temporary file");
    text = file_read("precious", 64, &n, &err);
    T(text && n == 4 && !memcmp(text, "gold", 4),
      "a link at the path of the temporary file is not followed");
    free(text);
    text = file_read("linked", 64, &n, &err);
    T(text && n == 4 && !memcmp(text, "lead", 4), "the file itself is written");
    free(text);
}

static void
failing_leaves_the_old_file(const char *scratch)
{
    struct err err = {""};
    struct child c = child_run(write_to_a_small_disk, NULL);

    T(strstr(c.err, "cannot write 'a'"), "a full disk: %s", c.err);
    c = child_run(write_with_a_hole, NULL);
    T(strstr(c.err, "cannot write 'a'"), "full for a while: %s", c.err);
    T(holds("a", "two!"), "the old file is whole");
    T(file_write("no/a", "x", 1, &err) == -1 &&
          strstr(err.msg, "cannot create 'no/a'"),
      "%s", err.msg);
    mkdir("folder", 0700);
    T(file_write("folder", "x", 1, &err) == -1 &&
          strstr(err.msg, "cannot rename"),
      "%s", err.msg);
    T(!file_remove("folder", &err) && !file_remove("big", &err) &&
          !file_remove("a", &err),
      "removed");
    T(!chdir("..") && !rmdir(scratch) && !mkdir(scratch, 0700) &&
          !chdir(scratch),
      "no other file remains");
}

static void
folders(void)
{
    struct err err = {""};
    struct stat st;

    T(!file_mkdir("d", 0700, &err) && !stat("d", &st) &&
          (st.st_mode & 07777) == 0700,
      "made with its mode");
    T(!file_mkdir("d", 0700, &err), "an existing folder is no error");
    T(!file_write("d/f", "x", 1, &err), "a file in it");
    T(file_mkdir("d/f", 0700, &err) == -1 && strstr(err.msg, "File exists"),
      "%s", err.msg);
    T(file_mkdir("no/d", 0700, &err) == -1, "%s", err.msg);
    T(!file_sync("d", &err) && !file_sync("d/f", &err), "synced");
    T(file_sync("none", &err) == -1, "%s", err.msg);

    file_mkdir("d/e", 0700, &err);
    T(!symlink("..", "d/e/up") && !file_write("keep", "x", 1, &err), "a link");
    T(!file_remove("d", &err) && !file_exists("d"),
      "removed with its contents");
    T(file_exists("keep"), "links are not followed");
    T(file_remove("d", &err) == -1 && strstr(err.msg, "No such file"), "%s",
      err.msg);
    T(!symlink("nowhere", "dangling") && file_exists("dangling"),
      "a dangling link exists");
    T(file_same("keep", "./keep") && !file_same("keep", "dangling") &&
          !file_same("dangling", "dangling"),
      "two names of a file are the same, missing files are not");
}

/* argv[0] has the folder of a test that was started by its path. */
static void
paths_are_resolved(void)
{
    static const char *const cases[][2] = {
        {"/a//b/", "/a/b"},
        {"a/.././b", "/b"},
        {"/a/b/../../../c", "/c"},
        {"/..a/.b", "/..a/.b"},
        {"a", "/a"},
        {"a/..", "/"},
        {"", "/"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *whole = file_resolve(cases[i][0]);

        T(!strcmp(whole, cases[i][1]), "'%s' is '%s'", cases[i][0], whole);
        free(whole);
    }
}

static void
own_folder(const char *program)
{
    struct err err = {""};
    char *folder = file_own_folder(&err), *file;
    struct stat here, there;

    file = mem_format("%s/%s", folder, strrchr(program, '/') + 1);
    T(*folder == '/' && !stat(program, &here) && !stat(file, &there) &&
          here.st_ino == there.st_ino && here.st_dev == there.st_dev,
      "this program is in its own folder, %s", folder);
    free(file);
    free(folder);
}

static void
commands(void)
{
    static const struct {
        const char *path, *name;
        int found;
    } cases[] = {
        {"bin", "run", 1},       {"x:bin", "run", 1}, {"x::bin", "run", 1},
        {"x", "run", 0},         {"bin", "plain", 0}, {"bin", "folder", 0},
        {"bin", "nope", 0},      {"", "here", 1},     {"x:", "here", 1},
        {":x", "here", 1},       {"x", "here", 0},    {"x", "bin/run", 1},
        {"bin", "bin/plain", 0}, {"x", "./here", 1},  {"bin", "", 0},
        {NULL, "env", 1},        {NULL, "here", 0},
    };
    struct err err;

    T(!file_mkdir("bin", 0700, &err) && !file_mkdir("bin/folder", 0700, &err) &&
          !file_write("bin/run", "", 0, &err) &&
          !file_write("bin/plain", "", 0, &err) &&
          !file_write("here", "", 0, &err) && !chmod("bin/run", 0700) &&
          !chmod("here", 0700),
      "programs are made");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        REQUIRE(cases[i].path ? !setenv("PATH", cases[i].path, 1)
                              : !unsetenv("PATH"));
        T(file_is_command(cases[i].name) == cases[i].found,
          "'%s' is %s command with PATH '%s'", cases[i].name,
          cases[i].found ? "a" : "no", file_search_path());
    }
}

int
main(int argc, char **argv)
{
    char scratch[256];
    struct err err;

    (void)argc;
    own_folder(argv[0]);

    child_scratch(scratch);
    write_then_read();
    failing_leaves_the_old_file(scratch);
    folders();
    linked();
    paths_are_resolved();
    commands();
    T(!chdir("/") && !file_remove(scratch, &err), "cleaned up");
    return t_done();
}
