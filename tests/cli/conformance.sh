#!/usr/bin/env bash
# The conformance program: tests/conformance.c.
# Not for sanitizers: tests/loss, nn, select and sample have the same lines.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"

run=$BIN/../tests/conformance
small=${0%/*}/../data/conformance
vectors=$shared/conformance

# within FOLDER : all vectors are within tolerance; the output goes to $work/all
within() {
    "$run" "$1" >"$work/all" || { cat "$work/all"; return 1; }
}

# damaged FILE TENSOR HOW : the program reports a damaged copy of that file as FAILED
damaged() {
    rm -rf "$work/damaged"
    mkdir "$work/damaged"
    /usr/bin/python3 "${0%/*}/damage.py" "$small/$1.safetensors" \
        "$work/damaged/$1.safetensors" "$2" "$3" || return
    exits 1 "$run" "$work/damaged" >"$work/damaged/out" || return
    cat "$work/damaged/out"
    grep -q '[a-z][[:space:]]FAILED' "$work/damaged/out"
}

ok 'conformance without a folder exits with 2' exits 2 "$run"
ok 'conformance of a missing folder exits with 1' refuses 1 'cannot read the folder' \
    "$run" "$work/none"
ok 'conformance of an empty folder exits with 1' \
    refuses 1 'no .safetensors file' "$run" "$work"
printf '\0\0\0' >"$work/short.safetensors"
ok 'conformance of a file that is not safetensors exits with 1' exits 1 "$run" "$work"
ok 'conformance names a file that is not safetensors' \
    grep -q 'short.safetensors.*FAILED' "$work/out"

ok 'the small vectors are within tolerance' within "$small"
ok 'conformance compares gradients' grep -q '^simclr.*grad_z1.*relative.ok' "$work/all"
ok 'conformance compares batches' \
    grep -q '^select.*spectral code.*ratio, at least 0.99.ok' "$work/all"
ok 'conformance compares the counts of EMC2 exactly' \
    grep -q '^emc2.*counts.0.relative.ok' "$work/all"
ok 'conformance compares text towers and ViT' \
    test "$(grep -c '\(bow\|clip_.*\|distilbert\|vit\).safetensors.gradients.*ok' \
    "$work/all")" = 5
ok 'the last line of conformance is the worst error' \
    bash -c "tail -n 1 '$work/all' | grep -q ^worst"
ok 'a tolerance of 1e-12 fails' exits 1 "$run" -t 1e-12 "$small"

mkdir "$work/other"
sed 's/"simclr/"no_one/' "$small/simclr_tau0.5_b4_d8.safetensors" \
    >"$work/other/simclr.safetensors"
ok 'conformance of a folder without known vectors exits with 1' \
    exits 1 "$run" "$work/other"
ok 'conformance reports an unknown file as skipped' grep -q 'skipped.*no_one' "$work/out"

while read -r file tensor how; do
    ok "conformance reports $how in $tensor of $file" damaged "$file" "$tensor" "$how"
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
    ok 'conformance compares augmented images' \
        grep -q '^augment.*hue.0.levels.ok' "$work/all"
else
    skip 'all vectors are within tolerance' "no $vectors"
fi
done_testing
