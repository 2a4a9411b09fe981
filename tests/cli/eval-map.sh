#!/usr/bin/env bash
# foil-eval map for a user: points, a film, plots, errors.
# Not for sanitizers: tests/eval tests the computation.
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

# bytes FILE OFFSET COUNT : prints them as numbers
bytes() {
    od -An -tu1 -j"$2" -N"$3" "$1" | xargs
}
# pixels FILE SIDE : the PNG has that width and height
pixels() {
    test "$(bytes "$1" 16 8)" = "0 0 $(($2 / 256)) $(($2 % 256)) 0 0 $(($2 / 256)) \
$(($2 % 256))"
}

common foil-eval map one.npy
ok 'foil-eval map prints its divergence' \
    prints_line '"method":"tsne","divergence":0.[0-9]*,"perplexity":7.66' \
    map -o map.npy one.npy
ok 'map writes a point for each row' grep -aq "'<f4'.*'shape': (24, 2)" map.npy
cp map.npy first.npy
ok 'map runs again' prints_line '"divergence"' map -o map.npy one.npy
ok 'map gives the same bits again' cmp map.npy first.npy
ok 'map takes --perplexity and --metric' \
    prints_line '"perplexity":5.0,"steps":300,"metric":"euclidean"' \
    map -o map.npy --perplexity 5 --iterations 50 --metric euclidean one.npy
ok 'another perplexity gives another map' exits 1 cmp -s map.npy first.npy
ok 'map --method pca prints its share' prints_line '"method":"pca","share":0.[0-9]*' \
    map -o pca.npy --method pca one.npy

film() {
    "$eval" map -o film.npy one.npy one.npy two.npy >line
}
ok 'map of several files makes a film' film
ok 'a film prints a line for each file' test "$(wc -l <line)" -eq 3
ok 'a film has the points of each file' grep -aq "'shape': (72, 2)" film.npy
ok 'the first frame of a film is the map of its file' \
    cmp <(tail -c "$((24 * 8))" first.npy) <(tail -c "$((72 * 8))" film.npy | head -c "$((24 * 8))")
# how far points of the second frame are from those of the first, relative to the spread
moved() {
    tail -c "$((72 * 8))" film.npy | od -An -v -tf4 -w8 | awk '
        NR <= 24 { x[NR] = $1; y[NR] = $2; size += $1 * $1 + $2 * $2 }
        NR > 24 && NR <= 48 {
            moved += ($1 - x[NR - 24]) ^ 2 + ($2 - y[NR - 24]) ^ 2
        }
        END { print moved / size; exit !(moved < .2 * size) }'
}
ok 'the same features have the same place in the next frame' moved

if command -v gnuplot >/dev/null; then
    ok 'map --plot succeeds' prints_line '"map"' map --plot map.png --iterations 0 one.npy
    ok 'the plot has 900 pixels' pixels map.png 900
    ok 'the plot has its gnuplot script' \
        grep -q 'keyentry .* title "[0-9]*" noenhanced' map.gp
    cp one.npy odd.npy
    cp one.ids.npy odd.ids.npy
    cp one.labels.npy odd.labels.npy
    # shellcheck disable=SC2016 # not to be expanded
    printf '%s\n' 'a"b' '`touch ran`' '@c_d' {d..z} >odd.classes
    ok 'map --plot takes names of classes with quotes and commands' \
        prints_line '"map"' map --plot odd.png \
        --iterations 0 odd.npy
    ok 'map --plot executes no names of classes' exits 1 test -e ran
    rm odd.labels.npy odd.classes
    ok 'map --plot without labels succeeds' \
        prints_line '"map"' map --plot odd.png --iterations 0 odd.npy
    ok 'map --plot of a film succeeds' \
        "$eval" map --plot film.png --method pca one.npy two.npy
else
    skip 'plots of maps' 'no gnuplot'
fi
ok 'map --thumbnails draws a board of images' \
    prints_line '"map"' map --thumbnails board.png --images set.tar \
    --iterations 100 one.npy
ok 'the board has 1280 pixels' pixels board.png 1280
ok 'map --thumbnails takes --size' \
    prints_line '"map"' map --thumbnails board.png --images set.tar \
    --size 100 --iterations 0 one.npy
ok 'a board of size 100 has 1200 pixels' pixels board.png 1200

refuses_map() {
    refuses "$1" "$2" "$eval" map "${@:3}"
}
ok 'map without an output exits with 2' refuses_map 2 'needs an output' one.npy
ok '--thumbnails without --images exits with 2' \
    refuses_map 2 'need each other' --thumbnails x.png one.npy
ok 'map -o on its input exits with 2' refuses_map 2 'would be overwritten' -o one.npy one.npy
ok '--thumbnails of two files exits with 2' \
    refuses_map 2 'draws one file' --thumbnails x.png \
    --images set.tar one.npy two.npy
"$BIN/foil-data" generate -o other.tar --size 16 --seed 5 24 2>/dev/null
"$BIN/foil-data" index other.tar 2>/dev/null
ok '--images of another data set exits with 1' \
    refuses_map 1 "'other.tar' is not the data set of 'one.npy'" \
    --thumbnails x.png --images other.tar one.npy
"$BIN/foil-embed" --raw --size 4 -o less.npy other.tar 2>/dev/null
npy three.npy '<f4' '3, 2' 0000803f 00000000 00000000 00000040 000080bf 00000000
ok 'map of three rows exits with 1' \
    refuses_map 1 "'three.npy' has 3 rows, and a map needs four" \
    -o x.npy three.npy
npy four.npy '<f4' '4, 1' 0000803f 00000000 00000040 000080bf
ok 'map of four rows of one column succeeds' \
    "$eval" map --metric euclidean -o x.npy four.npy
ok 'map --method pca of one column exits with 1' \
    refuses_map 1 'one column' --method pca -o x.npy four.npy
ok 'a film with another data set exits with 1' \
    refuses_map 1 'of other samples' -o x.npy one.npy four.npy
done_testing
