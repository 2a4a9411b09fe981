#ifndef NUM_ROOM_H
#define NUM_ROOM_H

/*
 * Where there is no room for its buffers, of 128 MiB for each thread, OpenBLAS
 * asks the system for ever, before main() begins.  NUM_ROOM_FIRST, once in a
 * tool's main file that links it, lets num_room_judge() look before that: under
 * a limit of the address space (ulimit -v) that is too low for them it prints a
 * sentence and ends the program with 1.  Without a limit it costs nothing.
 * Sanitizers, which begin as early, have none of it.
 */
void num_room_judge(int argc, char **argv, char **environment);

#if defined(__has_feature) // clang's word for the same
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NUM_ROOM_FIRST
#endif
#endif

#if defined NUM_ROOM_FIRST || defined __SANITIZE_ADDRESS__ || \
    defined __SANITIZE_THREAD__
#undef NUM_ROOM_FIRST
#define NUM_ROOM_FIRST
#else
#define NUM_ROOM_FIRST                                                  \
    __attribute__((section(".preinit_array"),                           \
                   used)) static void (*const room_first)(int, char **, \
                                                          char **) =    \
        num_room_judge;
#endif

#endif
