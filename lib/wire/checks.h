#ifndef WIRE_CHECKS_H
#define WIRE_CHECKS_H

#include "pack.h"

/*
 * Checks between the fields of a message, by kind: rows of lib/wire/message.c
 * (struct wire_check).  x is the decoded struct.
 */
void wire_check_digest(struct wire_reader *r, const void *x, int64_t size);
void wire_check_dataset(struct wire_reader *r, const void *x, int64_t size);
void wire_check_size(struct wire_reader *r, const void *x, int64_t size);
void wire_check_w(struct wire_reader *r, const void *x, int64_t size);
void wire_check_piece(struct wire_reader *r, const void *x, int64_t size);
void wire_check_item_texts(struct wire_reader *r, const void *x, int64_t size);
void wire_check_lengths(struct wire_reader *r, const void *x, int64_t size);
void wire_check_batch_texts(struct wire_reader *r, const void *x, int64_t size);
void wire_check_kind(struct wire_reader *r, const void *x, int64_t size);
void wire_check_pairs_texts(struct wire_reader *r, const void *x, int64_t size);
void wire_check_have(struct wire_reader *r, const void *x, int64_t size);
void wire_check_window(struct wire_reader *r, const void *x, int64_t size);

#endif
