/* Settings and their files. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t.h"
#include "util/file.h"
#include "util/setting.h"

static char path[64];

static void
names_have_values(void)
{
    struct settings settings = {0};

    T(!setting_get(&settings, "a"), "nothing is set at first");
    setting_set(&settings, "a", "1");
    setting_set(&settings, "b", "2");
    setting_set(&settings, "a", "3");
    T(settings.n == 2 && !strcmp(setting_get(&settings, "a"), "3") &&
          !strcmp(settings.item[0].name, "a"),
      "a new value replaces the old one");
    setting_set(&settings, "b", setting_get(&settings, "a"));
    T(!strcmp(setting_get(&settings, "b"), "3"),
      "a value may point to that of another name");
    setting_release(&settings);
    T(!settings.n && !setting_get(&settings, "a"), "release empties them");
}

static void
files_are_read_back(void)
{
    static const char *const values[] = {
        "", "a b", "back\\slash", "two\nlines", "\\n", "# no comment", "end\\"};
    struct settings out = {0}, in = {0};
    char *text;
    struct err err;
    int same = 1;

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char name[] = {(char)('a' + (int)i), 0};

        setting_set(&out, name, values[i]);
    }
    text = setting_text(&out);
    T(!file_write(path, text, strlen(text), &err) &&
          !setting_read(&in, path, &err),
      "settings are written and read");
    for (size_t i = 0; i < in.n && in.n == out.n; i++)
        same &= !strcmp(in.item[i].name, out.item[i].name) &&
                !strcmp(in.item[i].value, out.item[i].value) &&
                in.item[i].line == (int)i + 1;
    T(same && in.n == out.n, "with the same values in the same order");
    free(text);
    setting_release(&in);
    setting_release(&out);
}

static void
files_may_be_written_by_hand(void)
{
    static const char text[] =
        "# options\n\n  lr \t 0.1 \r\nfast\nname a\\\\b\\n"
        "c\\t\nlr 2";
    struct settings in = {0};
    struct err err = {""};

    T(!file_write(path, text, sizeof text - 1, &err) &&
          !setting_read(&in, path, &err) && in.n == 4,
      "comments and empty lines are ignored, and the last line may lack its "
      "end");
    T(!strcmp(in.item[0].name, "lr") && !strcmp(in.item[0].value, "0.1 ") &&
          in.item[0].line == 3,
      "blanks before the value are skipped, those at its end stay");
    T(!strcmp(in.item[1].name, "fast") && !*in.item[1].value,
      "a name alone has an empty value");
    T(!strcmp(in.item[2].value, "a\\b\nc\\t"),
      "a backslash escapes only n and itself");
    T(!strcmp(setting_get(&in, "lr"), "0.1 ") && in.item[3].line == 6,
      "a name may occur twice");
    setting_release(&in);
    unlink(path);
    T(setting_read(&in, path, &err) && strstr(err.msg, path) && !in.n,
      "a missing file is named: %s", err.msg);
}

int
main(void)
{
    snprintf(path, sizeof path, "/tmp/foil-test-setting.%ld", (long)getpid());
    names_have_values();
    files_are_read_back();
    files_may_be_written_by_hand();
    return t_done();
}
