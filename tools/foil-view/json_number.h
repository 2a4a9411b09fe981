#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/json.h"

/* json_number_or_null() returns a number with six digits, null if it is not
 * finite.  Times and counts, from 1e6 on, are not rounded. */
static inline json_t *
json_number_or_null(double x)
{
    char text[32];

    if (!isfinite(x))
        return json_null();
    snprintf(text, sizeof text, "%.6g", x);
    return json_real(fabs(x) < 1e6 ? strtod(text, NULL) : x);
}

/* json_number_text() returns an object as text, which the caller frees with
 * free(); NULL if that fails.  Frees the object.  Numbers have 13 digits,
 * enough for a time. */
static inline char *
json_number_text(json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(13));

    json_decref(object);
    return text;
}

/* base64.c: base64_encode() returns n bytes as text, RFC 4648 section 4: A-Z
 * a-z 0-9 + /, padded with '=', without line breaks.  The caller frees it. */
char *base64_encode(const uint8_t *bytes, size_t n);
