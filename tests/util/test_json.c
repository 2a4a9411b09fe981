#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "t.h"
#include "util/json.h"
#include "util/rng.h"

static json_t *
parse(const char *text, struct err *err)
{
    return json_parse(text, strlen(text), "a.json", err);
}

static void
refuses(const char *text, const char *sentence)
{
    struct err err = {""};
    json_t *object = parse(text, &err);

    T(!object && strstr(err.msg, sentence), "%s: %s", text, err.msg);
}

static void
judges_fields(void)
{
    struct err err = {""};
    json_t *object = parse("{\"n\": 7, \"x\": 0.5, \"t\": \"cos\"}", &err);
    const char *text = "";
    int64_t whole = 0;

    T(!json_get_whole(object, "n", 1, 7, &whole, &err) && whole == 7, "whole");
    T(!json_get_text(object, "t", &text, &err) && !strcmp(text, "cos"), "text");
    T(!*err.msg, "no sentence on success");

    T(json_get_whole(object, "n", 0, 6, &whole, &err) == -1 &&
          !strcmp(err.msg, "field 'n' is 7, want 0 .. 6"),
      "%s", err.msg);
    T(json_get_whole(object, "x", 0, 6, &whole, &err) == -1 &&
          !strcmp(err.msg, "field 'x' is not a whole number"),
      "%s", err.msg);
    T(json_get_whole(object, "m", 0, 6, &whole, &err) == -1 &&
          !strcmp(err.msg, "field 'm' is missing"),
      "%s", err.msg);
    T(json_get_text(object, "n", &text, &err) == -1 &&
          !strcmp(err.msg, "field 'n' is not a string"),
      "%s", err.msg);
    T(json_get_text(object, "m", &text, &err) == -1, "text missing");
    json_decref(object);
}

static void
writes_one_line(void)
{
    json_t *object =
        json_pack("{s:s, s:[i,i], s:s}", "z", "a\nb", "a", 1, 2, "m", "\"");
    char *line = json_line(object);

    T(!strcmp(line, "{\"z\":\"a\\nb\",\"a\":[1,2],\"m\":\"\\\"\"}\n"), "%s",
      "one line, keys in the order they were set");
    free(line);
    json_decref(object);
}

static void
rounds_for_people(void)
{
    json_t *object = json_pack("{s:f, s:f}", "a", 0.1, "b", 2. / 3);
    char *line = json_brief(object);

    T(!strcmp(line, "{\"a\":0.1,\"b\":0.666666667}\n"), "nine digits: %s",
      "0.1 is 0.1");
    free(line);
    json_decref(object);
}

static void
spares_digits(void)
{
    static const double reals[] = {0.2,    1,     10,     -0.5,      100,
                                   1e-5,   1e300, 1 / 3., 1234567.5, 5e-324,
                                   -1e-17, 0,     0.1f,   1e17,      2.5e-9};
    json_t *object = json_pack("{s: f, s: s, s: i, s: b}", "x", 0.2,
                               "text 0.20000000000000001",
                               "\"0.10000000000000001\\", "n", 100, "yes", 1);
    char *text = json_text(object, JSON_COMPACT);

    T(!strcmp(text, "{\"x\":0.2,\"text 0.20000000000000001\":"
                    "\"\\\"0.10000000000000001\\\\\",\"n\":100,\"yes\":true}"),
      "0.2 is 0.2; texts and whole numbers stay: %s", text);
    free(text);
    json_decref(object);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        struct err err;
        json_t *back, *field;

        object = json_pack("{s: f}", "x", reals[i]);
        text = json_text(object, 0);
        back = parse(text, &err);
        field = back ? json_object_get(back, "x") : NULL;
        T(json_is_real(field) && json_real_value(field) == reals[i],
          "%.17g reads back to the same real: %s", reals[i], text);
        free(text);
        json_decref(object);
        json_decref(back);
    }
}

/* Checks that the text of x has the fewest digits. */
static int
is_shortest(double x)
{
    json_t *object = json_pack("{s: f}", "x", x);
    char *text = json_text(object, JSON_COMPACT), want[48], plain[40];
    int digits = 0, same;

    do
        snprintf(plain, sizeof plain, "%.*g", ++digits, x);
    while (strtod(plain, NULL) != x);
    snprintf(want, sizeof want, "{\"x\":%s}", plain);
    same = !strcmp(text, want);
    free(text);
    json_decref(object);
    return same;
}

/* Numbers of all kinds between .001 and 10, without powers. */
static void
writes_the_fewest_digits(void)
{
    int doubles = 1, floats = 1, decimals = 1, powers = 1;
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (int i = 0; i < 3000; i++) {
        const double x = exp(-6.9 + 9.2 * rng_unit(&rng));
        double short_x;
        char text[40];

        doubles &= is_shortest(x) && is_shortest(nextafter(x, 10));
        floats &= is_shortest((float)x);
        snprintf(text, sizeof text, "%.*g", 2 + i % 15, x);
        short_x = strtod(text, NULL);
        decimals &= short_x == floor(short_x) || is_shortest(short_x);
    }
    for (int k = 1; k < 10; k++)
        powers &= is_shortest(ldexp(1, -k)) &&
                  is_shortest(nextafter(ldexp(1, -k), 0)) &&
                  is_shortest(nextafter(ldexp(1, -k), 1));
    T(doubles && floats && decimals && powers,
      "as few digits as read back: %d %d %d %d", doubles, floats, decimals,
      powers);
}

static void
names_are_utf8(void)
{
    json_t *name = json_name("r\377u\303\274n\n");

    T(name && !strcmp(json_string_value(name), "r?u\303\274n?"),
      "invalid UTF-8 in a name becomes '?'");
    json_decref(name);
}

int
main(void)
{
    refuses("", "'a.json' is not JSON: line 1");
    refuses("{\"a\": 1,\n \"b\": }", "'a.json' is not JSON: line 2");
    refuses("{\"a\": 1, \"a\": 2}", "duplicate");
    refuses("{} {}", "end of file expected");
    refuses("[1, 2]", "not an object");
    judges_fields();
    writes_one_line();
    rounds_for_people();
    spares_digits();
    writes_the_fewest_digits();
    names_are_utf8();
    return t_done();
}
