#pragma once

/*
 * Address space for OpenBLAS.  It needs buffers of 128 MiB for each thread, and
 * if it cannot allocate them it loops forever, before main().  NUM_ROOM_FIRST,
 * once in the main file of a tool that links OpenBLAS, makes num_room_check()
 * run before that: if the limit of the address space (ulimit -v) is too low for
 * the buffers, it prints an error and exits with status 1.  Without a limit it
 * does nothing.  With sanitizers, which start as early, NUM_ROOM_FIRST is
 * empty.
 */
void num_room_check(int argc, char **argv, char **environment);

#if defined(__has_feature) // clang's way to detect sanitizers
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
        num_room_check;
#endif
