"""ZMTP for peers that break its rules: the bytes on a socket."""
import struct


def greeting(mechanism):
    return (b"\xff" + bytes(8) + b"\x7f\3\0" + mechanism.ljust(20, b"\0") +
            bytes(32))


def read(s, n):
    got = b""
    while len(got) < n:
        more = s.recv(n - len(got))
        if not more:
            raise ConnectionError
        got += more
    return got


def shake(s, kind):
    """The handshake without keys, on a connected socket."""
    s.settimeout(5)
    s.sendall(greeting(b"NULL"))
    read(s, 64)
    body = (b"\5READY\13Socket-Type" + struct.pack(">I", len(kind)) + kind)
    s.sendall(b"\4" + bytes([len(body)]) + body)
    read(s, read(s, 2)[1])
    return s


def frame(flags, body):
    return struct.pack(">BQ", flags | 2, len(body)) + body


def memory(pid):
    """RSS in KiB; 0 when the process has ended."""
    try:
        with open(f"/proc/{pid}/status") as file:
            return next(int(l.split()[1]) for l in file if l[:6] == "VmRSS:")
    except (OSError, StopIteration):
        return 0
