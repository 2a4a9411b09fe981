#pragma once

#include "data/join.h"
#include "data/set.h"
#include "stage/fetch.h"
#include "util/opt.h"

/* The verbs of foil-data: a table of options and a function each. */

extern const struct opt index_opts[], join_opts[], import_opts[],
    generate_opts[];
extern const struct opt split_opts[], longtail_opts[], corrupt_opts[],
    deal_opts[], group_opts[], vocabulary_opts[], list_opts[], sheet_opts[],
    views_opts[];

typedef void verb_run(char **operand);
verb_run run_index, run_join, run_import, run_generate, run_split, run_longtail,
    run_corrupt, run_deal, run_group, run_vocabulary, run_info, run_list,
    run_classes, run_cat, run_sheet, run_views;

/* require_output() returns the path of -o, or ends with misuse if that is
 * NULL. */
const char *require_output(const char *path, const char *what);

/* read_operands() returns the operands, or the lines of standard input in place
 * of an operand "-", and their number. */
char **read_operands(char **operand, size_t *n);

/* join_add_or_die() and join_write_or_die() are those of data/join.h; the
 * latter reports the set, and frees `join`. */
void join_add_or_die(struct data_join *join, const char *index,
                     const char *place);
void join_write_or_die(struct data_join *join, const char *path);

/* refuse_overwriting() ends the process if writing an index would overwrite a
 * file that is no index. */
void refuse_overwriting(const char *index);
