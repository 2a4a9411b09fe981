#pragma once

/*
 * num_threads() sets the number of threads of foil's loops, oneDNN and OpenBLAS
 * for calls from the calling thread; n = 0: as many as the machine has cores.
 * Returns the actual number.  Results are repeatable bit for bit for the same
 * number.
 */
int num_threads(int n);

/*
 * num_threads_sleep() limits how long threads spin (busy-wait) for one another
 * before they sleep, to 500 times, 10 to 20 us, about as long as going to sleep
 * and waking up.  Without the limit, beside another busy process, they take the
 * processor from the thread that they wait for, and a training step with two
 * threads takes two to five times as long.  On two idle cores a step of
 * ResNet-20 takes .86 of the time without any spinning, a step of the demo .91,
 * for the same processor time.
 *
 * The OpenMP library reads its environment before main(), so the function
 * executes the program again, with GOMP_SPINCOUNT=500.  Call it first in
 * main(), with its argv.  It returns if GOMP_SPINCOUNT or OMP_WAIT_POLICY is
 * set already, or if the program cannot be executed again.
 */
void num_threads_sleep(char **argv);
