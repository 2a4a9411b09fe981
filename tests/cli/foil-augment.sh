#!/usr/bin/env bash
# foil-augment for its users and its neighbours.
# Mostly waits, 20 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"

here=${0%/*}
augment=$BIN/foil-augment
data=$work/data.tar

"$BIN/foil-data" generate -o "$data" 60 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null

# ends NAME PEERS SIZE STEPS BATCH [EXTRA [TEXTS]]: starts a selector and a trainer
ends() {
    mkdir -m 700 "$work/$1"
    "$python" "$here/augment_ends.py" "$work/$1" "${@:2}" \
        >"$work/$1/batches" 2>"$work/$1/log" &
    ends=$!
}

# run NAME AUGMENTERS OPTIONS... : all of them exit with 0
run() {
    local name=$1 n=$2 pids=()
    shift 2
    ends "$name" "$n" 60 8 6 3 ${texts:+"$texts"}
    for ((i = 0; i < n; i++)); do
        "$augment" -r "$work/$name" "$@" 2>"$work/$name/augment.$i" &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid" || { cat "$work/$name"/{log,augment.*}; return 1; }
    done
    wait "$ends"
}

# over HOW : what the augmenter sends at the end of the run goes to over.HOW
over() {
    mkdir -m 700 "$work/$1"
    "$python" "$here/augment_over.py" "$work/$1" 60 "$1" >"$work/over.$1" &
    local ends=$!
    "$augment" -r "$work/$1" "$data" 2>"$work/$1/log" && wait "$ends"
}

# asked NAME: foil-augment exits with 0 after SIGTERM in the middle of a run
asked() {
    ends "$1" 2 60 8 6
    "$augment" -r "$work/$1" "$data" 2>"$work/$1/augment" &
    local pid=$!
    waits_for "$work/$1/received"
    kill "$pid"
    wait "$pid" || { cat "$work/$1/augment"; return 1; }
    kill "$ends"
}

# killed NAME: one of two augmenters is killed in the middle of a run
killed() {
    ends "$1" 2 60 40 6
    "$augment" -r "$work/$1" --size 96 "$data" 2>"$work/$1/victim" &
    local victim=$!
    waits_for "$work/$1/received"
    kill -9 "$victim"
    "$augment" -r "$work/$1" --size 96 "$data" 2>"$work/$1/other"
    wait "$ends"
}

# embeds NAME SPEC: foil-embed makes the same views of the first batch, samples 0 to 5
own=cifar,hue=0,scale-min=0.5
embeds() {
    for view in 0 1; do
        "$BIN/foil-embed" --raw --size 8 --recipe "$2" --view "$view" \
            -o "$work/$1/$view.npy" "$data" || return 2
    done
    "$python" - "$work/$1" <<'END'
import array
import sys

want = open(sys.argv[1] + "/views", "rb").read()
got = b""
for view in "01":
    rows = open(f"{sys.argv[1]}/{view}.npy", "rb").read()[128:]
    pixels = array.array("f", rows)[:6 * 8 * 8 * 3]
    got += bytes(round(x * 255) for x in pixels)
print(len(want), len(got))
sys.exit(got != want)
END
}

common foil-augment "$data"
ok 'foil-augment without data exits with 2' exits 2 "$augment"
ok 'foil-augment without an endpoint exits with 2' \
    refuses 2 'needs -r DIR' "$augment" "$data"
ok '--keys without --allow exits with 2' refuses 2 'go together' \
    "$augment" -r "$work" --keys x "$data"
ok 'an unknown recipe exits with 2' refuses 2 "no recipe 'none-such': there are cifar" \
    "$augment" --recipe none-such "$data"
ok 'an unknown field of a recipe exits with 2' \
    refuses 2 "no field 'size': there are scale-min" \
    "$augment" --recipe cifar,size=8 "$data"
ok 'contradictory fields of a recipe exit with 2' refuses 2 'scale-min is 0.9' \
    "$augment" --recipe cifar,scale-min=0.9,scale-max=0.5 "$data"
ok 'more views than fixed augmentations exit with 2' refuses 2 'too many' \
    "$augment" -r "$work" -v 3 -a 2 "$data"
ok 'a single fixed view exits with 2' refuses 2 'nothing to choose' \
    "$augment" -r "$work" -v 1 -a 1 "$data"
ok 'foil-augment of a missing data set exits with 1' \
    refuses 1 'cannot open' "$augment" -r "$work" \
    "$work/none.tar"

# shellcheck disable=SC2016 # for jq
ok '--list recipes: each recipe has all fields and draws a sheet, but for rows' bash -ec "
    fields=\$('$augment' --list fields | jq -c .name | jq -sc .)
    '$augment' --list recipes | jq -e --argjson all \"\$fields\" '.fields | keys_unsorted == \$all'
    for name in \$('$augment' --list recipes | jq -r .name | grep -vx rows); do
        '$augment' --recipe \"\$name\" --sheet '$work/list.png' --rows 1 --columns 1 '$data'
    done"
ok '--sheet draws a sheet' "$augment" --sheet "$work/a.png" --rows 2 --columns 3 "$data"
ok '--sheet with the same options draws the same sheet' bash -c \
    "'$augment' --sheet '$work/b.png' --rows 2 --columns 3 '$data' &&
     cmp '$work/a.png' '$work/b.png'"
ok '--sheet with another seed draws another sheet' bash -c \
    "'$augment' -s 1 --sheet '$work/b.png' --rows 2 --columns 3 '$data' &&
     ! cmp -s '$work/a.png' '$work/b.png'"
ok '--sheet with another recipe draws another sheet' bash -c \
    "'$augment' --recipe cifar,hue=0 --sheet '$work/b.png' --rows 2 --columns 3 \
        '$data' && ! cmp -s '$work/a.png' '$work/b.png'"
ok 'a field with its default value does not change the sheet' bash -c \
    "'$augment' --recipe cifar,hue=0.1 --sheet '$work/b.png' --rows 2 \
        --columns 3 '$data' && cmp '$work/a.png' '$work/b.png'"
ok '--sheet in a missing folder exits with 1' refuses 1 'none/a.png' \
    "$augment" --sheet "$work/none/a.png" "$data"

ok '--context without --vocabulary exits with 2' \
    refuses 2 'need --vocabulary' "$augment" -r "$work" --context 8 "$data"
"$BIN/foil-data" vocabulary -o "$work/v.txt" "$data" 2>/dev/null
echo 'no vocabulary' >"$work/bad.txt"
ok '--vocabulary with an invalid file exits with 1' \
    refuses 1 "bad.txt' is no vocabulary: line 1 has" \
    "$augment" -r "$work" --vocabulary "$work/bad.txt" "$data"
mkdir "$work/mute"
tar xf "$data" -C "$work/mute" --wildcards '*.jpg'
"$BIN/foil-data" index "$work/mute" 2>/dev/null
ok '--vocabulary with data without captions exits with 1' \
    refuses 1 "mute' has no captions" \
    "$augment" -r "$work" --vocabulary "$work/v.txt" "$work/mute"

# has_captions NAME [CAPTION] : the tokens of a run are the captions of its samples
has_captions() {
    "$BIN/foil-data" list "$data" >"$work/list"
    "$python" "$here/captions.py" "$work/$1/batches" "$work/v.txt" \
        "$work/list" "${@:2}"
}

# nice_of TASK : prints the nice value of a thread
nice_of() {
    cut -d ' ' -f 19 "$1/stat"
}
# one_is_lowered PID : one thread has the lowest priority, and it is not the main thread
one_is_lowered() {
    local n=0
    for task in /proc/"$1"/task/*; do
        ! [[ $(nice_of "$task") == 19 ]] || n=$((n + 1))
    done
    [[ $n == 1 && $(nice_of "/proc/$1/task/$1") == "$ours" ]]
}
# slept PID : prints how often its thread of the lowest priority has gone to sleep
slept() {
    for task in /proc/"$1"/task/*; do
        ! [[ $(nice_of "$task") == 19 ]] ||
            awk '/^voluntary_ctxt_switches/ { print $2 }' "$task/status"
    done
}
# has_batches NAME N : the trainer has received at least N batches
has_batches() {
    [[ $(cat "$work/$1/received" 2>/dev/null) -ge $2 ]]
}
# idles NAME : with a trainer that waits for each batch, the thread of low priority stays
# asleep; if it made the batches, it would go to sleep once after each
idles() {
    local pid naps code=0
    WINDOW=1 ends "$1" 1 60 400 6
    "$augment" -r "$work/$1" "$data" 2>"$work/$1/augment" &
    pid=$!
    becomes_true has_batches "$1" 40 || code=1
    naps=$(slept "$pid")
    echo "the thread of low priority went to sleep $naps times"
    [[ $naps && $naps -lt 10 ]] || code=1
    kill "$pid" "$ends"
    wait "$pid"
    return "$code"
}
ours=$(nice_of /proc/self)
if [[ $ours != 19 ]]; then
    mkdir -m 700 "$work/idle"
    "$augment" -r "$work/idle" "$data" 2>"$work/idle.err" &
    idle=$!
    ok "one thread has the lowest priority, the main one the user's" \
        becomes_true one_is_lowered "$idle"
    kill "$idle"
    wait "$idle"
fi

if has_python msgpack zmq; then
    warm zmq msgpack hashlib json
    [[ $ours == 19 ]] ||
        ok 'the main thread makes a batch that the trainer waits for' idles awaited
    ok 'one augmenter delivers all batches' run one 1 "$data"
    ok '[relay: end] the trainer gets the end of the plan' \
        grep -qx 'train ' "$work/one/end.train"
    ok '[relay: end with over, of the consumer] the selector gets the end of the run' \
        grep -qx 'select over' "$work/one/end.select"
    over never & never=$!
    ok 'the augmenter waits for a selector to relay the end of the run' over late
    ok 'a late selector gets the last snapshot and the end of the run' \
        test "$(tr -d '\n' <"$work/over.late")" = 'select want select end over'
    ok 'the selector can report the end of the run' over dismissed
    ok '[relay: end with over, of the producer] the trainer gets the end of the run' \
        grep -qx 'train end ' "$work/over.dismissed"
    ok 'three augmenters deliver all batches' run three 3 "$data"
    ok 'three augmenters deliver the same bytes as one' \
        cmp "$work/one/batches" "$work/three/batches"
    ok 'all 16 batches of the plan arrive' test "$(wc -l <"$work/one/batches")" -eq 16
    ok 'foil-augment prints the memory for batches' grep -q \
        'up to 2 batches at once of 2 x 6 views of 32 x 32: 0.1 MiB' \
        "$work/one/augment.0"
    ok 'foil-augment runs with --cache 0' run cold 1 --cache 0 "$data"
    ok '--cache 0 gives the same bytes' cmp "$work/one/batches" "$work/cold/batches"
    words=(--vocabulary "$work/v.txt")
    ok 'foil-augment delivers captions' run text 1 "${words[@]}" "$data"
    ok 'captions do not change the views' cmp "$work/one/batches" \
        <(sed 's/ {.*//' "$work/text/batches")
    ok 'the tokens are those of the captions' has_captions text
    ok 'both captions of a sample are drawn' grep -qE '^0:[1-9][0-9] 1:[1-9][0-9] ' \
        "$work/out"
    ok 'two augmenters deliver captions' run text2 2 "${words[@]}" "$data"
    ok 'two augmenters draw the same captions as one' \
        cmp "$work/text/batches" "$work/text2/batches"
    ok 'the hello names vocabulary and context in the recipe' \
        grep -qE 'recipe [0-9a-f]{32},vocabulary=[0-9a-f]{8},32$' \
        "$work/text/augment.0"
    texts=5 ok '--caption first and extra texts' \
        run first 1 "${words[@]}" --caption first "$data"
    ok '--caption first delivers the first caption' has_captions first
    ok '--caption first holds for all batches and extra texts' \
        grep -q '^0:96 extra 16$' "$work/out"
    ok '--caption all delivers all captions' \
        run all 1 "${words[@]}" --caption all --context 64 "$data"
    ok '--caption all joins the captions of a sample' has_captions all all
    ok '--context 4 delivers short rows' run short 1 "${words[@]}" --context 4 "$data"
    ok '--context 4 cuts the tokens' \
        grep -q '"lengths": .4, 4, 4, 4, 4, 4.,' "$work/short/batches"
    ok '--drop-tokens .5 delivers captions' run half 1 "${words[@]}" \
        --drop-tokens .5 --caption first "$data"
    ok '--drop-tokens .5 with two augmenters' run half2 2 "${words[@]}" \
        --drop-tokens .5 --caption first "$data"
    ok '--drop-tokens drops the same tokens with two augmenters' \
        cmp "$work/half/batches" "$work/half2/batches"
    ok '--drop-tokens .5 drops about half of the tokens' "$python" -c '
import json, sys
def tokens(name):
    return sum(sum(json.loads(l[l.index("{\""):])["lengths"]) - 12
               for l in open(sys.argv[1] + name + "/batches"))
share = tokens("half") / tokens("first")
print(share)
sys.exit(not .4 < share < .6)' "$work/"
    # not the last samples: the neighbours end before they get those rejections
    "$BIN/foil-data" list "$data" | awk -F'\t' 'NR == 1 || NR > 7 {
        print $7 "\t" $8 }' >"$work/some.tsv"
    "$BIN/foil-data" index --captions "$work/some.tsv" "$work/mute" \
        2>"$work/mute.log"
    ok 'foil-augment runs with samples without a caption' \
        run partly 1 "${words[@]}" --max-bad .1 \
        "$work/mute"
    ok 'a sample without a caption is rejected with the reason' grep -qE \
        "rejected .* sample '.*' has no caption" "$work/partly/log"
    ok 'foil-augment ends after the run if no selector comes' wait "$never"
    ok 'foil-augment runs with another seed' run seed 1 -s 1 "$data"
    ok 'another seed gives other bytes' \
        bash -c "! cmp -s '$work/one/batches' '$work/seed/batches'"
    ok 'one augmenter delivers fixed views' run fixed 1 -a 3 "$data"
    ok 'three augmenters deliver fixed views' run fixed3 3 --augmentations 3 "$data"
    ok 'three augmenters deliver the same fixed views as one' \
        cmp "$work/fixed/batches" "$work/fixed3/batches"
    ok 'a batch has the numbers of its fixed views' \
        grep -q '\[[0-2], [0-2], .*\]$' "$work/fixed/batches"
    ok 'foil-augment runs with a recipe of several fields' \
        run own 1 --recipe "$own" --size 8 "$data"
    ok 'foil-embed gives the same views by that recipe' embeds own "$own"
    ok 'foil-embed gives other views by another recipe' \
        exits 1 embeds own "${own/hue=0/hue=0.1}"
    ok 'foil-augment exits with 0 after SIGTERM' asked asked
    ok 'one of two augmenters is killed: the run ends' killed killed
    ok 'one of two augmenters is killed: all batches arrive' \
        test "$(wc -l <"$work/killed/batches")" -eq 80

    # a sample with bytes that change after it was indexed, and its twin
    cp "$data" "$work/bad.tar"
    "$BIN/foil-data" index "$work/bad.tar" 2>/dev/null
    at=$(grep -abo JFIF "$work/bad.tar" | sed -n 11p | cut -d: -f1)
    printf XXXXXX | dd of="$work/bad.tar" bs=1 seek=$((at + 100)) \
        conv=notrunc 2>/dev/null
    # one of 60 is above .01 of them, but rounded up it is not
    ok 'one augmenter runs with a bad sample' run bad1 1 "$work/bad.tar"
    ok 'two augmenters run with a bad sample' run bad2 2 --max-bad 0.1 "$work/bad.tar"
    ok 'two augmenters substitute the same samples as one' \
        cmp "$work/bad1/batches" "$work/bad2/batches"
    ok 'foil-augment names the substitute of a bad sample' \
        grep -q "its substitute is" "$work/bad1/augment.0"
    ok 'the selector gets the rejection of a bad sample' \
        grep -q '^rejected 10 ' "$work/bad1/log"
    ok 'the trainer gets the substitute of a bad sample' \
        grep -q '\[\[10, [0-9]*\]' "$work/bad1/batches"
    ends many 1 60 8 6
    ok 'more bad samples than --max-bad exit with 1' \
        exits 1 "$augment" -r "$work/many" --max-bad 0 \
        "$work/bad.tar"
    ok 'foil-augment prints the number of bad samples' \
        grep -q 'bad samples: 1 of 60' "$work/out"
    kill "$ends" 2>/dev/null
    ends few 1 60 8 6
    ok '--max-items ends foil-augment with 0' \
        exits 0 "$augment" -r "$work/few" --max-items 3 "$data"
    kill "$ends" 2>/dev/null
else
    skip 'batches of foil-augment' 'no python3-zmq, python3-msgpack'
fi
done_testing
