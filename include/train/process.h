#pragma once

#include "train/encoder.h"

/*
 * An encoder in a program of the user's, for example in PyTorch on a GPU
 * (train/encoder.h).  The program (stage/program.h) holds weights, activations
 * and optimiser of an encoder of images, of texts, or of both.  foil-encoder(5)
 * describes the protocol.
 *
 *     program = train_program_open("python3 mine.py", 600, log_line, &err);
 *     train_process_open(&encoder, program, &spec, &err);
 *     ... train_encoder_forward(&encoder, ...) and the other functions ...
 *     train_encoder_close(&encoder);
 *     train_program_close(program);
 *
 * Rows and gradients are in shared memory: for each encoder two batches, z, dz
 * and the weights.  Functions wait for the program's answer only in forward,
 * norm and checkpoints.  After a failure of the program or a wrong answer every
 * function fails with the same message.
 *
 * A program and its encoders belong to one thread.
 */
struct train_program;

/*
 * train_program_open() starts the program; it returns NULL with an error
 * message on failure.  Close its encoders before train_program_close(), which
 * accepts NULL.
 *   line     for sh -c
 *   limit_s  largest number of seconds for an answer
 *   print    prints messages of the program (stage/program.h), with NULL as
 * `tool`; NULL: none are printed
 */
struct train_program *train_program_open(const char *line, double limit_s,
                                         void (*print)(void *tool,
                                                       const char *line),
                                         struct err *err);
void train_program_close(struct train_program *program);

/* train_program_failed() returns 1 once the program has died, or has sent an
 * error, a wrong answer or no answer in time; else 0. */
int train_program_failed(const struct train_program *program);

/*
 * train_process_open() opens one of a program's encoders: the text encoder if
 * the net of the spec has a vocabulary.  With an arch of foil's in the spec,
 * the program must have its tensors, by name and shape, and the checkpoints are
 * like those of any run; with nn_arch_program the tensors are the program's
 * own.
 *   threads  sent to the program
 * Returns 0, or -1 with an error message and nothing to close.
 */
int train_process_open(struct train_encoder *encoder,
                       struct train_program *program,
                       const struct train_encoder_spec *spec, long threads,
                       struct err *err);

/*
 * The objective `external`: a loss that the program of an encoder computes,
 * with its gradient by the embeddings.  Its row is like
 * those of loss_objectives, with by_encoder instead of run() and direct(), and
 * without state.  Its temperature is a hint for strategies.
 *
 * `external-weighed` is the same for a loss with weights of negatives: the
 * program gets the weights of a sampler of struct train_negatives.  Its
 * temperature is the sampler's.
 */
extern const struct loss_objective train_external, train_external_weighed;

/* train_find_objective() is loss_objective_find() with these two added. */
const struct loss_objective *train_find_objective(const char *name,
                                                  struct err *err);
