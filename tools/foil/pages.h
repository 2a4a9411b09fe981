#ifndef FOIL_PAGES_H
#define FOIL_PAGES_H

/* pages_find() returns the man page of a topic, "train", "foil-train" or
 * "wire", as seen from the folder of the program, to be given to free(); NULL
 * where there is none. */
char *pages_find(const char *folder, const char *topic);

#endif
