"""other_user.py NAMES FOLDER PID...: tries each listening socket of these processes and
their children as the user nobody; NAMES are the sockets that must listen."""
import os
import socket
import sys

from zmtp import greeting

names, folder = set(sys.argv[1].split()), sys.argv[2]
NOBODY = 65534
checks = 0


def check(what, good):
    global checks
    checks += 1
    print("ok" if good else "not ok", checks, "-", what, flush=True)


def children(pids):
    parent = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                parent[int(pid)] = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            pass
    known = set(pids)
    while more := {pid for pid, above in parent.items() if above in known} - known:
        known |= more
    return known


def inodes(pid):
    """The inodes of its sockets."""
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            link = os.readlink(f"/proc/{pid}/fd/{fd}")
        except OSError:
            continue
        if link.startswith("socket:["):
            yield link[8:-1]


def table(name):
    with open(f"/proc/net/{name}") as file:
        return [line.split() for line in file][1:]


def listening():
    """{inode: (kind, address)}"""
    found = {}
    for kind in "tcp", "tcp6":
        for row in table(kind):
            if row[3] == "0A":
                host, port = row[1].split(":")
                if kind == "tcp":
                    host = socket.inet_ntoa(bytes.fromhex(host)[::-1])
                found[row[9]] = "tcp", (host, int(port, 16))
    for kind in "udp", "udp6", "raw", "raw6":
        for row in table(kind):
            found[row[9]] = kind, row[1]
    for row in table("unix"):
        if row[3] == "00010000":
            found[row[6]] = "unix", row[7] if len(row) > 7 else ""
    return found


def as_nobody(call, *arguments):
    """The result of call() in a child of the user nobody, as text."""
    here, there = os.pipe()
    if not os.fork():
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        try:
            answer = call(*arguments)
        except OSError as error:
            answer = type(error).__name__
        os.write(there, repr(answer).encode())
        os._exit(0)
    os.close(there)
    with os.fdopen(here) as file:
        answer = file.read()
    os.wait()
    return answer


def reach(path):
    if not path.startswith("@"):
        path = os.path.relpath(path)  # 107 bytes at most
    else:
        path = "\0" + path[1:]
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
    return "connected"


def talk(address, data):
    """The start of the answer and its length, up to 1,000 bytes or more."""
    with socket.create_connection(address) as s:
        s.settimeout(5)
        s.sendall(data)
        got = b""
        try:
            while len(got) < 1000 and (more := s.recv(65536)):
                got += more
        except OSError:
            pass
    return got[:12], len(got)


def try_tcp(name, address):
    for path in "", "all", "export", "view.js", "events":
        request = (f"GET /{path} HTTP/1.1\r\nHost: localhost\r\n"
                   "Connection: close\r\n\r\n").encode()
        start, size = eval(as_nobody(talk, address, request))
        check(f"{name}: GET /{path} has no content",
              start == b"HTTP/1.1 403" and size < 1000 or
              not start.startswith(b"HTTP") and size <= 64)
    for kind, then in (b"DEALER", b""), (b"SUB", b"\0\1\1"):
        ready = (b"\5READY\13Socket-Type" + len(kind).to_bytes(4, "big") + kind)
        start, size = eval(as_nobody(
            talk, address, greeting(b"NULL") + b"\4" + bytes([len(ready)]) + ready +
            then + b"\r\n\r\n"))
        # at most ZeroMQ's greeting, or an HTTP error
        check(f"{name}: a {kind.decode()} of ZeroMQ gets nothing",
              size <= 64 or start.startswith(b"HTTP/1.1 4"))


def main():
    mine, sockets = {}, listening()
    for pid in children(map(int, sys.argv[3:])):
        try:
            with open(f"/proc/{pid}/comm") as file:
                comm = file.read().strip()
            cwd = os.readlink(f"/proc/{pid}/cwd")
            for inode in inodes(pid):
                if inode in sockets:
                    kind, where = sockets[inode]
                    if kind == "unix" and not where.startswith("@"):
                        where = os.path.join(cwd, where)
                    mine[kind, where] = comm, cwd
        except OSError:
            pass
    found = {f"{comm}:{os.path.basename(where) if kind == 'unix' else kind}"
             for (kind, where), (comm, cwd) in mine.items()}
    print("#", *sorted(found))
    check("these sockets listen: " + " ".join(sorted(names)), found == names)
    check("another user sees the folder of the run",
          as_nobody(os.path.exists, folder) == "True")
    for (kind, where), (comm, cwd) in sorted(mine.items(), key=str):
        if kind == "tcp":
            try_tcp(f"{comm}:tcp", where)
            continue
        check(f"{comm}:{os.path.basename(where)} refuses another user", kind == "unix" and
              as_nobody(reach, where) == "'PermissionError'")
    os.chmod(folder, 0o755)
    for (kind, where), (comm, cwd) in sorted(mine.items(), key=str):
        if kind == "unix":
            check(f"{comm}:{os.path.basename(where)} refuses another user in any case",
                  as_nobody(reach, where) == "'PermissionError'")
    print(f"1..{checks}")


main()
