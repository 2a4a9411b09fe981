#!/usr/bin/env bash
# The demo in its smallest form: what it prints and leaves, and that its words
# say what its numbers do, whichever way these fall.
# Not for sanitizers: a pipeline, its stages are in others.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export OMP_NUM_THREADS=1

if [[ ! -e /usr/share/datasets/fashion-mnist ]]; then
    skip 'the demo' 'no dataset-fashion-mnist'
    done_testing
fi

# The tools are the real ones; foil-eval can be another one.
mkdir -p "$work/bin" "$work/share/foil"
cp "$BIN/foil" "$work/bin"
for tool in data select augment train embed eval run; do
    ln -s "$BIN/foil-$tool" "$work/bin"
done
cp -r "${0%/*}/../../pipelines" "$work/share/foil"

# demo NAME OPTION... : a run in a folder of that name; its words, in one line,
# are in NAME.words
demo() {
    timeout -k 5 300 "$work/bin/foil" run demo -r "$work/$1" --images 96 \
        --labelled 80 --test 64 --epochs 2 --batch 32 --augmenters 1 \
        --threads 1 "${@:2}" >"$work/$1.out" 2>&1 || return
    cat "$work/$1.out"
    tr -s ' \n' ' ' <"$work/$1.out" >"$work/$1.words"
}

# says NAME SENTENCE : these words, wherever the lines break
says() {
    cat "$work/$1.words"
    grep -qF -- "${2//$'\n'/}" "$work/$1.words"
}

# row NAME ROW FILE : the table's numbers are those of the tool
row() {
    local want
    want=$(jq -s -r 'map(.accuracy * 100) | @tsv' "$3") || return
    grep -F "$2 " "$work/$1.out" | head -n 1 | awk -v want="$want" '
        function off(x, y) { return x > y ? x - y : y - x }
        { split(want, w, "\t")
          exit off($(NF - 3), w[1]) > .0501 || off($(NF - 1), w[2]) > .0501 }'
}

ok 'the demo ends well' demo run
for name in 'raw14:raw pixels (14x14)' 'raw28:raw pixels (28x28)' \
    'untrained:the untrained encoder' 'trained:the trained encoder'; do
    ok "'${name#*:}' has the numbers of its protocol" \
        row run "${name#*:}" "$work/run/${name%%:*}.jsonl"
done
ok 'the table is kept' test -s "$work/run/table.txt"
ok 'no line is longer than 79 characters' \
    exits 1 grep -E '.{80}' "$work/run/table.txt"
ok 'the words say what was used' says run 'learned from 96 images in 2 epochs,
 without a label.'
ok 'and what teaches' says run '10 nearest of 80 labelled images'
ok 'all is taught and asked in equal numbers' \
    jq -se 'all(.train.n == 80 and .test.n == 64)' \
    "$work"/run/{raw14,raw28,untrained,trained}.jsonl
ok 'the sheet is a picture' grep -q PNG "$work/run/sheet.png"
ok 'so is that of neighbours, with nine images in a row and their names' test \
    "$(od -An -tu1 -j16 -N8 "$work/run/near.png" | xargs)" = "0 0 $((984 / 256)) \
$((984 % 256)) 0 0 $(((12 + 10 * (96 + 12 + 18)) / 256)) $(((12 + 10 * 126) % 256))"
ok 'the classes are called by their names' test \
    "$("$BIN/foil-data" classes "$work/run/test.tar" | grep -c $'\tpullover$')" = 1
# printed COMMAND : it was, as a line of shell
printed() {
    show "$work/run.out"
    grep -qE -- "^  \\$ $1" "$work/run.out"
}
for command in 'foil-data import -n 96' 'foil-data index' 'foil-augment --sheet' \
    'foil-train -r [^ ]*run --objective simclr' 'foil-augment -r' \
    'foil-select -r' 'foil-embed -o' 'foil-eval knn' 'foil-eval probe' \
    'foil-eval neighbours -k 8'; do
    ok "it prints '$command'" printed "$command"
done
ok 'the last lines have the command for a folder of ones own' \
    grep -q 'foil run photos FOLDER$' "$work/run.out"
ok 'the loss has a running mean' \
    awk 'NF != 3 { exit 1 } END { exit NR != 6 }' "$work/run/loss.txt"
if command -v gnuplot >/dev/null; then
    ok 'and is a picture' grep -q PNG "$work/run/loss.png"
else
    skip 'and is a picture' 'no gnuplot'
fi

# Where the numbers are given: foil-eval says what accuracies says of MEASURE
# and NAME.
rm "$work/bin/foil-eval"
cat >"$work/bin/foil-eval" <<'FAKE'
#!/usr/bin/env bash
[[ $1 != neighbours ]] || { echo 0 0; exit; }
last=${*: -1} last=${last##*/}
awk -v measure="$1" -v name="${last%-test.npy}" '
    $1 == measure && $2 == name { print "{\"accuracy\":" $3 ",\"n\":64}" }
' "$work/accuracies"
FAKE
chmod 755 "$work/bin/foil-eval"
export work

# given KNN-PROBE... : of raw14, raw28, untrained, trained
given() {
    local name
    for name in raw14 raw28 untrained trained; do
        printf 'knn %s %s\nprobe %s %s\n' "$name" "${1%-*}" "$name" "${1#*-}"
        shift
    done >"$work/accuracies"
}

given 0.61-0.5 0.6-0.52 0.3-0.4 0.9-0.85
ok 'a demo with a better encoder' demo better
ok 'says how much better, than the better raw pixels' says better "By 10 nearest
 neighbours the trained encoder's features find the class of 90.0 % of the test
 images, 29.0 points more than raw pixels (14x14) and 60.0 points more than the
 untrained encoder."
ok 'by each measure' says better "By the linear probe the trained encoder's
 features find the class of 85.0 % of the test images, 33.0 points more than raw
 pixels (28x28) and 45.0 points more than the untrained encoder."
ok 'and what chance does' says better 'with 64 other test images the trained
 encoder'"'"'s figures may differ by 8.9 points'
ok 'and so what differences tell' says better 'a difference to raw pixels below
 12.6 points may be chance, and one to the untrained encoder below 12.8 points.'

given 0.9-0.8 0.6-0.75 0.5-0.84 0.5-0.82
ok 'a demo with an encoder that is no better' demo worse
ok 'says that it is worse' says worse 'the class of 50.0 % of the test images,
 40.0 points fewer than raw pixels (14x14) and about as many (+0.0 points) as
 the untrained encoder.'
ok 'and calls no small difference a gain' says worse 'the class of 82.0 % of the
 test images, about as many (+2.0 points) as raw pixels (14x14) and about as
 many (-2.0 points) as the untrained encoder.'

ok 'no number of images: 2' refuses 2 "--images 'all': want a whole number" \
    "$work/bin/foil" run demo --images all
done_testing
