#!/usr/bin/env bash
# Plans from features are the same, bit for bit, whichever process is killed and when;
# late plans; the hardness of a plan from files.
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
ok 'foil-select --score plans from a file' \
    "${score[@]}" --strategy swap --plan-out "$work/plan"
ok '--score prints one line of JSON' jq -se 'length == 1 and .[0].strategy == "swap" and
    .[0].samples == 512 and .[0].batches == 16' "$work/out"
"${score[@]}" --strategy swap >"$work/swap.json"
ok 'a swapped plan is harder than a random one' \
    jq -e '.mean > .random.mean and .weight > .random.weight and
    .min <= .mean and .mean <= .max and .seconds > 0' "$work/swap.json"
ok 'a plan has each sample once' diff <(seq 0 511) <(tr ' ' '\n' <"$work/plan" | sort -n)
ok '--plan-out writes a line for each batch' test "$(wc -l <"$work/plan")" -eq 16
ok '--losses writes the loss of each batch' "${score[@]}" --losses "$work/losses"
cp "$work/out" "$work/line"
ok '--score prints the mean of the losses' jq -es '(.[0].mean - (.[1:] | add / length)
    | . * . < 1e-10) and length == 17' "$work/line" "$work/losses"
"${score[@]}" >"$work/shuffle.json"
ok 'a shuffled plan has the figures of the random one' jq -e '.mean == .random.mean and
    .weight == .random.weight' "$work/shuffle.json"
# groups of neighbours in the order of the images, without foil-data group
/usr/bin/python3 - "$work/groups.npy" <<'END'
import struct, sys
head = b"{'descr': '<i8', 'fortran_order': False, 'shape': (512,), }"
head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
with open(sys.argv[1], "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
    f.write(struct.pack("<512q", *(i // 2 for i in range(512))))
END
"${score[@]}" --strategy swap --avoid "$work/groups.npy" >"$work/avoid.json"
ok '--avoid separates groups, which a random plan does not' \
    jq -e '.same_group_pairs == 0 and .random.same_group_pairs > 0' "$work/avoid.json"
"${score[@]}" --strategy swap,hardness=0.5,block=0 >"$work/half.json"
ok 'hardness=0.5 is half way from a random plan' \
    jq -es '(.[1].weight - .[0].weight) / (.[2].weight - .[0].weight) |
    .4 < . and . < .6' "$work/shuffle.json" "$work/half.json" "$work/swap.json"
ok '--score takes both views' "${score[@]}" "$work/u.npy"
ok '--score of a missing file exits with 1' \
    refuses 1 'No such file' "${score[@]}" "$work/none.npy"
ok '--score of files with different rows exits with 1' \
    refuses 1 'no .npy|not' "${score[@]}" "$data"
ok 'two data sets without --score exit with 2' refuses 2 'for --score' \
    "$BIN/foil-select" -r "$work/x" "$data" "$data"
ok '--plan-out without --score exits with 2' refuses 2 'belongs to --score' \
    "$BIN/foil-select" -r "$work/x" --plan-out x "$data"
ok '--losses without --score exits with 2' refuses 2 'belongs to --score' \
    "$BIN/foil-select" -r "$work/x" --losses x "$data"
ok 'an unknown strategy exits with 2' refuses 2 "no strategy 'x': there are shuffle" \
    "$BIN/foil-select" -r "$work/x" --strategy x "$data"
ok '--score to a full disk exits with 1' exits 1 bash -c "exec ${score[*]@Q} >/dev/full"
ok 'a strategy by features without a trainer exits with 2' \
    refuses 2 'needs -r DIR or --trainer' \
    "$BIN/foil-select" --plan "ipc://$work/p" --strategy swap "$data"

# ------------------------------------------------------------------- a run

# 32 steps an epoch
few=$work/few.tar
"$BIN/foil-data" generate -o "$few" --size 16 256 2>/dev/null
"$BIN/foil-data" index "$few" 2>/dev/null
stages=() epochs=12

# train RUN OPTIONS... : starts foil-train in the background, in $trainer
train() {
    mkdir -p "$work/$1"
    "$BIN/foil-train" -r "$work/$1" --arch linear --head 32-16 \
        --lr 0.1 --warmup 0 --seed 5 --threads 1 --checkpoint-every 25 --deadline 60 \
        "${@:2}" 2>>"$work/$1/log" &
    trainer=$!
}

# augment RUN : starts foil-augment in the background; it ends with the trainer
augment() {
    "$BIN/foil-augment" -r "$work/$1" --seed 5 --size 8 "$few" \
        2>>"$work/$1/log" &
    stages+=($!)
}

# plan RUN OPTIONS... : starts foil-select in the background, in $selector
plan() {
    "$BIN/foil-select" -r "$work/$1" --seed 5 --batch 8 \
        --epochs "$epochs" "${@:2}" "$few" 2>>"$work/$1/log" &
    selector=$!
    stages+=("$selector")
}

# ends RUN : the trainer exits with 0, and then the other stages exit
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

# plans RUN FILTER : the jq filter is true for the plans of its epochs
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

# killed NAME SELECT-OPTIONS... : a run with kills of the selector, of the trainer
# and of both, in mid-epoch
killed() {
    local name=$1
    train "$name" --keep-features 2
    augment "$name"
    plan "$@"
    for steps in 10 80 115; do
        expect "at step $steps" reaches "$name" "$steps"
        kill_now "$selector"
        plan "$@"
    done
    expect 'at step 150' reaches "$name" 150
    kill_now "$trainer"
    train "$name" --resume
    expect 'at step 185' reaches "$name" 185
    kill_now "$trainer" "$selector"
    train "$name" --resume
    plan "$@"
    ends "$name"
}

# late RUN POLICY : the selector does not find the trainer, so no plan is in time
late() {
    whole "$1" --strategy swap --policy "$2" --trainer "ipc://$work/none"
}

# without_features RUN : the trainer keeps no features
without_features() {
    train "$1"
    augment "$1"
    plan "$1" --strategy swap
    expect 'a message of the selector' \
        becomes_true grep -q 'start the trainer with --keep-features' "$work/$1/log"
    kill -TERM "$selector"
    expect 'exit code 0 of the waiting selector after SIGTERM' wait "$selector"
}

# ask_features RUN PLAN : prints the trainer's answer to a request for the features of
# the first epoch for the plan of epoch PLAN
ask_features() {
    "$python" - "ipc://$work/$1/features" "$2" <<'END'
import json, msgpack, sys, zmq
sock = zmq.Context().socket(zmq.DEALER)
sock.setsockopt(zmq.RCVTIMEO, 20000)
sock.setsockopt(zmq.LINGER, 0)
sock.connect(sys.argv[1])
def ask(kind, **head):
    sock.send_multipart([b"foil3." + kind, msgpack.packb(head)])
    answer = sock.recv_multipart()
    return msgpack.unpackb(answer[1])
ask(b"hello", stage="select", version=3, run="", peer="ask.py",
    dataset={"digest": "", "size": 0})
print(json.dumps(ask(b"features.get", id=1, epoch=0, plan=int(sys.argv[2]),
                     **{"from": 0})))
END
}

# too_few RUN : the trainer keeps the features of one epoch; the selector is killed in a
# later epoch and restarted
too_few() {
    train "$1" --keep-features 1
    augment "$1"
    plan "$1" --strategy swap
    expect 'at step 115' reaches "$1" 115
    kill_now "$selector"
    if [[ -n ${python-} ]]; then
        ask_features "$1" 1 >"$work/late.json"
        ask_features "$1" 9 >"$work/few.json"
    fi
    plan "$1" --strategy swap
    expect 'exit code 1 of the selector' exits 1 wait "$selector"
}

# several at a time, since they mostly wait
if has_python msgpack zmq; then warm zmq msgpack json; fi
declare -A options=([steps]='--strategy swap'
    [eval]='--strategy swap --features eval' [late]='--strategy swap --lag 0')
start_job none without_features none
for kind in steps eval late; do
    # shellcheck disable=SC2086 # options are words
    start_job "$kind" killed "$kind" ${options[$kind]}
    # shellcheck disable=SC2086
    ok "$kind: an undisturbed run succeeds" whole "calm-$kind" ${options[$kind]}
    ok "$kind: an undisturbed run trains all steps" \
        test "$(steps "calm-$kind")" -eq $((epochs * 32))
    ok "$kind: stages are killed in mid-epoch: the run ends" job_ok "$kind"
    ok "$kind: stages are killed in mid-epoch: the same result" like "calm-$kind" "$kind"
done

ok 'metrics have the plan in the first step of each epoch' plans calm-steps \
    "map(.epoch) == [range($epochs)] and all(.step == 0)"
ok 'lag 1: two epochs are shuffled, then features are two epochs old' \
    plans calm-steps 'map(.strategy) == ["shuffle", "shuffle"] +
        [range(10) | "swap"] and all(.[2:][]; .stale == 2 and .with_features == 1 and
        .eval == 0 and .mean > .random_mean and .from == .epoch - 2)'
ok 'lag 0: one epoch is shuffled, then features are one epoch old' \
    plans calm-late 'map(.strategy)[:2] == ["shuffle", "swap"] and
        all(.[1:][]; .stale == 1)'
ok '--features eval: metrics say that features are from a pass of their own' \
    plans calm-eval 'all(.[2:][]; .eval == 1 and .with_features == 1)'
ok '--features eval: features differ from those of training steps' \
    bash -c "! cmp -s '$work'/calm-{eval,steps}/metrics.jsonl"

# ------------------------------------------------------------ what is late

start_job shuffle late shuffle shuffle
start_job previous late previous previous
start_job short too_few short
ok '--table f16 trains' whole half --strategy swap --table f16
ok 'features in half precision give nearly the same plans' \
    jq -en "$(plans calm-steps '.[2].random_mean') -
    $(plans half '.[2].random_mean') | fabs < 0.01 and . != 0"
for policy in shuffle previous; do
    ok "--policy $policy: the run continues without a plan" job_ok "$policy"
    ok "--policy $policy: the selector reports a late plan" \
        grep -q 'plan of epoch 2 is late: ' \
        "$work/$policy/log"
done
ok '--policy previous with plans in time trains' whole found --strategy swap \
    --policy previous

ok 'too few epochs of features end the selector with 1' job_ok short
ok 'the selector reports that features have too few epochs' \
    grep -q 'foil-select: .*stores too few epochs' \
    "$work/short/log"
if [[ -e $work/few.json ]]; then
    ok 'deleted features for an epoch that is over: the error can be retried' \
        jq -e '.id == 1 and .need_state and (.reason | test("has ended"))' "$work/late.json"
    sed "s/^/# /" "$work/late.json"
    ok 'deleted features for a later epoch: the error is final' jq -e '.id == null and
        (.reason | test("stores too few"))' "$work/few.json"
else
    skip 'requests for deleted features' 'no python3-zmq, python3-msgpack'
fi
ok 'without features the selector reports it and exits with 0 after SIGTERM' \
    job_ok none
done_testing
