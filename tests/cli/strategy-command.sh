#!/usr/bin/env bash
# foil-select --strategy-command: plans by a program of the user's, the same to the
# bit whatever is killed when; what it answers wrongly is told.
# Mostly waits, 5 s
# Not for sanitizers: plans by a program are in python-examples.sh.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/commands.sh
. "${0%/*}/../commands.sh"
export OMP_NUM_THREADS=1

# 32 steps an epoch
data=$work/data.tar epochs=6
"$BIN/foil-data" generate -o "$data" --size 16 256 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null
"$BIN/foil-embed" --raw --size 8 -o "$work/u.npy" "$data" 2>/dev/null

# ---------------------------------------------------------------- from files

# scored COMMAND OPTION... : a plan of that program from files
scored() {
    "$BIN/foil-select" --score -b 30 --strategy-command "$@" "$work/u.npy"
}
awk="mawk -Winteractive -f '$examples/strategy.awk'"
ok 'a plan by awk' scored "$awk" --plan-out "$work/plan"
ok 'has its facts' jq -e '.strategy == "command" and .batches == 9' "$work/out"
ok 'each sample once' diff <(seq 0 255) <(tr ' ' '\n' <"$work/plan" | sort -n)
ok 'as the program has put them' grep -qx "$(seq -s ' ' 0 28)" "$work/plan"
numpy="/usr/bin/python3 '$examples/strategy.py'"
if has_python numpy; then
    ok 'a plan by NumPy, from features' scored "$numpy" --plan-out "$work/easy"
    ok 'each sample once' \
        diff <(seq 0 255) <(tr ' ' '\n' <"$work/easy" | sort -n)
    ok 'which is refined, if that is wanted' \
        scored "$numpy" --strategy ,refine --plan-out "$work/refined"
    ok 'into another' bash -c "! cmp -s '$work/easy' '$work/refined'"
    ok 'features are those of the file' scored "/usr/bin/python3 -c '
import os, numpy as np
input()
u, v = np.load(os.environ[\"FOIL_MEMORY\"])
x = np.load(\"$work/u.npy\")
x /= np.linalg.norm(x, axis=1, keepdims=True)
assert (u == v).all() and abs(u - x).max() < 1e-6
for batch in np.array_split(np.arange(256), 9): print(*batch)
print(\"ok\")'"
else
    skip 'a plan by NumPy' 'no python3-numpy'
fi

# says PATTERN ANSWER... : a program that answers so is refused, 1
says() {
    printf '%s\n' "${@:2}" >"$work/answer"
    refuses 1 "^foil-select: strategy: .*$1" \
        scored "while read -r line; do cat '$work/answer'; done"
}
good=(); for ((i = 0; i < 9; i++)); do
    good+=("$(seq -s ' ' $((i * 28 + (i < 4 ? i : 4))) $((i * 28 + 27 + (i < 4 ? i + 1 : 4))))")
done
ok 'a sound answer' scored "read x; printf '%s\n' ${good[*]@Q} ok"
ok 'too few batches: 1' says 'answered 8 batches, want 9' "${good[@]:0:8}" ok
ok 'too many: 1' says 'answered more than 9 batches' "${good[@]}" 1 ok
ok 'a batch of another size: 1' \
    says 'answered 3 ids as batch 0, which has 29' '1 2 3' ok
ok 'a sample that is not there: 1' \
    says 'sample 256 in batch 0: there are 0 to 255' "256${good[0]:1}" ok
ok 'one below zero: 1' says 'answered sample -1' "-1${good[0]:1}" ok
ok 'one twice in a batch: 1' \
    says 'answered sample 1 twice in batch 0' "1${good[0]:1}" ok
ok 'one twice in an epoch: 1' \
    says 'sample 0 a second time, in batch 1; --partial allows it' "${good[0]}" "${good[0]}" ok
ok 'what is no id: 1' says "answered 'loading' where the ids of batch 0" loading ok
ok 'an error of its own: 1' says 'no such epoch' 'error no such epoch'
ok 'an end: it is started again, then 1' refuses 1 'with code 3.*started again' \
    scored 'exit 3'
ok 'lines without end: 1' refuses 1 'answered 1 ids as batch 0, which has 29' \
    scored 'read x; exec yes 1'
ok 'a line without end: 1' refuses 1 'answered a line of over [0-9]* bytes' \
    scored 'read x; exec tr "\0" 1 </dev/zero'
ok 'messages without end: 1' refuses 1 'did not answer in time' \
    scored 'read x; yes >&2; :' --command-limit 0.1
ok 'no answer in time: 1' refuses 1 'did not answer in time' \
    scored 'read x; echo "$$" >"'"$work"'/hangs"; sleep 1000' --command-limit 0.1
ok 'whose program is killed' becomes_true gone "$(<"$work/hangs")"
again=("${good[@]:0:5}" "${good[4]}" "${good[@]:6}") # one batch is left out
ok '--partial lets samples come twice' scored "read x; printf '%s\n' \
    ${again[*]@Q} ok" --partial
for options in '--strategy swap' '--features none --strategy ,refine'; do
    # shellcheck disable=SC2086 # options are words
    ok "$options beside it: 2" exits 2 scored true $options
done
ok '--partial without it: 2' refuses 2 'belongs to --strategy-command' \
    "$BIN/foil-select" -r "$work/x" --partial "$data"
ok '--features none without it: 2' refuses 2 'is for --strategy-command' \
    "$BIN/foil-select" -r "$work/x" --features none "$data"
ok 'what its plans need' "$BIN/foil-select" --dry-run -b 8 \
    --strategy-command "$awk" "$data"
ok 'is features of the trainer' jq -e '.keep_features == 2' "$work/out"
ok 'unless they are not wanted' "$BIN/foil-select" --dry-run -b 8 \
    --features none --strategy-command "$awk" "$data"
ok 'which it says' jq -e '.keep_features == 0' "$work/out"

# ------------------------------------------------------------------- a run

# whole RUN OPTION... : an undisturbed run
whole() {
    train "$1" --keep-features "${keep-2}"
    augment "$1"
    plan "$@"
    ends "$1"
}

# killed RUN OPTION... : selector, trainer and both are killed in the middle of
# epochs
killed() {
    train "$1" --keep-features "${keep-2}"
    augment "$1"
    plan "$@"
    for steps in 10 80; do
        expect "at step $steps" past "$1" "$steps"
        kill_now "$selector"
        plan "$@"
    done
    expect 'at step 105' past "$1" 105
    kill_now "$trainer"
    train "$1" --resume
    expect 'at step 140' past "$1" 140
    kill_now "$trainer" "$selector"
    train "$1" --resume
    plan "$@"
    ends "$1"
}

# a program that never answers the same
random="while read -r word line; do echo \"\$line\" >>'$work/asked'
    seq 0 255 | shuf | xargs -n 8; echo ok; done"

kinds=(awk random)
keep=0 begun calm-awk whole calm-awk --features none --strategy-command "$awk"
keep=0 begun awk killed awk --features none --strategy-command "$awk"
keep=0 begun random killed random --features none --strategy-command "$random"
if has_python numpy; then
    kinds+=(numpy)
    begun calm-numpy whole calm-numpy --strategy-command "$numpy"
    begun numpy killed numpy --strategy-command "$numpy"
fi
for kind in "${kinds[@]}"; do
    [[ $kind == random ]] || ok "$kind: an undisturbed run" ended "calm-$kind"
    ok "$kind: killed in the middle of epochs, the run goes on" ended "$kind"
    ok "$kind: with all its steps" test "$(steps "$kind")" -eq $((epochs * 32))
    [[ $kind == random ]] || ok "$kind: to the same bits" like "calm-$kind" "$kind"
done
[[ ! -v doing[numpy] ]] || ok 'each plan stands with the first step of its epoch' jq -se 'map(select(.plan) |
    [.epoch, .step, .plan.strategy]) == [range(6) | [., 0, "command"]]' \
    "$work/numpy/metrics.jsonl"
ok 'its answers are kept in the run directory' \
    test "$(find "$work/random/plans" -type f | wc -l)" -eq 6
# an undisturbed run that finds them asks for none
again() {
    mkdir -p "$work/calm-random"
    cp -r "$work/random/plans" "$work/calm-random"
    : >"$work/asked"
    keep=0 whole calm-random --features none --strategy-command "$random"
    test ! -s "$work/asked"
}
ok 'where they are found, nothing is asked' again
ok 'each epoch had one plan, whatever was killed: the same bits' like calm-random random
done_testing
