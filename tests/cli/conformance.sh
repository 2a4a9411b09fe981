#!/usr/bin/env bash
# The conformance program: tests/conformance.c.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"

run=$BIN/../tests/conformance
small=${0%/*}/../data/conformance
vectors=$shared/conformance

# within FOLDER : all of it; what was printed goes to $work/all
within() {
    "$run" "$1" >"$work/all" || { cat "$work/all"; return 1; }
}

# damaged FILE TENSOR HOW : a folder with that file alone, damaged, is refused
# for what was compared
damaged() {
    rm -rf "$work/damaged"
    mkdir "$work/damaged"
    /usr/bin/python3 "${0%/*}/damage.py" "$small/$1.safetensors" \
        "$work/damaged/$1.safetensors" "$2" "$3" || return
    exits 1 "$run" "$work/damaged" >"$work/damaged/out" || return
    cat "$work/damaged/out"
    grep -q '[a-z][[:space:]]FAILED' "$work/damaged/out"
}

ok 'no folder: 2' exits 2 "$run"
ok 'a folder that is not there: 1' refuses 1 'cannot read the folder' \
    "$run" "$work/none"
ok 'an empty folder: 1' refuses 1 'no .safetensors file' "$run" "$work"
printf '\0\0\0' >"$work/short.safetensors"
ok 'a file that is none: 1' exits 1 "$run" "$work"
ok 'it is named' grep -q 'short.safetensors.*FAILED' "$work/out"

ok 'the small vectors are within tolerance' within "$small"
ok 'gradients are compared' grep -q '^simclr.*grad_z1.*relative.ok' "$work/all"
ok 'batches are compared' \
    grep -q '^select.*spectral code.*ratio, at least 0.99.ok' "$work/all"
ok 'counts of EMC2 are exact' grep -q '^emc2.*counts.0.relative.ok' "$work/all"
ok 'text towers and ViT are compared' \
    test "$(grep -c '\(bow\|clip_.*\|distilbert\|vit\).safetensors.gradients.*ok' \
    "$work/all")" = 5
ok 'the last line is the worst' \
    bash -c "tail -n 1 '$work/all' | grep -q ^worst"
ok 'nothing is within 1e-12' exits 1 "$run" -t 1e-12 "$small"

mkdir "$work/other"
sed 's/"simclr/"no_one/' "$small/simclr_tau0.5_b4_d8.safetensors" \
    >"$work/other/simclr.safetensors"
ok 'a folder of which nothing can be compared: 1' exits 1 "$run" "$work/other"
ok 'the file is said to be skipped' grep -q 'skipped.*no_one' "$work/out"

while read -r file tensor how; do
    ok "$how in $tensor of $file is seen" damaged "$file" "$tensor" "$how"
done <<'end'
spectral_cl_b4_d8 step0.grad_z2 nan-first
spectral_cl_b4_d8 step0.grad_z2 nan-last
spectral_cl_b4_d8 step0.grad_z2 nan-but-last
spectral_cl_b4_d8 step0.grad_z2 nan-all
spectral_cl_b4_d8 step0.grad_z2 more
barlow_twins_b4_d8 step0.z1 nan-first
simclr_tau0.5_b4_d8 step0.z1 nan-first
vicreg_b4_d8 step0.loss nan-first
isogclr_b4_d8 step2.state.tau nan-last
isogclr_b4_d8 step2.state.tau more
emc2_beta5.0_P0_b4_d8 step1.counts plus-one
emc2_beta5.0_P0_b4_d8 step0.acceptance nan-first
emc2_beta14.28_P3_b4_d8 step1.score_after nan-last
emc2_beta14.28_P3_b4_d8 step1.oob_counts plus-one
emc2_beta14.28_P3_b4_d8 step1.state_after plus-one
clip_text z nan-last
clip_text grad.positional_embedding more
distilbert grad.transformer.layer.1.attention.q_lin.weight nan-first
vit grad.class_token more
select_N64_B8_C6 weight nan-but-last
select_N64_B8_C6 u nan-first
select_N64_B8_C6 reference_labels plus-one
end

if [[ -d $vectors ]]; then
    ok 'all vectors are within tolerance' within "$vectors"
    ok 'pictures are compared' grep -q '^augment.*hue.0.levels.ok' "$work/all"
else
    skip 'all vectors are within tolerance' "no $vectors"
fi
done_testing
