#!/usr/bin/env bash
# foil-eval map as a user meets it: points, a film, pictures, refusals.
# Not for sanitizers: tests/eval has what it computes.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/eval.sh
. "${0%/*}/../eval.sh"
# shellcheck source=tests/npy.sh
. "${0%/*}/../npy.sh"
export OMP_NUM_THREADS=1
cd "$work" || exit 1
small_set
"$BIN/foil-embed" --raw --size 4 -o one.npy set.tar 2>/dev/null
"$BIN/foil-embed" --raw --size 8 -o two.npy set.tar 2>/dev/null

# bytes FILE OFFSET COUNT : as numbers
bytes() {
    od -An -tu1 -j"$2" -N"$3" "$1" | xargs
}
# pixels FILE SIDE : a PNG of that many
pixels() {
    test "$(bytes "$1" 16 8)" = "0 0 $(($2 / 256)) $(($2 % 256)) 0 0 $(($2 / 256)) \
$(($2 % 256))"
}

common foil-eval map one.npy
ok 'a map' says '"method":"tsne","divergence":0.[0-9]*,"perplexity":7.66' \
    map -o map.npy one.npy
ok 'is a point for each row' grep -aq "'<f4'.*'shape': (24, 2)" map.npy
cp map.npy first.npy
ok 'and the same again' says '"divergence"' map -o map.npy one.npy
ok 'to the bit' cmp map.npy first.npy
ok 'of a perplexity' says '"perplexity":5.0,"steps":300,"metric":"euclidean"' \
    map -o map.npy --perplexity 5 --iterations 50 --metric euclidean one.npy
ok 'is another one' exits 1 cmp -s map.npy first.npy
ok 'along components' says '"method":"pca","share":0.[0-9]*' \
    map -o pca.npy --method pca one.npy

film() {
    "$eval" map -o film.npy one.npy one.npy two.npy >line
}
ok 'a film' film
ok 'has a line for each file' test "$(wc -l <line)" -eq 3
ok 'and its points' grep -aq "'shape': (72, 2)" film.npy
ok 'its first frame is the map of that file' \
    cmp <(tail -c "$((24 * 8))" first.npy) <(tail -c "$((72 * 8))" film.npy | head -c "$((24 * 8))")
# where points of the second frame lie beside the first, in shares of their spread
moved() {
    tail -c "$((72 * 8))" film.npy | od -An -v -tf4 -w8 | awk '
        NR <= 24 { x[NR] = $1; y[NR] = $2; size += $1 * $1 + $2 * $2 }
        NR > 24 && NR <= 48 {
            moved += ($1 - x[NR - 24]) ^ 2 + ($2 - y[NR - 24]) ^ 2
        }
        END { print moved / size; exit !(moved < .2 * size) }'
}
ok 'the same features again lie where they were' moved

if command -v gnuplot >/dev/null; then
    ok 'a picture' says '"map"' map --plot map.png --iterations 0 one.npy
    ok 'of 900 pixels' pixels map.png 900
    ok 'with its script' grep -q 'keyentry .* title "[0-9]*" noenhanced' map.gp
    cp one.npy odd.npy
    cp one.ids.npy odd.ids.npy
    cp one.labels.npy odd.labels.npy
    # shellcheck disable=SC2016 # nothing in it is run
    printf '%s\n' 'a"b' '`touch ran`' '@c_d' {d..z} >odd.classes
    ok 'names of classes are but text' says '"map"' map --plot odd.png \
        --iterations 0 odd.npy
    ok 'and run nothing' exits 1 test -e ran
    rm odd.labels.npy odd.classes
    ok 'without labels' says '"map"' map --plot odd.png --iterations 0 odd.npy
    ok 'of a film' "$eval" map --plot film.png --method pca one.npy two.npy
else
    skip 'a picture' 'no gnuplot'
fi
ok 'a board of images' says '"map"' map --thumbnails board.png --images set.tar \
    --iterations 100 one.npy
ok 'of 1280 pixels' pixels board.png 1280
ok 'of another size' says '"map"' map --thumbnails board.png --images set.tar \
    --size 100 --iterations 0 one.npy
ok 'fills its side' pixels board.png 1200

refuses_map() {
    refuses "$1" "$2" "$eval" map "${@:3}"
}
ok 'nothing to make: 2' refuses_map 2 'wants an output' one.npy
ok 'thumbnails of nothing: 2' refuses_map 2 'need each other' --thumbnails x.png one.npy
ok 'its input as its output: 2' refuses_map 2 'would be lost' -o one.npy one.npy
ok 'a board of two files: 2' refuses_map 2 'draws one file' --thumbnails x.png \
    --images set.tar one.npy two.npy
"$BIN/foil-data" generate -o other.tar --size 16 --seed 5 24 2>/dev/null
"$BIN/foil-data" index other.tar 2>/dev/null
ok 'another data set: 1' refuses_map 1 "'other.tar' is not the data set of 'one.npy'" \
    --thumbnails x.png --images other.tar one.npy
"$BIN/foil-embed" --raw --size 4 -o less.npy other.tar 2>/dev/null
npy three.npy '<f4' '3, 2' 0000803f 00000000 00000000 00000040 000080bf 00000000
ok 'three rows: 1' refuses_map 1 "'three.npy' has 3 rows, and a map needs four" \
    -o x.npy three.npy
npy four.npy '<f4' '4, 1' 0000803f 00000000 00000040 000080bf
ok 'four rows of one column' "$eval" map --metric euclidean -o x.npy four.npy
ok 'but no two components: 1' refuses_map 1 'one column' --method pca -o x.npy four.npy
ok 'another set in a film: 1' refuses_map 1 'of other samples' -o x.npy one.npy four.npy
done_testing
