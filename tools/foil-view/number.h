#ifndef FOIL_VIEW_NUMBER_H
#define FOIL_VIEW_NUMBER_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/json.h"

/* Digits that are enough: of the numbers of a step; of a time. */
enum { NUMBER_SHOWN = 6, NUMBER_DIGITS = 13 };

/* number_show() returns a number of few digits, null where it is not finite. */
static inline json_t *
number_show(double x)
{
    char text[32];

    if (!isfinite(x))
        return json_null();
    if (fabs(x) >= 1e6) // a time, a count
        return json_real(x);
    snprintf(text, sizeof text, "%.*g", NUMBER_SHOWN, x);
    return json_real(strtod(text, NULL));
}

/* number_text() returns an object as text, to be given to free(), and gives it
 * up; NULL where it is none. */
static inline char *
number_text(json_t *object)
{
    char *text =
        json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(NUMBER_DIGITS));

    json_decref(object);
    return text;
}

#endif
