#include <stdlib.h>

#include "util/err.h"
#include "util/mem.h"

#include "pairs.h"

enum { FIRST_SLOTS = 1024 };

static uint64_t
key_of(int32_t left, int32_t right)
{
    return (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
}

/* The slot of a pair, or the free one where it belongs: by Fibonacci hashing,
 * then one after the other. */
static struct pairs_slot *
pair_slot_of(const struct pairs *pairs, uint64_t pair)
{
    const size_t mask = pairs->slots - 1;
    uint64_t mixed = (pair ^ pair >> 29) * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(mixed >> 32) & mask;

    while (pairs->slot[at].number && pairs->slot[at].pair != pair)
        at = (at + 1) & mask;
    return &pairs->slot[at];
}

int64_t
data_pairs_get(const struct pairs *pairs, int32_t left, int32_t right)
{
    if (!pairs->slots)
        return PAIRS_NONE;
    return (int64_t)pair_slot_of(pairs, key_of(left, right))->number - 1;
}

/* At most half of the slots are taken. */
static void
make_slots(struct pairs *pairs)
{
    const struct pairs old = *pairs;

    if (2 * (pairs->n + 1) <= pairs->slots)
        return;
    pairs->slots = old.slots ? 2 * old.slots : FIRST_SLOTS;
    pairs->slot = mem_array(pairs->slots, sizeof *pairs->slot);
    for (size_t i = 0; i < old.slots; i++)
        if (old.slot[i].number)
            *pair_slot_of(pairs, old.slot[i].pair) = old.slot[i];
    free(old.slot);
}

void
data_pairs_put(struct pairs *pairs, int32_t left, int32_t right, size_t number)
{
    struct pairs_slot *slot;

    make_slots(pairs);
    slot = pair_slot_of(pairs, key_of(left, right));
    REQUIRE(!slot->number && number >> 31 == 0);
    *slot = (struct pairs_slot){key_of(left, right), (uint32_t)number + 1};
    pairs->n++;
}

void
data_pairs_release(struct pairs *pairs)
{
    free(pairs->slot);
    *pairs = (struct pairs){0};
}
