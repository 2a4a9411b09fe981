#include "cut.h"

size_t
train_cut_most(size_t rows, size_t shards)
{
    const size_t each = (rows + shards - 1) / shards;

    return each > 1 || rows == 1 ? each : 2; // as of 3 rows by 4 shards
}

size_t
train_cut_shards(const struct train_cut *cut, size_t n)
{
    size_t count = cut->shards;

    while (count > n)
        count /= 2;
    return count;
}

size_t
train_cut_busy(const struct train_cut *cut, size_t n)
{
    const size_t count = train_cut_shards(cut, n);

    return count < cut->ranks ? count : cut->ranks;
}

size_t
train_cut_first(const struct train_cut *cut, size_t n, size_t rank)
{
    const size_t busy = train_cut_busy(cut, n);

    return train_cut_shards(cut, n) * (rank < busy ? rank : busy) / busy;
}

size_t
train_cut_row(const struct train_cut *cut, size_t n, size_t shard)
{
    return n * shard / train_cut_shards(cut, n);
}

void
train_cut_rows(const struct train_cut *cut, size_t n, size_t row, size_t *from)
{
    for (size_t r = 0; r <= cut->ranks; r++)
        from[r] = train_cut_row(cut, n, train_cut_first(cut, n, r)) * row;
}
