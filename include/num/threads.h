#ifndef NUM_THREADS_H
#define NUM_THREADS_H

/*
 * num_threads() sets how many threads our loops, oneDNN and OpenBLAS use from
 * here on, where the calling thread calls them; n = 0 asks for as many as the
 * machine has cores.  Returns the number in force.  Results are repeatable bit
 * for bit for the same number.
 */
int num_threads(int n);

/*
 * num_threads_sleep() makes threads sleep soon while they wait for one another.
 * By default they spin (busy-wait) for long, and beside any other busy process
 * they keep the processor from the very thread that they wait for: a training
 * step with two threads then takes two to five times as long.  They spin for
 * some 10 to 20 us, 500 times, which is as long as falling asleep and waking
 * up: alone on two cores a step of ResNet-20 takes .86 of the time that it
 * takes with no spinning at all, a step of the demo .91, for as much processor
 * time; beside two busy processes neither is slower.
 *
 * The OpenMP library reads its environment before main() begins, so the program
 * is executed once more, with GOMP_SPINCOUNT=500: to be called first in main(),
 * with its argv.  It returns only where there is nothing to do: when
 * GOMP_SPINCOUNT or OMP_WAIT_POLICY is set, by the user or by this function, or
 * the program cannot be executed again.
 */
void num_threads_sleep(char **argv);

#endif
