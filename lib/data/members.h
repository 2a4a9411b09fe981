#ifndef DATA_MEMBERS_H
#define DATA_MEMBERS_H

#include <stdint.h>

struct archive_entry;

/*
 * The members of a tar by name, for links among them: a hard link names a
 * member from the root of the archive, a symbolic one from the folder that it
 * is in.
 */
struct data_members;

/* data_members_read() reads the headers of an archive, up to where it is
 * damaged. */
struct data_members *data_members_read(const char *path);
void data_members_free(struct data_members *members);

/* data_members_find() finds what a link of that name leads to, where that is a
 * plain file: 1, and where its content lies. */
int data_members_find(const struct data_members *members, const char *name,
                      uint64_t *offset, uint64_t *bytes);

/* data_members_name() is the name of a member, without leading "./"; NULL where
 * it has none.  data_members_plain() is 1 for a file with a content of its own.
 */
const char *data_members_name(struct archive_entry *entry);
int data_members_plain(struct archive_entry *entry);

#endif
