#!/usr/bin/env bash
# tests/alone.c, which starts each test: a test that hangs ends, and nothing that a
# test has started is left.
# Mostly waits, 4 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
alone=$(realpath "${ALONE:-$BIN/../tests/alone}")

# Its own stages: they ignore all that asks them to end.
deaf='trap "" TERM HUP; echo $$ >>numbers; sleep 1000'
all_gone() {
    local numbers pid
    mapfile -t numbers <numbers
    for pid in "${numbers[@]}"; do
        gone "$pid" || { echo "$pid is there"; return 1; }
    done
    [[ ${#numbers[@]} -eq $1 ]]
}
# alone_is CODE N PROGRAM... : within $limit seconds, with $grace; N processes have
# been there, and are gone
limit=100 grace=.5
alone_is() {
    rm -f numbers
    exits "$1" "$alone" "$limit" "$grace" "${@:3}" 2>said && cat said && all_gone "$2"
}
cd "$work" || exit 1

ok 'ends with the code of a program' alone_is 7 1 bash -c 'echo $$ >numbers; exit 7'
ok '128 + N after signal N' alone_is 137 1 bash -c 'echo $$ >numbers; kill -KILL $$'
ok 'no signal is ignored, as in the background' bash -c "
    trap '' INT HUP
    '$alone' 9 1 bash -c 'kill -INT \$\$; sleep 1'
    [[ \$? -eq 130 ]]"
# as under nohup: the group of what was started hears that its terminal is gone
hung_up() {
    rm -f begun
    (
        trap '' HUP
        exec setsid "$alone" 9 1 bash -c ': >begun; sleep .3; exit 7'
    ) &
    becomes_true test -e begun && kill -HUP -- "-$!" && exits 7 wait "$!"
}
ok 'where SIGHUP is ignored it ends nothing' hung_up
ok 'says what cannot be started' exits 127 "$alone" 1 1 no-such-program
limit=2
ok 'kills a program that hangs' alone_is 124 1 bash -c "$deaf"
ok 'and says so' grep -x '# did not end' said
ok 'names it' grep '^# left behind: .*sleep 1000' said
limit=100
brief='bash -c "echo \$\$ >numbers; sleep .2" & while [[ ! -s numbers ]]; do :; done'
grace=100 ok 'waits for one that ends in time' alone_is 0 1 bash -c "$brief"
ok 'and says nothing' test ! -s said
leaves="for i in 1 2 3; do setsid bash -c '$deaf' & done
while [[ ! -s numbers || \$(wc -l <numbers) -lt 3 ]]; do :; done"
ok 'kills three that stay, which fails' alone_is 1 3 bash -c "$leaves"
ok 'and names each' holds "$(grep -c '^# left behind: .*sleep' said) >= 3"
ok 'the code of a program that fails comes first' \
    alone_is 7 3 bash -c "$leaves; exit 7"

rm numbers
"$alone" 1000 1000 bash -c "$leaves; echo all >ready; sleep 1000" 2>"$work/asked" &
waits_for ready
kill $!
ok 'ends at once when it is asked to' exits 124 wait $!
ok 'and all with it' all_gone 3
done_testing
