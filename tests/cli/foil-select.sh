#!/usr/bin/env bash
# foil-select for its users and augmenters.
# Mostly waits, 25 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
here=${0%/*}

data=$work/data.tar
"$BIN/foil-data" generate --size 8 -o "$data" 13 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null

common foil-select "$data"
ok 'foil-select without data exits with 2' \
    refuses 2 'needs DATA' "$BIN/foil-select" -r "$work/run"
ok 'foil-select without an endpoint exits with 2' refuses 2 'needs -r DIR or --plan' \
    "$BIN/foil-select" "$data"
ok '--keys without --allow exits with 2' refuses 2 'go together' \
    "$BIN/foil-select" -r "$work/run" --keys k "$data"
ok 'a missing data set exits with 1' refuses 1 'No such file' \
    "$BIN/foil-select" -r "$work/run" "$work/nothing.tar"
ok 'a batch above the number of samples exits with 1' \
    refuses 1 'do not fill a batch of 14' \
    "$BIN/foil-select" -r "$work/run" -b 14 --remainder drop "$data"
ok 'tcp on all interfaces without keys exits with 1' refuses 1 'key' \
    "$BIN/foil-select" --plan 'tcp://0.0.0.0:*' "$data"

ok '--list strategies prints lines of JSON' \
    "$BIN/foil-select" --list strategies --lag 3
ok '--list strategies prints what each strategy needs' \
    jq -es 'map(select(.name == "swap"))[0] |
    .features and .keep_features == 4' "$work/out"
ok '--dry-run succeeds' "$BIN/foil-select" --dry-run -b 5 --strategy ,refine "$data"
ok '--dry-run prints needs and sizes of the plan' jq -e '. == {strategy: "shuffle",
    keep_features: 2, samples: 13, batches: 3, largest: 5, least: 4}' "$work/out"
ok '--dry-run of an impossible plan exits with 1' refuses 1 'do not fill a batch of 14' \
    "$BIN/foil-select" --dry-run -b 14 --remainder drop "$data"

# without the check, OpenBLAS would request buffers for ever; sanitizers need more than
# any limit
if [[ $B != release && $B != debug ]]; then
    skip 'foil-select in little address space' 'the sanitizer keeps more'
else
    for tool in 'select --list strategies' 'eval knn none'; do
        # shellcheck disable=SC2086 # words
        ok "foil-$tool with little address space exits with 1" refuses 1 'ulimit -v' \
            bash -c "ulimit -v 200000; exec timeout $patience '$BIN'/foil-$tool"
    done
fi

if ! has_python zmq msgpack; then
    skip 'plans of foil-select' 'no python3-zmq'
    done_testing
fi
warm zmq msgpack json

# select_ OPTIONS... : starts foil-select in the background; its PID is in $selector
select_() {
    "$BIN/foil-select" -r "$work/run" "$@" "$data" 2>"$work/select.err" &
    selector=$!
}

# ask [NAME=VALUE ...] : prints items as JSON lines
ask() {
    timeout "$patience" "$python" "$here/asker.py" "ipc://$work/run/plan" "$@"
}

# asks [NAME=VALUE ...] : the same; ends the selector if it fails
asks() {
    ask "$@" || kill "$selector"
}

# plan FILE : prints the items in order, each once
plan() {
    sort -u "$1" | jq -sc 'sort_by(.epoch, .step)[]'
}

# once FILE : each epoch has each sample exactly once
once() {
    plan "$1" | jq -se 'group_by(.epoch) | length == 3 and
        all(map(.ids) | add | sort == [range(13)])'
}

select_ -b 4 -e 3
asks quiet=1 >"$work/whole"
ok 'foil-select exits with 0 when the plan is trained' wait "$selector"
ok 'each epoch has each sample once' once "$work/whole"
ok 'each epoch has four steps in order' test 012301230123 = \
    "$(jq -j .step "$work/whole")"

select_ -b 4 -e 3
asks limit=5 >"$work/dead"
asks epoch=1 >"$work/heir"
ok 'a run continues after an augmenter died' wait "$selector"
ok 'the items of an augmenter that died go to the next one' \
    grep -q 'others get its .* items' \
    "$work/select.err"
cat "$work/dead" "$work/heir" >"$work/both"
ok 'an augmenter that died does not change the plan' \
    diff <(plan "$work/whole") <(plan "$work/both")

# killed in the middle: the next selector gets the place of the run from augmenters
select_ -b 4 -e 3
ask gate="$work/gate" >"$work/across" &
asker=$!
ok 'the first items arrive' waits_for "$work/across"
kill -9 "$selector"
{ wait "$selector"; } 2>/dev/null
select_ -b 4 -e 3
touch "$work/gate"
ok 'a run continues after foil-select was killed and restarted' wait "$asker"
ok 'a restarted foil-select exits with 0 at the end' wait "$selector"
ok 'a restarted foil-select has the same plan' \
    diff <(plan "$work/whole") <(plan "$work/across")

# a trainer that resumes requests its place; a newer trainer takes over
select_ -b 4 -e 3
asks epoch=1 step=1 >"$work/late"
ok 'foil-select serves a run from the middle' wait "$selector"
ok 'a run from the middle gets the rest of the plan' \
    diff <(tail -n 7 "$work/whole") "$work/late"
select_ -b 4 -e 3
asks limit=5 >"$work/old"
asks session=2 >"$work/new"
ok 'foil-select serves a newer session from the start' wait "$selector"
ok 'a newer session gets the same plan' diff <(plan "$work/whole") <(plan "$work/new")
select_ -b 4 -e 3
asks over=3 >/dev/null
ok 'foil-select exits with 0 when the run is over' wait "$selector"

# leases expire although the peer lives
select_ -b 4 -e 3 --lease 0.2
asks room=3 >"$work/slow"
ok 'short leases do not change the plan' \
    diff <(plan "$work/whole") <(plan "$work/slow")
wait "$selector"

select_ -b 4 -e 3 -s 7
asks >"$work/seven"
wait "$selector"
ok 'another seed gives another plan' bash -c "! cmp -s '$work/whole' '$work/seven'"
ok 'another seed has each sample once in each epoch' once "$work/seven"
select_ -b 4 -e 3 --strategy replace
asks >"$work/replace"
wait "$selector"
ok '--strategy replace has no sample twice in a batch' jq -se \
    'all(.ids | length == (unique | length))' "$work/replace"
select_ -b 4 -e 2 --remainder drop
asks >"$work/drop"
wait "$selector"
ok '--remainder drop has whole batches only' jq -se 'all(.ids | length == 4)' "$work/drop"

select_ -b 4 -e 1 --quarantine "$work/bad"
asks reject=5 >/dev/null
ok 'foil-select exits with 0 after a rejected sample' wait "$selector"
ok '--quarantine lists a rejected sample' grep -qP '^5\t\S+\ttorn$' "$work/bad"
ok 'foil-select reports the number of rejected samples' \
    grep -q "1 sample could not be used" "$work/select.err"
select_ -b 4 -e 1 --quarantine "$work/bad"
asks reject=5 own=0 >/dev/null 2>"$work/ask.err"
ok 'a run continues after a rejection of a sample that is not in the item' \
    wait "$selector"
ok '--quarantine does not list a sample that is not in the item' test ! -s "$work/bad"
ok 'foil-select reports a rejection of a sample that is not in the item' \
    grep -q "augment 1 'asker-.*': reject: sample 5 is not in the item" \
    "$work/select.err"
ok 'the augmenter gets an error for its wrong rejection' \
    grep -q '^reject: sample 5 is not in the item' \
    "$work/ask.err"

select_ -b 4 -e 3
ok 'a peer of version 4 is refused' refuses 1 'version 4' \
    ask version=4
ok 'a peer with another data set is refused' refuses 1 'data set' \
    ask size=14 digest=00000000000000000000000000000000
# without a shell around it: only the shell would be killed, and the asker would find
# the next selector
timeout "$patience" "$python" "$here/asker.py" "ipc://$work/run/plan" epoch=7 \
    >/dev/null 2>&1 &
asker=$!
wait "$selector"
ok 'a place after the end of the plan ends foil-select with 1' test $? -eq 1
ok 'foil-select prints the place after the end of the plan' \
    grep -q 'epoch 7, step 0; this plan has 3 epochs' \
    "$work/select.err"
kill "$asker"

rm -rf "$work/run"
select_ -b 4 -e 3
ok 'foil-select listens' becomes_true test -S "$work/run/plan"
kill -TERM "$selector"
ok 'foil-select exits with 0 after SIGTERM' wait "$selector"
ok 'the run directory has mode 700' test 700 = "$(stat -c %a "$work/run")"
select_ -b 4 -e 1 --quarantine /dev/full/list
asks >/dev/null
wait "$selector"
ok '--quarantine in a place that cannot be written exits with 1' test $? -eq 1

done_testing
