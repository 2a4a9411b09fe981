#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "sock_impl.h"

int
wire_address_is_tcp(const char *endpoint)
{
    return !strncmp(endpoint, "tcp://", strlen("tcp://"));
}

/* 1 for tcp://HOST:PORT with a port from 1 to 65535, or * for a binder. */
static int
has_port(const char *endpoint, int binds)
{
    const char *colon = strrchr(endpoint, ':'), *port = colon + 1;
    const size_t digits = strspn(port, "0123456789");
    const unsigned long number = strtoul(port, NULL, 10);

    if (colon <= endpoint + strlen("tcp://"))
        return 0;
    if (binds && !strcmp(port, "*"))
        return 1;
    return digits && !port[digits] && number >= 1 && number <= 65535;
}

int
wire_address_check(const char *endpoint, int binds, struct err *err)
{
    if (!wire_address_is_tcp(endpoint) && strncmp(endpoint, "ipc://", 6) &&
        strncmp(endpoint, "inproc://", 9))
        return err_set(
            err, "bad endpoint: '%.200s', want tcp://HOST:PORT or ipc://PATH",
            endpoint);
    if (!strncmp(endpoint, "ipc://@", 7))
        return err_set(err,
                       "'%.200s' is open to all of this machine, want a path: "
                       "ipc://./@NAME for a file of that name",
                       endpoint);
    if (wire_address_is_tcp(endpoint) && !has_port(endpoint, binds))
        return err_set(err,
                       "bad endpoint: '%.200s', want a port from 1 to 65535%s",
                       endpoint, binds ? ", or *" : "");
    return 0;
}

int
wire_address_is_local(const char *endpoint, int binds)
{
    const char *at = endpoint + strlen("tcp://"), *colon = strrchr(at, ':');
    const int brackets = *at == '[' && colon > at && colon[-1] == ']';
    struct in6_addr v6;
    struct in_addr v4;
    char host[64];
    size_t n;

    if (!colon || (size_t)(colon - at) >= sizeof host)
        return 0;
    n = (size_t)(colon - at);
    memcpy(host, at + brackets, n);
    host[n - 2 * (size_t)brackets] = '\0';
    if (brackets)
        return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return !strcmp(host, "localhost") || (binds && !strcmp(host, "lo"));
}
