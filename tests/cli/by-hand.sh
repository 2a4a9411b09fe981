#!/usr/bin/env bash
# The pipeline in plain sh: it trains, ends with its trainer, is stopped, goes on to the
# same bits, and takes another program in the place of a stage.
# Not for sanitizers: its stages are in others.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1 PATH=$BIN:$PATH BATCH=8 EPOCHS=12
by_hand=$(cd "${0%/*}/../../pipelines" && pwd)/by-hand
cd "$work" || exit
foil-data generate --size 8 -o set.tar 64 2>/dev/null
foil-data index set.tar 2>/dev/null
# a small trainer: the script calls foil-train, and this one adds to its options
mkdir small
printf '#!/bin/sh\nexec %q "$@" --arch linear --head 16-9 --threads 1\n' \
    "$BIN/foil-train" >small/foil-train
chmod 755 small/foil-train
PATH=$work/small:$PATH

# nothing_left RUN : no process has that folder among its words
nothing_left() {
    ! pgrep -f -- "-r $1 " >/dev/null
}

ok 'it trains' "$by_hand" set.tar whole
ok 'all its steps' test "$(steps whole)" -eq 96
ok 'nothing is left' becomes_true nothing_left whole

stopped() {
    "$by_hand" set.tar cut 2>/dev/null &
    local pid=$! code=0
    becomes_true has_steps cut 20 || return
    kill -TERM "$pid"
    wait "$pid" || code=$?
    test "$code" -eq 143 && test "$(steps cut)" -lt 96
}
ok 'SIGTERM ends it in the middle: 143' stopped
ok 'nothing is left behind it' becomes_true nothing_left cut
ok 'and is saved' test -s cut/latest/model.safetensors
ok 'the same command goes on' "$by_hand" set.tar cut
ok 'to the same bits' diff -r whole/latest/ cut/latest/
ok 'with the same metrics' diff <(timeless whole) <(timeless cut)

printf '#!/bin/sh\necho "$@" >words\nexec foil-select "$@" --policy shuffle\n' >mine
chmod 755 mine
ok 'another program in the place of a stage' env SELECT=./mine "$by_hand" set.tar mine-run
ok 'with the options of the stage' grep -qx -- '-r mine-run --batch 8 --epochs 12 set.tar' words
ok 'trains all steps' test "$(steps mine-run)" -eq 96
ok 'no data set: foil-select says so' refuses 1 "nothing.tar" "$by_hand" nothing.tar bad
ok '--help: to stdout, 0' "$by_hand" --help
ok 'with the usage' grep -qx 'usage: pipelines/by-hand DATA \[RUN\]' "$work/out"
ok 'no word: 2' refuses 2 'usage: by-hand DATA' "$by_hand"
done_testing
