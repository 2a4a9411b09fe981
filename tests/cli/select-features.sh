#!/usr/bin/env bash
# Plans from features: the same to the bit whatever is killed when; late plans;
# how hard a plan from files is.
# Mostly waits, 40 s
# Not for sanitizers: its stages are in foil-select.sh, plans in tests/select.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1

data=$work/data.tar
"$BIN/foil-data" generate -o "$data" --size 16 512 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null

# -------------------------------------------------------------- from files

"$BIN/foil-embed" --raw --size 8 -o "$work/u.npy" "$data" 2>/dev/null
score=("$BIN/foil-select" --score -b 32 "$work/u.npy")
ok 'a plan from a file' "${score[@]}" --strategy swap --plan-out "$work/plan"
ok 'one line of JSON' jq -se 'length == 1 and .[0].strategy == "swap" and
    .[0].samples == 512 and .[0].batches == 16' "$work/out"
"${score[@]}" --strategy swap >"$work/swap.json"
ok 'is harder than a random one' \
    jq -e '.mean > .random.mean and .weight > .random.weight and
    .min <= .mean and .mean <= .max and .seconds > 0' "$work/swap.json"
ok 'each sample once' diff <(seq 0 511) <(tr ' ' '\n' <"$work/plan" | sort -n)
ok 'a line for each batch' test "$(wc -l <"$work/plan")" -eq 16
ok 'the loss of each batch' "${score[@]}" --losses "$work/losses"
cp "$work/out" "$work/line"
ok 'the mean of which is printed' jq -es '(.[0].mean - (.[1:] | add / length)
    | . * . < 1e-10) and length == 17' "$work/line" "$work/losses"
"${score[@]}" >"$work/shuffle.json"
ok 'shuffle is the random one' jq -e '.mean == .random.mean and
    .weight == .random.weight' "$work/shuffle.json"
# without foil-data group: pairs of neighbours in the order of the images
/usr/bin/python3 - "$work/groups.npy" <<'END'
import struct, sys
head = b"{'descr': '<i8', 'fortran_order': False, 'shape': (512,), }"
head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
with open(sys.argv[1], "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
    f.write(struct.pack("<512q", *(i // 2 for i in range(512))))
END
"${score[@]}" --strategy swap --avoid "$work/groups.npy" >"$work/avoid.json"
ok 'groups are parted, which a random plan does not' \
    jq -e '.together == 0 and .random.together > 0' "$work/avoid.json"
"${score[@]}" --strategy swap,hardness=0.5,block=0 >"$work/half.json"
ok 'half as hard is half the way from a random plan' \
    jq -es '(.[1].weight - .[0].weight) / (.[2].weight - .[0].weight) |
    .4 < . and . < .6' "$work/shuffle.json" "$work/half.json" "$work/swap.json"
ok 'both views' "${score[@]}" "$work/u.npy"
ok 'no such file: 1' refuses 1 'No such file' "${score[@]}" "$work/none.npy"
ok 'not the same rows: 1' refuses 1 'no .npy|not' "${score[@]}" "$data"
ok 'two files without --score: 2' refuses 2 'for --score' \
    "$BIN/foil-select" -r "$work/x" "$data" "$data"
ok '--plan-out without it: 2' refuses 2 'belongs to --score' \
    "$BIN/foil-select" -r "$work/x" --plan-out x "$data"
ok '--losses without it: 2' refuses 2 'belongs to --score' \
    "$BIN/foil-select" -r "$work/x" --losses x "$data"
ok 'no such strategy: 2' refuses 2 "no strategy 'x': there are shuffle" \
    "$BIN/foil-select" -r "$work/x" --strategy x "$data"
ok 'stdout that is full: 1' exits 1 bash -c "exec ${score[*]@Q} >/dev/full"
ok 'no trainer named: 2' refuses 2 'wants -r DIR or --trainer' \
    "$BIN/foil-select" --plan "ipc://$work/p" --strategy swap "$data"

# ------------------------------------------------------------------- a run

# 32 steps an epoch
few=$work/few.tar
"$BIN/foil-data" generate -o "$few" --size 16 256 2>/dev/null
"$BIN/foil-data" index "$few" 2>/dev/null
stages=() epochs=12

# train RUN OPTIONS... : in the background, its number in $trainer
train() {
    mkdir -p "$work/$1"
    "$BIN/foil-train" -r "$work/$1" --arch linear --head 32-16 \
        --lr 0.1 --warmup 0 --seed 5 --threads 1 --checkpoint-every 25 --deadline 60 \
        "${@:2}" 2>>"$work/$1/log" &
    trainer=$!
}

# augment RUN : in the background; ends with the trainer
augment() {
    "$BIN/foil-augment" -r "$work/$1" --seed 5 --size 8 "$few" \
        2>>"$work/$1/log" &
    stages+=($!)
}

# plan RUN OPTIONS... : in the background, its number in $selector
plan() {
    "$BIN/foil-select" -r "$work/$1" --seed 5 --batch 8 \
        --epochs "$epochs" "${@:2}" "$few" 2>>"$work/$1/log" &
    selector=$!
    stages+=("$selector")
}

# ends RUN : the trainer ends well, and with it the others
ends() {
    local code=0 pid
    wait "$trainer" || code=$?
    cat "$work/$1/log"
    [[ $code -eq 0 ]] || kill "${stages[@]}" 2>/dev/null
    for pid in "${stages[@]}"; do
        becomes_true gone "$pid" || { kill "$pid"; echo "left: $pid"; code=1; }
    done
    stages=()
    return "$code"
}

# like CALM RUN : checkpoint and metrics are the same
like() {
    diff -r "$work/$1/latest/" "$work/$2/latest/" &&
        diff <(timeless "$1") <(timeless "$2")
}

# plans RUN FILTER : jq says so of the plans of its epochs
plans() {
    jq -s "map(select(.plan) | .plan + {epoch, step}) | $2" -e \
        "$work/$1/metrics.jsonl"
}

# whole RUN SELECT-OPTIONS... : an undisturbed run
whole() {
    train "$1" --keep-features 2
    augment "$1"
    plan "$@"
    ends "$1"
}

# killed NAME SELECT-OPTIONS... : a run in which selector, trainer and at last
# all are killed, each in the middle of an epoch
killed() {
    local name=$1
    train "$name" --keep-features 2
    augment "$name"
    plan "$@"
    for steps in 10 80 115; do
        expect "at step $steps" past "$name" "$steps"
        kill_now "$selector"
        plan "$@"
    done
    expect 'at step 150' past "$name" 150
    kill_now "$trainer"
    train "$name" --resume
    expect 'at step 185' past "$name" 185
    kill_now "$trainer" "$selector"
    train "$name" --resume
    plan "$@"
    ends "$name"
}

# late RUN POLICY : the trainer is one that the selector never finds, so no plan
# ever comes
late() {
    whole "$1" --strategy swap --policy "$2" --trainer "ipc://$work/nobody"
}

# without_features RUN : what selector and trainer say when none are kept
without_features() {
    train "$1"
    augment "$1"
    plan "$1" --strategy swap
    expect 'a selector that says so' \
        becomes_true grep -q 'start the trainer with --keep-features' "$work/$1/log"
    kill -TERM "$selector"
    expect 'a good end of a selector that waits for them' wait "$selector"
}

# ask_features RUN PLAN : what the trainer says to who wants the features of
# the first epoch for an epoch PLAN
ask_features() {
    "$python" - "ipc://$work/$1/features" "$2" <<'END'
import json, msgpack, sys, zmq
sock = zmq.Context().socket(zmq.DEALER)
sock.setsockopt(zmq.RCVTIMEO, 20000)
sock.setsockopt(zmq.LINGER, 0)
sock.connect(sys.argv[1])
def ask(kind, **head):
    sock.send_multipart([b"foil2." + kind, msgpack.packb(head)])
    answer = sock.recv_multipart()
    return msgpack.unpackb(answer[1])
ask(b"hello", stage="select", version=2, run="", peer="ask.py",
    dataset={"digest": "", "size": 0})
print(json.dumps(ask(b"features.get", id=1, epoch=0, plan=int(sys.argv[2]),
                     **{"from": 0})))
END
}

# too_few RUN : the trainer keeps the features of one epoch, and the selector is
# killed in a later one, and started again
too_few() {
    train "$1" --keep-features 1
    augment "$1"
    plan "$1" --strategy swap
    expect 'at step 115' past "$1" 115
    kill_now "$selector"
    if [[ -n ${python-} ]]; then
        ask_features "$1" 1 >"$work/late.json"
        ask_features "$1" 9 >"$work/few.json"
    fi
    plan "$1" --strategy swap
    expect 'an end of the selector with 1' exits 1 wait "$selector"
}

# some at a time: much of each is waiting
if has_python msgpack zmq; then warm zmq msgpack json; fi
declare -A options=([steps]='--strategy swap'
    [eval]='--strategy swap --features eval' [late]='--strategy swap --lag 0')
begun none without_features none
for kind in steps eval late; do
    # shellcheck disable=SC2086 # options are words
    begun "$kind" killed "$kind" ${options[$kind]}
    # shellcheck disable=SC2086
    ok "$kind: an undisturbed run" whole "calm-$kind" ${options[$kind]}
    ok "$kind: with all its steps" \
        test "$(steps "calm-$kind")" -eq $((epochs * 32))
    ok "$kind: killed in the middle of epochs, the run goes on" ended "$kind"
    ok "$kind: to the same bits" like "calm-$kind" "$kind"
done

ok 'each plan stands with the first step of its epoch' plans calm-steps \
    "map(.epoch) == [range($epochs)] and all(.step == 0)"
ok 'lag 1: two epochs are shuffled, then features are two epochs old' \
    plans calm-steps 'map(.strategy) == ["shuffle", "shuffle"] +
        [range(10) | "swap"] and all(.[2:][]; .stale == 2 and .known == 1 and
        .eval == 0 and .mean > .random_mean and .from == .epoch - 2)'
ok 'lag 0: one is, then they are one epoch old' \
    plans calm-late 'map(.strategy)[:2] == ["shuffle", "swap"] and
        all(.[1:][]; .stale == 1)'
ok 'features of a pass of their own are said to be' \
    plans calm-eval 'all(.[2:][]; .eval == 1 and .known == 1)'
ok 'which are others' bash -c "! cmp -s '$work'/calm-{eval,steps}/metrics.jsonl"

# ------------------------------------------------------------ what is late

begun shuffle late shuffle shuffle
begun previous late previous previous
begun short too_few short
ok 'features in half precision' whole half --strategy swap --table f16
ok 'are nearly the same' jq -en "$(plans calm-steps '.[2].random_mean') -
    $(plans half '.[2].random_mean') | fabs < 0.01 and . != 0"
for policy in shuffle previous; do
    ok "--policy $policy: the run goes on" ended "$policy"
    ok 'it says so' grep -q 'plan of epoch 2 is late: ' \
        "$work/$policy/log"
done
ok 'plans that are there are taken' whole found --strategy swap \
    --policy previous

ok 'features that are not kept for long enough: 1' ended short
ok 'with the reason' grep -q 'foil-select: .*stores too few epochs' \
    "$work/short/log"
if [[ -e $work/few.json ]]; then
    ok 'features that are gone, for an epoch that is over: late' \
        jq -e '.id == 1 and .state and (.reason | test("has ended"))' "$work/late.json"
    sed "s/^/# /" "$work/late.json"
    ok 'for one that is not: never' jq -e '.id == null and
        (.reason | test("stores too few"))' "$work/few.json"
else
    skip 'features that are gone' 'no python3-zmq, python3-msgpack'
fi
ok 'no features at all: the selector says so, and SIGTERM ends it well: 0' \
    ended none
done_testing
