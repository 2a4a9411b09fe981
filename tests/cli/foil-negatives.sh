#!/usr/bin/env bash
# foil-negatives, and services in Python, as a trainer uses them.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
here=${0%/*}

common foil-negatives
ok 'foil-negatives without an endpoint exits with 2' \
    refuses 2 'needs -r DIR or --negatives' \
    "$BIN/foil-negatives"
ok 'foil-negatives with an operand exits with 2' \
    refuses 2 "unexpected 'x'" "$BIN/foil-negatives" -r "$work" x
ok '--keys without --allow exits with 2' refuses 2 'go together' \
    "$BIN/foil-negatives" -r "$work/run" --keys k
ok 'an invalid endpoint exits with 1' exits 1 "$BIN/foil-negatives" --negatives nowhere

# serve OPTIONS... : starts foil-negatives in the background; its PID is in $service
serve() {
    rm -rf "$work/run"
    "$BIN/foil-negatives" -r "$work/run" "$@" 2>"$work/serve.err" &
    service=$!
    becomes_true test -S "$work/run/negatives"
}

# ends : foil-negatives exits with 0 after SIGTERM
ends() {
    kill -TERM "$service" && wait "$service"
}

serve
ok 'foil-negatives exits with 0 after SIGTERM' ends
ok 'the run directory has mode 700' test 700 = "$(stat -c %a "$work/run")"

if ! has_python zmq msgpack; then
    skip 'answers of foil-negatives' 'no python3-zmq'
    done_testing
fi
modules=(zmq msgpack random json)
! has_python numpy || modules+=(numpy)
warm "${modules[@]}"

# pairs [NAME=VALUE ...] : prints the answers as JSON lines
pairs() {
    timeout "$patience" "$python" "$here/pairs.py" "ipc://$work/run/negatives" "$@"
}

# sums FILE : the rows of w sum to one; views of the same image have no weight
sums() {
    jq -se 'all(.id and .accepted > 0 and .accepted <= 1 and (.w as $w |
        all(range(8); . as $r | $w[$r * 8:$r * 8 + 8] |
            (add - 1 | fabs < 1e-5) and .[$r % 4] == 0 and
            .[$r % 4 + 4] == 0)))' "$1"
}

serve
pairs again=2 >"$work/whole"
ok 'a repeated request gets the same answer' test $? -eq 0
ok 'foil-negatives answers four requests' test 4 -eq "$(wc -l <"$work/whole")"
ok 'the answers are weights' sums "$work/whole"
ok 'a newer trainer hands its state over' pairs session=2
ok 'the newer trainer gets the same answers' diff "$work/whole" "$work/out"
ok 'a request for an older step exits with 1' refuses 1 'is not at the place of' \
    pairs session=2 step=1 put=0
ok 'another trainer without a state exits with 1' refuses 1 'is not at the place of' \
    pairs session=3 put=0
ok 'a batch of one image is refused' refuses 1 'want 2 images' pairs session=4 batch=1
ok 'a newer trainer without steps is accepted' pairs session=5
ok '[weights.get that will not do] another number of views is refused' \
    refuses 1 "3 views where the chains are for 2" \
    pairs session=5 step=4 views=3 put=0
ok 'foil-negatives exits with 0 after refusals' ends

# the state belongs to the trainer that sent it, while that is connected
rm -f "$work/gate"
serve
pairs peer=one gate="$work/gate" >"$work/owner" &
trainer=$!
ok 'a trainer uses the sampler' waits_for "$work/owner"
owned='belongs to train 1 of session 1, which is still connected'
ok 'a second trainer is refused while the first is connected' \
    refuses 1 "$owned" pairs peer=two step=1
ok 'a second trainer with a state of the same session is refused' refuses 1 "$owned" \
    pairs peer=two step=0
ok 'a second trainer with a newer session is refused' \
    refuses 1 "$owned" pairs peer=two session=2
ok 'foil-negatives reports the second trainer' \
    grep -q "train 2 'two': the state belongs to train 1" \
    "$work/serve.err"
touch "$work/gate"
ok 'the first trainer continues' wait "$trainer"
ok 'the first trainer gets the same answers' diff "$work/whole" "$work/owner"
ok 'a newer trainer is accepted after the first has disconnected' pairs peer=two session=2
ok 'the newer trainer gets the answers of the first' diff "$work/whole" "$work/out"
ok 'an older trainer is refused' refuses 1 'is of session 2, which is newer' \
    pairs peer=three session=1
ok 'a session of the far future is refused' \
    refuses 1 'days ahead of this machine' pairs peer=two session=4611686018427387904
ok 'the present session continues after a refusal' pairs peer=two session=2 step=4
ok 'foil-negatives exits with 0 after several trainers' ends

# The trainer returns its copy of the state after two steps, as after a step that was
# not applied.
# go_back [NAME=VALUE ...] : pairs, with its output in $work/back
go_back() {
    pairs back=2 "$@" >"$work/back"
}

serve
ok 'foil-negatives takes a state that is returned in single rows' go_back piece=1
ok 'answers after a returned state are the same' diff "$work/whole" "$work/back"
ok 'rows of a state out of order are refused' refuses 1 \
    "rows 1 .. of table 'chain' do not follow" \
    go_back session=2 piece=1 skip=1
ok 'a state of another sampler is refused' refuses 1 \
    "of sampler 'topk 1', and this is 'emc2 1'" \
    go_back session=3 sampler='topk 1'
ok 'a table of another shape is refused' refuses 1 \
    "table 'chain' has rows of 17 bytes, want 16" \
    go_back session=4 wider=chain
ok 'a state of 5 steps without tables is refused' refuses 1 \
    "the state of 5 steps has no table 'chain'" pairs session=5 total=5
ok 'a fresh state without tables is accepted' pairs session=6 total=5 fresh=1
ok 'a fresh state with tables is refused' refuses 1 \
    "'fresh' has no tables" go_back session=7 fresh=1
ok 'foil-negatives exits with 0 after returned states' ends
serve --filter --proposals bank,horizon=3
ok 'foil-negatives takes a state with a bank' go_back piece=1
ok 'a state of 2 steps without its bank is refused' refuses 1 \
    "the state of 2 steps has no table 'bank'" go_back session=2 without=bank
ok 'a bank with entries of later steps is refused' refuses 1 \
    'that is not one of 1' go_back session=3 total=1
ok 'foil-negatives --filter exits with 0 after returned states' ends

# killed in the middle: the trainer returns its copy of the state
serve
pairs gate="$work/gate" >"$work/across" &
trainer=$!
ok 'foil-negatives sends the first answer' waits_for "$work/across"
kill -9 "$service"
{ wait "$service"; } 2>/dev/null
serve
touch "$work/gate"
ok 'the run continues after foil-negatives was killed and restarted' wait "$trainer"
ok 'foil-negatives after SIGKILL gives the same answers' diff "$work/whole" "$work/across"
ends

serve -s 7
pairs >"$work/seven"
ok 'another seed gives other weights' bash -c "! cmp -s '$work/whole' '$work/seven'"
ends
serve --proposals ,burn-in=2
pairs >"$work/burnt"
ok 'burn-in of 2 leaves one negative for each row' \
    jq -se 'all(.w | all(. == 0 or . == 1))' \
    "$work/burnt"
ok 'a burn-in that leaves no negative is refused' \
    refuses 1 'a burn-in of 2 leaves nothing' \
    pairs session=2 batch=3
ok 'foil-negatives --proposals exits with 0' ends

# the same with a real trainer; the result must not depend on when the service is killed
data=$work/data.tar
"$BIN/foil-data" generate --size 8 -o "$data" 13 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null

# run NAME EPOCHS [OBJECTIVE OPTION...] : all tools except the service, in folder NAME
run() {
    local at=(-r "$work/$1")
    mkdir -p "$work/$1"
    timeout "$patience" "$BIN/foil-select" "${at[@]}" -b 4 -e "$2" "$data" \
        2>"$work/$1.select" &
    timeout "$patience" "$BIN/foil-augment" "${at[@]}" --size 8 "$data" \
        2>"$work/$1.augment" &
    timeout "$patience" "$BIN/foil-train" "${at[@]}" --arch linear --head 8 \
        --objective "${3-emc2},tau=0.2" "${@:4}" --threads 1 --lr 0.01 2>"$work/$1.train"
}

# serve_in NAME : starts the service of that run; its PID is in $service
serve_in() {
    "$BIN/foil-negatives" -r "$work/$1" 2>"$work/$1.negatives" &
    service=$!
}

# survives NAME SERVE : a run exits with 0 although its service is killed; SERVE NAME
# starts the service
survives() {
    local trainer
    "$2" "$1"
    run "$1" 40 &
    trainer=$!
    becomes_true test -s "$work/$1/metrics.jsonl"
    kill -9 "$service"
    { wait "$service"; } 2>/dev/null
    "$2" "$1"
    wait "$trainer"
}

# tensors NAME : prints digests of its checkpoint
tensors() {
    (cd "$work/$1/latest" && sha256sum ./*.safetensors)
}

export OMP_NUM_THREADS=1
serve_in calm
ok 'an undisturbed run with foil-negatives succeeds' run calm 40
ends
ok 'a run with a killed service succeeds' survives rough serve_in
ends
ok 'the killed service does not change weights and chains' \
    diff <(tensors calm) <(tensors rough)

ok '--sampler trainer trains the same objective' run inside 40 emc2 --sampler trainer
ok '--sampler trainer gives the bits of foil-negatives' \
    diff <(tensors calm) <(tensors inside)
ok '--sampler trainer trains with stale scores' \
    run stale 2 emc2 --sampler trainer --proposals ,scores=stale
ok 'stale scores drop samples' \
    jq -se 'map(.dropped) | max > 0' "$work/stale/metrics.jsonl"
! run cached 2 cache --sampler trainer
ok '--sampler trainer refuses the cache' grep -q 'cache needs foil-negatives' \
    "$work/cached.train"

if has_python numpy; then
    rm -f "$work/run/negatives"
    "$BIN/foil-negatives" -r "$work/run" --weigh-command "/usr/bin/python3 '$here/softmax.py'" \
        2>"$work/serve.err" &
    service=$!
    becomes_true test -S "$work/run/negatives"
    pairs >"$work/softmax"
    ok '--weigh-command with a program in Python answers' \
        test 4 -eq "$(wc -l <"$work/softmax")"
    ok 'the answers of the program are weights' sums "$work/softmax"
    ends
    mkdir "$work/double"
    "$BIN/foil-negatives" -r "$work/double" --weigh-command "/usr/bin/python3 '$here/softmax.py'" \
        2>"$work/serve.err" &
    service=$!
    ok 'a run with the program in Python succeeds' run double 20
    ok 'a run with dcl succeeds' run dcl 20 dcl
    # like A B : two numbers are equal up to rounding
    like='def like(a; b): (a - b | fabs) <= 1e-4 * ((a | fabs) + 0.01);'
    # shellcheck disable=SC2016 # $a, $b are jq's
    ok 'the program in Python and dcl have the same steps' \
        jq -ens --slurpfile a "$work/double/metrics.jsonl" \
        --slurpfile b "$work/dcl/metrics.jsonl" "$like"'
        ($a | length) == 80 and all(range(80); like($a[.].infonce; $b[.].infonce)
        and like($a[.].grad_norm; $b[.].grad_norm))'
    ok 'the program in Python and dcl give the same encoder' \
        "$python" - "$work"/{double,dcl} <<'END'
import json, sys
import numpy as np

def tensors(path):
    with open(path + "/latest/model.safetensors", "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    return {k: np.frombuffer(data[slice(*t["data_offsets"])], "<f4")
            for k, t in header.items() if t.get("dtype") == "F32"}

a, b = map(tensors, sys.argv[1:])
assert a.keys() == b.keys() and any(t.size > 100 for t in a.values())
for k in a:
    off = np.abs(a[k] - b[k]).max() / np.abs(b[k]).max()
    print(k, off)
    assert off < 1e-5, k
END

    # counted NAME [SIZE WIDTH FROM] : starts a service with its own state
    counted() {
        "$python" "$here/counting.py" "ipc://$work/$1/negatives" "${@:2}" \
            2>>"$work/$1.negatives" &
        service=$!
        becomes_true test -S "$work/$1/negatives"
    }
    mkdir "$work"/{counts,recount,narrow,large}
    counted counts
    ok 'a run with a service that counts succeeds' run counts 40
    ends
    ok 'a run with a killed service that counts succeeds' survives recount counted
    ends
    ok 'the killed service gets its counts back: the same result' \
        diff <(tensors counts) <(tensors recount)
    ok 'the checkpoint has the table of counts' grep -aq \
        '"sampler":"counting 1".*"sampler.seen":{"dtype":"U8","shape":\[13,8\]' \
        "$work/counts/latest/samples.safetensors"
    # both end at their deadline, which leaves time for all messages on a busy machine
    counted narrow 13 9 2
    narrow=$service
    counted large 2000000000 8 0
    start_job narrow run narrow 2 emc2 --deadline 9
    start_job large run large 2 emc2 --deadline 9 --max-state 7
    ok 'a table that changes its shape ends the run with 1' exits 1 job_ok narrow
    ok 'the error names both shapes' \
        grep -q "weights: table 'seen' is 13 x 9 bytes, and was 13 x 8" \
        "$work/narrow.train"
    ok 'a table above --max-state ends the run with 1' exits 1 job_ok large
    ok 'the error names --max-state' grep -q \
        'at most 7 GiB in all tables are allowed (--max-state)' "$work/large.train"
    kill "$narrow" "$service"
else
    skip 'services in Python' 'no python3-numpy'
fi

done_testing
