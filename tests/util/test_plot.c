#include "util/plot.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t.h"
#include "util/file.h"

static void
texts_are_quoted(void)
{
    char text[64] = "";
    FILE *out = fmemopen(text, sizeof text, "w");

    plot_text(out, "a \"b\" `c` \\d\ne");
    fclose(out);
    T(!strcmp(text, "\"a \\\"b\\\" \\`c\\` \\\\d e\""),
      "text from outside stays text: %s", text);
}

static void
hues_differ(void)
{
    int same = 0;

    for (size_t i = 0; i < PLOT_HUES; i++)
        for (size_t j = 0; j < i; j++)
            same += !strcmp(plot_hue(i), plot_hue(j));
    T(!same && !strcmp(plot_hue(0), plot_hue(PLOT_HUES)),
      "five hues, then they repeat");
}

static int
draw_script(const char *picture, struct err *err)
{
    struct plot script;

    fputs("plot x\n", plot_open(&script));
    return plot_draw(&script, picture, err);
}

/* Programs are searched only in that folder. */
static void
without_gnuplot_the_script_is_kept(const char *folder)
{
    char picture[64], script[64];
    struct err err = {""};
    char *text;
    size_t len;

    setenv("PATH", folder, 1);
    snprintf(picture, sizeof picture, "%s/x.png", folder);
    snprintf(script, sizeof script, "%s/x.gp", folder);
    T(draw_script(picture, &err) && strstr(err.msg, script), "no gnuplot: %s",
      err.msg);
    text = file_read(script, 1000, &len, &err);
    T(text && strstr(text, "set output \"x.png\"\nplot x\n"),
      "its script stays, with the name of the picture");
    free(text);
    unlink(script);
    snprintf(picture, sizeof picture, "%s/nowhere/x.png", folder);
    T(draw_script(picture, &err) && strstr(err.msg, "nowhere"),
      "no such folder: %s", err.msg);
}

int
main(void)
{
    char folder[] = "/tmp/plot-XXXXXX";

    if (!mkdtemp(folder))
        return 1;
    texts_are_quoted();
    hues_differ();
    without_gnuplot_the_script_is_kept(folder);
    rmdir(folder);
    return t_done();
}
