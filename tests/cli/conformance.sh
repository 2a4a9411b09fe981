#!/usr/bin/env bash
# The conformance program: tests/conformance.c.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"

run=$BIN/../tests/conformance
vectors=$shared/conformance

within() {
    "$run" "$vectors" >"$work/all" || { cat "$work/all"; return 1; }
}

ok 'no folder: 2' exits 2 "$run"
ok 'a folder that is not there: 1' refuses 1 'cannot read the folder' \
    "$run" "$work/none"
ok 'nothing in it: 1' refuses 1 'no .safetensors file' "$run" "$work"
printf '\0\0\0' >"$work/short.safetensors"
ok 'a file that is none: 1' exits 1 "$run" "$work"
ok 'and it is named' grep -q 'short.safetensors.*FAILED' "$work/out"

if [[ -d $vectors ]]; then
    ok 'everything foil has is within tolerance' within
    ok 'pictures are compared' grep -q '^augment.*hue.0.levels.ok' "$work/all"
    ok 'gradients are compared' \
        grep -q '^simclr.*grad_z1.*relative.ok' "$work/all"
    ok 'batches are compared' \
        grep -q '^select.*spectral code.*ratio, at least 0.99.ok' "$work/all"
    ok 'counts of EMC2 are exact' \
        grep -q '^emc2.*counts.0.relative.ok' "$work/all"
    ok 'the last line is the worst' \
        bash -c "tail -n 1 '$work/all' | grep -q ^worst"
    ok 'nothing is within 1e-12' exits 1 "$run" -t 1e-12 "$vectors"
else
    skip 'everything foil has is within tolerance' "no $vectors"
fi
done_testing
