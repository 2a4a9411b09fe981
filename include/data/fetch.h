#pragma once

#include <stddef.h>
#include <stdint.h>

#include "data/set.h"
#include "util/err.h"

/*
 * Shards of a list (data/join.h) that are not on this machine: a command
 * fetches the tar of each to a folder, the cache, when a sample is read, or
 * before.  All processes of a machine may share the cache: each file is fetched
 * once, under a lock.
 *
 * A file is fetched as .part.NAME-BYTES.PID, gets its name, NAME-BYTES.tar,
 * once it has the size that the list expects, and is touched when it is opened.
 * Before a fetch, files are removed until all fit into the limit: those that
 * are not wanted, the longest unused first, then wanted ones that are less
 * urgent. Only needed files can exceed it.  Parts of dead processes are
 * removed.  A file with a sample that does not match the index is fetched once
 * more.
 *
 * A file is tried five times, with pauses from 0.1 s, doubled each time.
 */
struct data_fetch_settings {
    /* For sh -c: %u is the shard's place, %o the file to write, %% is %. */
    const char *command;
    const char *folder; /* of the cache; made if it does not exist */
    uint64_t bytes;     /* limit of the cache */
    size_t workers;     /* files to fetch at once */
    /* Runs argv and returns its exit code; ends it once the descriptor `stop`
     * is readable.  Thread-safe. */
    int (*run)(char *const argv[], int stop);
};

/*
 * data_fetch_use() makes all lists that are opened from now on read their data
 * by fetching them; texts of *how must stay valid.  data_open() then also fails
 * if the cache is too small for one shard, and for an index that is no list or
 * a shard whose index is not of one tar.  Only for main().
 */
void data_fetch_use(const struct data_fetch_settings *how);

/*
 * data_fetch_want() sets which shards of a list are wanted, the most urgent
 * first, instead of those before: they are fetched by other threads, and stay.
 *   shard  [n] numbers in data_shards(), repeats allowed
 *   need   how many of the first data_fetch_ready() waits for
 */
void data_fetch_want(struct data_set *set, size_t n, const size_t *shard,
                     size_t need);

/*
 * data_fetch_ready() returns 1 if the needed shards are there, 0 if not yet, or
 * -1 with the reason once for each that cannot be fetched in all tries.  It is
 * tried again each second.  *failed is set to the number of needed shards whose
 * last tries failed.
 */
int data_fetch_ready(struct data_set *set, size_t *failed, struct err *err);

/* data_fetch_bytes() returns the bytes of the n largest shards of a list. */
uint64_t data_fetch_bytes(const struct data_set *set, size_t n);
