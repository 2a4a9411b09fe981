#!/usr/bin/env bash
# foil-train-mpi: the result does not depend on how many ranks share the shards of a
# batch; refused options; ranks that are killed, stopped, or asked to end.
# Not for sanitizers: MPI does not give all of its memory back
# Mostly waits, 60 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
terminal=$(cd "${0%/*}" && pwd)/terminal.py

if [[ ! -x $BIN/foil-train-mpi ]] || ! command -v mpirun >/dev/null; then
    skip 'ranks' 'no foil-train-mpi, or no mpirun'
    done_testing
fi
# for all versions of Open MPI: as root, more ranks than processors, only this machine
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none \
    OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo OMP_NUM_THREADS=1 \
    PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe \
    PRTE_MCA_hwloc_default_binding_policy=none

cd "$work" || exit
ok 'foil-data generate makes images' "$BIN/foil-data" generate --size 12 -o pics.tar 60
ok 'foil-data index makes their index' "$BIN/foil-data" index pics.tar
describe() {
    "$BIN/foil-data" list pics.tar | awk -F'\t' 'NR > 1 {
        for (k = 0; k < 3; k++)
            print $7 "\t" k " times " $1 % 7 " of a shape, seen " $1 % 5 * k
    }' >captions.tsv
    "$BIN/foil-data" index -o set.foil --captions captions.tsv pics.tar &&
        "$BIN/foil-data" vocabulary -o words.txt set.foil
}
ok 'foil-data makes captions and a vocabulary' describe
text=(--vocabulary words.txt --context 16)
net=(--arch resnet8 --head 16-8 --shards 4)
towers=(--arch resnet8 --text bow:8 "${text[@]}" --embed 8 --optim adamw --shards 4)

# by W : sets $line to the command of W ranks; 0: foil-train
by() {
    line=(mpirun -n "$1" "$BIN/foil-train-mpi")
    [[ $1 -gt 0 ]] || line=("$BIN/foil-train")
}

# feed RUN BATCH EPOCHS : starts selector and augmenter
augment=(--size 8)
feed() {
    "$BIN/foil-augment" -r "$1" "${augment[@]}" set.foil 2>"$1.augment" &
    "$BIN/foil-select" -r "$1" -b "$2" -e "$3" --remainder keep set.foil \
        2>"$1.select" &
}

# whole RUN W OPTION... : a complete run.  Each has its own TMPDIR, since two mpirun of
# Open MPI 5 that start at once may collide in the same folder.
whole() {
    local code=0 filter=
    by "$2"
    mkdir -m 700 "$1" "$1.tmp"
    if [[ ${augment[0]} == --filter ]]; then
        "$BIN/foil-negatives" -r "$1" --filter 2>"$1.negatives" &
        filter=$!
    fi
    feed "$1" 16 2
    TMPDIR=$PWD/$1.tmp "${line[@]}" -r "$1" --threads 1 --deadline 60 "${@:3}" \
        2>"$1.train" </dev/null || code=$?
    [[ -z $filter ]] || kill "$filter"
    [[ $code -eq 0 ]] || { cat "$1.train"; return 1; }
}

# same RUN RUN : all saved arrays are equal
same() {
    local file all=0
    for file in "$1"/latest/*.safetensors; do
        cmp "$file" "$2/latest/${file##*/}" || return
        all=$((all + 1))
    done
    holds "$all >= 4"
}

# compare NAME OPTION... : the runs NAME-0 (no ranks), NAME-2 and NAME-4 are equal
compare() {
    local size
    for size in 0 2 4; do
        start_job "$1-$size" whole "$1-$size" "$size" "${@:2}"
    done
    for size in 0 2 4; do
        ok "$1: a run by $size ranks succeeds" job_ok "$1-$size"
    done
    for size in 2 4; do
        ok "$1: $size ranks have the arrays of one process" same "$1-0" "$1-$size"
    done
}

compare simclr "${net[@]}" --average-last 0.5
compare sogclr "${net[@]}" --objective sogclr --optim lars
compare emc2 "${net[@]}" --objective emc2 --sampler trainer
compare whole "${net[@]}" --norm-over batch --optim muon --lr 0.02
augment=(--filter --size 8)
compare served "${net[@]}" --objective emc2
ok 'samples from outside of the batch are trained' jq -es 'any(.extra > 0)' \
    served-2/batches.jsonl
augment=(-v 1 --size 8 "${text[@]}")
compare clip "${towers[@]}" --objective clip
compare clip-whole "${towers[@]}" --norm-over batch --objective clip
augment=(--size 8@0,12@1)
compare sizes "${net[@]}"
augment=(--size 8)
ok 'a run by one rank succeeds' whole simclr-1 1 "${net[@]}" --average-last 0.5
ok 'one rank has the arrays of foil-train' same simclr-0 simclr-1
ok 'metrics have the time of the exchange with other ranks' jq -es \
    'all(.exchanged > 0 and .exchanged < .seconds)' simclr-2/metrics.jsonl
ok 'metrics have the slowest rank' jq -es \
    'all((.slowest_rank | IN(0, 1, 2, 3)) and .rank_lag > 0)' simclr-4/metrics.jsonl
ok 'a run by one rank with one shard succeeds' whole one 1 --arch resnet8 --head 16-8
ok 'norms over the batch change the result' exits 1 \
    cmp {simclr-0,whole-0}/latest/model.safetensors
ok 'a run by foil-train with one shard succeeds' whole plain 0 --arch resnet8 --head 16-8
ok 'one rank with one shard has the arrays of foil-train' same one plain
ok 'four shards change the result' exits 1 cmp {simclr-0,plain}/latest/model.safetensors

# ------------------------------------------------------------------ refusals

ok '--shards 3 exits with 2' refuses 2 'no power of two' "$BIN/foil-train" -r x --shards 3
ok '--shards with --micro-batch exits with 2' \
    refuses 2 'both cut batches' "$BIN/foil-train" \
    -r x --shards 2 --micro-batch 2
ok '--norm-over batch with --micro-batch exits with 2' refuses 2 'not for --micro-batch' \
    "$BIN/foil-train" -r x --norm-over batch --micro-batch 2
ok 'foil-train as one of several ranks exits with 1' refuses 1 'package foil-mpi' \
    env OMPI_COMM_WORLD_SIZE=2 "$BIN/foil-train" -r x
ok 'foil-train as a rank of PMIx exits with 1' refuses 1 'package foil-mpi' \
    env PMIX_RANK=1 "$BIN/foil-train" -r x
ok 'foil-train is not linked with MPI' exits 1 grep -q libmpi <(ldd "$BIN/foil-train")

# Most of what follows waits, so it runs in parallel with the kills below.
# start_aside WHAT COMMAND... : starts a background job, which is checked at the end
declare -a asides
start_aside() {
    asides+=("$1")
    start_job "$@"
}
# says_no PATTERN ARGUMENT... : mpirun fails, and a line of foil-train matches
says_no() {
    local code=0 output
    output=$(timeout "$patience" mpirun "${@:2}" 2>&1 </dev/null) || code=$?
    echo "$output"
    test "$code" -ne 0 && grep -q "^foil-train: .*$1" <<<"$output"
}
mpi=$BIN/foil-train-mpi
# says_once PATTERN ARGUMENT... : one of two ranks prints a line that matches
says_once() {
    local output
    output=$(timeout "$patience" mpirun -n 2 "$mpi" "${@:2}" 2>&1 </dev/null)
    echo "$output"
    test "$(grep -c "$1" <<<"$output")" -eq 1
}
start_aside 'two ranks print one error for an unknown option' \
    says_once "no option '--fast'" --fast
start_aside 'two ranks print one page for --help' says_once '^usage: ' --help
start_aside 'two ranks print one list for --list' \
    says_once '"name":"simclr"' --list objectives
start_aside '3 ranks for 4 shards are refused' says_no '3 ranks cannot share --shards 4' \
    -n 3 "$mpi" -r three --shards 4
start_aside '2 ranks for one shard are refused' \
    says_no '2 ranks cannot share --shards 1' \
    -n 2 "$mpi" -r two --shards 1
# differ RUN OPTIONS OPTION N : prints a line for bash that gives OPTION the value
# N * (1 + rank).  Open MPI 5.0.7 cannot start two programs by one mpirun.
differ() {
    echo "exec \"\$0\" -r $1 $2 $3 \$(((OMPI_COMM_WORLD_RANK + 1) * $4))"
}
start_aside 'ranks with different --threads are refused' \
    says_no "rank 1 has 'threads 2', rank 0 'threads 1'" \
    -n 2 bash -c "$(differ threads '--shards 2' --threads 1)" "$mpi"
start_aside 'ranks with different --shards are refused' \
    says_no "rank 1 has '--shards 4', rank 0 '--shards 2'" \
    -n 2 bash -c "$(differ shards '--threads 1' --shards 2)" "$mpi"
# second RUN WORD... : prints a line for bash that starts rank 1 by these words
second() {
    echo "[[ \$OMPI_COMM_WORLD_RANK -eq 0 ]] || set -- ${*:2}
        exec \"\$@\" -r $1 --threads 1 --shards 2"
}
# a program with a version that begins with x
LC_ALL=C sed 's/\(foil \)[0-9]\([0-9.]*\)$/\1x\2/' "$mpi" >other
chmod +x other
start_aside 'ranks of different versions are refused' \
    says_no "rank 1 has 'foil x\.[0-9.]*', rank 0 'foil [0-9]" \
    -n 2 bash -c "$(second version ./other)" bash "$mpi"
bound=(env FOIL_ISA=x86-64)
if env FOIL_ISA=x86-64-v3 "$BIN/foil-train" --list objectives >levels 2>&1; then
    start_aside 'ranks on different processors are refused' says_no \
        "rank 1 has 'processor .* as x86-64', rank 0 'processor " -n 2 \
        env -u FOIL_ISA bash -c "$(second processor "${bound[@]}" "$mpi")" bash "$mpi"
    feed layers 16 1
    start_aside '--override processor refuses ranks with other algorithms' says_no \
        "rank 1 has 'conv1.weight .*', rank 0 'conv1.weight " -n 2 env -u FOIL_ISA bash \
        -c "$(second layers "${bound[@]}" "$mpi") --arch resnet8 --override processor" \
        bash "$mpi"
fi

# ---------------------------------------------------------- kills and signals

# start RUN W OPTION... : starts a run of many steps; mpirun is $trainer
start() {
    by "$2"
    feed "$1" 8 "$epochs"
    "${line[@]}" -r "$1" --threads 1 --checkpoint-every 10 "${net[@]}" \
        "${@:3}" 2>"$1.train" </dev/null &
    trainer=$!
}

# rank N : prints the PID of that rank
rank() {
    local pid
    for pid in $(pgrep -P "$trainer"); do
        ! tr '\0' '\n' <"/proc/$pid/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$1" ||
            echo "$pid"
    done
}

# has_saved RUN : its checkpoint has the last step
has_saved() {
    readlink "$1/latest"
    test "$(readlink "$1/latest")" = "step-$(printf '%08d' "$(steps "$1")")"
}

# ends_with CODE : the trainer exits with it
ends_with() {
    local code=0
    wait "$trainer" || code=$?
    cat "$work"/*.train | tail -n 20
    echo "exit code $code"
    test "$code" -eq "$1"
}

# goes_on RUN W : resumes the run to the end of the plan
goes_on() {
    by "$2"
    "${line[@]}" -r "$1" --threads 1 --deadline 60 --resume 2>"$1.train" \
        </dev/null || { cat "$1.train"; return 1; }
}

# stop_rank : stops a rank; the other reports it and the run ends
stop_rank() {
    local epochs=1000
    start halted 2 --deadline 20 # of batches, too
    expect '5 steps of two ranks' reaches halted 5
    kill -STOP "$(rank 1)"
    expect 'the end of the run' ends_with 1
    grep '^foil-train: rank 1 on .* has not answered for 20 s' halted.train
}
start_aside 'a stopped rank ends the run and is named' stop_rank

# ticks PID : prints its processor time in hundredths of a second
ticks() {
    local stat
    read -ra stat <"/proc/$1/stat"
    echo $((stat[13] + stat[14]))
}

# idles PID : in four seconds it uses less than 3 % of a processor
idles() {
    local before
    before=$(ticks "$1")
    nap 4
    holds "$(ticks "$1") - $before < 12"
}
# waits : a rank that waits for a batch
waits() {
    mkdir -m 700 idle
    mpirun -n 2 "$mpi" -r idle --threads 1 "${net[@]}" 2>idle.train </dev/null &
    trainer=$!
    expect 'a start' becomes_true test -e idle/batch
    # not at once: it may still be starting
    expect 'below 3 %' becomes_true idles "$(rank 1)"
    kill -USR1 "$trainer"
    ends_with 0
}
start_aside 'a rank that waits is idle and ends after SIGUSR1' waits

epochs=6
start calm 0
ok 'an undisturbed run succeeds' ends_with 0
# killed RANK : kills one of two ranks after 15 steps, again if the run was over by then
killed() {
    local code run=killed-$1
    for _ in 1 2 3; do
        rm -rf "$run"
        start "$run" 2
        reaches "$run" 15 || return
        kill -KILL "$(rank "$1")" 2>/dev/null
        code=0
        wait "$trainer" || code=$?
        [[ $code -eq 0 ]] || break
    done
    cat "$run.train"
    echo "exit code $code"
    test "$code" -eq 137
}
for victim in 0 1; do
    ok "rank $victim of two is killed: mpirun exits with 137" killed "$victim"
    ok "rank $victim is killed: four ranks resume the run" goes_on "killed-$victim" 4
    ok "rank $victim is killed: the resumed run has the same result" \
        same calm "killed-$victim"
done
start asked 4
ok 'four ranks train 15 steps' reaches asked 15
kill -USR1 "$trainer"
ok 'SIGUSR1 to mpirun ends the run with 0' ends_with 0
ok 'SIGUSR1 to mpirun saves the last step' has_saved asked
feed asked 8 "$epochs"
ok 'foil-train resumes the run of four ranks' goes_on asked 0
ok 'the resumed run of four ranks has the same result' same calm asked

# ------------------------------------------------------------------ pipelines

# says_share RUN : foil-top prints the share of the exchange and the slowest rank
says_share() {
    "$BIN/foil-top" -r "$1" --once >top
    cat top
    grep -qE 'batches take [0-9]+%, other ranks [0-9]+%' top &&
        grep -q '^rank [01] computes longest, [0-9]*% of a step above the mean' top
}

# pipe SIZE OPTION... : sets $pipeline to one of SIZE ranks
pipe() {
    pipeline=("$BIN/foil" run simclr -r piped --ranks "$1" --epochs 1000 --batch 8
        --augmenters 1 --threads 1 --augment '--size 8' --train
        '--arch resnet8 --head 16-8 --checkpoint-every 0' "${@:2}" pics.tar)
}
pipe 2
if [[ $(id -u) -eq 0 ]]; then
    ok 'a pipeline with ranks as root exits with 1' \
        refuses 1 'mpirun starts no processes: .*OMPI_ALLOW_RUN_AS_ROOT=1' \
        env -u OMPI_ALLOW_RUN_AS_ROOT -u OMPI_ALLOW_RUN_AS_ROOT_CONFIRM "${pipeline[@]}"
fi
"${pipeline[@]}" >piped.train 2>&1 </dev/null &
trainer=$!
ok 'a pipeline with two ranks trains 5 steps' reaches piped 5
ok 'foil-top prints the share of other ranks' becomes_true says_share piped
kill -TERM "$trainer"
ok 'SIGTERM ends a pipeline with two ranks with 143' ends_with 143
ok 'SIGTERM to a pipeline saves the last step of two ranks' has_saved piped
before=$(steps piped)
pipe 1 --resume
"${pipeline[@]}" >piped.train 2>&1 </dev/null &
trainer=$!
ok 'a pipeline with one rank resumes the run' reaches piped $((before + 5))
kill -TERM "$trainer"
ok 'SIGTERM ends a pipeline with one rank with 143' ends_with 143
pipe 2 --resume
# interrupted : Ctrl-C when rank 0 has printed its encoder
interrupted() {
    /usr/bin/python3 "$terminal" 80 24 '^C' 'resnet8 of' -- "${pipeline[@]}" \
        >piped.train
}
ok 'Ctrl-C on a terminal ends a pipeline with two ranks with 130' exits 130 interrupted
ok 'Ctrl-C on a terminal saves the last step of two ranks' has_saved piped

for aside in "${asides[@]}"; do
    ok "$aside" job_ok "$aside"
done

done_testing
