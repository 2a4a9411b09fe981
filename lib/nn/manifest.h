#ifndef LIB_NN_MANIFEST_H
#define LIB_NN_MANIFEST_H

#include <stddef.h>

#include "util/err.h"

#define NN_MANIFEST "MANIFEST.json"

/* nn_folder_names() lists a folder without `.` and `..`, sorted; NULL on
 * error. */
char **nn_folder_names(const char *folder, size_t *n, struct err *err);
void nn_folder_names_free(char **names, size_t n);

/* nn_manifest_write() syncs every file of a folder, then writes the manifest.
 */
int nn_manifest_write(const char *folder, struct err *err);

#endif
