#!/usr/bin/env bash
# foil-negatives in the plan's way: every sampler trains through it, and
# whatever is killed, the run ends with the checkpoint and the metrics of an
# undisturbed one, bit for bit.
# Not for sanitizers: storm.sh kills the same stages, foil-negatives.sh has the samplers.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1
data=$work/data.tar

ok 'a data set' "$BIN/foil-data" generate --size 8 -o "$data" 101
ok 'its index' "$BIN/foil-data" index "$data"

# Each starts a stage of the run in $work/$1, its messages in a log there.
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

# begin RUN OBJECTIVE FILTER-OPTIONS... : all stages, two augmenters
begin() {
    mkdir -m 700 "$work/$1"
    train "$1" --objective "$2"
    filter "$1" "${@:3}"
    augment "$1"
    augment "$1"
    select_batches "$1"
}

# ends RUN : the trainer ends well, and so does all but the filter
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

# play NAME OBJECTIVE OPTIONS... : a run in peace; one whose filter is killed,
# and then its trainer
play() {
    local name=$1
    begin "$name" "${@:2}"
    expect 'a good end' ends "$name"
    expect 'all its steps' test "$(steps "$name")" -eq $((13 * epochs))
    begin "$name-rough" "${@:2}"
    expect 'in the middle' past "$name-rough" 50
    kill_now "$filter"
    filter "$name-rough" "${@:3}"
    expect 'going on without its filter' \
        past "$name-rough" $(($(steps "$name-rough") + 40))
    kill_now "$trainer"
    train "$name-rough" --objective "$2" --resume
    expect 'a good end after a bad one' ends "$name-rough"
    expect 'the same bits' same "$name" "$name-rough"
}

epochs=16
# All wait for most of their time, to see who is gone.
begun fresh play fresh emc2
begun row play row emc2 --proposals row
begun stale play stale emc2 --proposals all4,scores=stale
begun reset play reset emc2 --proposals ,scores=reset
for name in fresh row stale reset; do
    ok "$name: killed twice, to the same bits" ended "$name"
done
begun fixed play fixed emc2 --augmentations 3
begun bank play bank emc2 --proposals bank,moves=16
# each of three fixed views of all images has come
epochs=30 begun views play views emc2 --proposals bank,moves=16 --augmentations 3
begun exact play exact emc2 --proposals exact
begun both play both emc2 --proposals exact-bank,moves=16 --augmentations 3
begun cache play cache cache --method cache,refresh=0.02,horizon=5
for name in fixed bank views exact both cache; do
    ok "$name: killed twice, to the same bits" ended "$name"
done

# numbers FILTER RUN : of its metrics
numbers() {
    jq -se "$1" "$work/$2/metrics.jsonl"
}
# slots RUN : so many updates the bank has room for in its checkpoint
slots() {
    grep -aoE '"sampler.bank":\{[^}]*"shape":\[[0-9]+' \
        "$work/$1/latest/samples.safetensors" | grep -oE '[0-9]+$'
}
# the mean of a number over some steps
mean='def mean(f): map(f) | add / length;'

ok 'chains stand outside of the batch, and move on as scores tell them' \
    numbers "$mean .[13:200] | mean(.outside) > 0.01 and
        mean(.accepted) > 0.05 and mean(.accepted) < 0.9" fresh
ok 'stale ones more often: a share is dropped' \
    numbers "$mean (.[100:] | mean(.dropped)) > 0.01" stale
ok 'none is cold after the first epoch, but all that are reset' \
    numbers 'map(.cold) | .[0] == 1 and (.[13:] | max) == 0' fresh
ok 'which are so always' numbers 'map(.cold) | min == 1' reset
ok 'the bank is known after an epoch and a horizon' \
    numbers 'map(.known) | .[0] == 0 and .[30] == 1' bank
ok 'and in time each fixed view' \
    numbers 'map(.known) | .[20] < 1 and .[-1] == 1' views
for name in bank views; do
    ok "chains walk on it: $name" \
        numbers "$mean .[30:] | mean(.walk_accepted) > 0 and
        mean(.walk_ess) > 1 and mean(.walk_ess) <= 16" "$name"
done
ok 'a bank is kept, of a row for each image and what waits' \
    holds "$(slots bank) >= 101 && $(slots bank) < $(slots views)"
ok 'or for each view' holds "$(slots views) >= 303"
ok 'its staleness is told' numbers "$mean .[30:] | mean(.staleness) > 0 and
    mean(.age) > 1" cache
ok 'draws are as important as they should be' \
    numbers "$mean .[30:] | mean(.importance) > 0.7 and
        mean(.importance) < 1.3" cache

# ------------------------------------------------------------- encrypted

# the run of 'fresh' with every edge over tcp, each stage with a key of its own
for role in select negatives augment train; do
    "$BIN/foil-tap" --role $role keys "$work/keys" $role >/dev/null 2>&1
    mv "$work/keys/$role.key_secret" "$work"
done

# with_key ROLE : its options, in $key
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
ok 'all over tcp, encrypted' ends secret
ok 'all over tcp, encrypted, to the same bits' same fresh secret

# asked to stop when the last step is trained: the selector hears of the end
soon() {
    local selector
    epochs=1 begin soon emc2
    selector=$!
    until has_steps soon 13 || gone "$trainer"; do :; done
    kill "$filter" && wait "$trainer" && wait "$filter" &&
        becomes_true gone "$selector"
}
ok 'a filter that is stopped at the end hands the end on' soon

# ------------------------------------------------------- without a service

# Chains of the trainer, with an encoder that looks its rows up, let the same
# rows come along as the filter, of a bank that is not delayed: the same bits.
"$BIN/foil-embed" --raw --size 8 --recipe cifar --view 0 -o "$work/0.npy" \
    "$data" 2>/dev/null
"$BIN/foil-embed" --raw --size 8 --recipe cifar --view 1 -o "$work/1.npy" \
    "$data" 2>/dev/null
ok 'rows of two views' "$BIN/foil-eval" pca -k 12 -o "$work/basis.npy" \
    --coordinates "$work/rows.npy" "$work/0.npy" "$work/1.npy"

# look_up RUN OPTIONS... : a trainer whose encoder sees rows
look_up() {
    "$BIN/foil-train" -r "$work/$1" --arch rows,hidden=8 --lr 0.02 \
        --warmup 0 --objective ,tau=0.2 --threads 1 --checkpoint-every 50 --deadline 60 \
        "${@:2}" 2>>"$work/$1.train"
}

# own RUN OPTIONS... : a run without filter and service, to the end of all
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

# twice NAME PROPOSALS [MOVES] : by the service, whose bank is not delayed; by own
# chains, stopped on the way and begun again
twice() {
    local bank=
    [[ -z ${3-} ]] || bank=",horizon=1,moves=$3"
    mkdir -m 700 "$work/$1"
    look_up "$1" --objective emc2 --arch ",rows=$work/rows.npy" &
    trainer=$!
    filter "$1" --augmentations 2 --proposals "$2$bank"
    augment "$1"
    select_batches "$1"
    expect 'a good end' ends "$1"
    mkdir -m 700 "$work/$1-own"
    expect 'a run by itself' own "$1-own" --objective emc2 --sampler trainer \
        --proposals "$2${3:+,moves=$3}" --arch ",rows=$work/rows.npy" --steps 33
    expect 'which goes on' own "$1-own" --resume
    same "$1" "$1-own"
}
kinds=(once row bank exact exact-bank)
for proposals in "${kinds[@]}"; do
    moves=
    [[ $proposals != *bank ]] || moves=9
    epochs=3 begun "by-$proposals" twice "by-$proposals" "$proposals" "$moves"
done
for proposals in "${kinds[@]}"; do
    ok "own chains and the service are the same, to the bit: $proposals" \
        ended "by-$proposals"
done
ok 'rows come from outside of the batch' jq -se 'map(.outside) | max > 0' \
    "$work/by-exact-own/metrics.jsonl"

# ------------------------------------------------------------------- owners

if has_python zmq msgpack; then
    mkdir -m 700 "$work/owner"
    filter owner
    select_batches owner
    pass_on /usr/bin/python3 "${0%/*}/filter_owner.py" "$work/owner"
else
    skip 'a session begins late' 'no python3-zmq, python3-msgpack'
fi

# --------------------------------------------------------------- refusals

negatives() {
    "$BIN/foil-negatives" -r "$work/none" "$@"
}
ok 'a cache that cannot draw: 2' refuses 2 'needs --filter' \
    negatives --method cache
ok 'a walk that nobody hears of: 2' refuses 2 'needs --filter' \
    negatives --proposals bank
ok 'named as it was asked for' refuses 2 '^foil-negatives: --proposals exact-bank' \
    negatives --proposals exact-bank
ok 'stale chains do not walk: 2' refuses 2 "bank has no parameter 'scores'" \
    negatives --filter --proposals bank,scores=stale
ok 'one chain for each image, views that differ: 2' refuses 2 'fixed|augment' \
    negatives --filter --proposals all4 -a 2
ok 'an exact draw has no burn-in: 2' refuses 2 "exact has no parameter 'burn-in'" \
    negatives --filter --proposals exact,burn-in=1
ok 'and wants the filter: 2' refuses 2 'that needs --filter' \
    negatives --proposals exact
ok 'the cache has no proposals: 2' refuses 2 'cache has no --proposals' \
    negatives --filter --method cache --proposals once
ok 'a filter without a plan: 2' refuses 2 'wants -r DIR' \
    "$BIN/foil-negatives" --filter --negatives "ipc://$work/n"

# refused NAME PATTERN FILTER-OPTIONS... : the trainer ends with that
refused() {
    begin "$1" emc2 "${@:3}"
    ! ends "$1" && grep -E "$2" "$work/$1.train"
}
ok 'a burn-in that leaves nothing ends the run' \
    refused burnt 'burn-in of 14 leaves nothing' --proposals ,burn-in=14

mkdir -m 700 "$work/wide"
head=65536 train wide --objective emc2
filter wide --proposals bank -a 50 --max-state 1
augment wide
select_batches wide
ok 'a bank that no trainer keeps: 1' exits 1 wait "$trainer"
ok 'by how much it is too large' grep -q \
    'a bank of 5050 rows of 65536 numbers are more than the 1 GiB' \
    "$work/wide.train"
ok 'and nothing was built or trained before' bash -c \
    "! grep parameters '$work/wide.train' && ! [[ -s $work/wide/metrics.jsonl ]]"

mkdir -m 700 "$work/other"
train other --objective emc2
filter other --augmentations 3
select_batches other
ok 'augmenters that have other fixed views end: 1' refuses 1 'the same' \
    "$BIN/foil-augment" -r "$work/other" --filter --size 8 -a 4 "$data"
done_testing
