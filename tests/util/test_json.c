#include <stdlib.h>
#include <string.h>

#include "t.h"
#include "util/json.h"

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
    double real = 0;

    T(!json_get_whole(object, "n", 1, 7, &whole, &err) && whole == 7, "whole");
    T(!json_get_real(object, "x", &real, &err) && real == 0.5, "real");
    T(!json_get_real(object, "n", &real, &err) && real == 7,
      "a whole number is a real one");
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
    T(json_get_real(object, "t", &real, &err) == -1 &&
          !strcmp(err.msg, "field 't' is not a number"),
      "%s", err.msg);
    T(json_get_real(object, "m", &real, &err) == -1, "real missing");
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
    return t_done();
}
