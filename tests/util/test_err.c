#include <errno.h>
#include <signal.h>
#include <string.h>

#include "child.h"
#include "t.h"
#include "util/err.h"

static void
broken_promise(const void *arg)
{
    int count = *(const int *)arg;

    REQUIRE(++count == 1);
    REQUIRE(count == 2);
}

/* Three names, which do not fit into a sentence a hundred times. */
static const char *
name_colour(size_t i)
{
    static const char *const colours[] = {"red", "green", "blue", NULL};

    return colours[i];
}

static const char *
name_colours(size_t i)
{
    return i < 300 ? name_colour(i % 3) : NULL;
}

int
main(void)
{
    struct err err = {"untouched"};
    char long_name[1000];
    struct child c;
    int count = 0;

    T(err_set(&err, "no sample %d in '%s'", 7, "a.tar") == -1, "returns -1");
    T(!strcmp(err.msg, "no sample 7 in 'a.tar'"), "%s", err.msg);

    errno = ENOENT;
    T(err_sys(&err, "cannot open '%s'", "a.tar") == -1, "returns -1");
    T(!strcmp(err.msg, "cannot open 'a.tar': No such file or directory"), "%s",
      err.msg);

    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    err_set(&err, "%s", long_name);
    T(strlen(err.msg) == sizeof err.msg - 1, "a long sentence is cut");
    errno = ENOENT;
    err_sys(&err, "%s", long_name);
    T(strlen(err.msg) == sizeof err.msg - 1, "with errno too");

    T(err_name(&err, "colour", "pinkish", 4, name_colour) == -1 &&
          !strcmp(err.msg, "no colour 'pink': there are red green blue"),
      "%s", err.msg);
    err_name(&err, "colour", long_name, strlen(long_name), name_colours);
    T(strlen(err.msg) == sizeof err.msg - 1 &&
          !strncmp(err.msg + 49, "xx': there are red ", 19),
      "a long name and a long list are cut");

    c = child_run(broken_promise, &count);
    T(c.signal == SIGABRT, "a wrong assumption aborts");
    T(!strncmp(c.err, "BUG: tests/util/test_err.c:", 27) &&
          strstr(c.err, "broken_promise: count == 2"),
      "the abort prints the place and the assumption");
    T(!strcmp(plural(0), "s") && !strcmp(plural(1), "") &&
          !strcmp(plural(2), "s"),
      "no images, one image, two images");
    return t_done();
}
