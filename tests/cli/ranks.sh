#!/usr/bin/env bash
# foil-train-mpi: no bit depends on how many ranks share the shards of a batch; what
# is refused; ranks that are killed, stopped, or asked to end.
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
# by all of Open MPI's versions: as root, more ranks than processors, this machine
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none \
    OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo OMP_NUM_THREADS=1 \
    PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe \
    PRTE_MCA_hwloc_default_binding_policy=none

cd "$work" || exit
ok 'images' "$BIN/foil-data" generate --size 12 -o pics.tar 60
ok 'their index' "$BIN/foil-data" index pics.tar
describe() {
    "$BIN/foil-data" list pics.tar | awk -F'\t' 'NR > 1 {
        for (k = 0; k < 3; k++)
            print $7 "\t" k " times " $1 % 7 " of a shape, seen " $1 % 5 * k
    }' >captions.tsv
    "$BIN/foil-data" index -o set.foil --captions captions.tsv pics.tar &&
        "$BIN/foil-data" vocabulary -o words.txt set.foil
}
ok 'with captions' describe
text=(--vocabulary words.txt --context 16)
with=(--arch resnet8 --head 16-8 --shards 4)
towers=(--arch resnet8 --text bow:8 "${text[@]}" --embed 8 --optim adamw --shards 4)

# by W : sets line to the trainer by so many ranks; 0: foil-train
by() {
    line=(mpirun -n "$1" "$BIN/foil-train-mpi")
    [[ $1 -gt 0 ]] || line=("$BIN/foil-train")
}

# feed RUN BATCH EPOCHS : selector and augmenter, in the background
augment=(--size 8)
feed() {
    "$BIN/foil-augment" -r "$1" "${augment[@]}" set.foil 2>"$1.augment" &
    "$BIN/foil-select" -r "$1" -b "$2" -e "$3" --remainder keep set.foil \
        2>"$1.select" &
}

# whole RUN W OPTION... : a run from its beginning to its end.  Two mpirun of Open
# MPI 5 that begin at once may both want to make their folder in the same place.
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

# same RUN RUN : all arrays that they have saved
same() {
    local file all=0
    for file in "$1"/latest/*.safetensors; do
        cmp "$file" "$2/latest/${file##*/}" || return
        all=$((all + 1))
    done
    holds "$all >= 4"
}

# compare NAME OPTION... : the runs NAME-0, without ranks, and NAME-2, NAME-4
compare() {
    local size
    for size in 0 2 4; do
        begun "$1-$size" whole "$1-$size" "$size" "${@:2}"
    done
    for size in 0 2 4; do
        ok "$1: a run by $size ranks" ended "$1-$size"
    done
    for size in 2 4; do
        ok "$1: its arrays are those of one process" same "$1-0" "$1-$size"
    done
}

compare simclr "${with[@]}" --average-last 0.5
compare sogclr "${with[@]}" --objective sogclr --optim lars
compare emc2 "${with[@]}" --objective emc2 --sampler trainer
compare whole "${with[@]}" --norm-over batch --optim lars
augment=(--filter --size 8)
compare served "${with[@]}" --objective emc2
ok 'images from outside of the batch came along' jq -es 'any(.extra > 0)' \
    served-2/batches.jsonl
augment=(-v 1 --size 8 "${text[@]}")
compare clip "${towers[@]}" --objective clip
compare clip-whole "${towers[@]}" --norm-over batch --objective clip
augment=(--size 8)
ok 'by one rank: a run' whole simclr-1 1 "${with[@]}" --average-last 0.5
ok 'its arrays are those of one process' same simclr-0 simclr-1
ok 'a step tells how long it was with others' jq -es \
    'all(.exchanged > 0 and .exchanged < .seconds)' simclr-2/metrics.jsonl
ok 'and which rank computed longest' jq -es \
    'all((.slowest | IN(0, 1, 2, 3)) and .behind > 0)' simclr-4/metrics.jsonl
ok 'one shard: a run' whole one 1 --arch resnet8 --head 16-8
ok 'norms over the batch are another result' exits 1 \
    cmp {simclr-0,whole-0}/latest/model.safetensors
ok 'without ranks: a run' whole plain 0 --arch resnet8 --head 16-8
ok 'its arrays are the same' same one plain
ok 'four shards are another result' exits 1 cmp {simclr-0,plain}/latest/model.safetensors

# ------------------------------------------------------------------ refusals

ok '3 shards: 2' refuses 2 'no power of two' "$BIN/foil-train" -r x --shards 3
ok 'shards and micro-batches: 2' refuses 2 'both cut batches' "$BIN/foil-train" \
    -r x --shards 2 --micro-batch 2
ok 'norms over the batch and micro-batches: 2' refuses 2 'not for --micro-batch' \
    "$BIN/foil-train" -r x --norm-over batch --micro-batch 2
ok 'foil-train as one of several ranks: 1' refuses 1 'package foil-mpi' \
    env OMPI_COMM_WORLD_SIZE=2 "$BIN/foil-train" -r x
ok 'foil-train as another rank: 1' refuses 1 'package foil-mpi' \
    env PMIX_RANK=1 "$BIN/foil-train" -r x
ok 'foil-train has no MPI' exits 1 grep -q libmpi <(ldd "$BIN/foil-train")

# Most of what follows waits: it goes on beside the kills below.
# beside WHAT COMMAND... : it is begun, and checked at the end
declare -a asides
beside() {
    asides+=("$1")
    begun "$@"
}
# says_no PATTERN ARGUMENT... : mpirun fails, after a line of ours with the pattern
says_no() {
    local code=0 said
    said=$(timeout "$patience" mpirun "${@:2}" 2>&1 </dev/null) || code=$?
    echo "$said"
    test "$code" -ne 0 && grep -q "^foil-train: .*$1" <<<"$said"
}
mpi=$BIN/foil-train-mpi
# says_once PATTERN ARGUMENT... : two ranks are started, one says so
says_once() {
    local said
    said=$(timeout "$patience" mpirun -n 2 "$mpi" "${@:2}" 2>&1 </dev/null)
    echo "$said"
    test "$(grep -c "$1" <<<"$said")" -eq 1
}
beside 'an option that there is not: one sentence' says_once "no option '--fast'" --fast
beside '--help: one page' says_once '^usage: ' --help
beside '--list: one list' says_once '"name":"simclr"' --list objectives
beside '3 ranks for 4 shards' says_no '3 ranks cannot share --shards 4' \
    -n 3 "$mpi" -r three --shards 4
beside '2 ranks for one shard' says_no '2 ranks cannot share --shards 1' \
    -n 2 "$mpi" -r two --shards 1
# differ RUN OPTIONS OPTION N : a line for bash, with N times 1 + rank as the value of
# the last option.  Open MPI 5.0.7 cannot start two programs by one mpirun
differ() {
    echo "exec \"\$0\" -r $1 $2 $3 \$(((OMPI_COMM_WORLD_RANK + 1) * $4))"
}
beside 'threads that differ' says_no "rank 1 has 'threads 2', rank 0 'threads 1'" \
    -n 2 bash -c "$(differ threads '--shards 2' --threads 1)" "$mpi"
beside 'shards that differ' says_no "rank 1 has '--shards 4', rank 0 '--shards 2'" \
    -n 2 bash -c "$(differ shards '--threads 1' --shards 2)" "$mpi"
# second RUN WORD... : a line for bash, by which rank 1 begins with these words
second() {
    echo "[[ \$OMPI_COMM_WORLD_RANK -eq 0 ]] || set -- ${*:2}
        exec \"\$@\" -r $1 --threads 1 --shards 2"
}
# a program whose version begins with x
LC_ALL=C sed 's/\(foil \)[0-9]\([0-9.]*\)$/\1x\2/' "$mpi" >other
chmod +x other
beside 'versions that differ' says_no "rank 1 has 'foil x\.[0-9.]*', rank 0 'foil [0-9]" \
    -n 2 bash -c "$(second version ./other)" bash "$mpi"
bound=(env FOIL_ISA=x86-64)
if env FOIL_ISA=x86-64-v3 "$BIN/foil-train" --list objectives >levels 2>&1; then
    beside 'processors that differ' says_no \
        "rank 1 has 'processor .* as x86-64', rank 0 'processor " -n 2 \
        env -u FOIL_ISA bash -c "$(second processor "${bound[@]}" "$mpi")" bash "$mpi"
    feed layers 16 1
    beside 'and nevertheless have other algorithms' says_no \
        "rank 1 has 'conv1.weight .*', rank 0 'conv1.weight " -n 2 env -u FOIL_ISA bash \
        -c "$(second layers "${bound[@]}" "$mpi") --arch resnet8 --override processor" \
        bash "$mpi"
fi

# ---------------------------------------------------------- kills and signals

# start RUN W OPTION... : one of many steps, in the background; in $trainer
start() {
    by "$2"
    feed "$1" 8 "$epochs"
    "${line[@]}" -r "$1" --threads 1 --checkpoint-every 10 "${with[@]}" \
        "${@:3}" 2>"$1.train" </dev/null &
    trainer=$!
}

# rank N : the process of that rank
rank() {
    local pid
    for pid in $(pgrep -P "$trainer"); do
        ! tr '\0' '\n' <"/proc/$pid/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$1" ||
            echo "$pid"
    done
}

# has_saved RUN : its last step
has_saved() {
    readlink "$1/latest"
    test "$(readlink "$1/latest")" = "step-$(printf '%08d' "$(steps "$1")")"
}

# ends_with CODE : the trainer does
ends_with() {
    local code=0
    wait "$trainer" || code=$?
    cat "$work"/*.train | tail -n 20
    echo "exit code $code"
    test "$code" -eq "$1"
}

# goes_on RUN W : to the end of the plan
goes_on() {
    by "$2"
    "${line[@]}" -r "$1" --threads 1 --deadline 60 --resume 2>"$1.train" \
        </dev/null || { cat "$1.train"; return 1; }
}

# stands_still : a rank that does, and what is said of it
stands_still() {
    local epochs=1000
    start stands 2 --deadline 20 # of batches, too
    expect '5 steps of two ranks' past stands 5
    kill -STOP "$(rank 1)"
    expect 'the end of the run' ends_with 1
    grep '^foil-train: rank 1 on .* has not answered for 20 s' stands.train
}
beside 'a rank that stands still ends the run, which says which' stands_still

# ticks PID : processor time that it has used, in hundredths of a second
ticks() {
    local stat
    read -ra stat <"/proc/$1/stat"
    echo $((stat[13] + stat[14]))
}

# idles PID : in these four seconds it takes less than 3 % of a processor
idles() {
    local before
    before=$(ticks "$1")
    nap 4
    holds "$(ticks "$1") - $before < 12"
}
# waits : a rank does, for a batch
waits() {
    mkdir -m 700 idle
    mpirun -n 2 "$mpi" -r idle --threads 1 "${with[@]}" 2>idle.train </dev/null &
    trainer=$!
    expect 'a start' becomes_true test -e idle/batch
    # not at once: it may still start
    expect 'below 3 %' becomes_true idles "$(rank 1)"
    kill -USR1 "$trainer"
    ends_with 0
}
beside 'a rank that waits leaves the processor to others, and ends when asked' waits

epochs=6
start calm 0
ok 'a run without disturbance' ends_with 0
# killed RANK : of two, after 15 steps.  On a busy machine a run may be over by then
killed() {
    local code run=killed-$1
    for _ in 1 2 3; do
        rm -rf "$run"
        start "$run" 2
        past "$run" 15 || return
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
    ok "15 steps of two ranks, then rank $victim is killed: 137" killed "$victim"
    ok 'the run goes on by four' goes_on "killed-$victim" 4
    ok 'and ends as the calm one' same calm "killed-$victim"
done
start asked 4
ok '15 steps of four ranks' past asked 15
kill -USR1 "$trainer"
ok 'SIGUSR1 to mpirun: the run ends with 0' ends_with 0
ok 'and has saved its last step' has_saved asked
feed asked 8 "$epochs"
ok 'the run goes on by itself' goes_on asked 0
ok 'and ends as the calm one' same calm asked

# ------------------------------------------------------------------ pipelines

# says_share RUN : foil-top tells what the exchange with other ranks takes
says_share() {
    "$BIN/foil-top" -r "$1" --once >top
    cat top
    grep -qE 'batches take [0-9]+%, other ranks [0-9]+%' top &&
        grep -q '^rank [01] computes longest, [0-9]*% of a step above the mean' top
}

# pipe SIZE OPTION... : sets pipeline to one of so many ranks
pipe() {
    pipeline=("$BIN/foil" run simclr -r piped --ranks "$1" --epochs 1000 --batch 8
        --augmenters 1 --threads 1 --augment '--size 8' --train
        '--arch resnet8 --head 16-8 --checkpoint-every 0' "${@:2}" pics.tar)
}
pipe 2
if [[ $(id -u) -eq 0 ]]; then
    ok 'as root, which Open MPI refuses by itself: 1' \
        refuses 1 'mpirun starts no processes: .*OMPI_ALLOW_RUN_AS_ROOT=1' \
        env -u OMPI_ALLOW_RUN_AS_ROOT -u OMPI_ALLOW_RUN_AS_ROOT_CONFIRM "${pipeline[@]}"
fi
"${pipeline[@]}" >piped.train 2>&1 </dev/null &
trainer=$!
ok '5 steps of a pipeline with two ranks' past piped 5
ok 'foil-top says what takes its time' becomes_true says_share piped
kill -TERM "$trainer"
ok 'it is asked to end: 143' ends_with 143
ok 'and has saved its last step' has_saved piped
before=$(steps piped)
pipe 1 --resume
"${pipeline[@]}" >piped.train 2>&1 </dev/null &
trainer=$!
ok 'it goes on by one' past piped $((before + 5))
kill -TERM "$trainer"
ok 'to where it is asked again' ends_with 143
pipe 2 --resume
# interrupted : by Ctrl-C, when rank 0 has said its first words
interrupted() {
    /usr/bin/python3 "$terminal" 80 24 '^C' 'resnet8 of' -- "${pipeline[@]}" \
        >piped.train
}
ok 'Ctrl-C on a terminal ends two ranks: 130' exits 130 interrupted
ok 'which have saved their last step, too' has_saved piped

for aside in "${asides[@]}"; do
    ok "$aside" ended "$aside"
done

done_testing
