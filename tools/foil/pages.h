#ifndef FOIL_PAGES_H
#define FOIL_PAGES_H

/* pages_find() returns the path of the man page of a topic, "train",
 * "foil-train" or "wire", relative to the program's folder; the caller frees
 * it. NULL if there is none. */
char *pages_find(const char *folder, const char *topic);

#endif
