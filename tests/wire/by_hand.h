#pragma once

/* Peers that speak ZMTP without ZeroMQ, and so can break its rules. */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "flow/ends.h"

enum { KIB = 1024, MIB = 1 << 20 };

/* Seconds: enough on a busy machine, for events that have to come. */
enum { PATIENCE = 60 };

__attribute__((unused)) static int
reach(const char *endpoint)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(to.sun_path, sizeof to.sun_path, "%s", endpoint + 6);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to)) {
        close(fd);
        return -1;
    }
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* Send all while alternating with the other side; returns the bytes sent before
 * we were disconnected. */
__attribute__((unused)) static size_t
push(struct wire *wire, int fd, const void *bytes, size_t len)
{
    const double until = clock_now() + 10;
    struct err err;
    size_t sent = 0;

    while (sent < len && clock_now() < until) {
        ssize_t n =
            send(fd, (const char *)bytes + sent, len - sent, MSG_NOSIGNAL);

        if (n > 0)
            sent += (size_t)n;
        else if (errno != EAGAIN)
            break;
        else
            wire_wait(wire, -1, 0.001, &err);
    }
    return sent;
}

/* 1 when the other side has closed. */
__attribute__((unused)) static int
is_cut(struct wire *wire, int fd)
{
    const double until = clock_now() + PATIENCE;
    struct err err;
    char bytes[256];

    while (clock_now() < until) {
        ssize_t n = read(fd, bytes, sizeof bytes);

        if (n == 0 || (n < 0 && errno != EAGAIN))
            return 1;
        wire_wait(wire, -1, 0.005, &err);
    }
    return 0;
}

/* 1 when a refused connection is reported within seconds: a thread of ZeroMQ's
 * closes it, and reports that later. */
__attribute__((unused)) static int
is_reported(struct wire *wire, struct err *why)
{
    const double until = clock_now() + 5;
    struct err err;

    while (!wire_refused(wire, why) && clock_now() < until)
        wire_wait(wire, -1, 0.005, &err);
    return *why->msg != '\0';
}

/* The whole handshake: nothing may be sent before the other side is ready. */
__attribute__((unused)) static void
greet(struct wire *wire, int fd, const char *type)
{
    size_t received = 0;
    struct err err;
    char bytes[128] = "\xff\0\0\0\0\0\0\0\0\x7f\3\0NULL";
    const size_t n = strlen(type);
    char *ready = bytes + 64;

    ready[0] = 4;
    ready[1] = (char)(6 + 12 + 4 + n);
    memcpy(ready + 2, "\5READY\13Socket-Type\0\0\0", 6 + 12 + 3);
    ready[2 + 6 + 12 + 3] = (char)n;
    memcpy(ready + 2 + 6 + 12 + 4, type, n);
    push(wire, fd, bytes, 64 + 2 + 6 + 12 + 4 + n);
    for (int i = 0; i < 1000 && received < 64 + 27;
         i++) { // of the shortest READY
        ssize_t got = read(fd, bytes, sizeof bytes);

        received += got > 0 ? (size_t)got : 0;
        wire_wait(wire, -1, 0.001, &err);
    }
}

/* Endless parts of so many bytes, each with more to come; returns bytes sent.
 */
__attribute__((unused)) static size_t
endless(struct wire *wire, int fd, size_t part, size_t most)
{
    uint8_t *frame = calloc(1, 9 + part);
    size_t sent = 0, n = 9 + part;

    frame[0] = 3;
    for (int i = 0; i < 8; i++)
        frame[8 - i] = (uint8_t)(part >> 8 * i);
    while (sent < most && n == 9 + part) {
        n = push(wire, fd, frame, 9 + part);
        sent += n;
    }
    free(frame);
    return sent;
}

/* One whole message of two short parts. */
__attribute__((unused)) static void
send_by_hand(struct wire *wire, int fd, const char *kind,
             const struct wire_part *head)
{
    uint8_t bytes[1024];
    const size_t n = strlen(kind);

    bytes[0] = 1;
    bytes[1] = (uint8_t)n;
    memcpy(bytes + 2, kind, n);
    bytes[2 + n] = 0;
    bytes[3 + n] = (uint8_t)head->len;
    memcpy(bytes + 4 + n, head->data, head->len);
    push(wire, fd, bytes, 4 + n + head->len);
}
