/*
 * A Python program as a fork of one that is warm: forks.py, which has imported
 * what programs want.  For who starts this, it is that program: the same
 * arguments, environment, folder, descriptors 0 to 2, signals and end.
 *
 * usage: FOLDER/python ARGUMENT ...      a link to this
 *
 * FOLDER/python.at is where forks.py listens; it may still be about to.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Signals that are passed on, unless who started this wants them ignored. */
static const int passed[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                             SIGUSR1, SIGUSR2, SIGCONT};
static int server = -1;

static void
fail(const char *what)
{
    perror(what);
    exit(1);
}

static void
pass_on(int number)
{
    const int kept = errno;
    const uint8_t byte = (uint8_t)number;

    send(server, &byte, 1, MSG_NOSIGNAL);
    errno = kept;
}

static void
watch_signals(void)
{
    struct sigaction now,
        pass = {.sa_handler = pass_on, .sa_flags = SA_RESTART};

    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        sigaction(passed[i], NULL, &now);
        if (now.sa_handler != SIG_IGN)
            sigaction(passed[i], &pass, NULL);
    }
}

/* For a minute, since a start of Python on a busy machine takes seconds. */
static void
meet_server(const char *self)
{
    const struct timespec nap = {.tv_nsec = 5000000};
    struct sockaddr_un to = {.sun_family = AF_UNIX};

    snprintf(to.sun_path, sizeof to.sun_path, "%s.at", self);
    for (int i = 0; i < 12000; i++) {
        server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (server < 0)
            fail("socket");
        if (!connect(server, (struct sockaddr *)&to, sizeof to))
            return;
        close(server);
        nanosleep(&nap, NULL);
    }
    fail(to.sun_path);
}

static void
send_all(const void *bytes, size_t size)
{
    for (ssize_t n; size; bytes = (const char *)bytes + n, size -= (size_t)n)
        if ((n = write(server, bytes, size)) < 0)
            fail("forks.py");
}

/* How long all texts are, and how many there are. */
static uint32_t
size_of(char **texts, uint32_t *number)
{
    size_t size = 0;

    for (*number = 0; texts[*number]; ++*number)
        size += strlen(texts[*number]) + 1;
    return (uint32_t)size;
}

static void
send_texts(char **texts)
{
    for (; *texts; texts++)
        send_all(*texts, strlen(*texts) + 1);
}

/* Sizes, with our descriptors and folder beside them, then the texts. */
static void
send_program(char **arguments)
{
    uint32_t sizes[4];
    int fds[4] = {0, 1, 2, open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof fds)];
    } beside = {.head = {CMSG_LEN(sizeof fds), SOL_SOCKET, SCM_RIGHTS}};
    struct iovec part = {sizes, sizeof sizes};
    const struct msghdr msg = {.msg_iov = &part,
                               .msg_iovlen = 1,
                               .msg_control = &beside,
                               .msg_controllen = sizeof beside};

    sizes[0] = size_of(arguments, &sizes[1]);
    sizes[2] = size_of(environ, &sizes[3]);
    memcpy(CMSG_DATA(&beside.head), fds, sizeof fds);
    if (sendmsg(server, &msg, 0) != sizeof sizes)
        fail("forks.py");
    send_texts(arguments);
    send_texts(environ);
}

/* Ends as the program has ended: by that code, or by that signal. */
static int
end_alike(void)
{
    const struct rlimit no_core = {0, 0};
    int32_t code;
    ssize_t n;

    do
        n = read(server, &code, sizeof code);
    while (n < 0 && errno == EINTR);
    if (n != sizeof code)
        fail("forks.py");
    if (code >= 0)
        return code;
    setrlimit(RLIMIT_CORE, &no_core);
    signal(-code, SIG_DFL);
    raise(-code);
    return 1;
}

int
main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: FOLDER/python ARGUMENT ...\n");
        return 2;
    }
    meet_server(*argv);
    send_program(argv + 1);
    watch_signals();
    return end_alike();
}
