#pragma once

#include <stdio.h>

#include "util/opt.h"

/* Print on stdout and exit; `which` is the word after --help, or NULL. */
_Noreturn void opt_print_help(const struct opt_tool *tool, const char *which);
_Noreturn void opt_print_version(const struct opt_tool *tool);
_Noreturn void opt_print_verbs(const struct opt_tool *tool,
                               const struct opt_tool *verbs);

/* opt_print_table() is --list `what`, of the tool or, if there are verbs, of
 * all of them. */
_Noreturn void opt_print_table(const struct opt_tool *tool,
                               const struct opt_tool *verbs, const char *what);

/* opt_named() returns the option of exactly that name, or NULL. */
const struct opt *opt_named(const struct opt_tool *tool, const char *name);

/*
 * opt_parameter() returns the declaration of a row that is a parameter, NULL
 * for an option. opt_is_parameter_of() returns 1 if the row is a parameter of
 * `of`, opt_has_parameters() if any is. opt_parameter_named() returns the one
 * that begins `word`, "beta=0.5,...", or NULL.
 */
const struct opt_parameter *opt_parameter(const struct opt *o);
int opt_is_parameter_of(const struct opt *o, const struct opt *of);
int opt_has_parameters(const struct opt_tool *tool, const struct opt *of);
const struct opt *opt_parameter_named(const struct opt_tool *tool,
                                      const struct opt *of, const char *word);

/* opt_parameter_cut() cuts the first parameter off a list and returns the next
 * one, or NULL. A text may contain commas, up to the name of another. */
char *opt_parameter_cut(const struct opt_tool *tool, const struct opt *of,
                        char *list);

/* opt_respell() returns "--objective hcl,beta=0.5" for a parameter and its
 * value (NULL: a flag), with `no` before its name; it is never freed. */
const char *opt_respell(const struct opt_tool *tool, const struct opt *o,
                        const char *no, const char *value);

/* opt_common() returns the rows that every tool has, without those in the
 * tool's own table. */
const struct opt *opt_common(const struct opt_tool *tool);

/* opt_list_verbs() writes a line for each verb. */
void opt_list_verbs(const struct opt_tool *verbs, FILE *out);

/* opt_verb_name() returns the last word of "foil-data index". */
const char *opt_verb_name(const struct opt_tool *verb);

/* opt_set_source() sets the file and line of options that are being read, for
 * messages; NULL: the command line. */
void opt_set_source(const char *file, int line);
