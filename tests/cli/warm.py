"""warm.py MODULE...: a Python that has imported these already, and starts scripts
as forks of itself: to import them anew takes longer than what most scripts do.

A line of stdin, its words parted by tabs, is OUT SCRIPT ARGUMENT...: the script is
run, its stdout and stderr go to OUT, its exit code to OUT.code when it ends.  The
line of stdout for it is its process id.  They all end with this process."""
import ctypes
import importlib
import os
import runpy
import signal
import sys

PDEATHSIG = 1


def reap(*_):
    """Ends who has ended, so that its time counts."""
    try:
        while pid := os.waitpid(-1, os.WNOHANG)[0]:
            started.discard(pid)
    except ChildProcessError:
        pass


def stop(*_):
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for pid in started:
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
    try:
        while True:
            os.wait()
    except ChildProcessError:
        os._exit(0)


def run(out, script, *arguments):
    """In the fork."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    ctypes.CDLL(None).prctl(PDEATHSIG, signal.SIGTERM)
    file = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(file, 1)
    os.dup2(file, 2)
    sys.argv = [script, *arguments]
    sys.path[0] = os.path.dirname(script)
    code = 1
    try:
        runpy.run_path(script, run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    with open(out + ".code", "w") as file:
        file.write(f"{code}\n")
    sys.exit(code)  # not _exit(): what was sent is to go out


for name in sys.argv[1:]:
    importlib.import_module(name)
started = set()
signal.signal(signal.SIGCHLD, reap)
signal.signal(signal.SIGTERM, stop)
for line in sys.stdin:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    pid = os.fork()
    if not pid:
        run(*line.rstrip("\n").split("\t"))
    started.add(pid)
    print(pid, flush=True)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
stop()
