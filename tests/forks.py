"""forks.py SOCKET SHELL MODULE...: a Python that has imported these modules and forks
for each program; to import them again takes longer than most programs.

The client is forked.c.  It sends arguments, environment, working directory and the
descriptors 0 to 2 of a program, then the numbers of signals.  It receives the result:
the exit code, or -N after signal N.  When a client dies, its program is killed a
moment later.  To kill a program at once, read its PID from SOCKET.of/PID-OF-CLIENT.
When the process SHELL ends, all programs get SIGTERM and, two seconds later, SIGKILL.
"""
import gc
import importlib
import os
import runpy
import select
import selectors
import signal
import socket
import struct
import sys
import time

GRACE = 2  # seconds
PEER = struct.Struct("=3i")
SIZES = struct.Struct("=4I")


def take(conn, size):
    """Receives that many bytes."""
    parts = []
    while size:
        parts.append(conn.recv(size))
        size -= len(parts[-1])
        if not parts[-1]:
            raise EOFError
    return b"".join(parts)


def program(conn):
    """Receives arguments, environment and descriptors.  EOFError: the client was
    killed before it had sent them."""
    head, fds, _, _ = socket.recv_fds(conn, SIZES.size, 4)
    if not head:
        raise EOFError
    try:
        arguments, n, environment, m = SIZES.unpack(head)
        texts = take(conn, arguments + environment).split(b"\0")
    except EOFError:
        for fd in fds:
            os.close(fd)
        raise
    return ([os.fsdecode(t) for t in texts[:n]],
            dict(t.split(b"=", 1) for t in texts[n:n + m] if b"=" in t), fds)


def become(environment, fds):
    """Makes the fork look like its client: descriptors, environment, signals."""
    os.fchdir(fds[3])
    for i in range(3):
        os.dup2(fds[i], i)
    for fd in fds:
        os.close(fd)
    os.environb.clear()
    os.environb.update(environment)
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def run(arguments):
    """Runs a file, -c TEXT, or a program on stdin (-), as python3 does."""
    first, own = arguments[0], ""
    if first not in ("-", "-c"):
        own = os.path.dirname(os.path.abspath(first))
    elif first == "-c":
        text = arguments.pop(1)
    else:
        text = sys.stdin.read()
    sys.argv[:] = arguments
    more = os.environ.get("PYTHONPATH", "").split(":")
    sys.path[:] = [own, *filter(None, more), *sys.path[1:]]
    if own:
        runpy.run_path(first, run_name="__main__")
        return
    main = sys.modules["__main__"] = type(sys)("__main__")
    exec(compile(text, "<string>", "exec"), main.__dict__)


class Forks:
    """The event loop.  It waits for connections, for the end of the shell, and for
    each program's client and end."""

    def __init__(self, path, shell):
        self.wait = selectors.DefaultSelector()
        self.numbers = path + ".of"
        os.mkdir(self.numbers)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(64)
        self.wait.register(self.listener, selectors.EVENT_READ, self.begin)
        self.shell = os.pidfd_open(shell)
        self.wait.register(self.shell, selectors.EVENT_READ, sys.exit)
        self.programs = {}  # by PID: connection, pidfd

    def begin(self):
        """Accepts a client and forks.  Returns the arguments in the fork."""
        conn = self.listener.accept()[0]
        try:
            arguments, environment, fds = program(conn)
        except EOFError:
            conn.close()
            return None
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        pid = os.fork()
        if not pid:
            self.note(conn, os.getpid())  # before the program starts
            conn.close()
            self.close()
            become(environment, fds)
            return arguments
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        for fd in fds:
            os.close(fd)
        end = os.pidfd_open(pid)
        self.programs[pid] = conn, end
        self.wait.register(conn, selectors.EVENT_READ, lambda: self.pass_on(pid))
        self.wait.register(end, selectors.EVENT_READ, lambda: self.end(pid))
        return None

    def note(self, conn, pid):
        """Writes the PID of the program into the file of its client."""
        peer = conn.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, PEER.size)
        with open(f"{self.numbers}/{PEER.unpack(peer)[0]}", "w") as file:
            file.write(str(pid))

    def pass_on(self, pid):
        if pid not in self.programs:
            return  # the program has just ended
        conn = self.programs[pid][0]
        numbers = conn.recv(16)
        for number in numbers or (signal.SIGKILL,):
            os.kill(pid, number)
        if not numbers:
            self.wait.unregister(conn)

    def end(self, pid):
        conn, end = self.programs.pop(pid)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        for file in conn, end:
            if file in self.wait.get_map():
                self.wait.unregister(file)
        try:
            conn.send(struct.pack("=i", code))
        except BrokenPipeError:
            pass  # the client was killed
        conn.close()
        os.close(end)

    def close(self):
        for conn, end in self.programs.values():
            conn.close()
            os.close(end)
        os.close(self.shell)
        self.listener.close()
        self.wait.close()

    def loop(self):
        while True:
            for key, _ in self.wait.select():
                if arguments := key.data():
                    return arguments

    def stop(self):
        until = time.monotonic() + GRACE
        for pid in self.programs:
            os.kill(pid, signal.SIGTERM)
        for pid, (_, end) in list(self.programs.items()):
            left = max(0, until - time.monotonic())
            if not select.select([end], [], [], left)[0]:
                os.kill(pid, signal.SIGKILL)
            self.end(pid)


def serve(path, shell, modules):
    forks = Forks(path, shell)
    for name in modules:
        importlib.import_module(name)
    gc.freeze()  # no collection of these objects: their pages stay shared
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        return forks.loop()
    except SystemExit:
        forks.stop()
        raise


run(serve(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
