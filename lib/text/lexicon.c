#include <stdlib.h>
#include <string.h>

#include "util/digest.h"
#include "util/err.h"
#include "util/mem.h"

#include "text/lexicon.h"

enum { FIRST_SLOTS = 256 };

static uint32_t
hash_of(const void *text, size_t len)
{
    const struct digest digest = digest_bytes(text, len);

    return (uint32_t)digest_word(&digest);
}

/* Returns the slot with the string, or the empty one where it belongs. */
static size_t
lexicon_slot_of(const struct lexicon *lexicon, const void *text, size_t len,
                uint32_t hash)
{
    const size_t mask = lexicon->slots - 1;
    size_t at = hash & mask;

    for (; lexicon->slot[at]; at = (at + 1) & mask) {
        const struct lexicon_entry *entry =
            &lexicon->entry[lexicon->slot[at] - 1];

        if (entry->hash == hash && entry->len == len &&
            !memcmp(lexicon->text + entry->at, text, len))
            break;
    }
    return at;
}

int64_t
text_lexicon_find(const struct lexicon *lexicon, const void *text, size_t len)
{
    if (!lexicon->slots)
        return LEXICON_NONE;
    return (int64_t)lexicon
               ->slot[lexicon_slot_of(lexicon, text, len, hash_of(text, len))] -
           1;
}

/* Grows the table so that at most half of the slots are used. */
static void
make_slots(struct lexicon *lexicon)
{
    if (2 * (lexicon->n + 1) <= lexicon->slots)
        return;
    lexicon->slots = lexicon->slots ? 2 * lexicon->slots : FIRST_SLOTS;
    free(lexicon->slot);
    lexicon->slot = mem_array(lexicon->slots, sizeof *lexicon->slot);
    for (size_t i = 0; i < lexicon->n; i++) {
        size_t at = lexicon->entry[i].hash & (lexicon->slots - 1);

        while (lexicon->slot[at])
            at = (at + 1) & (lexicon->slots - 1);
        lexicon->slot[at] = (uint32_t)i + 1;
    }
}

size_t
text_lexicon_add(struct lexicon *lexicon, const void *text, size_t len)
{
    const uint32_t hash = hash_of(text, len);
    const size_t n = lexicon->n, end = lexicon->text_len;
    size_t at;

    make_slots(lexicon);
    at = lexicon_slot_of(lexicon, text, len, hash);
    if (lexicon->slot[at])
        return lexicon->slot[at] - 1;
    REQUIRE(n >> 31 == 0 && len >> 32 == 0);
    mem_grow(&lexicon->text, &lexicon->text_room, end + len + 1, 1);
    mem_grow(&lexicon->entry, &lexicon->room, n + 1, sizeof *lexicon->entry);
    if (len)
        memcpy(lexicon->text + end, text, len);
    lexicon->text_len += len;
    lexicon->entry[n] = (struct lexicon_entry){end, (uint32_t)len, hash};
    lexicon->slot[at] = (uint32_t)n + 1;
    return lexicon->n++;
}

const char *
text_lexicon_text(const struct lexicon *lexicon, size_t i, size_t *len)
{
    *len = lexicon->entry[i].len;
    return lexicon->text + lexicon->entry[i].at;
}

void
text_lexicon_clear(struct lexicon *lexicon)
{
    if (lexicon->slots)
        memset(lexicon->slot, 0, lexicon->slots * sizeof *lexicon->slot);
    lexicon->n = lexicon->text_len = 0;
}

void
text_lexicon_release(struct lexicon *lexicon)
{
    mem_free(lexicon->text, lexicon->entry, lexicon->slot);
    *lexicon = (struct lexicon){0};
}
