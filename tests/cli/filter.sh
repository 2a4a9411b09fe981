#!/usr/bin/env bash
# foil-negatives as a filter between selector and augmenters: every sampler trains with
# it, and whichever process is killed, the run ends with the checkpoint and the metrics
# of an undisturbed run, bit for bit.
# Not for sanitizers: storm.sh kills the same stages, foil-negatives.sh has the samplers.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1
data=$work/data.tar

ok 'foil-data generate makes a data set' "$BIN/foil-data" generate --size 8 -o "$data" 101
ok 'foil-data index makes its index' "$BIN/foil-data" index "$data"

# Each starts a stage of the run in $work/$1; its messages go to a log there.
train() {
    "$BIN/foil-train" -r "$work/$1" --arch linear --head "${head-8}" --lr 0.02 \
        --warmup 0 --objective ,tau=0.2 --threads 1 --checkpoint-every 50 --deadline 60 \
        "${@:2}" 2>>"$work/$1.train" &
    trainer=$!
}

filter() {
    "$BIN/foil-negatives" -r "$work/$1" --filter "${@:2}" \
        2>>"$work/$1.negatives" &
    filter=$!
}

augment() {
    "$BIN/foil-augment" -r "$work/$1" --filter --size 8 "${@:2}" "$data" \
        2>>"$work/$1.augment" &
}

select_batches() {
    "$BIN/foil-select" -r "$work/$1" -b 8 -e "$epochs" "$data" \
        2>>"$work/$1.select" &
}

# begin RUN OBJECTIVE FILTER-OPTIONS... : starts all stages, with two augmenters
begin() {
    mkdir -m 700 "$work/$1"
    train "$1" --objective "$2"
    filter "$1" "${@:3}"
    augment "$1"
    augment "$1"
    select_batches "$1"
}

# ends RUN : the trainer exits with 0; then the filter is ended
ends() {
    local code=0
    wait "$trainer" || code=$?
    { kill "$filter" && wait "$filter"; } || code=$?
    cat "$work/$1".*
    return "$code"
}

# same RUN RUN : checkpoints and metrics are equal
same() {
    (cd "$work/$1/latest" && sha256sum ./*.safetensors) >"$work/$1.sums"
    (cd "$work/$2/latest" && sha256sum -c --quiet "$work/$1.sums") &&
        diff <(timeless "$1") <(timeless "$2")
}

# play NAME OBJECTIVE OPTIONS... : an undisturbed run, and one with kills of the filter
# and then of the trainer
play() {
    local name=$1
    begin "$name" "${@:2}"
    expect 'exit code 0' ends "$name"
    expect 'all its steps' test "$(steps "$name")" -eq $((13 * epochs))
    begin "$name-rough" "${@:2}"
    expect 'in the middle' reaches "$name-rough" 50
    kill_now "$filter"
    filter "$name-rough" "${@:3}"
    expect 'further steps after the filter was killed' \
        reaches "$name-rough" $(($(steps "$name-rough") + 40))
    kill_now "$trainer"
    train "$name-rough" --objective "$2" --resume
    expect 'exit code 0 after the trainer was killed' ends "$name-rough"
    expect 'the same result' same "$name" "$name-rough"
}

epochs=16
# Several at a time, since they mostly wait for connections to time out.
start_job fresh play fresh emc2
start_job row play row emc2 --proposals row
start_job stale play stale emc2 --proposals all4,scores=stale
start_job reset play reset emc2 --proposals ,scores=reset
for name in fresh row stale reset; do
    ok "$name: filter and trainer are killed; the result is the same" job_ok "$name"
done
start_job fixed play fixed emc2 --augmentations 3
start_job bank play bank emc2 --proposals bank,moves=16
# long enough that each of three fixed views of all images occurs
epochs=30 start_job views play views emc2 --proposals bank,moves=16 --augmentations 3
start_job exact play exact emc2 --proposals exact
start_job both play both emc2 --proposals exact-bank,moves=16 --augmentations 3
start_job cache play cache cache --method cache,refresh=0.02,horizon=5
start_job across play across emc2_bimodal --method emc2_bimodal --proposals shared
for name in fixed bank views exact both cache across; do
    ok "$name: filter and trainer are killed; the result is the same" job_ok "$name"
done

# numbers FILTER RUN : the jq filter is true for its metrics
numbers() {
    jq -se "$1" "$work/$2/metrics.jsonl"
}
# slots RUN : prints how many updates the bank in its checkpoint can hold
slots() {
    grep -aoE '"sampler.bank":\{[^}]*"shape":\[[0-9]+' \
        "$work/$1/latest/samples.safetensors" | grep -oE '[0-9]+$'
}
# the mean of a number over some steps
mean='def mean(f): map(f) | add / length;'

ok 'fresh: chains are outside of the batch, and scores move them' \
    numbers "$mean .[13:200] | mean(.outside) > 0.01 and
        mean(.accepted) > 0.05 and mean(.accepted) < 0.9" fresh
ok 'stale: a share of the samples is dropped' \
    numbers "$mean (.[100:] | mean(.dropped)) > 0.01" stale
ok 'fresh: no chain is cold after the first epoch' \
    numbers 'map(.cold) | .[0] == 1 and (.[13:] | max) == 0' fresh
ok 'reset: all chains are always cold' numbers 'map(.cold) | min == 1' reset
ok 'bank: the bank is known after an epoch and its horizon' \
    numbers 'map(.bank_filled) | .[0] == 0 and .[30] == 1' bank
ok 'views: in time each fixed view is known' \
    numbers 'map(.bank_filled) | .[20] < 1 and .[-1] == 1' views
for name in bank views; do
    ok "$name: chains walk on the bank" \
        numbers "$mean .[30:] | mean(.walk_accepted) > 0 and
        mean(.walk_ess) > 1 and mean(.walk_ess) <= 16" "$name"
done
ok 'bank: the checkpoint has a row for each image and those that wait' \
    holds "$(slots bank) >= 101 && $(slots bank) < $(slots views)"
ok 'views: the checkpoint has a row for each view' holds "$(slots views) >= 303"
ok 'cache: metrics have its staleness' numbers "$mean .[30:] | mean(.staleness) > 0 and
    mean(.age) > 1" cache
ok 'cache: the importance of draws is near 1' \
    numbers "$mean .[30:] | mean(.importance) > 0.7 and
        mean(.importance) < 1.3" cache

# ------------------------------------------------------------- encrypted

# the run of 'fresh' with every edge over tcp; each stage has its own key
for role in select negatives augment train; do
    "$BIN/foil-tap" --role $role keys "$work/keys" $role >/dev/null 2>&1
    mv "$work/keys/$role.key_secret" "$work"
done

# with_key ROLE : sets $key to its options
with_key() {
    key=(--keys "$work/$1.key_secret" --allow "$work/keys")
}

mkdir -m 700 "$work/secret"
with_key train
train secret --objective emc2 --batches "$(endpoint 0)" \
    --negatives "$(endpoint 1)" \
    "${key[@]}"
with_key negatives
filter secret --negatives "$(endpoint 1)" --plan "$(endpoint 2)" \
    --items "$(endpoint 3)" \
    "${key[@]}"
with_key augment
augment secret --plan "$(endpoint 3)" --batches "$(endpoint 0)" "${key[@]}"
augment secret --plan "$(endpoint 3)" --batches "$(endpoint 0)" "${key[@]}"
with_key select
"$BIN/foil-select" --plan "$(endpoint 2)" -b 8 -e "$epochs" "${key[@]}" "$data" \
    2>>"$work/secret.select" &
ok 'a run over tcp with CURVE keys succeeds' ends secret
ok 'a run over tcp with CURVE keys has the same result' same fresh secret

# SIGTERM after the last step: the selector must still get the end of the run
soon() {
    local selector
    epochs=1 begin soon emc2
    selector=$!
    until has_steps soon 13 || gone "$trainer"; do :; done
    kill "$filter" && wait "$trainer" && wait "$filter" &&
        becomes_true gone "$selector"
}
ok 'a filter that gets SIGTERM at the end relays the end of the run' soon

# ------------------------------------------------------- without a service

# The trainer's own chains, with an encoder of rows, draw the same rows as the filter
# with a bank without delay: the same bits.
"$BIN/foil-embed" --raw --size 8 --recipe cifar --view 0 -o "$work/0.npy" \
    "$data" 2>/dev/null
"$BIN/foil-embed" --raw --size 8 --recipe cifar --view 1 -o "$work/1.npy" \
    "$data" 2>/dev/null
ok 'foil-eval pca writes rows of two views' \
    "$BIN/foil-eval" pca -k 12 -o "$work/basis.npy" \
    --coordinates "$work/rows.npy" "$work/0.npy" "$work/1.npy"

# look_up RUN OPTIONS... : a trainer with an encoder of rows
look_up() {
    "$BIN/foil-train" -r "$work/$1" --arch rows,hidden=8 --lr 0.02 \
        --warmup 0 --objective ,tau=0.2 --threads 1 --checkpoint-every 50 --deadline 60 \
        "${@:2}" 2>>"$work/$1.train"
}

# own RUN OPTIONS... : a run without filter and service
own() {
    local feeders code=0
    "$BIN/foil-augment" -r "$work/$1" --size 8 -a 2 "$data" \
        2>>"$work/$1.augment" &
    feeders=($!)
    select_batches "$1"
    feeders+=($!)
    look_up "$@" || code=$?
    [[ $code -eq 0 ]] || kill "${feeders[@]}"
    wait "${feeders[@]}"
    return "$code"
}

# twice NAME OBJECTIVE PROPOSALS : a run with the service (its bank has no delay), and
# one with the trainer's own sampler, stopped and resumed
twice() {
    local own=$3 delay=
    case $3 in
    *bank) own=$3,moves=9 delay=,horizon=1 ;;
    shared) delay=,horizon=1 ;;
    esac
    mkdir -m 700 "$work/$1"
    look_up "$1" --objective "$2" --arch ",rows=$work/rows.npy" &
    trainer=$!
    filter "$1" --augmentations 2 --method "$2" --proposals "$own$delay"
    augment "$1"
    select_batches "$1"
    expect 'exit code 0 with the service' ends "$1"
    mkdir -m 700 "$work/$1-own"
    expect 'exit code 0 with own chains' own "$1-own" --objective "$2" --sampler trainer \
        --proposals "$own" --arch ",rows=$work/rows.npy" --steps 33
    expect 'exit code 0 after --resume' own "$1-own" --resume
    same "$1" "$1-own"
}
kinds=(once row bank exact exact-bank shared)
for proposals in "${kinds[@]}"; do
    epochs=3 start_job "by-$proposals" twice "by-$proposals" emc2 "$proposals"
done
epochs=3 start_job by-across twice by-across emc2_bimodal shared
for proposals in "${kinds[@]}" across; do
    ok "the trainer's own sampler give the bits of the service: $proposals" \
        job_ok "by-$proposals"
done
ok "the trainer's own chains draw rows from outside of the batch" \
    jq -se 'map(.outside) | max > 0' \
    "$work/by-exact-own/metrics.jsonl"

# ------------------------------------------------------------------- owners

if has_python zmq msgpack; then
    mkdir -m 700 "$work/owner"
    filter owner
    select_batches owner
    pass_on /usr/bin/python3 "${0%/*}/filter_owner.py" "$work/owner"
else
    skip 'a filter with the state of a trainer' 'no python3-zmq, python3-msgpack'
fi

# --------------------------------------------------------------- refusals

negatives() {
    "$BIN/foil-negatives" -r "$work/none" "$@"
}
ok '--method cache without --filter exits with 2' refuses 2 'needs --filter' \
    negatives --method cache
ok '--proposals bank without --filter exits with 2' refuses 2 'needs --filter' \
    negatives --proposals bank
ok 'the error names --proposals as given' \
    refuses 2 '^foil-negatives: --proposals exact-bank' \
    negatives --proposals exact-bank
ok '--proposals bank,scores=stale exits with 2' \
    refuses 2 "bank has no parameter 'scores'" \
    negatives --filter --proposals bank,scores=stale
ok '--proposals all4 with -a 2 exits with 2' refuses 2 'fixed|augment' \
    negatives --filter --proposals all4 -a 2
ok '--proposals exact,burn-in=1 exits with 2' \
    refuses 2 "exact has no parameter 'burn-in'" \
    negatives --filter --proposals exact,burn-in=1
ok '--proposals exact without --filter exits with 2' refuses 2 'that needs --filter' \
    negatives --proposals exact
ok '--method cache --proposals exits with 2' refuses 2 'cache has no --proposals' \
    negatives --filter --method cache --proposals once
ok '--filter without a plan exits with 2' refuses 2 'needs -r DIR' \
    "$BIN/foil-negatives" --filter --negatives "ipc://$work/n"

# refused NAME PATTERN FILTER-OPTIONS... : the trainer ends with an error that matches
refused() {
    begin "$1" emc2 "${@:3}"
    ! ends "$1" && grep -E "$2" "$work/$1.train"
}
ok 'a burn-in that leaves no chain ends the run' \
    refused burnt 'burn-in of 14 leaves nothing' --proposals ,burn-in=14

mkdir -m 700 "$work/wide"
head=65536 train wide --objective emc2
filter wide --proposals bank -a 50 --max-state 1
augment wide
select_batches wide
ok 'a bank above --max-state ends the run with 1' exits 1 wait "$trainer"
ok 'the error names the size of the bank' grep -q \
    'a bank of 5050 rows of 65536 numbers are more than the 1 GiB' \
    "$work/wide.train"
ok 'a bank that is too large ends the run before the first step' bash -c \
    "! grep parameters '$work/wide.train' && ! [[ -s $work/wide/metrics.jsonl ]]"

mkdir -m 700 "$work/other"
train other --objective emc2
filter other --augmentations 3
select_batches other
ok 'foil-augment with other fixed views than the filter exits with 1' \
    refuses 1 'the same' \
    "$BIN/foil-augment" -r "$work/other" --filter --size 8 -a 4 "$data"
done_testing
