#!/usr/bin/env bash
# A warm Python, which other tests start their programs from, is to these what a
# Python of their own is.
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

# last NAME : line of its stderr, without what the shell says of signals
last() {
    grep -v "^$0: line" "$work/$1.err" | tail -n 1
}
# alike COMMAND... : the command, in which $python is a Python, prints the same with
# either, and ends with the same code
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

# where a program is, and what it was given
cat >"$work/told.py" <<'END'
import os, sys
print(__name__, sys.argv, os.getcwd(), sys.path, sys.dont_write_bytecode)
print(sorted(kv for kv in os.environ.items() if kv[0] not in ("_", "LC_CTYPE")))
print(sys.stdin.read())
sys.exit("the end")
END
file() {
    echo some text | A='b c=d' PYTHONPATH=/no/folder:/tmp "$python" "$work/told.py" \
        'an argument' '' é
}
on_stdin() {
    PYTHONDONTWRITEBYTECODE=1 "$python" - x y <"$work/told.py"
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
# sent SIGNAL : to one that is at work
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

ok 'a file: arguments, environment, folder, paths, stdin' alike file
ok 'a text on stdin' alike on_stdin
ok 'a text as an argument, and its code' alike as_text
ok 'one that fails' alike fails
for signal in TERM INT KILL ABRT; do
    ok "one that is ended by $signal" alike by_signal "$(kill -l "$signal")"
done
for signal in TERM HUP; do
    ok "that is sent $signal" alike sent "$signal"
done
ok 'that ends by itself then' alike caught
"$python" -c 'import os, time; print(os.getpid(), flush=True); time.sleep(60)' \
    >"$work/number" &
waits_for "$work/number"
kill -KILL $!
{ wait $!; } 2>/dev/null
ok 'who is killed leaves no program' becomes_true gone "$(<"$work/number")"
"$python" -c 'import os, time; print(os.getpid(), flush=True); time.sleep(60)' \
    >"$work/other" &
waits_for "$work/other"
kill_now $!
ok 'kill_now leaves none at once' gone "$(<"$work/other")"

# one that is killed before it has said what it wants
torn() {
    /usr/bin/python3 -c 'import socket, sys
for begun in b"", b"\4\0\0\0\1\0\0\0" * 2 + b"ab":
    server = socket.socket(socket.AF_UNIX)
    server.connect(sys.argv[1])
    if begun:
        socket.send_fds(server, [begun], [0, 1, 2, 0])
    server.close()' "$python.at" && "$python" -c 'print("there")'
}
ok 'others go on when one says half of what it wants' torn

# a test that ends while a program does not listen
deaf="import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(os.getpid(), flush=True)
time.sleep(60)"
ok 'a program that does not listen ends with its shell' bash -c "
    . '$tests/tap.sh'; . '$tests/runs.sh'
    warm json
    \"\$python\" -c '$deaf' >'$work/deaf' &
    waits_for '$work/deaf'"
ok 'and is gone' gone "$(<"$work/deaf")"
done_testing
