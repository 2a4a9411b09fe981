#!/usr/bin/env bash
# The pipeline in plain sh trains, ends with its trainer, stops after SIGTERM, resumes to
# the same bits, and can run another program as a stage.
# Not for sanitizers: other tests cover its stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1 PATH=$BIN:$PATH BATCH=8 EPOCHS=12
by_hand=$(cd "${0%/*}/../../pipelines" && pwd)/by-hand
cd "$work" || exit
foil-data generate --size 8 -o set.tar 64 2>/dev/null
foil-data index set.tar 2>/dev/null
# a small trainer: the script runs this foil-train, which adds options
mkdir small
printf '#!/bin/sh\nexec %q "$@" --arch linear --head 16-9 --threads 1\n' \
    "$BIN/foil-train" >small/foil-train
chmod 755 small/foil-train
PATH=$work/small:$PATH

# nothing_left RUN : no process has that folder in its command line
nothing_left() {
    ! pgrep -f -- "-r $1 " >/dev/null
}

ok 'by-hand trains' "$by_hand" set.tar whole
ok 'by-hand trains all steps' test "$(steps whole)" -eq 96
ok 'by-hand leaves no process' becomes_true nothing_left whole

stopped() {
    "$by_hand" set.tar cut 2>/dev/null &
    local pid=$! code=0
    becomes_true has_steps cut 20 || return
    kill -TERM "$pid"
    wait "$pid" || code=$?
    test "$code" -eq 143 && test "$(steps cut)" -lt 96
}
ok 'SIGTERM ends by-hand in the middle with 143' stopped
ok 'by-hand leaves no process after SIGTERM' becomes_true nothing_left cut
ok 'by-hand leaves a checkpoint after SIGTERM' test -s cut/latest/model.safetensors
ok 'the same command resumes by-hand' "$by_hand" set.tar cut
ok 'a resumed by-hand gives the bits of an undisturbed run' \
    diff -r whole/latest/ cut/latest/
ok 'a resumed by-hand gives the metrics of an undisturbed run' \
    diff <(timeless whole) <(timeless cut)

printf '#!/bin/sh\necho "$@" >words\nexec foil-select "$@" --policy shuffle\n' >mine
chmod 755 mine
ok 'SELECT runs another program as selector' \
    env SELECT=./mine "$by_hand" set.tar mine-run
ok 'SELECT gets the options of foil-select' \
    grep -qx -- '-r mine-run --batch 8 --epochs 12 set.tar' words
ok 'by-hand with SELECT trains all steps' test "$(steps mine-run)" -eq 96
ok 'by-hand of a missing data set exits with 1' \
    refuses 1 "nothing.tar" "$by_hand" nothing.tar bad
ok 'by-hand --help prints to stdout and exits with 0' "$by_hand" --help
ok 'by-hand --help prints the usage' \
    grep -qx 'usage: pipelines/by-hand DATA \[RUN\]' "$work/out"
ok 'by-hand without arguments exits with 2' refuses 2 'usage: by-hand DATA' "$by_hand"
done_testing
