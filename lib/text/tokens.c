#include <stdlib.h>

#include "util/mem.h"

#include "tokens.h"

void
data_tokens_add(struct tokens *tokens, int32_t id)
{
    mem_grow(&tokens->id, &tokens->room, tokens->n + 1, sizeof *tokens->id);
    tokens->id[tokens->n++] = id;
}

void
data_tokens_release(struct tokens *tokens)
{
    free(tokens->id);
    *tokens = (struct tokens){0};
}
