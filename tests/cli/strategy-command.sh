#!/usr/bin/env bash
# foil-select --strategy-command: plans by a user's program are the same, bit for bit,
# whichever process is killed; wrong answers are reported.
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
ok 'a program in awk makes a plan' scored "$awk" --plan-out "$work/plan"
ok '--score prints strategy and number of batches' \
    jq -e '.strategy == "command" and .batches == 9' "$work/out"
ok 'the plan of awk has each sample once' \
    diff <(seq 0 255) <(tr ' ' '\n' <"$work/plan" | sort -n)
ok 'the plan has the order of the program' grep -qx "$(seq -s ' ' 0 28)" "$work/plan"
numpy="/usr/bin/python3 '$examples/strategy.py'"
if has_python numpy; then
    ok 'a program with NumPy makes a plan from features' \
        scored "$numpy" --plan-out "$work/easy"
    ok 'the plan of NumPy has each sample once' \
        diff <(seq 0 255) <(tr ' ' '\n' <"$work/easy" | sort -n)
    ok '--strategy ,refine refines a plan of a program' \
        scored "$numpy" --strategy ,refine --plan-out "$work/refined"
    ok 'a refined plan differs' bash -c "! cmp -s '$work/easy' '$work/refined'"
    ok 'a program gets the features of the file' scored "/usr/bin/python3 -c '
import os, numpy as np
input()
u, v = np.load(os.environ[\"FOIL_MEMORY\"])
x = np.load(\"$work/u.npy\")
x /= np.linalg.norm(x, axis=1, keepdims=True)
assert (u == v).all() and abs(u - x).max() < 1e-6
for batch in np.array_split(np.arange(256), 9): print(*batch)
print(\"ok\")'"
else
    skip 'a program with NumPy makes a plan from features' 'no python3-numpy'
fi

# refuses_answer PATTERN ANSWER... : a program with that answer is refused with 1
refuses_answer() {
    printf '%s\n' "${@:2}" >"$work/answer"
    refuses 1 "^foil-select: strategy: .*$1" \
        scored "while read -r line; do cat '$work/answer'; done"
}
good=(); for ((i = 0; i < 9; i++)); do
    good+=("$(seq -s ' ' $((i * 28 + (i < 4 ? i : 4))) $((i * 28 + 27 + (i < 4 ? i + 1 : 4))))")
done
ok 'a valid answer is accepted' scored "read x; printf '%s\n' ${good[*]@Q} ok"
ok 'too few batches exit with 1' \
    refuses_answer 'answered 8 batches, want 9' "${good[@]:0:8}" ok
ok 'too many batches exit with 1' \
    refuses_answer 'answered more than 9 batches' "${good[@]}" 1 ok
ok 'a batch of another size exits with 1' \
    refuses_answer 'answered 3 ids as batch 0, which has 29' '1 2 3' ok
ok 'a sample after the last one exits with 1' \
    refuses_answer 'sample 256 in batch 0: there are 0 to 255' "256${good[0]:1}" ok
ok 'a negative sample exits with 1' \
    refuses_answer 'answered sample -1' "-1${good[0]:1}" ok
ok 'a sample twice in a batch exits with 1' \
    refuses_answer 'answered sample 1 twice in batch 0' "1${good[0]:1}" ok
ok 'a sample twice in an epoch exits with 1' \
    refuses_answer 'sample 0 a second time, in batch 1; --partial allows it' "${good[0]}" "${good[0]}" ok
ok 'a word instead of ids exits with 1' \
    refuses_answer "answered 'loading' where the ids of batch 0" loading ok
ok 'an error of the program exits with 1' \
    refuses_answer 'no such epoch' 'error no such epoch'
ok 'a program that exits is restarted, then the exit code is 1' \
    refuses 1 'with code 3.*started again' \
    scored 'exit 3'
ok 'endless lines exit with 1' refuses 1 'answered 1 ids as batch 0, which has 29' \
    scored 'read x; exec yes 1'
ok 'an endless line exits with 1' refuses 1 'answered a line of over [0-9]* bytes' \
    scored 'read x; exec tr "\0" 1 </dev/zero'
ok 'endless messages exit with 1' refuses 1 'did not answer in time' \
    scored 'read x; yes >&2; :' --command-limit 0.1
ok 'no answer before --command-limit exits with 1' refuses 1 'did not answer in time' \
    scored 'read x; echo "$$" >"'"$work"'/hangs"; sleep 1000' --command-limit 0.1
ok 'a program that does not answer is killed' becomes_true gone "$(<"$work/hangs")"
again=("${good[@]:0:5}" "${good[4]}" "${good[@]:6}") # one batch is left out
ok '--partial lets samples occur twice' scored "read x; printf '%s\n' \
    ${again[*]@Q} ok" --partial
for options in '--strategy swap' '--features none --strategy ,refine'; do
    # shellcheck disable=SC2086 # options are words
    ok "$options with --strategy-command exits with 2" exits 2 scored true $options
done
ok '--partial without --strategy-command exits with 2' \
    refuses 2 'belongs to --strategy-command' \
    "$BIN/foil-select" -r "$work/x" --partial "$data"
ok '--features none without --strategy-command exits with 2' \
    refuses 2 'is for --strategy-command' \
    "$BIN/foil-select" -r "$work/x" --features none "$data"
ok '--dry-run with --strategy-command succeeds' "$BIN/foil-select" --dry-run -b 8 \
    --strategy-command "$awk" "$data"
ok 'a program needs features of the trainer' jq -e '.keep_features == 2' "$work/out"
ok '--dry-run with --features none succeeds' "$BIN/foil-select" --dry-run -b 8 \
    --features none --strategy-command "$awk" "$data"
ok 'a program with --features none needs no features' \
    jq -e '.keep_features == 0' "$work/out"

# ------------------------------------------------------------------- a run

# whole RUN OPTION... : an undisturbed run
whole() {
    train "$1" --keep-features "${keep-2}"
    augment "$1"
    plan "$@"
    ends "$1"
}

# killed RUN OPTION... : selector, trainer and both are killed in mid-epoch
killed() {
    train "$1" --keep-features "${keep-2}"
    augment "$1"
    plan "$@"
    for steps in 10 80; do
        expect "at step $steps" reaches "$1" "$steps"
        kill_now "$selector"
        plan "$@"
    done
    expect 'at step 105' reaches "$1" 105
    kill_now "$trainer"
    train "$1" --resume
    expect 'at step 140' reaches "$1" 140
    kill_now "$trainer" "$selector"
    train "$1" --resume
    plan "$@"
    ends "$1"
}

# a program with a different answer each time
random="while read -r word line; do echo \"\$line\" >>'$work/asked'
    seq 0 255 | shuf | xargs -n 8; echo ok; done"

kinds=(awk random)
keep=0 start_job calm-awk whole calm-awk --features none --strategy-command "$awk"
keep=0 start_job awk killed awk --features none --strategy-command "$awk"
keep=0 start_job random killed random --features none --strategy-command "$random"
if has_python numpy; then
    kinds+=(numpy)
    start_job calm-numpy whole calm-numpy --strategy-command "$numpy"
    start_job numpy killed numpy --strategy-command "$numpy"
fi
for kind in "${kinds[@]}"; do
    [[ $kind == random ]] || ok "$kind: an undisturbed run succeeds" job_ok "calm-$kind"
    ok "$kind: stages are killed in mid-epoch: the run ends" job_ok "$kind"
    ok "$kind: the killed run trains all steps" \
        test "$(steps "$kind")" -eq $((epochs * 32))
    [[ $kind == random ]] ||
        ok "$kind: the killed run has the same result" like "calm-$kind" "$kind"
done
[[ ! -v job_pid[numpy] ]] ||
    ok 'metrics have the plan in the first step of each epoch' jq -se 'map(select(.plan) |
    [.epoch, .step, .plan.strategy]) == [range(6) | [., 0, "command"]]' \
    "$work/numpy/metrics.jsonl"
ok 'the run directory has the plans of the program' \
    test "$(find "$work/random/plans" -type f | wc -l)" -eq 6
# an undisturbed run with these plans does not call the program
again() {
    mkdir -p "$work/calm-random"
    cp -r "$work/random/plans" "$work/calm-random"
    : >"$work/asked"
    keep=0 whole calm-random --features none --strategy-command "$random"
    test ! -s "$work/asked"
}
ok 'a run with stored plans does not call the program' again
ok 'random plans are stored: a killed run has the same result' like calm-random random
done_testing
