#ifndef TEXT_TOKENS_H
#define TEXT_TOKENS_H

#include <stddef.h>
#include <stdint.h>

/* Ids of tokens, one behind the other.  Starts as zeros. */
struct tokens {
    int32_t *id; /* [n] */
    size_t n, room;
};

void data_tokens_add(struct tokens *tokens, int32_t id);
void data_tokens_release(struct tokens *tokens);

#endif
