#!/usr/bin/env bash
# Another user of the machine reaches nothing of a run: no socket of a stage, and no
# content of its page.
# Not for sanitizers: pipelines; other tests cover their stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export OMP_NUM_THREADS=1
PATH=$BIN:$PATH
here=$(cd "${0%/*}" && pwd)
cd "$work" || exit 1
chmod 755 . # only the folder of the run excludes other users
foil-data generate -o set.tar 40 2>/dev/null && foil-data index set.tar 2>/dev/null

# ------------------------------------------------- tcp without keys is reported
# says_open NAME COMMAND... : it reports once that anyone can connect, and ends after
# SIGTERM
ports=0
says_open() {
    local at
    at=$(endpoint $((ports++)))
    "${@:2}" "$at" 2>"$1.err" &
    is_said() {
        grep -q "anyone on this machine can connect to '$at'" "$work/$1.err" ||
            ! kill -0 "$!"
    }
    becomes_true is_said "$1"
    kill "$!"
    wait "$!"
    cat "$1.err"
    test "$(grep -c "anyone on this machine can connect to '$at'" "$1.err")" -eq 1
}
ok 'foil-select on tcp without keys reports that anyone can connect' \
    says_open select foil-select -r open set.tar --plan
ok 'foil-train on tcp without keys reports that anyone can connect' \
    says_open train foil-train -r open --batches
ok '--events on tcp without keys reports that anyone can connect' \
    says_open events foil-train -r open --events
ok 'foil-negatives on tcp without keys reports that anyone can connect' \
    says_open negatives foil-negatives -r open --negatives
proxy() {
    exec foil-tap -q proxy "$1" ipc://nowhere
}
ok 'foil-tap proxy on tcp without keys reports that anyone can connect' \
    says_open tap proxy

# ------------------------------------------------------------ another user connects
if [[ $(id -u) -ne 0 ]]; then
    skip 'sockets of a run for another user' 'only root can become another user'
    done_testing
fi
foil-tap --role tap keys keys tap >/dev/null 2>&1
mv keys/tap.key_secret .
foil run emc2 set.tar -r run --augmenters 2 --threads 1 --batch 8 --epochs 100000 \
    --arch linear --head 16-9 --size 16 --lr .01 --train '--keep-features 2' \
    2>run.err &
stages=("$!")
becomes_true test -s run/metrics.jsonl
foil-view --port 0 -r run >view.at 2>view.err &
stages+=("$!")
foil-tap -q --keys tap.key_secret --allow keys proxy "$(endpoint 9)" ipc://run/batch \
    2>tap.err &
stages+=("$!")
foil-tap -q -r run --follow events 2>events.err &
stages+=("$!")
script -qec 'exec foil-top -r run' top.log >/dev/null </dev/null &
stages+=("$!")
becomes_true test -s view.at
becomes_true grep -qi ":$(printf %X 7009) " /proc/net/tcp
pass_on /usr/bin/python3 "$here/other_user.py" "foil-select:plan foil-train:batch \
foil-train:events foil-train:features foil-negatives:items foil-negatives:negatives \
foil-view:tcp foil-tap:tcp" run "${stages[@]}"
ok 'the page answers with the address that foil-view printed' \
    curl -sf -o /dev/null "$(<view.at)all"
done_testing
