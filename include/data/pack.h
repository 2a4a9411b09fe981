#ifndef DATA_PACK_H
#define DATA_PACK_H

#include <stddef.h>

#include "util/err.h"

/*
 * Writing a ustar archive: members in the order given, owner 0, time 0, mode
 * 0644, so that the same content gives the same bytes.  The archive stands
 * under its name only after data_pack_keep().
 */
struct data_pack;
struct data_pack *data_pack_open(const char *path, struct err *err);

/* data_pack_add() adds a file; its name has at most 100 bytes. */
int data_pack_add(struct data_pack *pack, const char *name, const void *bytes,
                  size_t len, struct err *err);

/*
 * data_pack_keep() ends the archive and frees the pack, whether it succeeds or
 * not; data_pack_drop() frees the pack and leaves no file behind.
 */
int data_pack_keep(struct data_pack *pack, struct err *err);
void data_pack_drop(struct data_pack *pack);

#endif
