#!/usr/bin/env bash
# A program started by the warm Python of runs.sh behaves as in a new Python.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
tests=$(cd "${0%/*}/.." && pwd)

if [[ ! -x /usr/bin/python3 ]]; then
    skip 'a warm Python' 'no python3'
    done_testing
fi
warm json
mkdir "$work/here"
cd "$work/here" || exit 1

# last NAME : prints the last line of its stderr, without the shell's messages on signals
last() {
    grep -v "^$0: line" "$work/$1.err" | tail -n 1
}
# alike COMMAND... : the command, which uses $python, has the same output and exit code
# with the warm Python and a new one
alike() {
    local plain=0 warm=0
    "$@" >"$work/warm" 2>"$work/warm.err" || warm=$?
    local python=/usr/bin/python3
    "$@" >"$work/plain" 2>"$work/plain.err" || plain=$?
    cat "$work/warm" "$work/warm.err"
    echo "code $warm, want $plain"
    [[ $warm -eq $plain ]] && cmp "$work/plain" "$work/warm" &&
        cmp <(last plain) <(last warm)
}

# prints how it was started
cat >"$work/started.py" <<'END'
import os, sys
print(__name__, sys.argv, os.getcwd(), sys.path, sys.dont_write_bytecode)
print(sorted(kv for kv in os.environ.items() if kv[0] not in ("_", "LC_CTYPE")))
print(sys.stdin.read())
sys.exit("the end")
END
file() {
    echo some text | A='b c=d' PYTHONPATH=/no/folder:/tmp "$python" "$work/started.py" \
        'an argument' '' é
}
on_stdin() {
    PYTHONDONTWRITEBYTECODE=1 "$python" - x y <"$work/started.py"
}
as_text() {
    "$python" -c 'import sys; print(sys.argv); sys.exit(int(sys.argv[2]))' a 7
}
fails() {
    "$python" -c 'print(1); raise KeyError("none")'
}
by_signal() {
    "$python" -c 'import os, signal, sys; os.kill(os.getpid(), int(sys.argv[1]))' \
        "$1"
}
# sent SIGNAL : sends it to a program that sleeps
sent() {
    rm -f ready
    "$python" -c 'import time; open("ready", "w").write("x"); time.sleep(60)' &
    waits_for ready
    kill "-$1" $!
    wait $!
}
caught() {
    rm -f ready
    "$python" -c 'import signal, sys, time
def stop(*_):
    print("stopped")
    sys.exit(3)
signal.signal(signal.SIGTERM, stop)
open("ready", "w").write("x")
time.sleep(60)' &
    waits_for ready
    kill $!
    wait $!
}

ok 'a file gets arguments, environment, folder, paths and stdin' alike file
ok 'a program on stdin' alike on_stdin
ok 'a program as an argument, and its exit code' alike as_text
ok 'a program that raises an exception' alike fails
for signal in TERM INT KILL ABRT; do
    ok "a program that kills itself with SIG$signal" \
        alike by_signal "$(kill -l "$signal")"
done
for signal in TERM HUP; do
    ok "a program that gets SIG$signal" alike sent "$signal"
done
ok 'a program that exits after SIGTERM' alike caught
"$python" -c 'import os, time; print(os.getpid(), flush=True); time.sleep(60)' \
    >"$work/number" &
waits_for "$work/number"
kill -KILL $!
{ wait $!; } 2>/dev/null
ok 'SIGKILL of the client ends the program' becomes_true gone "$(<"$work/number")"
"$python" -c 'import os, time; print(os.getpid(), flush=True); time.sleep(60)' \
    >"$work/other" &
waits_for "$work/other"
kill_now $!
ok 'kill_now ends the program at once' gone "$(<"$work/other")"

# a client is killed before it has sent its whole request
torn() {
    /usr/bin/python3 -c 'import socket, sys
for request in b"", b"\4\0\0\0\1\0\0\0" * 2 + b"ab":
    server = socket.socket(socket.AF_UNIX)
    server.connect(sys.argv[1])
    if request:
        socket.send_fds(server, [request], [0, 1, 2, 0])
    server.close()' "$python.at" && "$python" -c 'print("there")'
}
ok 'the warm Python continues after half a request' torn

# a test ends while its program ignores SIGTERM
deaf="import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(os.getpid(), flush=True)
time.sleep(60)"
ok 'a shell ends although its program ignores SIGTERM' bash -c "
    . '$tests/tap.sh'; . '$tests/runs.sh'
    warm json
    \"\$python\" -c '$deaf' >'$work/deaf' &
    waits_for '$work/deaf'"
ok 'the program that ignores SIGTERM has ended' gone "$(<"$work/deaf")"
done_testing
