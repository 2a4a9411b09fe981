#ifndef TRAIN_PROCESS_H
#define TRAIN_PROCESS_H

#include "train/encoder.h"

/*
 * An encoder that a program of the user's computes, such as one in PyTorch on a
 * GPU (train/encoder.h).  The program (stage/program.h) holds weights,
 * activations and optimiser of an encoder of images, of texts, or of both.
 * foil-encoder(5) describes the protocol.
 *
 *     program = train_program_open("python3 mine.py", 600, log_line, &err);
 *     train_process_open(&encoder, program, &spec, &err);
 *     ... train_encoder_forward(&encoder, ...) and all others ...
 *     train_encoder_close(&encoder);
 *     train_program_close(program);
 *
 * Rows and gradients go through shared memory: for each encoder two batches,
 * z, dz and the weights.  A function waits for the program's answer to forward,
 * norm and the requests of checkpoints, and to nothing else.  After a failure,
 * of the program or of one answer, every function fails with the same sentence.
 *
 * A program and its encoders belong to one thread.
 */
struct train_program;

/*
 * train_program_open() starts the program; NULL with a sentence on error. Close
 * its encoders before train_program_close(); NULL is harmless there.
 *   line     for sh -c
 *   limit_s  seconds that each answer may take
 *   print    prints what the program says (stage/program.h), with NULL as its
 *            tool; or NULL
 */
struct train_program *train_program_open(const char *line, double limit_s,
                                         void (*print)(void *tool,
                                                       const char *line),
                                         struct err *err);
void train_program_close(struct train_program *program);

/* train_program_failed() returns 1 once the program died, or gave an error, a
 * wrong answer or none; else 0. */
int train_program_failed(const struct train_program *program);

/*
 * train_process_open() opens one of a program's encoders, that of texts where
 * the net of the spec has a vocabulary.  With an arch of our own in the spec
 * the program must have its tensors, by name and shape, and the run's
 * checkpoints are used as any other; with nn_arch_program they are its own.
 *   threads  told to the program
 * 0, or -1 with a sentence and nothing to close.
 */
int train_process_open(struct train_encoder *encoder,
                       struct train_program *program,
                       const struct train_encoder_spec *spec, long threads,
                       struct err *err);

#endif
