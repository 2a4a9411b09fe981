#!/usr/bin/env bash
# The smallest demo: its output and its files; and that its sentences agree with the
# numbers, for different numbers.
# Not for sanitizers: a pipeline; other tests cover its stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export OMP_NUM_THREADS=1

if [[ ! -e /usr/share/datasets/fashion-mnist ]]; then
    skip 'the demo' 'no dataset-fashion-mnist'
    done_testing
fi

# The tools that make demo builds; foil-eval is replaced later.
mkdir -p "$work/bin" "$work/share/foil"
cp "$BIN/foil" "$work/bin"
for tool in $(make -s -C "${0%/*}/../.." NOSETUP=1 print-DEMO_TOOLS); do
    [[ ${tool##*/} == foil ]] || ln -s "$BIN/${tool##*/}" "$work/bin"
done
cp -r "${0%/*}/../../pipelines" "$work/share/foil"

# demo NAME OPTION... : a run in the folder NAME; its output as one line is in NAME.words
demo() {
    timeout -k 5 300 "$work/bin/foil" run demo -r "$work/$1" --images 96 \
        --labelled 80 --test 64 --epochs 2 --batch 32 --augmenters 1 \
        --threads 1 "${@:2}" >"$work/$1.out" 2>&1 || return
    cat "$work/$1.out"
    tr -s ' \n' ' ' <"$work/$1.out" >"$work/$1.words"
}

# prints NAME SENTENCE : the output has this text, whatever its line breaks
prints() {
    cat "$work/$1.words"
    grep -qF -- "${2//$'\n'/}" "$work/$1.words"
}

# row NAME ROW FILE : the table has the numbers of foil-eval
row() {
    local want
    want=$(jq -s -r 'map(.accuracy * 100) | @tsv' "$3") || return
    grep -F "$2 " "$work/$1.out" | head -n 1 | awk -v want="$want" '
        function off(x, y) { return x > y ? x - y : y - x }
        { split(want, w, "\t")
          exit off($(NF - 3), w[1]) > .0501 || off($(NF - 1), w[2]) > .0501 }'
}

ok 'foil run demo succeeds' demo run
for name in 'raw14:raw pixels (14x14)' 'raw28:raw pixels (28x28)' \
    'untrained:the untrained encoder' 'trained:the trained encoder'; do
    ok "the table has the figures of foil-eval for '${name#*:}'" \
        row run "${name#*:}" "$work/run/compare/${name%%:*}.jsonl"
done
ok 'the demo leaves table.txt' test -s "$work/run/table.txt"
ok 'no line of the table is longer than 79 characters' \
    exits 1 grep -E '.{80}' "$work/run/table.txt"
ok 'the demo prints how many images and epochs it trained' \
    prints run 'learned from 96 images in 2 epochs,
 without a label.'
ok 'the demo prints how many labelled images knn has' \
    prints run '10 nearest of 80 labelled images'
ok 'all features are evaluated with the same numbers of images' \
    jq -se 'all(.train.n == 80 and .test.n == 64)' \
    "$work"/run/compare/{raw14,raw28,untrained,trained}.jsonl
ok 'the sheet of augmented images is a PNG' grep -q PNG "$work/run/sheet.png"
ok 'the sheet of neighbours has nine images and a name in each row' test \
    "$(od -An -tu1 -j16 -N8 "$work/run/near.png" | xargs)" = "0 0 $((984 / 256)) \
$((984 % 256)) 0 0 $(((12 + 10 * (96 + 12 + 18)) / 256)) $(((12 + 10 * 126) % 256))"
ok 'the index has the names of the classes' test \
    "$("$BIN/foil-data" classes "$work/run/test.tar" | grep -c $'\tpullover$')" = 1
# printed COMMAND : the demo printed it as a shell command
printed() {
    show "$work/run.out"
    grep -qE -- "^  \\$ $1" "$work/run.out"
}
for command in 'foil-data import -n 96' 'foil-data index' 'foil-augment --sheet' \
    'foil-train -r [^ ]*run --objective simclr' 'foil-augment -r' \
    'foil-select -r' 'foil-embed -o' 'foil-eval knn' 'foil-eval probe' \
    'foil-eval neighbours -k 8'; do
    ok "the demo prints the command '$command'" printed "$command"
done
ok "the last lines have the command for one's own photos" \
    grep -q 'foil run fast FOLDER --minutes 10$' "$work/run.out"
ok 'loss.txt has the loss and its running mean' \
    awk 'NF != 3 { exit 1 } END { exit NR != 6 }' "$work/run/loss.txt"
if command -v gnuplot >/dev/null; then
    ok 'the plot of the loss is a PNG' grep -q PNG "$work/run/loss.png"
else
    skip 'the plot of the loss is a PNG' 'no gnuplot'
fi

# A foil-eval that prints the accuracies of a file, by MEASURE and NAME.
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

# set_accuracies KNN-PROBE... : results for raw14, raw28, untrained, trained
set_accuracies() {
    local name
    for name in raw14 raw28 untrained trained; do
        printf 'knn %s %s\nprobe %s %s\n' "$name" "${1%-*}" "$name" "${1#*-}"
        shift
    done >"$work/accuracies"
}

set_accuracies 0.61-0.5 0.6-0.52 0.3-0.4 0.9-0.85
ok 'foil run demo with a better encoder succeeds' demo better
ok 'the demo compares a better encoder with the better raw pixels' \
    prints better "By 10 nearest
 neighbours the trained encoder's features find the class of 90.0 % of the test
 images, 29.0 points more than raw pixels (14x14) and 60.0 points more than the
 untrained encoder."
ok 'the demo compares a better encoder by the linear probe' \
    prints better "By the linear probe the trained encoder's
 features find the class of 85.0 % of the test images, 33.0 points more than raw
 pixels (28x28) and 45.0 points more than the untrained encoder."
ok 'the demo prints the uncertainty of its figures' \
    prints better 'with 64 other test images the trained
 encoder'"'"'s figures may differ by 8.9 points'
ok 'the demo prints which differences may be chance' \
    prints better 'a difference to raw pixels below
 12.6 points may be chance, and one to the untrained encoder below 12.8 points.'

set_accuracies 0.9-0.8 0.6-0.75 0.5-0.84 0.5-0.82
ok 'foil run demo with a worse encoder succeeds' demo worse
ok 'the demo says that the encoder is worse' \
    prints worse 'the class of 50.0 % of the test images,
 40.0 points fewer than raw pixels (14x14) and about as many (+0.0 points) as
 the untrained encoder.'
ok 'the demo does not call a small difference a gain' \
    prints worse 'the class of 82.0 % of the
 test images, about as many (+2.0 points) as raw pixels (14x14) and about as
 many (-2.0 points) as the untrained encoder.'

ok 'foil run demo --images with text exits with 2' \
    refuses 2 "--images 'all': want a whole number" \
    "$work/bin/foil" run demo --images all
done_testing
