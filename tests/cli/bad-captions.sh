#!/usr/bin/env bash
# Invalid captions, vocabularies and weights: each gives one error message, and no data
# is lost.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1
cd "$work" || exit

"$BIN/foil-data" generate --size 8 -o pics.tar 24 2>/dev/null
mkdir mute # images alone
tar -xf pics.tar -C mute
find mute -type f ! -name '*.jpg' -delete
"$BIN/foil-data" index mute 2>/dev/null
mapfile -t names < <("$BIN/foil-data" list mute | cut -f7 | tail -n +2)

# caption N TEXT : a line of the table for image N
caption() {
    printf '%s\t%b\n' "${names[$1]}" "$2"
}

# index_captions NAME : makes NAME.foil, an index with the captions on stdin; its messages
# are in NAME.err
index_captions() {
    cat >"$1.tsv"
    "$BIN/foil-data" index -o "$1.foil" --captions "$1.tsv" mute 2>"$1.err"
}

# plain_captions FROM : valid captions for the images from FROM on
plain_captions() {
    local i
    for ((i = $1; i < 24; i++)); do
        caption "$i" "shape $((i % 5))"
    done
}

# trains RUN DATA VOCABULARY OPTION... : two epochs, with tokens of that vocabulary
trains() {
    local data=$2 augment_with=(-v 1 --size 8 --context 12 --max-bad .1
        --vocabulary "$3")
    trained "$1" "${@:4}"
}
select_with=(--batch 6 --epochs 2) deadline=20
train_with=(--arch linear --embed 8 --text ,context=12 --vocabulary good.txt --warmup 0)
bow=(--text bow:8)

plain_captions 0 | index_captions good
ok 'foil-data makes a vocabulary of the captions' \
    "$BIN/foil-data" vocabulary -o good.txt good.foil
ok 'a run with valid captions succeeds' trains good good.foil good.txt "${bow[@]}"

# ------------------------------------------------------------- no caption

ok 'foil-augment of a data set without captions exits with 1' \
    refuses 1 "'mute' has no captions" \
    timeout "$patience" "$BIN/foil-augment" -r none -v 1 --size 8 --vocabulary good.txt \
    mute
plain_captions 1 | index_captions some
ok 'a run continues without a sample that has no caption' \
    trains some some.foil good.txt "${bow[@]}"
ok 'the log names a sample without a caption once' \
    test "$(grep -c "'${names[0]}' has no caption" \
    some.augment)" -eq 1
ok 'the checkpoint records which sample replaced it' /usr/bin/python3 - <<'END'
import json, struct
data = open("some/latest/samples.safetensors", "rb").read()
start = 8 + struct.unpack("<Q", data[:8])[0]
about = json.loads(data[8:start])["quarantine"]
assert about["shape"] == [2, 4], about # in each of two epochs
first = struct.unpack("<q", data[start + about["data_offsets"][0]:][:8])[0]
assert first == 0, first
END

# ------------------------------------- a very long caption, one that is not UTF-8

{
    caption 0 "$(printf '\\xe2\\x82\\xac%.0s' {1..33000})" # 3 bytes each
    caption 1 "$(head -c 100000 /dev/zero | tr '\0' a)"
    plain_captions 2
} | index_captions long
ok 'foil-data reports that captions above 65536 bytes are cut' \
    grep -q 'captions longer than 65536 bytes: 2 cut' long.err
ok 'a run with captions of 10^5 bytes succeeds' trains long long.foil good.txt "${bow[@]}"
ok 'foil-embed embeds captions of 10^5 bytes' \
    "$BIN/foil-embed" --captions -o long.npy long long.foil
{
    caption 0 'a \xff\xfe\xc3 shape' # not UTF-8
    caption 1 'a \xed\xa0\x80 shape' # a surrogate
    caption 2 'a \xf0\x9f shape'     # cut short
    plain_captions 3
} | index_captions odd
ok 'a run with captions that are not UTF-8 succeeds' \
    trains odd odd.foil good.txt "${bow[@]}"
ok 'foil-embed embeds captions that are not UTF-8' \
    "$BIN/foil-embed" --captions -o odd.npy odd odd.foil
printf 'a \xf0\x9f shape\na \xef\xbf\xbd shape\n' >lines
ok 'foil-embed embeds a line that is not UTF-8 and one with U+FFFD' \
    "$BIN/foil-embed" --lines lines -o lines.npy odd
ok 'a line that is not UTF-8 has the embedding of U+FFFD, bit for bit' \
    /usr/bin/python3 -c \
    'import numpy as np; x = np.load("lines.npy"); assert (x[0] == x[1]).all()'

# ---------------------------------------------------- a foreign vocabulary

{
    plain_captions 0
    for i in {0..23}; do
        caption "$i" 'something else altogether, said in other words'
    done
} | index_captions other
"$BIN/foil-data" vocabulary -o other.txt other.foil 2>/dev/null
ok 'an augmenter with another vocabulary ends the run with 1' refuses 1 \
    "makes tokens by vocabulary [0-9a-f]{8}, this run's is [0-9a-f]{8}" \
    trains foreign good.foil other.txt "${bow[@]}"
# resumed_by VOCABULARY : resume `good` by an augmenter with that, without a selector
resumed_by() {
    "$BIN/foil-augment" -r good -v 1 --size 8 --context 12 --vocabulary "$1" \
        good.foil 2>good.augment &
    "$BIN/foil-train" -r good --threads 1 --deadline 10 "${train_with[@]}" \
        "${bow[@]}" --resume 2>good.train
    kill $! 2>/dev/null
    wait $!
    show good.train
    has_line "makes tokens by vocabulary" good.train
}
ok '--resume refuses an augmenter with another vocabulary' resumed_by other.txt
ok 'foil-embed reads the checkpoint after the refusal' \
    "$BIN/foil-embed" --captions -o good.npy good good.foil
cp -r good/latest/. swapped
cp other.txt swapped/vocabulary.txt
ok 'foil-embed refuses a vocabulary.txt of another checkpoint with 1' refuses 1 \
    'vocabulary.txt' "$BIN/foil-embed" --captions -o x.npy swapped good.foil
echo 'no merges' >broken.txt
ok 'foil-augment refuses a file that is not a vocabulary with 1' refuses 1 "broken.txt" \
    timeout "$patience" "$BIN/foil-augment" -r none -v 1 --size 8 --vocabulary broken.txt good.foil

# ------------------------------------------------- weights of another shape

weights=good/latest/text.safetensors
ok '--init of a wider text encoder exits with 1' \
    refuses 1 \
    "tensor 'token_embedding.weight' is \[[0-9]+,8\], the encoder's is \[[0-9]+,16\]" \
    trains wide good.foil good.txt --text bow:16 --init "text=$weights"
ok '--init of another kind of text encoder exits with 1' \
    refuses 1 "tensor '.*' is (missing|one too many)" \
    trains kind good.foil good.txt --text clip:8x1x1 --init "text=$weights"
ok '--init of a wrong shape writes no checkpoint' \
    test ! -e wide/latest -a ! -e kind/latest
done_testing
