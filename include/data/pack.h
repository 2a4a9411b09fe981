#pragma once

#include <stddef.h>

#include "util/err.h"

/* Writes a ustar archive: members in the order of the calls, owner 0, time 0,
 * mode 0644, so that equal contents make equal bytes.  The archive has its name
 * only after data_pack_keep(). */
struct data_pack;
struct data_pack *data_pack_open(const char *path, struct err *err);

/* data_pack_add() adds a file; its name has at most 100 bytes. */
int data_pack_add(struct data_pack *pack, const char *name, const void *bytes,
                  size_t len, struct err *err);

/* data_pack_keep() ends the archive and frees the pack, also on error;
 * data_pack_drop() frees the pack and leaves no file. */
int data_pack_keep(struct data_pack *pack, struct err *err);
void data_pack_drop(struct data_pack *pack);
