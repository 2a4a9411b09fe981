#pragma once

#include <stddef.h>
#include <stdio.h>

#include "util/err.h"

/* file_read() returns the bytes of a file, followed by a zero, and their count
 * in *len.  The caller frees them.  A file larger than max bytes is refused.
 * NULL on error. */
void *file_read(const char *path, size_t max, size_t *len, struct err *err);

/*
 * file_open() opens a regular file for reading; the caller closes it with
 * fclose().  A pipe or a device is refused, without blocking.  NULL on error.
 *   flags  further flags of open(2): 0, or O_NOFOLLOW to refuse a link
 */
FILE *file_open(const char *path, int flags, struct err *err);

/* file_write() writes a file all or nothing: under a temporary name in the same
 * folder, fsynced and renamed, then the folder is fsynced.  On error the
 * temporary file is removed and an existing file stays. */
int file_write(const char *path, const void *data, size_t len, struct err *err);

/*
 * A draft is file_write() for contents too large for memory: write to ->file,
 * then call file_draft_keep(), which fails if any write did, fsyncs and
 * renames, or file_draft_drop().  Both release the draft; dropping an empty one
 * does nothing.  A device or a pipe is written to directly.
 *
 * An open draft is PATH.PID.new, locked by its writer.  If a writer died, the
 * next process that writes PATH removes its draft.  The struct of an open draft
 * must not move in memory.
 */
struct file_draft {
    FILE *file;
    char *path, *temp;       /* equal for a device */
    struct file_draft *next; /* in the list of open drafts */
};

int file_draft_open(struct file_draft *draft, const char *path,
                    struct err *err);
int file_draft_keep(struct file_draft *draft, struct err *err);
void file_draft_drop(struct file_draft *draft);

/*
 * file_drafts_abandon() removes all open drafts of a process that is about to
 * exit: afterwards a thread that opens, keeps or drops one blocks for ever.
 * Returns -1, and does nothing, if the process has already kept one.
 * Thread-safe.
 */
int file_drafts_abandon(void);

/*
 * file_append() writes to the end of an open file all or nothing, by one write:
 * after a partial write the file is truncated to its old size.
 *   name  for the message of an error
 */
int file_append(int file, const void *data, size_t len, const char *name,
                struct err *err);

/* file_sync() flushes a file's or a folder's content to the disk. */
int file_sync(const char *path, struct err *err);

/* file_mkdir() makes a folder with that mode; an existing folder is no
 * error. */
int file_mkdir(const char *path, unsigned mode, struct err *err);

/* file_remove() removes a file, or a folder with its contents. */
int file_remove(const char *path, struct err *err);

/* file_exists() returns 1 if the path exists, also as a dangling link. */
int file_exists(const char *path);

/* file_same() returns 1 if two paths lead to the same existing file or
 * folder. */
int file_same(const char *path, const char *other);

/* file_resolve() returns the absolute path of a path below "/", with "." and
 * ".." resolved, but not links: "/b" for "a/.././b", "/" for "".  The caller
 * frees it. */
char *file_resolve(const char *path);

/*
 * file_search_path() returns the folders in which execvp(3) searches for a
 * program: PATH, or "/usr/bin:/bin" if it is not set.
 *
 * file_is_command() returns 1 if execvp(3) finds a program of that name: a
 * regular file that this user may execute, in one of those folders, or at that
 * path if the name has a '/'.  An empty folder is the current one.
 */
const char *file_search_path(void);
int file_is_command(const char *name);

/* file_own_folder() returns the folder of the running program, with links
 * resolved; NULL on error.  The caller frees it. */
char *file_own_folder(struct err *err);
