#ifndef NUM_ROOM_H
#define NUM_ROOM_H

/*
 * Room for OpenBLAS.  It wants buffers of 128 MiB for each thread, and where it
 * cannot get them it asks the system for ever, before main() begins.
 * NUM_ROOM_FIRST, once in the main file of a tool that links OpenBLAS, has
 * num_room_judge() called before that: where the limit of the address space
 * (ulimit -v) is too low for the buffers, it prints a sentence and ends the
 * program with status 1.  Without a limit it does nothing.  With sanitizers,
 * which begin as early, NUM_ROOM_FIRST is empty.
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
