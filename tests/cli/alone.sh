#!/usr/bin/env bash
# tests/alone.c, which starts each test, ends a test that hangs and kills all processes
# that a test leaves.
# Mostly waits, 4 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
alone=$(realpath "${ALONE:-$BIN/../tests/alone}")

# a stage that ignores SIGTERM and SIGHUP
deaf='trap "" TERM HUP; echo $$ >>numbers; sleep 1000'
all_gone() {
    local numbers pid
    mapfile -t numbers <numbers
    for pid in "${numbers[@]}"; do
        gone "$pid" || { echo "$pid is there"; return 1; }
    done
    [[ ${#numbers[@]} -eq $1 ]]
}
# alone_is CODE N PROGRAM... : alone ends with CODE within $limit seconds, with $grace;
# N processes were started, and all have ended
limit=100 grace=.5
alone_is() {
    rm -f numbers
    exits "$1" "$alone" "$limit" "$grace" "${@:3}" 2>report && cat report && all_gone "$2"
}
cd "$work" || exit 1

ok 'alone exits with the exit code of the program' \
    alone_is 7 1 bash -c 'echo $$ >numbers; exit 7'
ok 'alone exits with 128 + N after signal N' \
    alone_is 137 1 bash -c 'echo $$ >numbers; kill -KILL $$'
ok 'a program of alone in the background does not ignore SIGINT' bash -c "
    trap '' INT HUP
    '$alone' 9 1 bash -c 'kill -INT \$\$; sleep 1'
    [[ \$? -eq 130 ]]"
# as under nohup: the process group gets SIGHUP when its terminal closes
hung_up() {
    rm -f started
    (
        trap '' HUP
        exec setsid "$alone" 9 1 bash -c ': >started; sleep .3; exit 7'
    ) &
    becomes_true test -e started && kill -HUP -- "-$!" && exits 7 wait "$!"
}
ok 'alone continues after SIGHUP if it is ignored' hung_up
ok 'alone exits with 127 if the program does not exist' \
    exits 127 "$alone" 1 1 no-such-program
limit=2
ok 'alone kills a program after the time limit' alone_is 124 1 bash -c "$deaf"
ok 'alone reports a program that it killed' grep -x '# did not end' report
ok 'alone prints the command line of a program that it killed' \
    grep '^# left behind: .*sleep 1000' report
limit=100
brief='bash -c "echo \$\$ >numbers; sleep .2" & while [[ ! -s numbers ]]; do :; done'
grace=100 ok 'alone waits for a background process that ends within the grace time' \
    alone_is 0 1 bash -c "$brief"
ok 'alone prints nothing if all processes end by themselves' test ! -s report
leaves="for i in 1 2 3; do setsid bash -c '$deaf' & done
while [[ ! -s numbers || \$(wc -l <numbers) -lt 3 ]]; do :; done"
ok 'alone kills three processes that a program leaves and exits with 1' \
    alone_is 1 3 bash -c "$leaves"
ok 'alone prints the command line of each process that it killed' \
    holds "$(grep -c '^# left behind: .*sleep' report) >= 3"
ok 'the exit code of a program precedes that for processes it leaves' \
    alone_is 7 3 bash -c "$leaves; exit 7"

rm numbers
"$alone" 1000 1000 bash -c "$leaves; echo all >ready; sleep 1000" 2>"$work/asked" &
waits_for ready
kill $!
ok 'alone ends at once after SIGTERM' exits 124 wait $!
ok 'alone kills all processes of the program after SIGTERM' all_gone 3
done_testing
