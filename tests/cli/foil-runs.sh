#!/usr/bin/env bash
# foil-runs for its users: two trained runs and one without steps.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
runs=$BIN/foil-runs
terminal=$(cd "${0%/*}" && pwd)/terminal.py

common foil-runs
cd "$work" || exit 1
ok 'foil-runs without runs exits with 0' exits 0 "$runs"
ok 'foil-runs reports that there is no run' grep -q "there is no run in 'run'" "$work/out"
ok 'foil-runs of a missing folder exits with 1' \
    refuses 1 "there is no 'nowhere'" "$runs" nowhere

"$BIN/foil-data" generate -o set.tar --size 16 24 2>/dev/null
"$BIN/foil-data" index set.tar 2>/dev/null
data=set.tar
augment_with=(--size 16) train_with=(--arch linear,hidden=6 --head none)
mkdir -p run/more
select_with=(--batch 12 --epochs 2)
ok 'a run succeeds' trained run/a --lr 0.1
select_with=(--batch 12 --epochs 3)
strange() {
    mkdir strange && cp -r run/a "strange/$(printf 'r\377')" && "$runs" strange |
        jq -e '.run == "strange/r?"'
}
ok 'foil-runs lists a run with a name that is not UTF-8' strange
ok 'a run in a subfolder succeeds' trained run/more/b --lr 0.2 \
    --init run/a/latest/model.safetensors
mkdir run/c
printf 'pipeline simclr\nepochs 7\n' >run/c/command
"$BIN/foil-embed" -o a.npy run/a set.tar
"$BIN/foil-eval" knn -k 1,3 a.npy >measured

ok 'foil-runs prints lines of JSON into a pipe' bash -c "'$runs' >all.jsonl"
ok 'foil-runs prints the runs in order' \
    test "$(jq -r .run all.jsonl | xargs)" = 'run/a run/c run/more/b'
ok 'foil-runs prints step, epoch and state' \
    test "$(jq -r '"\(.step) \(.epoch) \(.state)"' all.jsonl |
    xargs)" = '4 2 done null null stopped 6 3 done'
mkdir -p ranked/d ranked/e
jq -c '(.seconds + .waited) as $took | .exchanged = $took / 4 |
    .slowest_rank = (if .total == 1 then 12 else 3 end) | .rank_lag = $took / 8 |
    if .total == 1 then .rank_lag = 1e-9 else . end' \
    run/a/metrics.jsonl >ranked/d/metrics.jsonl
cp run/a/metrics.jsonl ranked/e/
ok 'foil-runs prints the time for the exchange between ranks' jq -es \
    '(.[0].exchanged / .[0].seconds - .25 | fabs) < 1e-9 and (.[1] | has("exchanged") | not)' \
    <("$runs" ranked)
share_shown() {
    /usr/bin/python3 "$terminal" 200 24 -- "$runs" ranked | tee "$work/screen"
    grep -q 'ranked/d.* 25%' "$work/screen"
}
ok 'a terminal shows the exchange between ranks as a share' share_shown
ok 'foil-runs prints the slowest rank' jq -es \
    '.[0].slowest_rank == 3 and .[0].rank_lag < .[0].seconds / 8 and
    (.[1] | has("slowest_rank") | not)' <("$runs" ranked)
mkdir ranked-before ranked-before/d
sed 's/"slowest_rank"/"slowest"/; s/"rank_lag"/"behind"/' ranked/d/metrics.jsonl \
    >ranked-before/d/metrics.jsonl
ok 'foil-runs prints the slowest rank of a run of an older version' \
    diff <("$runs" ranked | jq '[.slowest_rank, .rank_lag]' | head -n 4) \
    <("$runs" ranked-before | jq '[.slowest_rank, .rank_lag]')
ok 'a terminal shows the slowest rank' grep -Eq 'ranked/d.* 3, [0-9]+%' screen
ok 'foil-runs prints the loss of the last step' test \
    "$(tail -n 1 run/a/metrics.jsonl | jq .loss | xargs printf %.9g)" = \
    "$(head -n 1 all.jsonl | jq .loss | xargs printf %.9g)"
# shellcheck disable=SC2016 # of jq
ok 'foil-runs prints the time of all steps' jq -e --argjson sum \
    "$(jq -s 'map(.seconds + .waited) | add' run/a/metrics.jsonl)" \
    -s '.[0].seconds - $sum | . * . < 1e-12' all.jsonl
ok 'foil-runs prints options of the runs' \
    test "$(jq -r '.options.lr, .options.epochs' all.jsonl |
    xargs)" = '0.1 null null 7 0.2 null'
ok 'foil-runs prints results of the runs' test "$(jq -s 'map(.accuracy)' measured)" = \
    "$(head -n 1 all.jsonl | jq '[.results[] | .accuracy]')"

# drawn COLUMNS OPTION... : foil-runs on a terminal of that width, in $work/screen
drawn() {
    local columns=$1
    shift
    /usr/bin/python3 "$terminal" "$columns" 24 -- "$runs" "$@" |
        tr -d '\r' >screen
    cat screen
    test -s screen && awk -v most="$columns" 'length > most { exit 1 }' screen
}
ok 'foil-runs prints a table on a terminal' drawn 200
ok 'the table has a row for each of three runs' test "$(wc -l <screen)" -eq 4
ok 'the table has states, results and options that differ' grep -qE \
    '^run +state +epoch +steps +time +loss +knn 1 +knn 3 +.*lr' screen
ok 'the table has options with several values' \
    grep -q ' run/a/latest/model.safetensors' screen
ok 'the table has no options that are the same' exits 1 grep -q arch screen
mkdir -p swapped/{a,b,c}
printf 'pipeline simclr\nselect --strategy balance\naugment \nTEST \n' >swapped/a/command
printf 'pipeline simclr\nselect \naugment \nTEST \n' >swapped/b/command
printf 'pipeline simclr\naugment \nTEST t.tar\naugment-command mine.py\n' >swapped/c/command
ok 'foil-runs lists runs with different stages' drawn 200 swapped
ok 'the table shows that stage, and a dash for the other runs' \
    test "$(awk '{ $1 = $1 } 1' screen)" = \
    'run state epoch steps time loss select TEST augment-command
swapped/a stopped --strategy balance - -
swapped/b stopped - - -
swapped/c stopped - t.tar mine.py'
ok '--all prints a table' drawn 200 --all run/a run/more
ok '--all prints further columns below' grep -q arch screen
ok 'a narrow terminal gets the columns below each other' drawn 40 run/a run/more
ok 'each part of the table has the names of the runs' \
    test "$(grep -c '^run/a' screen)" -ge 2
ok 'foil-runs prints a table on 20 columns' drawn 20 run
ok 'foil-runs prints a table on 60 columns' drawn 60 run
ok 'foil-runs prints one run' drawn 200 run/a
ok 'the table of one run has no options' exits 1 grep -q lr screen
ok '--json on a terminal succeeds' drawn 65535 --json run/a
ok '--json on a terminal prints a line of JSON' jq -e '.run == "run/a"' screen

# ------------------------------------------------------------------- plots
ok '--of without --plot exits with 2' refuses 2 'belong to a picture' "$runs" --of loss
ok '--of with a name that no run has exits with 1' \
    refuses 1 "no run has 'lost'" "$runs" --plot x.png --of lost run
ok '--plot draws two curves' "$runs" --plot x.png --of loss --of 'knn 3' --by images run
ok '--plot writes a PNG' cmp <(head -c 4 x.png) <(printf '\211PNG')
# block NAME [FILE] : prints the data of a run in a script
block() {
    awk -v name="\$$1" '$1 == name && $2 == "<<" { on = 1; next } $1 == "END" { on = 0 }
        on' "${2:-x.gp}"
}
losses() {
    jq -r '"\(.images) \(.loss)"' run/more/b/metrics.jsonl |
        awk '{ printf "%.9g %.7g %.7g\n", $1, $2, $2 }' >want
    block r2 | cut -d' ' -f1-3 | cmp - want
}
ok 'the script of the plot has images and loss of each step' losses
ok 'the script has results at the place of their checkpoint' test \
    "$(awk '/^set ylabel "knn 3"/ { on = 1 } on' x.gp | block r0 - | cut -d' ' -f1)" = \
    "$(tail -n 1 run/a/metrics.jsonl | jq .images)"
ok 'the script has the names of the runs' grep -q 'title "run/more/b"' x.gp
mkdir long
seq 2500 | jq -c '{total: ., loss: (if . == 1234 then 99 else 1 end), seconds: 3}' \
    >long/metrics.jsonl
ok '--plot draws a long run' "$runs" --plot long.png --by time long
ok 'a long run has a thousand points' test "$(block r0 long.gp | wc -l)" -eq 1000
ok 'one of the points has the peak' \
    test "$(block r0 long.gp | awk '$3 == 99' | wc -l)" -eq 1
ok '--by time counts minutes' test "$(block r0 long.gp | tail -n 1 | cut -d' ' -f1)" = 125
rm -r long

cp run/a/metrics.jsonl whole
printf '{"total":5,"epoch":2' >>run/a/metrics.jsonl
ok 'half a line of metrics is not a step' test "$("$runs" run/a | jq .step)" = 4
cp whole run/a/metrics.jsonl
"$BIN/foil-train" -r run/a --resume --deadline 60 2>/dev/null &
trainer=$!
in_training() {
    test "$("$runs" run/a | jq -r .state)" = training
}
ok 'a run with a trainer has the state training' becomes_true in_training
kill "$trainer"
wait "$trainer"
ok 'after the trainer has ended, the state is not training' exits 1 in_training
done_testing
