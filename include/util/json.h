#pragma once

#include <jansson.h>
#include <stdint.h>

#include "util/err.h"

/* JSON through the jansson library; no other header includes it.  Objects are
 * made and freed with jansson's own calls (json_object, json_pack,
 * json_decref); the functions here check values that came from outside. */

/* json_parse() reads one JSON object from len bytes; NULL with a message that
 * names `what` and the line of the fault.  Duplicate keys are refused. */
json_t *json_parse(const char *text, size_t len, const char *what,
                   struct err *err);

/*
 * These read a required field: 0, or -1 with a message about the missing or
 * wrong field.
 *   whole: an integer in min .. max;
 *   text: a string that lives as long as the object.
 */
int json_get_whole(const json_t *object, const char *key, int64_t min,
                   int64_t max, int64_t *value, struct err *err);
int json_get_text(const json_t *object, const char *key, const char **value,
                  struct err *err);

/* json_text() returns an object as text by jansson's flags, keys in the order
 * they were set and real numbers with the fewest digits that read back to the
 * same value.  The caller frees it. */
char *json_text(const json_t *object, size_t flags);

/* json_line() is json_text() in one compact line that ends in a newline. */
char *json_line(const json_t *object);

/* json_brief() is json_line() with reals to 9 digits: for people to read. */
char *json_brief(const json_t *object);

/* json_name() returns the name of a file as a string, made safe by defuse()
 * (util/terminal.h): names need not be UTF-8, JSON is. */
json_t *json_name(const char *name);

/* json_print() writes json_brief() to standard output and frees the object;
 * close_stdout() (util/opt.h) reports an error. */
void json_print(json_t *object);
