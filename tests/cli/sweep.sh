#!/usr/bin/env bash
# foil sweep: a grid of options by seeds has the same table when it is killed, for any
# --jobs, and with --stop; a cell that fails is named; Slurm gets an array of jobs.
# Not for sanitizers: pipelines; other tests cover their stages.
# shellcheck disable=SC2016 # eval expands
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1
PATH=$BIN:$PATH
cd "$work" || exit 1
foil-data generate -o set.tar --size 8 -s 1 64 2>/dev/null
foil-data index set.tar 2>/dev/null
foil-data split --share 0.5 set.tar train.foil test.foil 2>/dev/null
small=(--arch linear --head 8 --size 8 --batch 8 --augmenters 1 --epochs 1)

# sweep FOLDER ARG... : foil sweep, with its table in FOLDER.out, messages in FOLDER.err
sweep() {
    local at=$1 code=0
    shift
    foil sweep "$@" -r "$at" >"$at.out" 2>"$at.err" || code=$?
    cat "$at.err"
    return "$code"
}

# killed SIGNAL FOLDER N ARG... : foil sweep, which gets the signal when N trainings have
# a result and another one has begun
killed() {
    local signal=$1 at=$2 n=$3 code=0
    shift 3
    foil sweep "$@" -r "$at" >"$at.out" 2>"$at.err" &
    becomes_true begun "$at" "$n" || code=1
    kill "-$signal" $!
    { wait $!; } 2>/dev/null
    ended=$?
    cat "$at.err"
    return "$code"
}
# begun DIR N : N trainings are done and `jobs` more have begun.  sh loses a signal that
# comes while it starts a program.
begun() {
    local running
    running=$(($(compgen -G "$1/*/command" | wc -l) + $(compgen -G "$1/*/asleep" | wc -l)))
    [[ $(compgen -G "$1/*/result.tsv" | wc -l) -ge $2 &&
        $(compgen -G "$1/*/output" | wc -l) -ge $(($2 + ${jobs-1})) &&
        $running -ge $(compgen -G "$1/*/output" | wc -l) ]]
}

# ------------------------------------------ six cells and three seeds, killed and not
grid=(simclr train.foil test.foil "${small[@]}" --tau .05,.1,.2 --objective simclr,dcl
    --seeds 3)
ok 'a sweep of 6 cells and 3 seeds succeeds' sweep whole "${grid[@]}" --jobs 2
ok 'it says how many trainings there are' grep -q '18 trainings, 2 at a time' whole.err
ok 'it trains 18 times' test "$(compgen -G 'whole/*/result.tsv' | wc -l)" -eq 18
ok 'the first cell and seeds are named' has_line \
    '^simclr, seeds 1 to 3; 0.05_simclr is --tau .05 --objective simclr$' whole.out
ok 'the table has the differences to the first cell, with intervals' has_line \
    '^0.2_dcl +0\.[0-9]+ +[0-9.e-]+ +-?[0-9.e-]+ +[0-9.e-]+$' whole.out
ok 'each measure of the evaluation has a table' test \
    "$(grep -cE '^(1-NN|10-NN|probe) +mean +spread - 0.05_simclr ' whole.out)" -eq 3
ok 'three seeds have no verdict' has_line '^no verdict: 3 seeds, and at least 5' whole.out
ok 'the table is a file' cmp whole.out whole/table.txt
ok 'a figure is that of the run' test "$(sed -n 's/^probe\t//p' whole/0.2_dcl-3/result.tsv)" = \
    "$(jq -r 'select(.measure == "probe").accuracy' whole/0.2_dcl-3/results.jsonl)"
ok 'seeds and options of a cell are those of its run' grep -q -- '--tau .2\|tau=.2' \
    whole/0.2_dcl-3/command
ok 'the plot has a bar for each cell' test "$(wc -l <whole/cells.tsv)" -eq 6
ok 'the plot is drawn where gnuplot is installed' eval \
    '! command -v gnuplot || test -s whole/cells.png'

ok 'SIGKILL ends a sweep' killed KILL cut 2 "${grid[@]}" --jobs 1
ok 'SIGKILL ends it again' killed KILL cut 5 "${grid[@]}" --jobs 1
ok 'the same command continues' sweep cut "${grid[@]}" --jobs 1
ok 'killed twice, and with --jobs 1, the table is the same' cmp whole.out cut.out
ok 'the same command trains nothing again' eval 'sweep cut "${grid[@]}" &&
    ! grep -q ", seed" cut.err && cmp whole.out cut.out'
ok 'other settings exit with 1' refuses 1 "'cut' has a study with other settings" \
    foil sweep "${grid[@]}" --lr .2 -r cut
ok 'more values continue the sweep' sweep cut "${grid[@]/.05,.1,.2/.05,.1,.2,.4}" --seeds 1
ok 'only the new cells train' test "$(grep -c ', seed' cut.err)" -eq 2

ok 'without TEST a sweep succeeds' sweep untested simclr train.foil "${small[@]}" --seeds 1
ok 'its figure is that of the comparison' test \
    "$(sed -n 's/^1-NN\t//p' untested/all-1/result.tsv)" = \
    "$(jq '.trained["1-NN"]' untested/all-1/table.json)"

# --------------------------------------------------------- a pipeline of one's own
# Its figure is x, and more for later seeds; it sleeps or fails as told.
cat >mine <<'END'
#!/usr/bin/env foil-run
# Mine.
#: operands DATA
#: option x X 1 figure
#: option sleeps S 0 'seconds'
[ "$X" != 7 ] || fail 'seven fails'
: >"$RUN/asleep"
sleep "$SLEEPS"
echo "{\"n\":1,\"trained\":{\"name\":\"t\",\"1-NN\":$(echo "$X 0$SEED" | tr -d ' ')}}" >"$RUN/table.json"
END
mine=(./mine set.tar)
ok 'five seeds have a verdict' eval 'sweep five "${mine[@]}" --x .1,.2 --jobs 3 &&
    has_line "^0.2 +0.203 .* 0.000  beyond noise$" five.out &&
    has_line "^p: by Holm.s correction for 1 comparisons" five.out'
ok 'one seed has no interval' eval 'sweep one "${mine[@]}" --x .1,.2 --seeds 1 &&
    has_line "^one seed: no differences" one.out && ! grep -q -- "+-" one.out'
ok 'one cell has nothing to compare with' eval 'sweep single "${mine[@]}" --x .1 &&
    has_line "^one cell: nothing to compare" single.out && has_line "^all +0.103" single.out'
ok 'a failed cell exits with 1' exits 1 sweep bad "${mine[@]}" --x .1,7,.3 --seeds 2
ok 'the failed cell is named, with the reason' has_line \
    "bad/7-1/output' ends with: foil run ./mine: seven fails" bad.err
ok 'the table names the failed cell' has_line '^7, seed 2: failed$' bad.out
ok 'the other cells go on' has_line '^0.3 +0.3015 ' bad.out
printf "#\n#: operands DATA\ntrue\n" >nothing
ok 'a pipeline without results is named' eval \
    'exits 1 sweep no ./nothing set.tar --seeds 1 &&
    has_line "no results: ./nothing evaluates nothing" no.err'

# ------------------------------------------------------------- wrong command lines
wrong() {
    refuses 2 "$1" foil sweep "${mine[@]}" -r wrong "${@:2}"
}
ok 'a value given twice exits with 2' wrong "--x has '.1' and '0.10': want different values" \
    --x .1,.2,0.10
ok 'an option given twice exits with 2' wrong '--x is given twice' --x .1 --x .2,.3
ok 'an empty value exits with 2' wrong '--x has an empty value' --x .1,,.2
ok 'an option that no stage has exits with 2' wrong "no option '--taux'" --taux .1,.2
ok 'a wrong number exits with 2' wrong "--epochs 'many': want a whole number" --epochs 1,many
ok '--jobs 0 exits with 2' wrong "--jobs '0'" --jobs 0
ok '--stop with several --epochs exits with 2' wrong 'at equal epochs' --stop median \
    --epochs 4,8
ok 'a training that does not exist exits with 2' wrong "--task '11'" --task 11 --x 1,2
ok 'a wrong command line makes nothing' test ! -e wrong
ok 'a missing operand exits with 2' refuses 2 'needs DATA' foil sweep simclr --lr .1,.2
ok 'a missing pipeline exits with 2' refuses 2 'needs PIPELINE' foil sweep --seeds 2
ok 'an unknown pipeline exits with 2' refuses 2 "no pipeline 'sim'" foil sweep sim set.tar
ok 'a study exits with 1' refuses 1 'studies/tails:.* a study has seeds of its own' \
    foil sweep studies/tails set.tar
ok 'an unknown --primary exits with 1' eval \
    'exits 1 sweep primary "${mine[@]}" --x 1,2 --seeds 1 --primary probe &&
    has_line "the results are 1-NN$" primary.err'
ok 'parameters stay with their method' eval \
    'sweep methods "${mine[@]}" --objective hcl,beta=.5,dcl --seeds 1 &&
    test "$(cd methods && echo *-1)" = "dcl-1 hcl-beta=.5-1"'

# ------------------------------------------------------------------------- Ctrl-C
jobs=2 ok 'Ctrl-C ends a sweep' killed INT asked 0 "${mine[@]}" --x .1,.2 --sleeps 600 --jobs 2
ok 'the exit code is 130' test "$ended" -eq 130
ok 'it says how to go on' has_line 'stopped; the same command continues$' asked.err
ok 'no cell counts as failed' test ! -e asked/failed
exec {hold}>>five/sweep.lock
flock "$hold"
ok 'another sweep in the same folder exits with 1' eval \
    'exits 1 sweep five "${mine[@]}" --x .1,.2 &&
    has_line "another foil sweep uses .five." five.err'
exec {hold}>&-

# --------------------------------------------------------------------- --stop median
early=(simclr train.foil test.foil "${small[@]}" --epochs 4 --lr .05,.1,.5,1 --seeds 2
    --stop median)
ok 'a sweep with --stop succeeds' sweep stop "${early[@]}" --jobs 2
ok 'the first cell trains to the end' test -e stop/0.05-1/result.tsv -a \
    -e stop/0.05-2/result.tsv
ok 'a stopped cell is below the median, and without a verdict' has_line \
    '^[0-9.]+: stopped after epoch 1 with seed 1, no verdict: 1-NN [0-9.]+, median [0-9.]+$' \
    stop.out
name=$(sed -n 's/: stopped after epoch 1 with seed 1.*//p' stop.out | head -n 1)
ok 'a stopped cell has no row in the table' exits 1 grep -q "^$name  " stop.out
ok 'a stopped cell has trained one epoch of four' test \
    "$(wc -l <"stop/$name-1/metrics.jsonl")" -eq 4
ok 'SIGKILL ends it' killed KILL again 0 "${early[@]}" --jobs 1
ok 'the same command continues it' sweep again "${early[@]}" --jobs 1
ok 'killed, and with --jobs 1, the table is the same' cmp stop.out again.out

# --------------------------------------------------------------------------- Slurm
mkdir bin
printf '#!/bin/sh\nprintf "%%s\\n" "$@" >queue\n' >bin/sbatch
chmod +x bin/sbatch
array=("${mine[@]}" --x '.1,.2' --seeds 2)
ok 'without sbatch --sbatch exits with 1' eval 'command -v sbatch >/dev/null ||
    { exits 1 sweep array "${array[@]}" --sbatch && has_line "no .sbatch. here" array.err; }'
export PATH=$work/bin:$PATH
ok '--sbatch submits' sweep array "${array[@]}" --sbatch
ok '--sbatch prints the command' has_line '\$ sbatch --array=1-4 --cpus-per-task=3 ' array.err
ok 'it is an array of one job for each cell and seed' has_line '^--array=1-4$' queue
ok 'nothing has trained yet' test ! -e array/0.1-1
mapfile -t words < <(sed '1,/--output/d' queue)
for SLURM_ARRAY_TASK_ID in 4 1 2 3; do
    export SLURM_ARRAY_TASK_ID
    ok "job $SLURM_ARRAY_TASK_ID trains" bash "${words[@]}"
done
ok 'each job has trained one' test "$(compgen -G 'array/*/result.tsv' | wc -l)" -eq 4
ok 'the same command prints the table' sweep array "${array[@]}"
ok 'the command that prints the table trains nothing' exits 1 grep -q ', seed' array.err
ok 'the table has both cells' has_line '^0.2 +0.2015 ' array.out
done_testing
