#ifndef UTIL_BUFFER_H
#define UTIL_BUFFER_H

#include <stddef.h>
#include <stdint.h>

/* A growing array of bytes; data_bytes_release() frees it. */
struct data_bytes {
    uint8_t *data;
    size_t len, room;
};
void data_bytes_release(struct data_bytes *bytes);

#endif
