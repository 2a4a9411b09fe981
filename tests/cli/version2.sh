#!/usr/bin/env bash
# Stages and subscribers that speak version 2 of the protocol: made from programs for
# version 3, with the names of version 2.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1 PATH=$BIN:$PATH
here=$(cd "${0%/*}" && pwd)
has_python zmq msgpack numpy || { skip 'version 2' 'no python3-zmq, python3-numpy'; done_testing; }
cd "$work" || exit
foil-data generate --size 8 -o set.tar 32 2>/dev/null
foil-data index set.tar 2>/dev/null

# old PROGRAM : writes the same program for version 2
old() {
    sed -E 's/foil3/foil2/g; s/"version": 3/"version": 2/; s/!= 3 else/!= 2 else/; s/b"want"/b"next"/g
        s/b"heartbeat"/b"beat"/g; s/b"ok"/b"state.ok"/g; s/weights\.get/pairs/g
        s/"rehello"/"again"/g; s/"need_state"/"state"/g; s/"empty"/"fresh"/g' "$1"
}
mkdir 2 3
for program in "$here/../../pipelines/examples/selector.py" "$here/counting.py"; do
    cp "$program" 3
    old "$program" >"2/${program##*/}"
done

# subscribe VERSION RUN : prints the kinds that a subscriber of that version gets
subscribe() {
    exec /usr/bin/python3 - "$@" <<'end'
import sys
import zmq

socket = zmq.Context().socket(zmq.SUB)
socket.subscribe(f"foil{sys.argv[1]}.")
socket.connect(f"ipc://{sys.argv[2]}/events")
while True:
    print(socket.recv_multipart()[0].decode(), flush=True)
end
}

# trains VERSION : a run in the folder run.VERSION; its selector, its negatives service
# and a subscriber speak that version
trains() {
    local run=run.$1 code=0
    mkdir -m 700 "$run"
    /usr/bin/python3 "$1/selector.py" "$run" 8 4 set.tar 2>"$run.select" &
    local jobs="$!"
    /usr/bin/python3 "$1/counting.py" "ipc://$run/negatives" &
    jobs+=" $!"
    subscribe "$1" "$run" >"$run.kinds" &
    jobs+=" $!"
    "$BIN/foil-augment" -r "$run" set.tar 2>"$run.augment" &
    jobs+=" $!"
    "$BIN/foil-train" -r "$run" --arch linear --head 8-8 --threads 1 --objective emc2 \
        --lr 0.1 2>"$run.train" || code=$?
    # shellcheck disable=SC2086 # several
    kill $jobs 2>/dev/null
    wait
    return "$code"
}
start_job new trains 3
start_job old trains 2
ok 'a run with stages of version 3 succeeds' job_ok new
ok 'a run with stages of version 2 succeeds' job_ok old
ok 'both runs have the same weights' cmp run.{2,3}/latest/model.safetensors
ok 'the service of version 2 has the same state' cmp run.{2,3}/latest/samples.safetensors
for stage in augment train; do
    ok "foil-$stage prints a line about version 2" \
        test 1 -eq "$(grep -c 'speaks version 2 of the protocol: update it' "run.2.$stage")"
    ok "foil-$stage prints none about version 3" \
        exits 1 grep -q 'speaks version' "run.3.$stage"
done
ok 'a subscriber of version 2 gets its version alone' \
    bash -c 'grep -q "^foil2.metrics$" run.2.kinds && ! grep -v "^foil2" run.2.kinds'
ok 'a subscriber of version 2 gets names of version 2' bash -c 'grep -q "^foil2.drawn$" run.2.kinds'
ok 'a subscriber of version 3 gets its version alone' \
    bash -c 'grep -q "^foil3.top_negatives$" run.3.kinds && ! grep -v "^foil3" run.3.kinds'

# a recording of version 2 is read
printf 'FOILREC1\1\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0' >old.rec
printf '\13\0\0\0\0\0\0\0foil2.error\26\0\0\0\0\0\0\0\202\246reason\243who\245again\303' >>old.rec
ok 'foil-tap shows a message of version 2 by its names of version 3' bash -c \
    'foil-tap show old.rec | jq -e ".kind == \"error\" and .header.rehello"'
done_testing
