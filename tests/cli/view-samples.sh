#!/usr/bin/env bash
# The page of foil-view of a run that learns temperatures and has an unreadable image: the
# panel of images that stand out, in a browser and in a saved file.
# Not for sanitizers: other tests run the stages of pipelines.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export OMP_NUM_THREADS=1
PATH=$BIN:$PATH
here=$(cd "${0%/*}" && pwd)
cd "$work" || exit 1
foil-data generate -o set.tar 40 2>/dev/null
mkdir -p set/a "set/b"$'\xe2\x80\xae'c
tar -xf set.tar -C set/a
rm set/a/*.cls
mv set/a/00003* "set/b"$'\xe2\x80\xae'c
foil-data index set 2>/dev/null
broken=$(foil-data list set | awk -F'\t' '$1 == 7 { print $7 }')
ok 'an image is broken' test -s "set/$broken"
echo >"set/$broken"
ok 'a run' foil run simclr set -r run --objective isogclr --augmenters 1 --threads 1 \
    --batch 8 --epochs 3 --arch linear --head 16-9 --size 16 --lr .01
foil-view --port 0 -r run >address 2>view.err &
page=$!
becomes_true test -s address
# The page answers before it has read the data set.
has_classes() {
    curl -s -m 20 -o all.json "$(<address)all" && jq -e .classes all.json
}
becomes_true has_classes
ok 'a class name cannot reverse the direction of text' jq -e '.classes == ["a", "b???c"]' all.json
# shellcheck disable=SC2016 # not this shell's
ok 'the replaced image and the reason' jq -e --arg name "$broken" '
    .samples.replaced | .n == 1 and (.list[0] | .id == 7 and .times == 3 and
    .epoch == 2 and .used != 7 and (.reason | contains($name)))' all.json
ok 'temperatures of the other 39, all in the histogram' jq -e '.samples.columns[0] |
    .name == "tau" and .n == 39 and (.counts | add) == 39' all.json
ok 'extremes in the right order' jq -e '.samples.columns[0] | (.largest | length) == 12 and
    .largest[0].x == .high and .smallest[0].x == .low and
    (.largest | map(.x) | . == (sort | reverse))' all.json
# shellcheck disable=SC2016 # not this shell's
ok 'the extremes include those of metrics.jsonl' jq -e --argjson line "$(tail -n 1 run/metrics.jsonl)" \
    '.samples.columns[0] | .low <= $line.tau_min + 1e-6 and .high >= $line.tau_max - 1e-6' \
    all.json
mkdir other
head -n 12 run/metrics.jsonl | jq -c '.total *= 2 | .loss += 1' >other/metrics.jsonl
foil-view --port 0 -r run --compare other >compared 2>compared.err &
pages=("$page" "$!")
becomes_true test -s compared
curl -s -m 20 -o both.json "$(<compared)all"
# shellcheck disable=SC2016 # not this shell's
ok 'the metrics of another run' jq -e --argjson last "$(tail -n 1 other/metrics.jsonl)" '.compared |
    length == 1 and (.[0] | .run == "other" and .living == false and
    .metrics.total[-1] == 24 and (.metrics.columns.loss[-1] - $last.loss | fabs) < 1e-4)' \
    both.json
ok 'it is saved' foil-view -r run --export saved.html
if ! command -v chromium >/dev/null; then
    skip 'the page in a browser' 'no chromium'
else
    pass_on /usr/bin/python3 "$here/view_samples.py" "$(<address)" "file://$PWD/saved.html" \
        "$(<compared)" other
fi
kill -TERM "${pages[@]}"
done_testing
