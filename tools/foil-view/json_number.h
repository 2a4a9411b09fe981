#ifndef FOIL_VIEW_JSON_NUMBER_H
#define FOIL_VIEW_JSON_NUMBER_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/json.h"

/* json_number_show() returns a number to six digits, null where it is not
 * finite; a time or a count, from 1e6 on, stays as it is. */
static inline json_t *
json_number_show(double x)
{
    char text[32];

    if (!isfinite(x))
        return json_null();
    snprintf(text, sizeof text, "%.6g", x);
    return json_real(fabs(x) < 1e6 ? strtod(text, NULL) : x);
}

/* json_number_text() returns an object as text, to be given to free(), and
 * gives it up; NULL where it is none.  13 digits are enough for a time. */
static inline char *
json_number_text(json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(13));

    json_decref(object);
    return text;
}

#endif
