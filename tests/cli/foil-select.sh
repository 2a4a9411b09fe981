#!/usr/bin/env bash
# foil-select as augmenters meet it.
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
ok 'no data: 2' refuses 2 'wants DATA' "$BIN/foil-select" -r "$work/run"
ok 'no endpoint: 2' refuses 2 'wants -r DIR or --plan' \
    "$BIN/foil-select" "$data"
ok 'keys without a folder: 2' refuses 2 'go together' \
    "$BIN/foil-select" -r "$work/run" --keys k "$data"
ok 'no such data set: 1' refuses 1 'No such file' \
    "$BIN/foil-select" -r "$work/run" "$work/nothing.tar"
ok 'a batch that cannot be filled: 1' refuses 1 'do not fill a batch of 14' \
    "$BIN/foil-select" -r "$work/run" -b 14 --remainder drop "$data"
ok 'tcp for all the world without keys: 1' refuses 1 'key' \
    "$BIN/foil-select" --plan 'tcp://0.0.0.0:*' "$data"

ok '--list strategies: a line of JSON each' \
    "$BIN/foil-select" --list strategies --lag 3
ok 'with what each needs' jq -es 'map(select(.name == "swap"))[0] |
    .features and .keep_features == 4' "$work/out"
ok 'a dry run' "$BIN/foil-select" --dry-run -b 5 --strategy ,refine "$data"
ok 'says what the plan needs, and is' jq -e '. == {strategy: "shuffle",
    keep_features: 2, samples: 13, batches: 3, largest: 5, least: 4}' "$work/out"
ok 'of what cannot be planned: 1' refuses 1 'do not fill a batch of 14' \
    "$BIN/foil-select" --dry-run -b 14 --remainder drop "$data"

# OpenBLAS would ask for its buffers for ever; sanitizers want more than any limit
if [[ $B != release && $B != debug ]]; then
    skip 'little address space' 'the sanitizer keeps more'
else
    for tool in 'select --list strategies' 'eval knn none'; do
        # shellcheck disable=SC2086 # words
        ok "little address space ends foil-$tool: 1" refuses 1 'ulimit -v' \
            bash -c "ulimit -v 200000; exec timeout $patience '$BIN'/foil-$tool"
    done
fi

if ! has_python zmq msgpack; then
    skip 'plans' 'no python3-zmq'
    done_testing
fi
warm zmq msgpack json

# select OPTIONS... : in the background, its number in $selector
select_() {
    "$BIN/foil-select" -r "$work/run" "$@" "$data" 2>"$work/select.err" &
    selector=$!
}

# ask [NAME=VALUE ...] : items as JSON lines
ask() {
    timeout "$patience" "$python" "$here/asker.py" "ipc://$work/run/plan" "$@"
}

# asks [NAME=VALUE ...] : the same, and when it fails there is no selector
asks() {
    ask "$@" || kill "$selector"
}

# plan FILE : the items in order, each once
plan() {
    sort -u "$1" | jq -sc 'sort_by(.epoch, .step)[]'
}

# once FILE : each sample exactly once in each epoch
once() {
    plan "$1" | jq -se 'group_by(.epoch) | length == 3 and
        all(map(.ids) | add | sort == [range(13)])'
}

select_ -b 4 -e 3
asks quiet=1 >"$work/whole"
ok 'it ends when all is trained: 0' wait "$selector"
ok 'every sample once in each epoch' once "$work/whole"
ok 'four steps an epoch, in order' test 012301230123 = \
    "$(jq -j .step "$work/whole")"

select_ -b 4 -e 3
asks limit=5 >"$work/dead"
asks epoch=1 >"$work/heir"
ok 'an augmenter that dies: the run goes on' wait "$selector"
ok 'its items are handed out again' grep -q 'others get its .* items' \
    "$work/select.err"
cat "$work/dead" "$work/heir" >"$work/both"
ok 'the plan is the same' diff <(plan "$work/whole") <(plan "$work/both")

# killed in the middle: the next one learns from augmenters where the run is
select_ -b 4 -e 3
ask gate="$work/gate" >"$work/across" &
asker=$!
ok 'items come' waits_for "$work/across"
kill -9 "$selector"
{ wait "$selector"; } 2>/dev/null
select_ -b 4 -e 3
touch "$work/gate"
ok 'restarted after kill -9: the run goes on' wait "$asker"
ok 'restarted after kill -9: the run goes on and ends' wait "$selector"
ok 'with the plan it had' diff <(plan "$work/whole") <(plan "$work/across")

# a trainer that resumes says where; a newer one takes over
select_ -b 4 -e 3
asks epoch=1 step=1 >"$work/late"
ok 'from the middle' wait "$selector"
ok 'what is left of the plan' diff <(tail -n 7 "$work/whole") "$work/late"
select_ -b 4 -e 3
asks limit=5 >"$work/old"
asks session=2 >"$work/new"
ok 'a newer session begins anew' wait "$selector"
ok 'from its own place' diff <(plan "$work/whole") <(plan "$work/new")
select_ -b 4 -e 3
asks over=3 >/dev/null
ok 'the run is over: 0' wait "$selector"

# leases run out though the peer lives
select_ -b 4 -e 3 --lease 0.2
asks room=3 >"$work/slow"
ok 'short leases: the plan is the same' \
    diff <(plan "$work/whole") <(plan "$work/slow")
wait "$selector"

select_ -b 4 -e 3 -s 7
asks >"$work/seven"
wait "$selector"
ok 'another seed, another plan' bash -c "! cmp -s '$work/whole' '$work/seven'"
ok 'as whole as the first' once "$work/seven"
select_ -b 4 -e 3 --strategy replace
asks >"$work/replace"
wait "$selector"
ok 'replace: no sample twice in a batch' jq -se \
    'all(.ids | length == (unique | length))' "$work/replace"
select_ -b 4 -e 2 --remainder drop
asks >"$work/drop"
wait "$selector"
ok 'drop: whole batches' jq -se 'all(.ids | length == 4)' "$work/drop"

select_ -b 4 -e 1 --quarantine "$work/bad"
asks reject=5 >/dev/null
ok 'rejected samples: 0' wait "$selector"
ok 'they are listed' grep -qP '^5\t\S+\ttorn$' "$work/bad"
ok 'and named' grep -q "1 sample could not be used" "$work/select.err"
select_ -b 4 -e 1 --quarantine "$work/bad"
asks reject=5 own=0 >/dev/null 2>"$work/ask.err"
ok 'a sample that is in no item of the peer: the run goes on' wait "$selector"
ok 'it is not listed' test ! -s "$work/bad"
ok 'that is said' grep -q "augment 1 'asker-.*': reject: sample 5 is not in the item" \
    "$work/select.err"
ok 'and its sender hears it' grep -q '^reject: sample 5 is not in the item' \
    "$work/ask.err"

select_ -b 4 -e 3
ok 'a version-3 peer is refused by name' refuses 1 'version 3' \
    ask version=3
ok 'so is another data set' refuses 1 'data set' \
    ask size=14 digest=00000000000000000000000000000000
# itself, not in a shell that would be killed alone: it would find the next one
timeout "$patience" "$python" "$here/asker.py" "ipc://$work/run/plan" epoch=7 \
    >/dev/null 2>&1 &
asker=$!
wait "$selector"
ok 'a place that the plan does not have: 1' test $? -eq 1
ok 'with the reason' grep -q 'epoch 7, step 0; this plan has 3 epochs' \
    "$work/select.err"
kill "$asker"

rm -rf "$work/run"
select_ -b 4 -e 3
ok 'listens' becomes_true test -S "$work/run/plan"
kill -TERM "$selector"
ok 'SIGTERM: an orderly end, 0' wait "$selector"
ok 'the run directory is private' test 700 = "$(stat -c %a "$work/run")"
select_ -b 4 -e 1 --quarantine /dev/full/list
asks >/dev/null
wait "$selector"
ok 'a list that cannot be written: 1' test $? -eq 1

done_testing
