#!/usr/bin/env bash
# foil-augment as its users and its neighbours meet it.
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

# ends NAME PEERS SIZE STEPS BATCH [EXTRA [TEXTS]]: selector and trainer, in the background
ends() {
    mkdir -m 700 "$work/$1"
    "$python" "$here/augment_ends.py" "$work/$1" "${@:2}" \
        >"$work/$1/batches" 2>"$work/$1/log" &
    ends=$!
}

# run NAME AUGMENTERS OPTIONS... : all of them end well, in order
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

# over HOW : what the augmenter says when it hears that the run is over: over.HOW
over() {
    mkdir -m 700 "$work/$1"
    "$python" "$here/augment_over.py" "$work/$1" 60 "$1" >"$work/over.$1" &
    local ends=$!
    "$augment" -r "$work/$1" "$data" 2>"$work/$1/log" && wait "$ends"
}

# asked NAME: SIGTERM in the middle of a run is a good end
asked() {
    ends "$1" 2 60 8 6
    "$augment" -r "$work/$1" "$data" 2>"$work/$1/augment" &
    local pid=$!
    waits_for "$work/$1/came"
    kill "$pid"
    wait "$pid" || { cat "$work/$1/augment"; return 1; }
    kill "$ends"
}

# killed NAME: one of two augmenters is killed in the middle
killed() {
    ends "$1" 2 60 40 6
    "$augment" -r "$work/$1" --size 96 "$data" 2>"$work/$1/victim" &
    local victim=$!
    waits_for "$work/$1/came"
    kill -9 "$victim"
    "$augment" -r "$work/$1" --size 96 "$data" 2>"$work/$1/other"
    wait "$ends"
}

# embeds NAME SPEC: foil-embed makes the views of the first batch, samples 0 to 5
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
ok 'no data: 2' exits 2 "$augment"
ok 'no endpoint: 2' refuses 2 'wants -r DIR' "$augment" "$data"
ok 'keys without friends: 2' refuses 2 'go together' \
    "$augment" -r "$work" --keys x "$data"
ok 'no such recipe: 2' refuses 2 "no recipe 'none-such': there are cifar" \
    "$augment" --recipe none-such "$data"
ok 'no such field: 2' refuses 2 "no field 'size': there are scale-min" \
    "$augment" --recipe cifar,size=8 "$data"
ok 'a recipe that contradicts itself: 2' refuses 2 'scale-min is 0.9' \
    "$augment" --recipe cifar,scale-min=0.9,scale-max=0.5 "$data"
ok 'more views than there are: 2' refuses 2 'too many' \
    "$augment" -r "$work" -v 3 -a 2 "$data"
ok 'a single fixed view: 2' refuses 2 'nothing to choose' \
    "$augment" -r "$work" -v 1 -a 1 "$data"
ok 'no such data: 1' refuses 1 'cannot open' "$augment" -r "$work" \
    "$work/none.tar"

# shellcheck disable=SC2016 # for jq
ok '--list recipes: each is a --recipe, and has all of --list fields' bash -ec "
    fields=\$('$augment' --list fields | jq -c .name | jq -sc .)
    '$augment' --list recipes | jq -e --argjson all \"\$fields\" '.fields | keys_unsorted == \$all'
    for name in \$('$augment' --list recipes | jq -r .name); do
        '$augment' --recipe \"\$name\" --sheet '$work/list.png' --rows 1 --columns 1 '$data'
    done"
ok '--sheet' "$augment" --sheet "$work/a.png" --rows 2 --columns 3 "$data"
ok 'the same options draw the same sheet' bash -c \
    "'$augment' --sheet '$work/b.png' --rows 2 --columns 3 '$data' &&
     cmp '$work/a.png' '$work/b.png'"
ok 'another seed draws another' bash -c \
    "'$augment' -s 1 --sheet '$work/b.png' --rows 2 --columns 3 '$data' &&
     ! cmp -s '$work/a.png' '$work/b.png'"
ok 'so does another recipe' bash -c \
    "'$augment' --recipe cifar,hue=0 --sheet '$work/b.png' --rows 2 --columns 3 \
        '$data' && ! cmp -s '$work/a.png' '$work/b.png'"
ok 'a field as it was changes nothing' bash -c \
    "'$augment' --recipe cifar,hue=0.1 --sheet '$work/b.png' --rows 2 \
        --columns 3 '$data' && cmp '$work/a.png' '$work/b.png'"
ok 'a sheet that cannot be written: 1' refuses 1 'none/a.png' \
    "$augment" --sheet "$work/none/a.png" "$data"

ok 'what is said of captions wants a vocabulary: 2' \
    refuses 2 'want --vocabulary' "$augment" -r "$work" --context 8 "$data"
"$BIN/foil-data" vocabulary -o "$work/v.txt" "$data" 2>/dev/null
echo 'no vocabulary' >"$work/bad.txt"
ok 'no vocabulary: 1' refuses 1 "bad.txt' is no vocabulary: line 1 has" \
    "$augment" -r "$work" --vocabulary "$work/bad.txt" "$data"
mkdir "$work/mute"
tar xf "$data" -C "$work/mute" --wildcards '*.jpg'
"$BIN/foil-data" index "$work/mute" 2>/dev/null
ok 'no captions: 1' refuses 1 "mute' has no captions" \
    "$augment" -r "$work" --vocabulary "$work/v.txt" "$work/mute"

# says NAME [CAPTION] : the tokens of a run are the captions of its samples
says() {
    "$BIN/foil-data" list "$data" >"$work/list"
    "$python" "$here/captions.py" "$work/$1/batches" "$work/v.txt" \
        "$work/list" "${@:2}"
}

# nice_of TASK : the nice value of a thread
nice_of() {
    cut -d ' ' -f 19 "$1/stat"
}
# one_is_lowered PID : one thread has the lowest priority, and not the main one
one_is_lowered() {
    local n=0
    for task in /proc/"$1"/task/*; do
        ! [[ $(nice_of "$task") == 19 ]] || n=$((n + 1))
    done
    [[ $n == 1 && $(nice_of "/proc/$1/task/$1") == "$ours" ]]
}
# slept PID : how often its thread of the lowest priority has gone to sleep
slept() {
    for task in /proc/"$1"/task/*; do
        ! [[ $(nice_of "$task") == 19 ]] ||
            awk '/^voluntary_ctxt_switches/ { print $2 }' "$task/status"
    done
}
# came NAME N : so many batches came
came() {
    [[ $(cat "$work/$1/came" 2>/dev/null) -ge $2 ]]
}
# idles NAME : a trainer that waits for each batch leaves that thread asleep,
# which would go there once after each of the batches if it had made them
idles() {
    local pid naps code=0
    WINDOW=1 ends "$1" 1 60 400 6
    "$augment" -r "$work/$1" "$data" 2>"$work/$1/augment" &
    pid=$!
    becomes_true came "$1" 40 || code=1
    naps=$(slept "$pid")
    echo "its spare thread slept $naps times"
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
    ok 'one thread has the lowest priority, the main one the user'"'"'s' \
        becomes_true one_is_lowered "$idle"
    kill "$idle"
    wait "$idle"
fi

if has_python msgpack zmq; then
    warm zmq msgpack hashlib json
    [[ $ours == 19 ]] ||
        ok 'the main one makes what the trainer waits for' idles awaited
    ok 'one augmenter brings everything' run one 1 "$data"
    ok '[relay: end] the trainer hears that the plan ends' \
        grep -qx 'train ' "$work/one/end.train"
    ok '[relay: end with over, of the consumer] the selector hears that the run is over' \
        grep -qx 'select over' "$work/one/end.select"
    over never & never=$!
    ok 'so does one that comes a second later' over late
    ok 'with the place before' \
        test "$(tr -d '\n' <"$work/over.late")" = 'select next select end over'
    ok 'the selector says it' over dismissed
    ok '[relay: end with over, of the producer] the trainer hears of it' \
        grep -qx 'train end ' "$work/over.dismissed"
    ok 'three augmenters do' run three 3 "$data"
    ok 'and the same bytes' cmp "$work/one/batches" "$work/three/batches"
    ok '16 batches' test "$(wc -l <"$work/one/batches")" -eq 16
    ok 'memory under way is told' grep -q \
        'up to 2 batches at once of 2 x 6 views of 32 x 32: 0.1 MiB' \
        "$work/one/augment.0"
    ok 'without the cache' run cold 1 --cache 0 "$data"
    ok 'the same bytes again' cmp "$work/one/batches" "$work/cold/batches"
    with=(--vocabulary "$work/v.txt")
    ok 'captions, too' run text 1 "${with[@]}" "$data"
    ok 'views are as without' cmp "$work/one/batches" \
        <(sed 's/ {.*//' "$work/text/batches")
    ok 'tokens are captions' says text
    ok 'of two both are drawn' grep -qE '^0:[1-9][0-9] 1:[1-9][0-9] ' \
        "$work/out"
    ok 'two augmenters do' run text2 2 "${with[@]}" "$data"
    ok 'and draw the same' cmp "$work/text/batches" "$work/text2/batches"
    ok 'the recipe names the vocabulary and its context' \
        grep -qE 'recipe [0-9a-f]{32},vocabulary=[0-9a-f]{8},32$' \
        "$work/text/augment.0"
    texts=5 ok 'the first of them, and extra texts' \
        run first 1 "${with[@]}" --caption first "$data"
    ok 'are those' says first
    ok 'in all batches' grep -q '^0:96 extra 16$' "$work/out"
    ok 'all of them' run all 1 "${with[@]}" --caption all --context 64 "$data"
    ok 'one behind the other' says all all
    ok 'short rows' run short 1 "${with[@]}" --context 4 "$data"
    ok 'are cut' grep -q '"lengths": .4, 4, 4, 4, 4, 4.,' "$work/short/batches"
    ok 'without half of the tokens' run half 1 "${with[@]}" \
        --drop-tokens .5 --caption first "$data"
    ok 'and the same again' run half2 2 "${with[@]}" \
        --drop-tokens .5 --caption first "$data"
    ok 'the same are left out' cmp "$work/half/batches" "$work/half2/batches"
    ok 'rows are about half as long' "$python" -c '
import json, sys
def tokens(name):
    return sum(sum(json.loads(l[l.index("{\""):])["lengths"]) - 12
               for l in open(sys.argv[1] + name + "/batches"))
share = tokens("half") / tokens("first")
print(share)
sys.exit(not .4 < share < .6)' "$work/"
    # not the last ones: the neighbours are gone before they hear of those
    "$BIN/foil-data" list "$data" | awk -F'\t' 'NR == 1 || NR > 7 {
        print $7 "\t" $8 }' >"$work/some.tsv"
    "$BIN/foil-data" index --captions "$work/some.tsv" "$work/mute" \
        2>"$work/mute.log"
    ok 'samples without a caption' run partly 1 "${with[@]}" --max-bad .1 \
        "$work/mute"
    ok 'are rejected, with the reason' grep -qE \
        "rejected .* sample '.*' has no caption" "$work/partly/log"
    ok 'no selector comes any more: that ends it, too' wait "$never"
    ok 'another seed' run seed 1 -s 1 "$data"
    ok 'other bytes' bash -c "! cmp -s '$work/one/batches' '$work/seed/batches'"
    ok 'fixed views' run fixed 1 -a 3 "$data"
    ok 'with others, too' run fixed3 3 --augmentations 3 "$data"
    ok 'are the same bytes' cmp "$work/fixed/batches" "$work/fixed3/batches"
    ok 'and are named' grep -q '\[[0-2], [0-2], .*\]$' "$work/fixed/batches"
    ok 'a recipe of our own' run own 1 --recipe "$own" --size 8 "$data"
    ok 'is the same to foil-embed' embeds own "$own"
    ok 'which another is not' exits 1 embeds own "${own/hue=0/hue=0.1}"
    ok 'asked to end, it ends well' asked asked
    ok 'one of two is killed: all batches come' killed killed
    ok 'nothing is missing' test "$(wc -l <"$work/killed/batches")" -eq 80

    # a sample whose bytes change behind the index's back, and its twin
    cp "$data" "$work/bad.tar"
    "$BIN/foil-data" index "$work/bad.tar" 2>/dev/null
    at=$(grep -abo JFIF "$work/bad.tar" | sed -n 11p | cut -d: -f1)
    printf XXXXXX | dd of="$work/bad.tar" bs=1 seek=$((at + 100)) \
        conv=notrunc 2>/dev/null
    # one of 60 is more than .01 of them, rounded up it is not
    ok 'a bad sample: the run goes on' run bad1 1 "$work/bad.tar"
    ok 'with others, too' run bad2 2 --max-bad 0.1 "$work/bad.tar"
    ok 'the same substitutes' cmp "$work/bad1/batches" "$work/bad2/batches"
    ok 'which are named' grep -q "its substitute is" "$work/bad1/augment.0"
    ok 'the selector is told' grep -q '^rejected 10 ' "$work/bad1/log"
    ok 'the trainer is told' grep -q '\[\[10, [0-9]*\]' "$work/bad1/batches"
    ends many 1 60 8 6
    ok 'too many bad: 1' exits 1 "$augment" -r "$work/many" --max-bad 0 \
        "$work/bad.tar"
    ok 'which is said' grep -q 'bad samples: 1 of 60' "$work/out"
    kill "$ends" 2>/dev/null
    ends few 1 60 8 6
    ok '--max-items' exits 0 "$augment" -r "$work/few" --max-items 3 "$data"
    kill "$ends" 2>/dev/null
else
    skip 'batches over sockets' 'no python3-zmq, python3-msgpack'
fi
done_testing
