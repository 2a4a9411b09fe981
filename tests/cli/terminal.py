"""terminal.py COLUMNS ROWS [KEYS [WHEN]] -- COMMAND...: runs a command on a terminal of
that size and prints its output.  When it has printed WHEN (default: anything), the keys
are typed; ^C is Ctrl-C.  ^W halves width and height of the terminal; the keys after it
are typed when WHEN was printed twice more, since the first may be older.  Exits with the
command's code, or 99 if the terminal is left in another mode."""
import fcntl
import os
import pty
import select
import struct
import sys
import termios

at = sys.argv.index("--")
columns, rows = int(sys.argv[1]), int(sys.argv[2])
keys = sys.argv[3] if at > 3 else ""
when = sys.argv[4].encode() if at > 4 else b""
written = b""
times, since = 1, 0  # WHEN must occur so often after this position
master, slave = pty.openpty()


def resize():
    fcntl.ioctl(master, termios.TIOCSWINSZ,
                struct.pack("HHHH", rows, columns, 0, 0))


resize()
before = termios.tcgetattr(slave)
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in range(3):
        os.dup2(slave, fd)
    os.execvp(sys.argv[at + 1], sys.argv[at + 1:])

code = None
while code is None or select.select([master], [], [], 0)[0]:
    if select.select([master], [], [], 0.05)[0]:
        written += os.read(master, 65536)
        if keys and written[since:].count(when) >= times:
            now, half, keys = keys.partition("^W")
            os.write(master, now.replace("^C", "\x03").encode())
            if half:
                columns, rows = columns // 2, rows // 2
                resize()
                times, since = 2, len(written)
    if code is None:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
sys.stdout.buffer.write(written)
sys.stdout.flush()
sys.exit(code if termios.tcgetattr(slave) == before else 99)
