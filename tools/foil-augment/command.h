#ifndef FOIL_AUGMENT_COMMAND_H
#define FOIL_AUGMENT_COMMAND_H

#include "augment.h"
#include "data/gather.h"

/*
 * The program of --view-command.  Shared memory begins with the views that it
 * must make; at `table` there is a row for each view, then the decoded images:
 *
 *     [rows,size,size,3] u1   views
 *     [rows,5]           i8 offset of the image's pixels in bytes, its height
 *                        and width, sample, seed below 2^53
 *     [height,width,3]   u1   of each image
 */
struct augment_command;

/* augment_command_open() ends the tool if the program cannot be started. */
struct augment_command *
augment_command_open(const struct augment_options *options, uint64_t seed);
void augment_command_close(struct augment_command *command);

/* augment_command_begin() begins a batch, and sets want->make so that
 * data_gather_next() stores its images here; ends the tool without memory. */
void augment_command_begin(struct augment_command *command,
                           struct data_wanted *want);

/*
 * augment_command_make() makes all views, in the layout of `pixel` in struct
 * data_gather, and calls watcher->progress() meanwhile.  A lost program is
 * restarted once; if it is lost again, or at a stop, the tool ends.
 */
void augment_command_make(struct augment_command *command,
                          const struct augment_watcher *watcher, int stop,
                          uint8_t *pixel);

#endif
