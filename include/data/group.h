#pragma once

#include <stddef.h>
#include <stdint.h>

#include "data/set.h"
#include "image/view.h"

/*
 * Groups of samples, so that a selector separates their members, or an
 * evaluation searches within them.  Each data_group_*() numbers the groups 0,
 * 1, ... in the order of their first samples, writes the group of each of the n
 * samples to group [n], and returns the number of groups.  A sample that
 * belongs to no other has a group of its own.
 */

/* By label; a sample without one is alone. */
size_t data_group_label(const struct data_set *set, int64_t *group);

/* By caption: samples that share a caption, without regard to case and white
 * space; also indirectly, as a with b and b with c. */
size_t data_group_caption(const struct data_set *set, int64_t *group);

/* By the name of the file without its folders: "fog/1/7.jpg" and "snow/2/7.jpg"
 * are versions of one image. */
size_t data_group_file(const struct data_set *set, int64_t *group);

/*
 * data_group_fingerprint() joins images if their fingerprints differ in at most
 * `bits` bits and, since smooth images have few bits that can differ, by at
 * most `levels` of 255 in the mean over their pixels; also indirectly.
 *   fingerprint  [n]
 *   bits         0 .. 15
 *   levels       >= 0
 * It compares all fingerprints that agree in one of bits + 1 parts of the hash:
 * about n^2 (bits + 1) 2^(-64 / (bits + 1)) pairs, n^2 if most images are
 * alike.
 */
size_t data_group_fingerprint(size_t n,
                              const struct image_fingerprint *fingerprint,
                              size_t bits, double levels, int64_t *group);
