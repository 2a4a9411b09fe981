#ifndef UTIL_FILE_H
#define UTIL_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "util/err.h"

/*
 * file_read() returns the bytes of a file, with a zero behind the last one,
 * to be given to free(); their count goes to *len.  A file larger than max
 * bytes is refused.  NULL on error.
 */
void *file_read(const char *path, size_t max, size_t *len, struct err *err);

/*
 * file_open() opens a regular file to read it, to be given to fclose(), without
 * waiting where a pipe or a device is in its place: these are refused.  NULL on
 * error.
 *   flags  of open(2), besides: 0, or O_NOFOLLOW to refuse a link
 */
FILE *file_open(const char *path, int flags, struct err *err);

/*
 * file_write() writes a file all or nothing: under a temporary name beside
 * it, fsynced, renamed, the folder fsynced.  On error nothing is left behind
 * and a file that was there stays.
 */
int file_write(const char *path, const void *data, size_t len, struct err *err);

/*
 * A draft is file_write() for contents too large to hold: write to ->file, then
 * keep it, which fsyncs and renames, or drop it.  Both release the draft, and
 * to drop an empty one does nothing.  A path that is a device or a pipe is
 * written to as it stands.
 *
 * An open draft is PATH.PID.new, locked by its writer; one whose writer died
 * is removed by the next process that writes PATH.  The struct of an open draft
 * must not be moved in memory.
 */
struct file_draft {
    FILE *file;
    char *path, *temp;       /* the same for a device */
    struct file_draft *next; /* of the open drafts */
};

int file_draft_open(struct file_draft *draft, const char *path,
                    struct err *err);
int file_draft_keep(struct file_draft *draft, struct err *err);
void file_draft_drop(struct file_draft *draft);

/*
 * file_drafts_abandon() removes all open drafts of a process that ends at
 * once: a thread that opens, keeps or drops one after that waits for ever.
 * Returns -1, and does nothing, when the process has kept one already.  From
 * any thread.
 */
int file_drafts_abandon(void);

/*
 * file_append() writes to the end of an open file all or nothing, by one write:
 * what a full disk has taken of it is cut off again.
 *   name  for the sentence of an error
 */
int file_append(int file, const void *data, size_t len, const char *name,
                struct err *err);

/* file_sync() flushes a file's or a folder's content to the disk. */
int file_sync(const char *path, struct err *err);

/* file_mkdir() makes a folder with the given mode; one that exists is fine. */
int file_mkdir(const char *path, unsigned mode, struct err *err);

/* file_remove() removes a file, or a folder with all that is in it. */
int file_remove(const char *path, struct err *err);

/* file_exists() returns 1 when something of that name is there. */
int file_exists(const char *path);

/* file_same() returns 1 when two paths lead to one file or folder that is
 * there. */
int file_same(const char *path, const char *other);

/*
 * file_resolve() returns the absolute path of a path below "/", with "." and
 * ".." resolved and links not looked at: "/b" for "a/.././b", "/" for "".  To
 * be given to free().
 */
char *file_resolve(const char *path);

/* file_own_folder() returns the folder of the running program, links followed,
 * to be given to free(); NULL on error. */
char *file_own_folder(struct err *err);

#endif
