#pragma once

#include "util/opt.h"

/*
 * Options of a tool that fetches the shards of a list (data/fetch.h): rows of
 * its table, and their values.  stage_fetch_use() checks them and, if there is
 * a command, makes lists that are opened from now on fetch their data.  For
 * main() alone.
 */
struct stage_fetch {
    const char *command, *folder;
    double gib; /* NaN: missing */
    long jobs;
};

extern struct stage_fetch stage_fetch;

#define STAGE_FETCH_OPTS                                                  \
    {"fetch",                                                             \
     0,                                                                   \
     OPT_TEXT,                                                            \
     &stage_fetch.command,                                                \
     0,                                                                   \
     0,                                                                   \
     "COMMAND",                                                           \
     "fetches a shard of a list: %u is its place, %o the file to write"}, \
        {"cache-dir",                                                     \
         0,                                                               \
         OPT_TEXT,                                                        \
         &stage_fetch.folder,                                             \
         0,                                                               \
         0,                                                               \
         "DIR",                                                           \
         "folder of fetched files, for all processes of a machine"},      \
        {"cache-size", 0,   OPT_REAL, &stage_fetch.gib,                   \
         1e-9,         1e6, "GIB",    "limit of this folder"},            \
    {                                                                     \
        "fetch-jobs", 0, OPT_WHOLE, &stage_fetch.jobs, 1, 16, "N",        \
            "files to fetch at once"                                      \
    }

void stage_fetch_use(void);
