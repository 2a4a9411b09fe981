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
