#!/usr/bin/env bash
# One processor as if it were another: FOIL_ISA limits the instructions of tools;
# --precision auto and resumed runs follow it.
# Mostly waits, 20 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
unset FOIL_ISA ONEDNN_MAX_CPU_ISA
train=$BIN/foil-train

# bound LEVEL COMMAND... : with FOIL_ISA=LEVEL
bound() {
    FOIL_ISA=$1 "${@:2}"
}

levels=() top=x86-64
for level in x86-64 x86-64-v3 x86-64-v4; do
    if bound "$level" "$train" --list objectives >/dev/null 2>&1; then
        levels+=("$level") top=$level
    else
        ok "$level above the processor's level exits with 2" refuses 2 \
            "'$level', and this processor has x86-64" \
            bound "$level" "$train" --list objectives
    fi
done
echo "# this processor has ${levels[*]}"
ok 'an unknown FOIL_ISA exits with 2' refuses 2 \
    "FOIL_ISA is 'avx2': want x86-64, x86-64-v3 or x86-64-v4" \
    bound avx2 "$BIN/foil-data" info x
ok '--help ignores an unknown FOIL_ISA' bound avx2 "$train" --help

data=$work/set.tar select_with=(-b 8)
"$BIN/foil-data" generate -o "$data" --size 24 32 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null
augment_with=(--size 16)
for level in "${levels[@]}"; do
    bound "$level" "$BIN/foil-augment" --sheet "$work/$level.png" "$data" 2>/dev/null
    ok "$level: views are the same, bit for bit" cmp "$work/$level.png" "$work/x86-64.png"
done

# learns LEVEL RUN OPTION... : trains two steps
learns() {
    bound "$1" trained "$work/$2" --steps 2 --warmup 0 "${@:3}" 2>"$work/$2.err"
}
net=(--arch resnet8,width=16 --head 8)
goes_on=(--resume --steps 4)

for level in "${levels[@]}"; do
    ok "$level: --precision auto trains" learns "$level" "$level" "${net[@]}" \
        --precision auto
    ok "$level: --precision auto reports its choice" \
        has_line '--precision auto: (bf16|f32)' "$work/$level.err"
    precision=${BASH_REMATCH[1]:-none}
    ok "$level: the checkpoint has that precision" jq -e \
        ".options.precision == \"$precision\"" "$work/$level/latest/config.json"
    echo "# $level: $precision"
    ok "$level: --resume with --precision auto continues" \
        bound "$level" trained "$work/$level" "${goes_on[@]}" \
        --precision auto
    ok "$level: --resume without --precision continues" \
        bound "$level" trained "$work/$level" --resume \
        --steps 6
done
ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 learns "$top" tileless "${net[@]}" --precision auto
ok 'ONEDNN_MAX_CPU_ISA disables AMX' \
    jq -e '.engine.table | test("amx") | not' "$work/tileless/latest/config.json"
ok '--precision auto is f32 without bf16 instructions' \
    has_line 'auto: f32, for this processor' "$work/x86-64.err"
ok '--precision bf16 without bf16 instructions exits with 2' \
    refuses 2 'use --precision f32, or auto' \
    bound x86-64 "$train" -r "$work/no" "${net[@]}" --precision bf16
ok '--precision auto trains an encoder without bf16' \
    learns "$top" linear --arch linear --head 8 \
    --precision auto
ok '--precision auto is f32 for an encoder without bf16' \
    has_line '--precision auto: f32' "$work/linear.err"
ok 'the algorithms are those of the level' \
    jq -e '.engine.table | test("avx|amx|ref:") | not' "$work/x86-64/latest/config.json"

if [[ $top == x86-64 ]]; then
    skip 'a run on another processor' 'no AVX2, nothing to be bound to'
    done_testing
fi
ok '--resume on another level exits with 1' refuses 1 \
    "as x86-64', the checkpoint is from .*: --override processor continues" \
    bound x86-64 "$train" -r "$work/$top" --resume
ok 'a refused --resume changes nothing' test "$(steps "$top")" -eq 6
bound "$top" "$BIN/foil" run cifar "$data" "$data" -r "$work/run" --batch 8 \
    --epochs 9 --threads 1 --augment '--size 16' \
    --train '--steps 2 --arch resnet8 --warmup 0' >"$work/run.out" 2>"$work/run.err"
ok 'a pipeline takes bf16 if it is faster' has_line 'auto: (bf16|f32)' "$work/run.err"
ok '--resume of a pipeline on another level exits with 1' refuses 1 \
    '--override processor continues' \
    bound x86-64 "$BIN/foil" run --resume -r "$work/run"
ok '--override processor resumes on another level' \
    bound x86-64 trained "$work/$top" --resume --steps 8 \
    --override processor --override precision --precision f32
ok 'the checkpoint has the other level' \
    jq -e '.engine.processor | endswith(" as x86-64")' \
    "$work/$top/latest/config.json"

if [[ $top != x86-64-v4 ]]; then
    skip 'an encoder of bf16 without bf16 instructions' 'no AVX-512'
    done_testing
fi
learns x86-64-v4 half "${net[@]}" --precision bf16
ok 'a bf16 run on a level without bf16 exits with 1' refuses 1 'bfloat16 needs' \
    bound x86-64-v3 "$train" -r "$work/half" --resume --override processor
for level in "${levels[@]}"; do
    ok "$level: foil-embed reads an encoder of bf16" bound "$level" "$BIN/foil-embed" \
        -o "$work/$level.npy" "$work/half" "$data"
done
ok 'foil-embed reports that features are f32' \
    has_line 'features of f32: .* trained in bf16' \
    <(bound x86-64-v3 "$BIN/foil-embed" -o "$work/again.npy" "$work/half" "$data" 2>&1)
done_testing
