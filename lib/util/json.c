#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/json.h"
#include "util/mem.h"
#include "util/terminal.h"

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

/* Returns a lower bound of the digits that read back to x.  If 16 or 15 digits
 * do not, fewer do not either, as they are farther away; powers of two are
 * exceptions, as real numbers are not equally dense on their two sides. */
static int
count_fewest_digits(double x)
{
    char text[40];
    int power;

    if (frexp(fabs(x), &power) == 0.5)
        return 1;
    for (int digits = 16; digits >= 15; digits--) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) != x)
            return digits + 1;
    }
    return 1;
}

/* Writes one real number of n letters at `from` to `to` with the fewest digits
 * that read back to the same value, never longer than n; returns the end. */
static char *
write_shortest_number(char *to, const char *from, size_t n)
{
    const double x = strtod(from, NULL);
    const int with_power = memchr(from, 'e', n) != NULL;

    for (int digits = count_fewest_digits(x); digits < 17; digits++) {
        char text[40];
        size_t len = (size_t)snprintf(text, sizeof text - 2, "%.*g", digits, x);
        const int power = strchr(text, 'e') != NULL;

        if (!power && !strchr(text, '.'))
            len = (size_t)(stpcpy(text + len, ".0") - text);
        if (strtod(text, NULL) == x && len <= n && power <= with_power) {
            memcpy(to, text, len);
            return to + len;
        }
    }
    memmove(to, from, n);
    return to + n;
}

/* jansson prints real numbers with 17 digits; jq 1.7, which compares digits,
 * then finds that 0.20000000000000001 is not 0.2. */
static void
shorten_numbers(char *text)
{
    char *to = text;
    int quoted = 0;

    for (const char *at = text; *at;) {
        size_t n = quoted ? 0 : strspn(at, "-+.0123456789e");

        if (n > 1 && *at != 'e' && strcspn(at, ".e") < n) {
            to = write_shortest_number(to, at, n);
            at += n;
            continue;
        }
        quoted ^= *at == '"';
        if (*at == '\\')
            *to++ = *at++;
        *to++ = *at++;
    }
    *to = 0;
}

char *
json_text(const json_t *object, size_t flags)
{
    char *text = json_dumps(object, JSON_PRESERVE_ORDER | flags);

    REQUIRE(text);
    shorten_numbers(text);
    return text;
}

static char *
line_of(const json_t *object, size_t flags)
{
    char *text = json_text(object, JSON_COMPACT | flags);
    char *line = mem_format("%s\n", text);

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

json_t *
json_name(const char *name)
{
    char *copy = mem_text(name);
    json_t *string;

    defuse(copy);
    string = json_string(copy);
    free(copy);
    return string;
}

void
json_print(json_t *object)
{
    char *line = json_brief(object);

    fputs(line, stdout);
    free(line);
    json_decref(object);
}
