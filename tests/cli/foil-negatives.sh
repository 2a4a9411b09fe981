#!/usr/bin/env bash
# foil-negatives, and its double in Python, as the trainer meets them.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
here=${0%/*}

common foil-negatives
ok 'no endpoint: 2' refuses 2 'wants -r DIR or --negatives' \
    "$BIN/foil-negatives"
ok 'an operand: 2' refuses 2 "what is 'x' for" "$BIN/foil-negatives" -r "$work" x
ok 'keys without a folder: 2' refuses 2 'go together' \
    "$BIN/foil-negatives" -r "$work/run" --keys k
ok 'no such endpoint: 1' exits 1 "$BIN/foil-negatives" --negatives nowhere

# serve OPTIONS... : in the background, its number in $service
serve() {
    rm -rf "$work/run"
    "$BIN/foil-negatives" -r "$work/run" "$@" 2>"$work/serve.err" &
    service=$!
    becomes_true test -S "$work/run/negatives"
}

# ends : it is told to stop and does
ends() {
    kill -TERM "$service" && wait "$service"
}

serve
ok 'SIGTERM: an orderly end, 0' ends
ok 'the run directory is private' test 700 = "$(stat -c %a "$work/run")"

if ! has_python zmq msgpack; then
    skip 'weights' 'no python3-zmq'
    done_testing
fi
modules=(zmq msgpack random json)
! has_python numpy || modules+=(numpy)
warm "${modules[@]}"

# pairs [NAME=VALUE ...] : the answers as JSON lines
pairs() {
    timeout "$patience" "$python" "$here/pairs.py" "ipc://$work/run/negatives" "$@"
}

# sums FILE : the rows of w sum to one, the own image has no weight
sums() {
    jq -se 'all(.id and .accepted > 0 and .accepted <= 1 and (.w as $w |
        all(range(8); . as $r | $w[$r * 8:$r * 8 + 8] |
            (add - 1 | fabs < 1e-5) and .[$r % 4] == 0 and
            .[$r % 4 + 4] == 0)))' "$1"
}

serve
pairs again=2 >"$work/whole"
ok 'asked again: the same answer' test $? -eq 0
ok 'four answers' test 4 -eq "$(wc -l <"$work/whole")"
ok 'they are weights' sums "$work/whole"
ok 'a newer trainer hands over its own' pairs session=2
ok 'the same as the first got' diff "$work/whole" "$work/out"
ok 'a step of the past is not taken' refuses 1 'is not at the place of' \
    pairs session=2 step=1 put=0
ok 'nor another trainer without its state' refuses 1 'is not at the place of' \
    pairs session=3 put=0
ok 'a batch of one' refuses 1 'want 2 images' pairs session=4 batch=1
ok 'a newer one' pairs session=5
ok '[pairs that will not do] another number of views' refuses 1 "3 views where the chains are for 2" \
    pairs session=5 step=4 views=3 put=0
ok 'ends' ends

# the state is that of the trainer that brought them, while it is there
rm -f "$work/gate"
serve
pairs peer=one gate="$work/gate" >"$work/owner" &
trainer=$!
ok 'a trainer uses the sampler' waits_for "$work/owner"
owned='belongs to train 1 of session 1, which is still connected'
ok 'a second one may not' refuses 1 "$owned" pairs peer=two step=1
ok 'nor bring a state for the same session' refuses 1 "$owned" \
    pairs peer=two step=0
ok 'nor for a newer one' refuses 1 "$owned" pairs peer=two session=2
ok 'the service says so' grep -q "train 2 'two': the state belongs to train 1" \
    "$work/serve.err"
touch "$work/gate"
ok 'the first goes on' wait "$trainer"
ok 'as if nothing had been' diff "$work/whole" "$work/owner"
ok 'when it is gone, a newer one takes over' pairs peer=two session=2
ok 'the same as the first got' diff "$work/whole" "$work/out"
ok 'an older one does not' refuses 1 'is of session 2, which is newer' \
    pairs peer=three session=1
ok 'a session of the far future: refused' \
    refuses 1 'days ahead of this machine' pairs peer=two session=4611686018427387904
ok 'and the present one goes on' pairs peer=two session=2 step=4
ok 'ends' ends

# what the trainer kept, handed back after two steps as after one that was not
# applied
# go_back [NAME=VALUE ...] : pairs, without what it prints
go_back() {
    pairs back=2 "$@" >"$work/back"
}

serve
ok 'handed back, a row at a time' go_back piece=1
ok 'it goes on from there' diff "$work/whole" "$work/back"
ok 'rows that do not follow: refused' refuses 1 \
    "rows 1 .. of table 'chain' do not follow" \
    go_back session=2 piece=1 skip=1
ok 'the state of another sampler: refused' refuses 1 \
    "of sampler 'topk 1', and this is 'emc2 1'" \
    go_back session=3 sampler='topk 1'
ok 'a table of another shape: refused' refuses 1 \
    "table 'chain' has rows of 17 bytes, want 16" \
    go_back session=4 wider=chain
ok 'of 5 steps without any table: refused' refuses 1 \
    "the state of 5 steps has no table 'chain'" pairs session=5 total=5
ok 'unless it says that nothing has begun' pairs session=6 total=5 fresh=1
ok 'which a state with tables does not say' refuses 1 \
    "'fresh' has no tables" go_back session=7 fresh=1
ok 'ends' ends
serve --filter --proposals bank,horizon=3
ok 'a bank, handed back' go_back piece=1
ok 'a state of 2 steps without its bank: refused' refuses 1 \
    "the state of 2 steps has no table 'bank'" go_back session=2 without=bank
ok 'and one of steps that were not yet' refuses 1 \
    'of none of 1 steps' go_back session=3 total=1
ok 'ends' ends

# killed in the middle: the trainer hands back what it kept
serve
pairs gate="$work/gate" >"$work/across" &
trainer=$!
ok 'the first answer' waits_for "$work/across"
kill -9 "$service"
{ wait "$service"; } 2>/dev/null
serve
touch "$work/gate"
ok 'restarted after kill -9: the run goes on' wait "$trainer"
ok 'bit for bit' diff "$work/whole" "$work/across"
ends

serve -s 7
pairs >"$work/seven"
ok 'another seed, other weights' bash -c "! cmp -s '$work/whole' '$work/seven'"
ends
serve --proposals ,burn-in=2
pairs >"$work/burnt"
ok 'one record a row: all or nothing' jq -se 'all(.w | all(. == 0 or . == 1))' \
    "$work/burnt"
ok 'a burn-in that leaves nothing' refuses 1 'a burn-in of 2 leaves nothing' \
    pairs session=2 batch=3
ok 'ends' ends

# the same with a real trainer; whenever the kill comes, nothing may differ
data=$work/data.tar
"$BIN/foil-data" generate --size 8 -o "$data" 13 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null

# run NAME EPOCHS [OBJECTIVE OPTION...] : all tools but the service, in
# directory NAME
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

# serve_in NAME : the service for it, its number in $service
serve_in() {
    "$BIN/foil-negatives" -r "$work/$1" 2>"$work/$1.negatives" &
    service=$!
}

# survives NAME SERVE : a run whose service is killed on the way, and begun anew
# by SERVE NAME, ends well
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

# tensors NAME : what the checkpoint holds
tensors() {
    (cd "$work/$1/latest" && sha256sum ./*.safetensors)
}

export OMP_NUM_THREADS=1
serve_in calm
ok 'a whole run' run calm 40
ends
ok 'the service killed on the way: the run ends well' survives rough serve_in
ends
ok 'with the same weights and chains, bit for bit' \
    diff <(tensors calm) <(tensors rough)

ok 'the same chains inside the trainer' run inside 40 emc2 --sampler trainer
ok 'the same bits' diff <(tensors calm) <(tensors inside)
ok 'stale ones' run stale 2 emc2 --sampler trainer --proposals ,scores=stale
ok 'drop something' jq -se 'map(.dropped) | max > 0' "$work/stale/metrics.jsonl"
! run cached 2 cache --sampler trainer
ok 'the cache is not there' grep -q 'cache needs foil-negatives' \
    "$work/cached.train"

if has_python numpy; then
    rm -f "$work/run/negatives"
    "$BIN/foil-negatives" -r "$work/run" --weigh-command "/usr/bin/python3 '$here/softmax.py'" \
        2>"$work/serve.err" &
    service=$!
    becomes_true test -S "$work/run/negatives"
    pairs >"$work/softmax"
    ok 'a sampler in Python answers' test 4 -eq "$(wc -l <"$work/softmax")"
    ok 'with weights' sums "$work/softmax"
    ends
    mkdir "$work/double"
    "$BIN/foil-negatives" -r "$work/double" --weigh-command "/usr/bin/python3 '$here/softmax.py'" \
        2>"$work/serve.err" &
    service=$!
    ok 'a run with it' run double 20
    ok 'and one with dcl' run dcl 20 dcl
    # like A B : two numbers are equal but for rounding
    like='def like(a; b): (a - b | fabs) <= 1e-4 * ((a | fabs) + 0.01);'
    # shellcheck disable=SC2016 # $a, $b are jq's
    ok 'are the same steps' jq -ens --slurpfile a "$work/double/metrics.jsonl" \
        --slurpfile b "$work/dcl/metrics.jsonl" "$like"'
        ($a | length) == 80 and all(range(80); like($a[.].infonce; $b[.].infonce)
        and like($a[.].gradient; $b[.].gradient))'
    ok 'and make the same encoder' "$python" - "$work"/{double,dcl} <<'END'
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

    # counted NAME [SIZE WIDTH FROM] : a service with a state of its own
    counted() {
        "$python" "$here/counting.py" "ipc://$work/$1/negatives" "${@:2}" \
            2>>"$work/$1.negatives" &
        service=$!
        becomes_true test -S "$work/$1/negatives"
    }
    mkdir "$work"/{counts,recount,narrow,large}
    counted counts
    ok 'a sampler that counts' run counts 40
    ends
    ok 'killed on the way: the run ends well' survives recount counted
    ends
    ok 'with what it had counted, to the same bits' \
        diff <(tensors counts) <(tensors recount)
    ok 'which is in the checkpoint' grep -aq \
        '"sampler":"counting 1".*"sampler.seen":{"dtype":"U8","shape":\[13,8\]' \
        "$work/counts/latest/samples.safetensors"
    # both end at their deadline, by which all has to be said, however busy the
    # machine is
    counted narrow 13 9 2
    narrow=$service
    counted large 2000000000 8 0
    begun narrow run narrow 2 emc2 --deadline 9
    begun large run large 2 emc2 --deadline 9 --max-state 7
    ok 'a table that changes its shape: the run ends' exits 1 ended narrow
    ok 'and says how' grep -q "weights: table 'seen' is 13 x 9 bytes, and was 13 x 8" \
        "$work/narrow.train"
    ok 'a table that is too large: the run ends' exits 1 ended large
    ok 'and says how large it may be' grep -q \
        'at most 7 GiB in all tables are allowed (--max-state)' "$work/large.train"
    kill "$narrow" "$service"
else
    skip 'a sampler in Python' 'no python3-numpy'
fi

done_testing
