#include <math.h>

#include "child.h"
#include "t.h"
#include "util/json.h"
#include "util/opt.h"

static int fast;
static int pace = 1, policy;
static long batch = 128;
static double tau = 0.5;
static const char *name = "run", *path, *way = "hcl";
static struct opt_list list;

static const struct opt opts[] = {
    {"fast", 'f', OPT_FLAG, &fast, 0, 0, NULL, "be quick"},
    {"batch", 'b', OPT_WHOLE, &batch, 2, 65536, "N", "pairs in a batch"},
    {"tau", 't', OPT_REAL, &tau, 1e-3, 100, "X", "temperature"},
    {"name", 0, OPT_TEXT, &name, 0, 0, "NAME", "of the run"},
    {"path", 0, OPT_TEXT, &path, 0, 0, "FILE", "no default"},
    {"policy", 0, OPT_CHOICE, &policy, 0, 0, "wait|skip", "when late"},
    {"pace", 0, OPT_CHOICE, &pace, 0, 0, "walk|trot|run", "how fast"},
    {"add", 0, OPT_LIST, &list, 0, 0, "X", "many"},
    {"way", 0, OPT_METHOD, &way, 0, 0, "NAME[,PARAM=X]...", "of doing it"},
    {0},
};

static const struct opt_tool tool = {
    "foil-test", "try the options", "DATA [MORE]", 1, 2, opts,
};

/* Parses a command line of words separated by blanks. */
static void
parse(const void *line)
{
    static char copy[512];
    char *argv[32], **operand, *rest = copy;
    int argc = 0;

    snprintf(copy, sizeof copy, "foil-test %s", (const char *)line);
    for (char *word; (word = strtok_r(rest, " ", &rest));)
        argv[argc++] = word;
    argv[argc] = NULL;
    operand = opt_parse(&tool, argc, argv);
    printf("%d %ld %g %s %s %s %zu", fast, batch, tau, name,
           path ? path : "none", opt_choice(&policy), list.n);
    for (size_t i = 0; i < list.n; i++)
        printf(" +%s", list.item[i]);
    for (; *operand; operand++)
        printf(" <%s>", *operand);
    if (strcmp(way, "hcl"))
        printf(" by %s", way);
    if (strcmp(opt_choice(&pace), "trot"))
        printf(" %s", opt_choice(&pace));
}

static void
prints(const char *line, const char *want)
{
    struct child c = child_run(parse, line);

    T(c.code == 0 && !strcmp(c.out, want), "'%s': %s%s", line, c.out, c.err);
}

static void
refuses(const char *line, const char *sentence)
{
    struct child c = child_run(parse, line);

    T(c.code == EXIT_USAGE && !*c.out && strstr(c.err, sentence) &&
          strstr(c.err, "'foil-test --help' lists the options"),
      "'%s': %s", line, c.err);
}

static void
values(void)
{
    prints("d", "0 128 0.5 run none wait 0 <d>");
    prints("-f -b 7 --tau 0.1 d", "1 7 0.1 run none wait 0 <d>");
    prints("--no-fast d", "0 128 0.5 run none wait 0 <d>");
    prints("-b7 --tau=1e1 d", "0 7 10 run none wait 0 <d>");
    prints("d -b 7 e", "0 7 0.5 run none wait 0 <d> <e>");
    prints("--name=a=b --path - d", "0 128 0.5 a=b - wait 0 <d>");
    prints("--name= d", "0 128 0.5  none wait 0 <d>");
    prints("--policy skip d", "0 128 0.5 run none skip 0 <d>");
    prints("--pace run d", "0 128 0.5 run none wait 0 <d> run");
    prints("--add x --add=y d", "0 128 0.5 run none wait 2 +x +y <d>");
    prints("-- -f", "0 128 0.5 run none wait 0 <-f>");
    prints("-", "0 128 0.5 run none wait 0 <->");
    prints("-b 2 d", "0 2 0.5 run none wait 0 <d>");
    prints("-t 0.001 d", "0 128 0.001 run none wait 0 <d>");
    prints("-t 100 d", "0 128 100 run none wait 0 <d>");
    prints("-b 65536 d", "0 65536 0.5 run none wait 0 <d>");
}

static void
misuse(void)
{
    refuses("--nonsense d", "foil-test: no option '--nonsense'");
    refuses("--na d", "no option '--na'");
    refuses("-x d", "no option '-x'");
    refuses("--bacth 7 d", "no option '--bacth': did you mean '--batch'?");
    refuses("--hlep", "no option '--hlep': did you mean '--help'?");
    refuses("--config", "--config needs a value: FILE");
    refuses("--config a --config=b d", "--config is given twice");
    refuses("--batch d", "--batch 'd': want a whole number in 2 .. 65536");
    refuses("-b 1 d", "--batch '1': want a whole number");
    refuses("-b 7x d", "--batch '7x'");
    refuses("-b 99999999999999999999 d", "--batch '99999999999999999999'");
    refuses("-t nan d", "--tau 'nan': want a number in 0.001 .. 100");
    refuses("-t 0 d", "--tau '0'");
    refuses("--tau= d", "--tau ''");
    refuses("--policy wai d", "--policy 'wai': want one of wait|skip");
    refuses("--policy wait|skip d", "--policy 'wait|skip'");
    refuses("--policy= d", "--policy ''");
    refuses("--pace ru d", "--pace 'ru': want one of walk|trot|run");
    refuses("-f -f d", "--fast is given twice");
    refuses("--fast --no-fast d", "--fast is given twice");
    refuses("--no-batch d", "no option '--no-batch'");
    refuses("--no-fast=1 d", "no option '--no-fast'");
    refuses("--fast=1 d", "--fast takes no value");
    refuses("d --tau", "--tau needs a value: X");
    refuses("", "needs DATA [MORE]");
    refuses("a b c", "unexpected 'c': want");
}

static void
help(void)
{
    static const char usage[] =
        "usage: foil-test [-f] [-b N] [-t X] [--name NAME] [--path FILE]\n"
        "                 [--policy wait|skip] [--pace walk|trot|run] "
        "[--add X] ...\n"
        "                 [--way NAME[,PARAM=X]...] DATA [MORE]\n"
        "\nfoil-test: try the options\n\n";
    struct child c = child_run(parse, "--help");

    T(c.code == 0 && !*c.err, "--help: 0");
    T(!strncmp(c.out, usage, strlen(usage)), "the usage");
    T(!strcmp(child_run(parse, "-h").out, c.out), "-h is --help");
    T(strstr(c.out, "  -b, --batch N           pairs in a batch [128]\n"),
      "a default");
    T(strstr(c.out, "  --path FILE             no default\n"), "none");
    T(strstr(c.out, "  --policy wait|skip      when late [wait]\n"),
      "a choice");
    c = child_run(parse, "--version");
    T(c.code == 0 && !strcmp(c.out, "foil-test (foil) " FOIL_VERSION "\n"),
      "--version");
}

static void
dies(const void *arg)
{
    log_message("hm");
    die("no %s", (const char *)arg);
}

static void
prints_to_a_full_disk(const void *arg)
{
    (void)arg;
    if (!freopen("/dev/full", "w", stdout))
        exit(9);
    puts("lost");
    close_stdout();
}

static void
final_messages(void)
{
    struct child c = child_run(dies, "luck");

    T(c.code == EXIT_FAILED && !strcmp(c.err, "foil: hm\nfoil: no luck\n"),
      "die");
    c = child_run(prints_to_a_full_disk, NULL);
    T(c.code == EXIT_FAILED &&
          strstr(c.err, "cannot write to standard output: No space left"),
      "a full disk shows: %s", c.err);
}

static void
verb(const void *line)
{
    static const struct opt none[] = {{0}};
    static const struct opt_tool verbs[] = {
        {"foil-test sit", "sit down", NULL, 0, 0, none},
        {"foil-test run", "run away", "PLACE", 1, 1, opts},
        {0},
    };
    static const struct opt_tool whole = {.name = "foil-test",
                                          .summary = "try the verbs"};
    char word_0[] = "foil-test", *argv[8] = {word_0};
    char copy[64], **operand, *rest = copy;
    int argc = 1;

    snprintf(copy, sizeof copy, "%s", (const char *)line);
    for (char *word; (word = strtok_r(rest, " ", &rest));)
        argv[argc++] = word;
    printf("%s", opt_verb(&whole, verbs, argc, argv, &operand)->name);
    if (*operand)
        printf(" <%s>", *operand);
}

static void
verbs_have_their_own_options(void)
{
    static const struct {
        const char *line, *out, *err;
        int code;
    } row[] = {
        {"sit", "foil-test sit", "", 0},
        {"run -b 7 home", "foil-test run <home>", "", 0},
        {"sit -b 7", "", "no option '-b': that is for run", EXIT_USAGE},
        {"sit --batch 7", "", "no option '--batch': that is for run",
         EXIT_USAGE},
        {"sit --batc 7", "", "no option '--batc'\n", EXIT_USAGE},
        {"run", "", "foil-test run: needs PLACE", EXIT_USAGE},
        {"fly", "", "no verb 'fly': want one of sit, run\n", EXIT_USAGE},
        {"rnu", "", "no verb 'rnu': did you mean 'run'?", EXIT_USAGE},
        {"", "", "needs a verb:\n  sit                     sit down\n",
         EXIT_USAGE},
        {"-h", "usage: foil-test sit\n", "", 0},
        {"--fast", "", "no option '--fast'", EXIT_USAGE},
        {"--version", "foil-test (foil)", "", 0},
        {"--help", "usage: foil-test sit\n       foil-test run [-f]", "", 0},
        {"run --help", "usage: foil-test run [-f]", "", 0},
    };

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct child c = child_run(verb, row[i].line);

        T(c.code == row[i].code && strstr(c.out, row[i].out) == c.out &&
              strstr(c.err, row[i].err),
          "'%s': %.40s%s", row[i].line, c.out, c.err);
    }
}

/* Prints opt_is_set() of four values, as digits. */
static void
print_given(const void *line)
{
    static const void *const values[] = {&fast, &batch, &tau, &list};

    parse(line);
    printf(" given");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        printf(" %d", opt_is_set(values[i]));
}

static void
want_together(const void *line)
{
    parse(line);
    opt_together(&batch, &tau);
}

static void
two_go_together(void)
{
    static const struct {
        const char *line;
        int code;
    } row[] = {
        {"d", 0}, {"d -b 8 --tau 1", 0}, {"d -b 8", 2}, {"d --tau 1", 2}};

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct child c = child_run(want_together, row[i].line);

        T(c.code == row[i].code &&
              !strstr(c.err, "--batch and --tau go together") == !row[i].code,
          "'%s': %s", row[i].line, c.err);
    }
}

static void
set_options_are_known(void)
{
    struct child c = child_run(print_given, "d -b 128 --tau=0.5");

    T(strstr(c.out, "given 0 1 1 0"), "set to its default: %s", c.out);
    c = child_run(print_given, "d -f --add x --add y");
    T(strstr(c.out, "given 1 0 0 1"), "a flag, a list: %s", c.out);
}

static void
put_file(const char *to, const char *text)
{
    FILE *file = fopen(to, "w");

    if (!file || fputs(text, file) < 0 || fclose(file))
        printf("# cannot write '%s'\n", to);
}

static void
options_from_a_file(void)
{
    char scratch[256];

    child_scratch(scratch);
    put_file("good", "# of a run\n\nbatch 7\n tau\t0.25\r\nname a b\\nc\\\\\n"
                     "add x\nadd y\nfast");
    prints("--config good d", "1 7 0.25 a b\nc\\ none wait 2 +x +y <d>");
    prints("--config good --no-fast d",
           "0 7 0.25 a b\nc\\ none wait 2 +x +y <d>");
    prints("--config=good -b 9 d --add z",
           "1 9 0.25 a b\nc\\ none wait 1 +z <d>");
    put_file("name", "# here\nbacth 7\n");
    refuses("--config name d", "foil-test: 'name', line 2: no option "
                               "'--bacth': did you mean '--batch'?");
    put_file("value", "batch\n");
    refuses("--config value d", "--batch needs a value: N");
    put_file("range", "batch 1\n");
    refuses("--config range d", "--batch '1': want a whole number");
    put_file("flag", "fast yes\n");
    refuses("--config flag d", "--fast takes no value");
    put_file("twice", "batch 7\nbatch 7\n");
    refuses("--config twice d", "--batch is given twice");
    T(child_run(parse, "--config none d").code == EXIT_FAILED,
      "a missing file: 1");
}

static void
help_in_groups(const void *line)
{
    static const struct opt_group groups[] = {
        {"Speed", &fast, 0}, {"Names", &name, 0}, {"Lists", &list, 1}, {0}};

    opt_groups(groups);
    parse(line);
}

static void
groups_have_titles(void)
{
    struct child c = child_run(help_in_groups, "--help");

    T(strstr(c.out, "try the options\n\nSpeed:\n  -f, --fast") &&
          strstr(c.out, "[0.5]\n\nNames:\n  --name NAME"),
      "each before its first option: %s", c.out);
    T(strstr(c.out, "\n\nLists:\n  --add --way\n\n  --list") &&
          strstr(c.out, "usage: foil-test [OPTION ...] DATA [MORE]\n"),
      "those of a rare group are named: %s", c.out);
    c = child_run(help_in_groups, "--help all");
    T(strstr(c.out, "\n\nLists:\n  --add X                 many\n") &&
          strstr(c.out, "\n  --path FILE ") && !strstr(c.out, "[OPTION ...]"),
      "all are described: %s", c.out);
    c = child_run(help_in_groups, "--help list");
    T(strstr(c.out, "\n\nLists:\n  --add X                 many\n") &&
          !strstr(c.out, "--path") && strstr(c.out, "[OPTION ...]"),
      "--help GROUP describes only the options of the group: %s", c.out);
    c = child_run(help_in_groups, "--help lost");
    T(c.code == EXIT_USAGE && strstr(c.err, "--help 'lost': want 'all' or"),
      "an unknown title is refused: %s", c.err);
}

/* Returns the objects of --list options, which must be one a line. */
static json_t *
list_options(void (*run)(const void *), const char *line)
{
    struct child c = child_run(run, line);
    json_t *rows = json_loads(c.out, JSON_REJECT_DUPLICATES, NULL);
    size_t lines = 0;

    for (const char *at = c.out; (at = strchr(at, '\n')); at++)
        lines++;
    T(c.code == 0 && !*c.err && json_is_array(rows), "'%s': JSON: %s", line,
      c.out);
    T(lines == json_array_size(rows) + 2, "'%s': an object a line", line);
    return rows;
}

/* Checks that a row is that JSON, with fields in that order. */
static void
check_row(const json_t *rows, size_t i, const char *want)
{
    char *text = json_text(json_array_get(rows, i), JSON_COMPACT);

    T(!strcmp(text, want), "row %zu: %s", i, text);
    free(text);
}

static void
options_as_data(void)
{
    json_t *rows = list_options(help_in_groups, "--list options");

    T(json_array_size(rows) == 1 + 9 + 4,
      "each row, and the options of all tools");
    check_row(rows, 0,
              "{\"operands\":\"DATA [MORE]\",\"sentence\":\"try the "
              "options\"}");
    check_row(rows, 1,
              "{\"name\":\"fast\",\"short\":\"f\",\"kind\":\"flag\","
              "\"default\":false,\"group\":\"Speed\",\"sentence\":\"be "
              "quick\"}");
    check_row(rows, 2,
              "{\"name\":\"batch\",\"short\":\"b\",\"kind\":\"whole\","
              "\"argument\":\"N\",\"least\":2,\"most\":65536,"
              "\"default\":128,\"group\":\"Speed\",\"sentence\":\"pairs in "
              "a batch\"}");
    check_row(rows, 3,
              "{\"name\":\"tau\",\"short\":\"t\",\"kind\":\"real\","
              "\"argument\":\"X\",\"least\":0.001,\"most\":100,"
              "\"default\":0.5,\"group\":\"Speed\",\"sentence\":"
              "\"temperature\"}");
    check_row(rows, 5,
              "{\"name\":\"path\",\"kind\":\"text\",\"argument\":\"FILE\","
              "\"group\":\"Names\",\"sentence\":\"no default\"}");
    check_row(rows, 8,
              "{\"name\":\"add\",\"kind\":\"list\",\"argument\":\"X\","
              "\"default\":[],\"group\":\"Lists\",\"sentence\":\"many\"}");
    check_row(rows, 12,
              "{\"name\":\"help\",\"short\":\"h\",\"kind\":\"flag\","
              "\"default\":false,\"common\":true,\"sentence\":\"this text\"}");
    json_decref(rows);
    refuses("--list", "--list needs a value: options");
    refuses("--list=verbs d", "--list 'verbs': want options");
}

static void
odd_texts(const void *line)
{
    static const char *quoted = "\"C:\\\"\t100%s";
    static int own = -1;
    static const struct opt odd[] = {
        {"path", 0, OPT_TEXT, &quoted, 0, 0, "\"PATH\"",
         "no \"name\":\"x\" \\ but 5 % of %d in \u03c4 \U0001f600"},
        {"list", 0, OPT_CHOICE, &own, -HUGE_VAL, HUGE_VAL, "other|options",
         "its own"},
        {"free", 0, OPT_REAL, &tau, -HUGE_VAL, HUGE_VAL, "X", "any"},
        {0},
    };
    static const struct opt_tool strange = {
        "foil-odd", "odd", NULL, 0, 0, odd,
    };
    char word_0[] = "foil-odd", word_1[] = "--list", word_2[16];
    char *argv[] = {word_0, word_1, word_2, NULL};

    snprintf(word_2, sizeof word_2, "%s", (const char *)line);
    opt_parse(&strange, 3, argv);
    printf("%d", own);
}

static void
odd_texts_are_whole(void)
{
    json_t *rows = list_options(odd_texts, "options");
    const json_t *row = json_array_get(rows, 1);

    T(!strcmp(json_string_value(json_object_get(row, "default")),
              "\"C:\\\"\t100%s"),
      "a default with quotes");
    T(!strcmp(json_string_value(json_object_get(row, "sentence")),
              "no \"name\":\"x\" \\ but 5 % of %d in \u03c4 \U0001f600"),
      "a sentence");
    check_row(rows, 2,
              "{\"name\":\"list\",\"kind\":\"choice\",\"argument\":"
              "\"other|options\",\"sentence\":\"its own\"}");
    check_row(rows, 3,
              "{\"name\":\"free\",\"kind\":\"real\",\"argument\":\"X\","
              "\"default\":0.5,\"sentence\":\"any\"}");
    T(json_array_size(rows) == 1 + 3 + 3, "--list once");
    json_decref(rows);
    T(!strcmp(child_run(odd_texts, "other").out, "0"),
      "a tool may have its own --list");
}

static void
verbs_as_data(void)
{
    json_t *rows = list_options(verb, "--list options");

    T(json_array_size(rows) == 2 + 9 + 2 * 4, "those of all verbs");
    check_row(rows, 0, "{\"verb\":\"sit\",\"sentence\":\"sit down\"}");
    check_row(rows, 5,
              "{\"verb\":\"run\",\"operands\":\"PLACE\",\"sentence\":"
              "\"run away\"}");
    check_row(rows, 6,
              "{\"verb\":\"run\",\"name\":\"fast\",\"short\":\"f\","
              "\"kind\":\"flag\",\"default\":false,\"sentence\":\"be "
              "quick\"}");
    json_decref(rows);
    rows = list_options(verb, "sit --list options");
    T(json_array_size(rows) == 1 + 4, "those of one");
    check_row(rows, 0, "{\"sentence\":\"sit down\"}");
    json_decref(rows);
}

int
main(void)
{
    options_as_data();
    odd_texts_are_whole();
    verbs_as_data();
    options_from_a_file();
    groups_have_titles();
    two_go_together();
    set_options_are_known();
    values();
    misuse();
    help();
    final_messages();
    verbs_have_their_own_options();
    return t_done();
}
