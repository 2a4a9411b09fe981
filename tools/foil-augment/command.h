#ifndef FOIL_AUGMENT_COMMAND_H
#define FOIL_AUGMENT_COMMAND_H

#include "augment.h"
#include "data/gather.h"

/*
 * The program of --view-command.  Shared memory has, from its beginning, the
 * views that it is to make; from `table` on what they are made of, and then the
 * decoded images:
 *
 *     [rows,size,size,3] u1   views
 *     [rows,5]           i8   place of the image's pixels in bytes, its height
 *                             and width, sample, seed below 2^53
 *     [height,width,3]   u1   of each image
 */
struct augment_command;

/* Ends the tool where it cannot be started. */
struct augment_command *
augment_command_open(const struct augment_options *options, uint64_t seed);
void augment_command_close(struct augment_command *command);

/* augment_command_begin() begins a batch, and has data_gather_next() bring its
 * images here; ends the tool where there is no memory. */
void augment_command_begin(struct augment_command *command,
                           struct data_wanted *want);

/*
 * augment_command_make() has all views made, as `pixel` of struct data_gather
 * has them; the watcher hears of it that we live.  A program that is lost is
 * started again once; then the tool ends, and so it does at a stop.
 */
void augment_command_make(struct augment_command *command,
                          const struct augment_watcher *watcher, int stop,
                          uint8_t *pixel);

#endif
