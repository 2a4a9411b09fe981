#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "t.h"

#include "flow/ends.h"

static const struct wire_limits none = {0};

static int
binds_ipv6(struct wire *wire)
{
    struct err err = {""};
    struct wire_sock *sock =
        wire_sock_open(wire, WIRE_ROUTER, "tcp://[::1]:*", NULL, &none, &err);
    const int bound = sock != NULL;

    wire_sock_close(sock);
    return bound;
}

/* A loopback address of IPv6, where there is one. */
static int
has_ipv6(void)
{
    const struct sockaddr_in6 at = {.sin6_family = AF_INET6,
                                    .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const int fd = socket(AF_INET6, SOCK_STREAM, 0);
    const int there =
        fd >= 0 && !bind(fd, (const struct sockaddr *)&at, sizeof at);

    if (fd >= 0)
        close(fd);
    return there;
}

static void
guarded(struct wire *wire)
{
    const mode_t before = umask(0);
    const char *endpoint = at("mode");
    struct stat st = {.st_mode = 0777};
    struct err err = {""};
    struct wire_sock *sock =
        wire_sock_open(wire, WIRE_ROUTER, endpoint, NULL, &none, &err);

    umask(before);
    T(sock && !stat(endpoint + 6, &st) && !(st.st_mode & 07),
      "other users cannot use a socket, mode %o", (unsigned)st.st_mode & 0777);
    wire_sock_close(sock);
    if (has_ipv6())
        T(binds_ipv6(wire), "to bind [::1] is fine, too");
    else
        T_SKIP("to bind [::1] is fine, too", "no IPv6 here");
}

/* With too few files no peer could connect. */
static void
few_files(void)
{
    const pid_t pid = fork();
    int status;

    if (!pid) {
        const struct rlimit few = {20, 20};
        struct err err = {""};

        if (setrlimit(RLIMIT_NOFILE, &few))
            _exit(2);
        _exit(wire_open(NULL, &err) || !strstr(err.msg, "ulimit -n"));
    }
    T(waitpid(pid, &status, 0) == pid && !status,
      "a limit of 20 files is refused in a sentence");
}

int
main(void)
{
    struct wire *wire;
    struct err err;

    scratch_open();
    few_files();
    wire = wire_open(NULL, &err);
    guarded(wire);
    wire_close(wire);
    scratch_close();
    return t_done();
}
