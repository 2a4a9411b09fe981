#!/usr/bin/env bash
# wire.sh: a batch of 196 kB from snapshot to decoded, against the same in
# Python with pyzmq and msgpack; and the trainer's own part of it, as a share of
# the shortest step (ResNet-20, bf16, two threads; a step of ResNet-18 is some
# ten times longer).
set -eu
here=$(dirname "$0")
bench=${BENCH:-build/release/tests/bench}
n=${N:-2000}

# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"

have=1
"$python" -c 'import zmq, msgpack' 2>/dev/null || have=
trip='' encode='' decode='' peer=''
for ((i = 0; i < ${REPEAT:-3}; i++)); do
    read -r a b c <<<"$("$bench/bench_wire" "$n")"
    trip+=$a$'\n' encode+=$b$'\n' decode+=$c$'\n'
    [[ -z $have ]] || peer+=$("$python" "$here/wire_peer.py" "$n")$'\n'
done
trip=$(printf %s "$trip" | median 1) encode=$(printf %s "$encode" | median 1)
decode=$(printf %s "$decode" | median 1)
if [[ $have ]]; then
    peer=$(printf %s "$peer" | median 1)
    printf 'bench wire-batch ours %s us peer %s ratio %s\n' "$trip" "$peer" \
        "$(ratio 2 "$peer" "$trip")"
else
    echo 'bench wire-batch skipped: no python3-zmq, python3-msgpack'
fi
step=$("$bench/bench_step" resnet20 train bf16 2 25 | awk '{ print $1 * 1000 }')
printf 'bench wire-share ours %s us of a step of %s us: %s %% (encode %s us)\n' \
    "$trip" "$step" "$(ratio 2 "100 * $trip" "$step")" \
    "$encode"
printf 'bench wire-decode ours %s us\n' "$decode"
