#ifndef NUM_THREADS_H
#define NUM_THREADS_H

/*
 * num_threads() sets how many threads oneDNN and OpenBLAS use in this process
 * from here on; n = 0 asks for as many as the machine has cores.  Returns the
 * number in force.  Results are repeatable bit for bit for the same number.
 */
int num_threads(int n);

#endif
