#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/settings.h"
#include "t.h"
#include "util/file.h"

/* The options of a tool. */
static long width = 64;
static double lr = 0.1, tau = NAN;
static const char *arch = "resnet18", *head;
static int nesterov, choice = -1;
static struct opt_list override, files;

static const struct opt opts[] = {
    {"width", 0, OPT_WHOLE, &width, 0, 4096, "N", "channels"},
    {"lr", 0, OPT_REAL, &lr, 0, 1e6, "X", "rate"},
    {"tau", 0, OPT_REAL, &tau, 0, 1e6, "X", "temperature"},
    {"arch", 0, OPT_TEXT, &arch, 0, 0, "NAME", "encoder"},
    {"head", 0, OPT_TEXT, &head, 0, 0, "SPEC", "head"},
    {"nesterov", 0, OPT_FLAG, &nesterov, 0, 0, NULL, "Nesterov"},
    {"nonfinite", 0, OPT_CHOICE, &choice, 0, 0, "code|literal", "which"},
    {"init", 0, OPT_LIST, &files, 0, 0, "FILE", "weights"},
    {"override", 0, OPT_LIST, &override, 0, 0, "KEY", "differ"},
    {0},
};
enum { STORED = 8 };

static const struct opt_tool tool = {
    "tool", "a tool", NULL, 0, 0, opts,
};
static const char *const others[] = {"dataset"};
static struct run_settings settings;

/* The command line is parsed once in a process: --lr 0.2 --width 32. */
static void
parse(void)
{
    static char words[][12] = {"tool",    "--lr",       "0.2",
                               "--width", "32",         "--override",
                               "dataset", "--override", "width"};
    enum { WORDS = sizeof words / sizeof *words };
    char *argv[WORDS + 1] = {NULL};

    for (int i = 0; i < WORDS; i++)
        argv[i] = words[i];
    run_settings_init(&settings, opts, STORED, others, 1, &override);
    opt_parse(&tool, WORDS, argv);
}

static int
not_arch(const char *name, const void *data)
{
    return strcmp(name, data) != 0;
}

static void
values_are_put_by_name(void)
{
    json_t *object = run_settings_put(&settings);

    T(json_object_size(object) == STORED &&
          !json_object_get(object, "override"),
      "only stored options are put");
    T(json_real_value(json_object_get(object, "lr")) == 0.2 &&
          json_integer_value(json_object_get(object, "width")) == 32 &&
          !strcmp(json_string_value(json_object_get(object, "arch")),
                  "resnet18") &&
          json_is_false(json_object_get(object, "nesterov")),
      "numbers, words and flags");
    T(json_is_null(json_object_get(object, "tau")) &&
          json_is_null(json_object_get(object, "head")) &&
          json_is_null(json_object_get(object, "nonfinite")),
      "null without a default");
    json_decref(object);
}

static void
stored_values_are_taken(void)
{
    json_t *saved =
        json_pack("{s:f, s:f, s:s, s:s, s:b, s:s, s:i}", "lr", 0.2, "tau", 0.5,
                  "arch", "mlp", "head", "16-8", "nesterov", 1, "nonfinite",
                  "literal", "width", 99);
    struct err err = {""};

    T(!run_settings_take(&settings, saved, NULL, NULL, &err),
      "the same value is accepted %s", err.msg);
    T(tau == 0.5 && !strcmp(arch, "mlp") && !strcmp(head, "16-8") && nesterov &&
          choice == 1,
      "other options take the saved value");
    T(width == 32, "an overridden option has the command line's value");
    T(!run_settings_take(&settings, saved, not_arch, "arch", &err) &&
          !strcmp(arch, "resnet18"),
      "a value that does not count: the default stays");
    json_object_del(saved, "nesterov");
    T(!run_settings_take(&settings, saved, NULL, NULL, &err) && !nesterov,
      "an option newer than the checkpoint: the default stays");
    json_object_set_new(saved, "nan", json_string("code"));
    json_object_del(saved, "nonfinite");
    T(!run_settings_take(&settings, saved, NULL, NULL, &err) && choice == 0,
      "an option that the checkpoint has under its old name");
    json_object_set_new(saved, "lr", json_real(0.3));
    T(run_settings_take(&settings, saved, NULL, NULL, &err) &&
          !strcmp(err.msg, "--lr is 0.2, but 0.3 in the checkpoint: leave it "
                           "out, or add --override lr"),
      "another value is refused: %s", err.msg);
    json_object_set_new(saved, "lr", json_string("fast"));
    T(run_settings_take(&settings, saved, NULL, NULL, &err) &&
          strstr(err.msg, "does not say --lr"),
      "a value of another type is refused: %s", err.msg);
    json_object_set_new(saved, "lr", json_real(0.2));
    json_object_set_new(saved, "tau", json_string("warm"));
    T(run_settings_take(&settings, saved, NULL, NULL, &err) &&
          strstr(err.msg, "does not say --tau"),
      "a text for a number without a default is refused: %s", err.msg);
    arch = head = NULL;
    json_decref(saved);
}

static void
lists_are_taken(void)
{
    json_t *saved = run_settings_put(&settings);
    json_t *list = json_object_get(saved, "init");
    struct err err = {""};

    T(json_is_array(list) && json_array_size(list) == 0,
      "a list without items is empty");
    json_array_append_new(list, json_string("a"));
    json_array_append_new(list, json_string("b"));
    T(!run_settings_take(&settings, saved, NULL, NULL, &err) && files.n == 2 &&
          !strcmp(files.item[1], "b"),
      "a list takes the saved items %s", err.msg);
    json_array_append_new(list, json_integer(3));
    T(run_settings_take(&settings, saved, NULL, NULL, &err) &&
          strstr(err.msg, "does not say --init"),
      "a list of anything but texts is refused: %s", err.msg);
    files.n = 0;
    json_decref(saved);
}

static void
overrides_are_known_by_name(void)
{
    T(run_settings_has(&settings, "tau") &&
          run_settings_has(&settings, "dataset") &&
          !run_settings_has(&settings, "override") &&
          !run_settings_has(&settings, "colour"),
      "stored options and other facts can be overridden");
    T(run_settings_overridden(&settings, "dataset") &&
          run_settings_overridden(&settings, "width") &&
          !run_settings_overridden(&settings, "tau"),
      "the named ones are overridden");
}

static int
write_text(const char *path, const char *text)
{
    struct err err;

    return file_write(path, text, strlen(text), &err);
}

static void
settings_of_a_run_are_read(void)
{
    static const char config[] = "{\"options\":{\"lr\":0.5,\"tau\":null},"
                                 "\"state\":{\"epoch\":3,\"epochs\":3}}";
    char folder[] = "/tmp/settings-XXXXXX";
    struct err err = {""};
    json_t *newest, *all;

    if (!mkdtemp(folder) || chdir(folder))
        return;
    all = run_settings_read(".", NULL);
    T(!json_object_size(all), "a run without files has no settings");
    json_decref(all);
    T(!run_config_newest(".", &err) && strstr(err.msg, "config.json"),
      "it has no checkpoint: %s", err.msg);
    T(!mkdir("latest", 0700) && !write_text("latest/config.json", config) &&
          !write_text("command", "lr 0.1\ntrain --lr 0.5\nseed 7\n"),
      "a run with a checkpoint and a command");
    newest = run_config_newest(".", &err);
    T(run_config_done(newest) && !run_config_done(NULL),
      "its epochs are all done");
    all = run_settings_read(".", newest);
    T(json_object_size(all) == 2 &&
          json_real_value(json_object_get(all, "lr")) == 0.5 &&
          !strcmp(json_string_value(json_object_get(all, "seed")), "7"),
      "the checkpoint's values, and others of the command");
    json_decref(all);
    all = run_settings_read(".", NULL);
    T(json_object_size(all) == 3 && json_object_get(all, "train"),
      "without a checkpoint, all of the command");
    json_decref(all);
    json_decref(newest);
    T(!file_remove("latest", &err) && !unlink("command") && !chdir("/") &&
          !rmdir(folder),
      "it is gone");
}

int
main(void)
{
    parse();
    values_are_put_by_name();
    stored_values_are_taken();
    lists_are_taken();
    overrides_are_known_by_name();
    json_decref(settings.defaults);
    settings_of_a_run_are_read();
    return t_done();
}
