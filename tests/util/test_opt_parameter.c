/* Parameters of options, and deprecated spellings. */
#include "child.h"
#include "t.h"
#include "util/opt.h"

static int turbo, sampler, form;
static long epochs = 3;
static double weight = 1, rate = 0.1;
static const char *way = "hcl", *note = "", *proposals = "once";

static const struct opt opts[] = {
    {"way", 'w', OPT_METHOD, &way, 0, 0, "NAME[,PARAM=X]...", "of doing it"},
    {"weight", 0, OPT_REAL, &weight, 0, 9, "X", "how heavy"},
    {"epochs", 0, OPT_WHOLE, &epochs, 1, 9, "N", "how long"},
    {"turbo", 0, OPT_FLAG, &turbo, 0, 0, NULL, "be quick"},
    {"way-note", 0, OPT_TEXT, &note, 0, 0, "FILE", "what to read"},
    {"rate", 0, OPT_REAL, &rate, 0, 1, "X", "no parameter"},
    {"sampler", 0, OPT_CHOICE, &sampler, 0, 0, "service|trainer", "who"},
    {"proposals", 0, OPT_TEXT, &proposals, 0, 0, "NAME", "what"},
    {"scores", 0, OPT_CHOICE, &form, 0, 0, "fresh|stale|reset", "how"},
    {0},
};
static const struct opt_parameter parameters[] = {
    {&weight, "way", "weight"},     {&epochs, "way|sampler", "epochs"},
    {&turbo, "way", "turbo"},       {&note, "way", "note"},
    {&form, "proposals", "scores"}, {0},
};
static const struct opt_tool tool = {
    "foil-train", "try parameters", NULL, 0, 0, opts,
};

/* Parses words separated by blanks, prints the values. */
static void
parse(const void *line)
{
    static char copy[512];
    char *argv[32], *rest = copy;
    int argc = 0;

    snprintf(copy, sizeof copy, "foil-train %s", (const char *)line);
    for (char *word; (word = strtok_r(rest, " ", &rest));)
        argv[argc++] = word;
    argv[argc] = NULL;
    opt_parameters(parameters);
    opt_parse(&tool, argc, argv);
    printf("%s %g %ld %d '%s' %g %s %s %s", way, weight, epochs, turbo, note,
           rate, opt_choice(&sampler), proposals, opt_choice(&form));
    printf(" %d%d%d", opt_is_set(&way), opt_is_set(&weight), opt_is_set(&form));
}

static void
prints(const char *line, const char *want)
{
    struct child c = child_run(parse, line);

    T(c.code == 0 && !*c.err && !strcmp(c.out, want), "'%s': %s%s", line, c.out,
      c.err);
}

/* The same, with that line on stderr. */
static void
warns(const char *line, const char *want, const char *sentence)
{
    struct child c = child_run(parse, line);

    T(c.code == 0 && strstr(c.err, sentence) && !strcmp(c.out, want),
      "'%s': %s%s", line, c.out, c.err);
}

static void
refuses(const char *line, const char *sentence)
{
    struct child c = child_run(parse, line);

    T(c.code == EXIT_USAGE && strstr(c.err, sentence), "'%s': %s", line, c.err);
}

static void
follow_options(void)
{
    prints("", "hcl 1 3 0 '' 0.1 service once fresh 000");
    prints("--way dcl", "dcl 1 3 0 '' 0.1 service once fresh 100");
    prints("--way dcl,weight=2,turbo,epochs=7",
           "dcl 2 7 1 '' 0.1 service once fresh 110");
    prints("--way=dcl --way ,weight=2 --way ,no-turbo --rate 1",
           "dcl 2 3 0 '' 1 service once fresh 110");
    prints("-w ,weight=2", "hcl 2 3 0 '' 0.1 service once fresh 010");
    prints("--sampler trainer,epochs=7",
           "hcl 1 7 0 '' 0.1 trainer once fresh 000");
    prints("--way hcl,note=a,b=c,Weight=1,weight=2",
           "hcl 2 3 0 'a,b=c,Weight=1' 0.1 service once fresh 110");
    prints("--proposals 1,2", "hcl 1 3 0 '' 0.1 service 1,2 fresh 000");
    prints("--proposals 1,2,scores=reset",
           "hcl 1 3 0 '' 0.1 service 1,2 reset 001");
    refuses("--way hcl,wieght=1",
            "--way has no parameter 'wieght': did you mean 'weight'?");
    refuses("--way hcl,rate=1", "--way has no parameter 'rate'");
    refuses("--way hcl,no-epochs", "--way has no parameter 'no-epochs'");
    refuses("--way hcl,weight", "--way: weight needs a value: X");
    refuses("--way hcl,weight=10", "--way: weight '10': want a number in 0");
    refuses("--way hcl,epochs=1.5", "--way: epochs '1.5': want a whole number");
    refuses("--way hcl,turbo=1", "--way: turbo takes no value");
    refuses("--way hcl,weight=1,weight=2",
            "--way: weight is given twice: as '1' and as '2'");
    refuses("--way hcl --way dcl,turbo", "--way is given twice");
    refuses("--rate 1,weight=2", "--rate '1,weight=2': want a number");
    refuses("--wieght 1", "no option '--wieght'\n");
}

static void
work_as_deprecated_options(void)
{
    warns("--weight 2 --way dcl", "dcl 2 3 0 '' 0.1 service once fresh 110",
          "foil-train: --weight 2 is now --way dcl,weight=2; 1.1 drops the old "
          "spelling\n");
    warns("--turbo --way-note=a,b",
          "hcl 1 3 1 'a,b' 0.1 service once fresh 000",
          "foil-train: --turbo is now --way hcl,turbo; 1.1");
    warns("--turbo --way-note=a,b",
          "hcl 1 3 1 'a,b' 0.1 service once fresh 000",
          "foil-train: --way-note a,b is now --way hcl,note=a,b; 1.1");
    warns("--no-turbo", "hcl 1 3 0 '' 0.1 service once fresh 000",
          "--no-turbo is now --way hcl,no-turbo; 1.1");
    warns("--epochs 7", "hcl 1 7 0 '' 0.1 service once fresh 000",
          "--epochs 7 is now --way hcl,epochs=7; 1.1");
    warns("--sampler stale --way dcl",
          "dcl 1 3 0 '' 0.1 trainer once stale 101",
          "--sampler stale is now --sampler trainer --proposals ,scores=stale; "
          "1.1 drops the old spelling\n");
    warns("--sampler=fresh", "hcl 1 3 0 '' 0.1 trainer once fresh 000",
          "--sampler fresh is now --sampler trainer; 1.1");
    refuses("--way hcl,weight=1 --weight 2",
            "--way: weight is given twice: as '1' and as '2'");
    refuses("--sampler stale --sampler trainer", "--sampler is given twice");
    refuses("--turbo=1", "--way: turbo takes no value");
    T(opt_old_find("foil-train", "sampler", "bank") &&
          !opt_old_find("foil-train", "sampler", NULL) &&
          !opt_old_find("foil-train", "sampler", "service") &&
          !opt_old_find("foil-select", "sampler", "bank") &&
          !opt_old_find("foil-train", "objective", "own-way"),
      "a row has a tool, a name and a value");
    T(!strcmp(opt_old_name("nonfinite"), "nan") && !opt_old_name("sampler"),
      "opt_old_name() finds the old name of a renamed option only");
}

static void
put_file(const char *to, const char *text)
{
    FILE *file = fopen(to, "w");

    if (!file || fputs(text, file) < 0 || fclose(file))
        printf("# cannot write '%s'\n", to);
}

static void
come_from_a_file(void)
{
    char scratch[256];

    child_scratch(scratch);
    put_file("new", "way dcl,weight=2,epochs=7\n");
    prints("--config new", "dcl 2 7 0 '' 0.1 service once fresh 110");
    prints("--config new -w ,weight=3",
           "dcl 3 7 0 '' 0.1 service once fresh 110");
    prints("--config new -w dcl,weight=3",
           "dcl 3 7 0 '' 0.1 service once fresh 110");
    prints("--config new -w xcl", "xcl 1 3 0 '' 0.1 service once fresh 100");
    put_file("old", "weight 2\nway dcl\nturbo\nsampler reset\n");
    warns("--config old", "dcl 2 3 1 '' 0.1 trainer once reset 111",
          "--weight 2 is now --way dcl,weight=2; 1.1 drops");
    warns(
        "--config old --way xcl,weight=3",
        "xcl 3 3 1 '' 0.1 trainer once reset 111",
        "foil-train: 'old', line 4: --sampler reset is now --sampler trainer");
    T(!strstr(child_run(parse, "--config old -w ,weight=3").err, "--weight"),
      "the command line overrides the file without a warning");
    put_file("bad", "way dcl,weight=10\n");
    refuses("--config bad", "'bad', line 1: --way: weight '10': want a number");
}

static void
are_described(void)
{
    struct child c = child_run(parse, "--help");

    T(strstr(c.out, "usage: foil-train [-w NAME[,PARAM=X]...] [--rate X] "
                    "[--sampler service|trainer]\n") &&
          !strstr(c.out, "--weight"),
      "no option: %s", c.out);
    T(strstr(c.out, "\n\nParameters of --way:\n"
                    "  weight=X                how heavy, 0 .. 9 [1]\n") &&
          strstr(c.out, "\n  turbo                   be quick\n"
                        "  note=FILE               what to read []\n"
                        "\nParameters of --sampler:\n  epochs=N "),
      "--help has a parameter under its option: %s", c.out);
    c = child_run(parse, "--list options");
    T(strstr(c.out,
             "{\"name\":\"note\",\"kind\":\"text\",\"argument\":\"FILE\","
             "\"default\":\"\",\"of\":\"way\",\"was\":\"way-note\","
             "\"sentence\":\"what to read\"}"),
      "--list options has a parameter as data: %s", c.out);
}

int
main(void)
{
    follow_options();
    work_as_deprecated_options();
    come_from_a_file();
    are_described();
    return t_done();
}
