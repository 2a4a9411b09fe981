#!/usr/bin/env bash
# Attacks on the sockets of a run: before a peer is known, the bytes that it can send are
# bounded; the run's memory stays bounded, its steps continue, and its bits do not change.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1
python=/usr/bin/python3 # the Python with Debian's packages

data=$work/data.tar
if ! "$BIN/foil-data" generate -o "$data" --size 16 512 2>/dev/null ||
    ! "$BIN/foil-data" index "$data" 2>/dev/null; then
    echo "1..0 # SKIP no data set could be made"
    exit 1
fi
for role in select augment train; do
    "$BIN/foil-tap" --role $role keys "$work/keys" $role >/dev/null 2>&1
    mv "$work/keys/$role.key_secret" "$work"
done
batch=$(endpoint 0)

# the sanitizer keeps freed memory
checked=1
if grep -q __asan_init "$BIN/foil-train"; then
    checked=0
fi

# stage ROLE RUN OPTIONS... : starts it with its key and at most 1,024 files
stage() {
    (
        ulimit -n 1024
        exec "$BIN/foil-$1" -r "$work/$2" --keys "$work/$1.key_secret" \
            --allow "$work/keys" "${@:3}" 2>>"$work/$2/log"
    ) &
}

# begin RUN TRAIN-OPTION... : starts all stages; plan, features and events are ipc, batch
# is tcp; no run reaches its last epoch
begin() {
    mkdir -m 700 "$work/$1"
    stage train "$1" --arch linear --head 64-32 --lr 0.05 --warmup 0 --seed 5 \
        --threads 1 --checkpoint-every 1000000 --keep-features 2 \
        --batches "$batch" "${@:2}"
    trainer=$!
    stage augment "$1" --seed 5 --size 12 --batches "$batch" "$data"
    augmenter=$!
    stage select "$1" --seed 5 --batch 16 --epochs 1000 "$data"
    selector=$!
}

# end RUN : the trainer exits with 0, by itself or after SIGTERM, and then the others
end() {
    if wait "$trainer"; then
        kill "$augmenter" "$selector" 2>/dev/null
        wait "$augmenter" && wait "$selector" && return
    fi
    tail -n 20 "$work/$1/log"
    return 1
}

# attacked NAME : the attack was made, cost less than 64 MiB, and was cut off before it
# sent 300 MB (which includes the system's buffers of 30 connections)
attacked() {
    awk -v name="$1" -v checked="$checked" '
        $1 == name {
            print
            fine = $2 >= 2 && $5 < 300000 &&
                !(checked && ($3 > 65536 || $4 > 65536))
        }
        END { exit !fine }' "$work/strangers"
}

begin storm
ok 'each attack is made twice' "$python" "${0%/*}/strangers.py" "$work/storm" \
    "$batch" "$trainer" "$selector"
cp "$work/out" "$work/strangers"
kill "$trainer"
ok 'a run under attack continues and exits with 0 after SIGTERM' end storm
begin calm --steps "$(steps storm)"
ok 'a run of as many steps without attacks succeeds' end calm
ok 'the attacks do not change the bits' cmp "$work/calm/latest/model.safetensors" \
    "$work/storm/latest/model.safetensors"
sed 's/^/# /' "$work/strangers"
while read -r name what; do
    ok "$what" attacked "$name"
done <<'END'
prehandshake a frame of 1 GiB before the handshake takes no memory
huge a part of 900 MiB takes no memory
endless a message without end takes no memory
after_hello a message without end after hello takes no memory
subscriptions subscriptions without end take no memory
many 1,100 connections to one edge take no memory
END
[[ $checked = 1 ]] || skip 'memory during attacks' 'the sanitizer keeps more'
ok 'the log reports peers that were cut off or refused' \
    grep -qE 'was disconnected: it sent more|refused: a stage has room' "$work/storm/log"
# log_lines : prints how many lines the stages logged
log_lines() {
    wc -l <"$work/storm/log"
}
ok 'the log does not report each of thousands of attacks' holds "$(log_lines) < 60"
ok 'steps are trained during the attacks' \
    holds "$(sed -n 's/^steps //p' "$work/strangers") >= 40"
done_testing
