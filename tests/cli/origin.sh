#!/usr/bin/env bash
# A run knows what made it: its list of stages, their commands and programs.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1
terminal=$(cd "${0%/*}" && pwd)/terminal.py
cd "$work" || exit 1

"$BIN/foil-data" generate -o set.tar --size 8 128 2>/dev/null
"$BIN/foil-data" index set.tar 2>/dev/null
# shellcheck disable=SC2016 # RUN is of the list
cat >mine.list <<'END'
# stages of one's own
train    main  never     foil-train -r $RUN --arch linear --head 16 --lr 0.1 --warmup 0 --threads 1 --checkpoint-every 16
augment  2     killed,3  foil-augment -r $RUN --size 8 set.tar
select   1     killed,3  sh -c 'exec foil-select --plan "$0" "$@"' ipc://$RUN/plan -b 4 \
                         -e 20 set.tar
END
run() {
    "$BIN/foil" run "$@" 2>>log
}
ok 'a list of stages runs' run ./mine.list -r whole
# shellcheck disable=SC2016 # as above
ok 'the run has its list, with $RUN for the run directory' \
    grep -qE '^select +1 +killed,3 +sh -c .* ipc://\$RUN/plan -b 4 -e 20 set.tar$' whole/list

# cut STEPS : kills the run cut after that many steps, by SIGKILL of foil-run; returns
# when its stages have ended, which hold its locks
cut() {
    local pid=$!
    becomes_true has_steps cut "$1" || return
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    becomes_true unlocked
}
unlocked() {
    local trainer
    read -r trainer _ <cut/lock
    flock -n cut true && ! kill -0 "$trainer" 2>/dev/null
}
"$BIN/foil" run ./mine.list -r cut 2>>log &
ok 'such a run is killed' cut 40
"$BIN/foil" run --resume -r cut 2>>log &
ok 'resumed by its own list, and killed again' cut 200
ok 'resumed once more' run --resume -r cut
ok 'the resumed run has the checkpoint of the other, to the bit' \
    diff -r whole/latest/ cut/latest/
ok 'it has the same metrics' diff <(timeless whole) <(timeless cut)
mkdir moved && mv cut moved/run
ok 'it can be continued after it has moved, with nothing to do' run --resume -r moved/run
ok 'foil run --resume of a run without command and list: 1' \
    refuses 1 "it has no 'command'" "$BIN/foil" run --resume -r moved

# ------------------------------------------------------------------ programs

cat >other.list <<'END'
train    main  never     ./train.sh $RUN
augment  1     never     sleep 60
END
# shellcheck disable=SC2016 # of that script
printf '#!/bin/sh\necho %s >>"$1/said"\n' one >train.sh
chmod +x train.sh
ok 'a list with a program of the user runs' run ./other.list -r own
ok 'the run has a copy of the program' cmp train.sh own/files/*-train.sh
ok 'the same program is not reported' run --resume -r own
ok 'origin.jsonl has a line for each stage' \
    test "$(jq -r .of own/origin.jsonl | xargs)" = 'train augment'
cp train.sh before
sed -i 's/one/two/' train.sh
: >log
ok 'a run with a changed program resumes' run --resume -r own
ok 'foil-run reports that the program has changed' has_line \
    "'./train.sh' of 'train' has changed since this run last used it; as it was: own/files/.*-train.sh" log
ok 'that copy is the program as it was' cmp before \
    "$(sed -n 's/.*as it was: //p' log)"
ok 'origin.jsonl has both programs' \
    test "$(jq -r 'select(.of == "train") | .files["./train.sh"]' own/origin.jsonl | sort -u | wc -l)" -eq 2


printf '#!/bin/sh\nsleep 60\n' >views.sh
chmod +x views.sh
for stage in 'augment view-command set.tar' 'select strategy-command set.tar' \
    'negatives weigh-command'; do
    read -r tool option operand <<<"$stage"
    "$BIN/foil-$tool" -r "stages-$tool" "--$option" ./views.sh ${operand:+"$operand"} 2>used.log &
    pid=$!
    ok "foil-$tool notes its program" becomes_true test -s "stages-$tool/origin.jsonl"
    kill "$pid"
    wait "$pid" 2>/dev/null
    ok "foil-$tool does not report it then" exits 1 grep -q 'has changed' used.log
    echo "# not $tool" >>views.sh
    "$BIN/foil-$tool" -r "stages-$tool" "--$option" ./views.sh ${operand:+"$operand"} 2>used.log &
    pid=$!
    ok "foil-$tool reports a changed program" becomes_true grep -q \
        "'./views.sh' of '$tool --$option' has changed since this run last used it" used.log
    kill "$pid"
    wait "$pid" 2>/dev/null
done

# ------------------------------------------------------------------ foil runs

printf '#!/bin/sh\nexec foil-select "$@"\n' >plan.sh
chmod +x plan.sh
# shellcheck disable=SC2016 # RUN is of the list
sed '/^select/,$d' mine.list >swapped.list
# shellcheck disable=SC2016 # RUN is of the list
echo 'select   1     killed,3  ./plan.sh -r $RUN -b 4 -e 20 -s 7 set.tar' >>swapped.list
ok 'a list with another selector runs' run ./swapped.list -r swapped
"$BIN/foil-runs" whole swapped >runs.jsonl
ok 'foil runs has the plans of both' test "$(jq -r '.options.plan[]' runs.jsonl)" = \
    "--strategy shuffle -b 4 -s 0
--strategy shuffle -b 4 -s 7"
ok 'foil runs has the commands of the stage in both' jq -es \
    '(.[0].options.select | startswith("sh -c")) and
    (.[1].options.select | startswith("./plan.sh"))' runs.jsonl
/usr/bin/python3 "$terminal" 400 24 -- "$BIN/foil-runs" whole swapped | tr -d '\r' >screen
ok 'the table has a column for plan, stage and its program' \
    has_line 'loss +select +plan +select files' screen
ok 'the table has a dash for the run without the program' has_line '^whole .* -$' screen
ok 'the table has no column for stages that are the same' \
    exits 1 grep -q 'foil-augment' screen
done_testing
