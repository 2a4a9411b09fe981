#!/usr/bin/env bash
# Captions in the JSON of COCO and of Karpathy's splits.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export PATH=$BIN:$PATH
cd "$work" || exit

foil-data generate --size 8 -o pics.tar 3 2>/dev/null
mkdir pics
tar -xf pics.tar -C pics
find pics -type f ! -name '*.jpg' -delete
mapfile -t names < <(cd pics && find . -name '*.jpg' -printf '%f\n' | sort)
test "${#names[@]}" -eq 3 || exit 1

# read_back INDEX : prints name and captions of each sample that has captions
read_back() {
    foil-data list "$1" | awk -F '\t' 'NR == 1 {
        for (i = 1; i <= NF; i++) at[$i] = i; next
    } $at["caption"] != "" { sub(/.*\//, "", $at["name"]); print $at["name"] "|" $at["caption"] }'
}

cat >karpathy.json <<END
{"images": [
  {"filename": "${names[1]}", "split": "test", "imgid": 1, "sentences": [
    {"raw": "Two dogs\nrun.", "tokens": ["two"]}, {"raw": "A back\\\\slash \u00e9"}]},
  {"filename": "elsewhere.jpg", "split": "train", "sentences": [{"raw": "Nothing."}]},
  {"filename": "${names[0]}", "split": "train", "sentences": [{"raw": "A cat."}]}],
 "dataset": "flickr30k"}
END
ok "foil-data index reads captions in Karpathy's form" \
    foil-data index -o karpathy.foil --captions karpathy.json pics
ok 'foil-data index reports an image that the data set does not have' \
    grep -q 'with a name that no sample has' "$work/out"
ok "Karpathy's form: each image has its captions" diff <(read_back karpathy.foil) - <<END
${names[0]}|A cat.
${names[1]}|Two dogs run.\nA back\\\\slash é
END

cat >coco.json <<END
{"info": {}, "images": [{"id": 7, "file_name": "${names[2]}"},
  {"id": 3, "file_name": "${names[0]}"}],
 "annotations": [{"image_id": 3, "id": 1, "caption": "One."},
  {"image_id": 7, "id": 2, "caption": "Two."},
  {"image_id": 3, "id": 3, "caption": "Three."}]}
END
ok "foil-data index reads captions in COCO's form" \
    foil-data index -o coco.foil --captions coco.json pics
ok "COCO's form: each image has its captions" diff <(read_back coco.foil) - <<END
${names[0]}|One.\nThree.
${names[2]}|Two.
END

# a split as a list of files, as in the documentation
if command -v jq >/dev/null; then
    jq -r '.images[] | select(.split == "test").filename' karpathy.json |
        while read -r name; do find pics -name "$name"; done >list
    ok 'foil-data index reads a split as a list of files' bash -c \
        "foil-data index --captions karpathy.json -o test.foil - <list"
    ok 'a split has only its images' test "$(foil-data list test.foil | wc -l)" -eq 2
    ok 'the images of a split have their captions' test "$(read_back test.foil)" = \
        "${names[1]}|Two dogs run.\\nA back\\\\slash é"
else
    skip 'a split of captions' 'no jq'
fi

# wrong PATTERN JSON : foil-data index refuses it; its error names the field
wrong() {
    echo "$2" >wrong.json
    refuses 1 "$1" foil-data index -o wrong.foil --captions wrong.json pics
}
ok 'captions that are not JSON exit with 1' wrong "'wrong.json'" '{"images": [}'
ok 'captions without a list of images exit with 1' \
    wrong 'has no list "images"' '{"annotations": []}'
ok 'an image without a name exits with 1' wrong 'images\[0\] has no "filename"' \
    '{"images": [{"sentences": []}]}'
ok 'a sentence without "raw" exits with 1' \
    wrong 'images\[0\].sentences\[1\] has no "raw"' \
    '{"images": [{"filename": "a.jpg", "sentences": [{"raw": "A."}, {}]}]}'
ok 'an image without an id exits with 1' wrong 'images\[0\] has no "id"' \
    '{"images": [{"file_name": "a.jpg"}], "annotations": []}'
ok 'an annotation of an unknown image exits with 1' \
    wrong 'annotations\[0\] is of image 5' \
    '{"images": [{"id": 1, "file_name": "a.jpg"}],
      "annotations": [{"image_id": 5, "caption": "A."}]}'
ok 'an annotation without image_id exits with 1' \
    wrong 'annotations\[0\] has no "image_id"' \
    '{"images": [{"id": 1, "file_name": "a.jpg"}], "annotations": [{"image_id": 1}]}'
ok 'captions of other images only exit with 1' wrong 'no line of' \
    '{"images": [{"filename": "a.jpg", "sentences": [{"raw": "A."}]}]}'
done_testing
