#ifndef OPT_HELP_H
#define OPT_HELP_H

#include <stdio.h>

#include "util/opt.h"

/* What util/opt.h prints of a tool on stdout, ending the process; `which` is
 * the word behind --help, or NULL. */
_Noreturn void opt_print_help(const struct opt_tool *tool, const char *which);
_Noreturn void opt_print_version(const struct opt_tool *tool);
_Noreturn void opt_print_verbs(const struct opt_tool *tool,
                               const struct opt_tool *verbs);

/* opt_print_table() is --list `what`, of the tool or, where verbs are there, of
 * all of them. */
_Noreturn void opt_print_table(const struct opt_tool *tool,
                               const struct opt_tool *verbs, const char *what);

/* opt_named() returns the option of that very name, or NULL. */
const struct opt *opt_named(const struct opt_tool *tool, const char *name);

/* opt_parameter() returns of which option a row is a parameter, NULL of an
 * option; opt_is_behind() whether it is one of `of`, opt_has_parameters()
 * whether any is.  opt_parameter_named() returns the one that a word
 * "beta=0.5,..." begins with, or NULL. */
const struct opt_parameter *opt_parameter(const struct opt *o);
int opt_is_behind(const struct opt *o, const struct opt *of);
int opt_has_parameters(const struct opt_tool *tool, const struct opt *of);
const struct opt *opt_parameter_named(const struct opt_tool *tool,
                                      const struct opt *of, const char *word);

/* opt_parameter_cut() ends the parameter that a list begins with and returns
 * the next one, or NULL.  A text may have commas, up to the name of another. */
char *opt_parameter_cut(const struct opt_tool *tool, const struct opt *of,
                        char *list);

/* opt_respell() returns "--objective hcl,beta=0.5" for a parameter and its
 * value (NULL: a flag), with `no` before its name; to be given to free(). */
char *opt_respell(const struct opt_tool *tool, const struct opt *o,
                  const char *no, const char *value);

/* opt_common() returns the rows of what every tool takes that the tool's own
 * table does not have. */
const struct opt *opt_common(const struct opt_tool *tool);

/* opt_group_of() returns the group of an option, where that before it is in
 * another. */
const struct opt_group *opt_group_of(const struct opt *o,
                                     const struct opt_group *before);

/* opt_list_verbs() writes a line for each verb. */
void opt_list_verbs(const struct opt_tool *verbs, FILE *out);

/* opt_verb_name() is the last word of "foil-data index". */
const char *opt_verb_name(const struct opt_tool *verb);

/* opt_reads() says of which line of which file (NULL: none, the command line)
 * options are read, for messages. */
void opt_reads(const char *file, int line);

#endif
