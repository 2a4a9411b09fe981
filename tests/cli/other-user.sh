#!/usr/bin/env bash
# What another user of the machine can reach of a run: no socket of any stage, and
# nothing of its page.
# Not for sanitizers: pipelines, their stages are in others.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export OMP_NUM_THREADS=1
PATH=$BIN:$PATH
here=$(cd "${0%/*}" && pwd)
cd "$work" || exit 1
chmod 755 . # the folder of the run alone keeps others out
foil-data generate -o set.tar 40 2>/dev/null && foil-data index set.tar 2>/dev/null

# ------------------------------------------------- what anyone can reach is said
# says_open NAME COMMAND... : it says so once, and ends when it is asked to
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
ok 'a selector on tcp without keys says who can connect' \
    says_open select foil-select -r open set.tar --plan
ok 'so does a trainer' says_open train foil-train -r open --batches
ok 'so does a trainer that publishes there' says_open events foil-train -r open --events
ok 'so does a negatives service' says_open negatives foil-negatives -r open --negatives
proxy() {
    exec foil-tap -q proxy "$1" ipc://nowhere
}
ok 'so does a proxy' says_open tap proxy

# ------------------------------------------------------------ another user tries
if [[ $(id -u) -ne 0 ]]; then
    skip 'the sockets of a run' 'only root can become another user'
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
ok 'its page is there for those that have its address' \
    curl -sf -o /dev/null "$(<view.at)all"
done_testing
