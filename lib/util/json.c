#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/json.h"
#include "util/mem.h"

json_t *
json_parse(const char *text, size_t len, const char *what, struct err *err)
{
    json_error_t why;
    json_t *object = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);

    if (!object) {
        err_set(err, "'%s' is not JSON: line %d: %s", what, why.line, why.text);
        return NULL;
    }
    if (!json_is_object(object)) {
        err_set(err, "'%s' holds JSON that is not an object", what);
        json_decref(object);
        return NULL;
    }
    return object;
}

int
json_get_whole(const json_t *object, const char *key, int64_t min, int64_t max,
               int64_t *value, struct err *err)
{
    const json_t *field = json_object_get(object, key);

    if (!field)
        return err_set(err, "field '%s' is missing", key);
    if (!json_is_integer(field))
        return err_set(err, "field '%s' is not a whole number", key);
    *value = json_integer_value(field);
    if (*value < min || *value > max)
        return err_set(err, "field '%s' is %jd, want %jd .. %jd", key,
                       (intmax_t)*value, (intmax_t)min, (intmax_t)max);
    return 0;
}

int
json_get_real(const json_t *object, const char *key, double *value,
              struct err *err)
{
    const json_t *field = json_object_get(object, key);

    if (!field)
        return err_set(err, "field '%s' is missing", key);
    if (!json_is_number(field) || !isfinite(json_number_value(field)))
        return err_set(err, "field '%s' is not a number", key);
    *value = json_number_value(field);
    return 0;
}

int
json_get_text(const json_t *object, const char *key, const char **value,
              struct err *err)
{
    const json_t *field = json_object_get(object, key);

    if (!field)
        return err_set(err, "field '%s' is missing", key);
    if (!json_is_string(field))
        return err_set(err, "field '%s' is not a string", key);
    *value = json_string_value(field);
    return 0;
}

static char *
line_of(const json_t *object, size_t flags)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_PRESERVE_ORDER | flags);
    char *line;

    REQUIRE(text);
    line = mem_format("%s\n", text);
    free(text);
    return line;
}

char *
json_line(const json_t *object)
{
    return line_of(object, 0);
}

char *
json_brief(const json_t *object)
{
    return line_of(object, JSON_REAL_PRECISION(9));
}

void
json_print(json_t *object)
{
    char *line = json_brief(object);

    fputs(line, stdout);
    free(line);
    json_decref(object);
}
