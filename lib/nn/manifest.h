#ifndef LIB_NN_MANIFEST_H
#define LIB_NN_MANIFEST_H

#include <stddef.h>

#include "util/err.h"

/* What checkpoint.c and manifest.c share. */
#define NN_MANIFEST "MANIFEST.json"

/* nn_folder_names() lists a folder, sorted, `.` and `..` apart; NULL on
 * error. */
char **nn_folder_names(const char *folder, size_t *n, struct err *err);
void nn_folder_names_free(char **names, size_t n);

/* nn_manifest_write() syncs every file of a folder, then writes what they
 * are. */
int nn_manifest_write(const char *folder, struct err *err);

#endif
