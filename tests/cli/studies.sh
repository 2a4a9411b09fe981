#!/usr/bin/env bash
# Every study in its smallest form: it succeeds, prints its table, draws its plots, and
# does not train again when it is repeated.  study-geometry.sh has that of geometry.
# Trains a study in a minute: for make test-studies, and CI
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/studies.sh
. "${0%/*}/../studies.sh"

for set in train test; do
    "$BIN/foil-data" generate -o "$work/$set.tar" -s "${#set}" 160 2>/dev/null
    "$BIN/foil-data" index "$work/$set.tar" 2>/dev/null
done
sets=("$work/train.tar" "$work/test.tar")
small='--arch ,width=4 --precision f32 --head 8'

# again NAME ARG... : repeated, the study prints the same table without training
again() {
    local before
    before=$(cat "$work/$1/table.txt") || return
    study "$@" 2>"$work/messages" >/dev/null || return
    test "$before" = "$(cat "$work/$1/table.txt")" || return
    ! grep 'steps,' "$work/messages"
}

cat >"$work/alone" <<'END'
#!/usr/bin/env foil-run
# The folder is locked from study to the first trial, and from gather on.
#: study
#: method a simclr
held() {
    ! flock -n "$1" true || fail "'$1' is open to all"
}
one() {
    flock -n "$STUDY/lock" true
    held "$RUN"
    printf 'x\t1\n' >"$RUN/result.new"
}
study 1
held "$STUDY/lock"
trials one
gather
held "$STUDY/lock"
END
ok 'studies that start together prepare one after the other' \
    "$BIN/foil" run "$work/alone" -r "$work/study"
ok 'results of trials are gathered' diff "$work/study/results.tsv" \
    <(printf 'a\t%d\tx\t1\n' 1 2 3 4 5)
names() {
    printf '%s\n' '1 1' 'primary ' 'operands ' 'embed ' 'select ' 'train ' \
        'negatives ' 'augment '
}
ok 'settings are lines of a name and a value' diff "$work/study/settings" <(names)
printf '1\n\n\n\n\n\n\n\n' >"$work/study/settings"
ok 'settings of an older version, without names, are accepted' \
    "$BIN/foil" run "$work/alone" -r "$work/study"
ok 'settings of an older version are rewritten with names' \
    diff "$work/study/settings" <(names)
ok 'other settings exit with 1' \
    refuses 1 "'$work/study' has a study with other settings" \
    "$BIN/foil" run "$work/alone" -r "$work/study" --train '--lr 1'
ok 'refused settings do not change the file' diff "$work/study/settings" <(names)

cat >"$work/fails" <<'END'
#!/usr/bin/env foil-run
# A trial without a result, or one that fails when it has one.
#: option trial none|half none 'which one'
#: study
none() { :; }
half() {
    printf 'x\t1\n' >"$RUN/result.new"
    false
    say 'continues'
}
study
trial "$TRIAL" "$TRIAL"
END
fails() {
    "$BIN/foil" run "$work/fails" -r "$work/failed" --trial "$1"
}
ok 'a trial without a result exits with 1' refuses 1 \
    "none/result.new' is empty: none has written no result" fails none
ok 'a trial that fails exits with 1' refuses 1 ': half$' fails half
ok 'a trial that fails runs no further command' \
    test "$(grep -c 'continues' "$work/refuses.err") $(ls \
    "$work/failed/half")" = '0 result.new'
ok 'a trial in use by another process exits with 1' refuses 1 \
    "another foil run uses '.*/half'" flock "$work/failed/half" \
    "$BIN/foil" run "$work/fails" -r "$work/failed" --trial half

ok 'an unknown method exits with 2' refuses 2 "no method 'x'" study small-batch \
    --methods x "${sets[@]}"

ok 'small-batch succeeds' study small-batch --batch 8 --epochs 1 --images 80 --base dcl \
    --seeds 2 --methods simclr,dcl,emc2-fresh --train "$small" "${sets[@]}"
ok 'two seeds give no verdict' \
    grep -q '^no verdict: 2 seeds, and at least 5' "$work/out"
ok '--base sets the method to compare with' \
    grep -q '^probe .* - dcl ' "$work/small-batch/table.txt"
ok 'small-batch trains every kind of proposals' study small-batch --batch 8 --epochs 1 \
    --images 80 --seeds 1 --methods emc2-once,emc2-exact,emc2-P1.5,emc2-A4,cache \
    -r "$work/kinds" --train "$small" "${sets[@]}"
ok 'small-batch does not train again' again small-batch --batch 8 --epochs 1 --images 80 \
    --base dcl --seeds 2 --methods simclr,dcl,emc2-fresh --train "$small" "${sets[@]}"
ok 'small-batch with another --primary exits with 1' refuses 1 'other settings' \
    study small-batch --batch 8 --epochs 1 --images 80 --primary 1-NN \
    --train "$small" "${sets[@]}"
ok 'small-batch with other settings exits with 1' \
    refuses 1 'other settings' study small-batch \
    --batch 8 --epochs 2 --images 80 "${sets[@]}"
ok 'small-batch --budget succeeds' study small-batch --batch 8 --budget 1 \
    --images 80 --seeds 1 --methods simclr --train "$small" \
    -r "$work/clock" "${sets[@]}"

ok 'minutes succeeds' study minutes --batch 8 --budget 1 --images 80 --tests 80 --seeds 1 \
    --methods fast,growing --train "--arch ,width=4 --precision f32" "${sets[@]}"
ok 'minutes compares its methods' grep -q '^processor ' "$work/minutes/table.txt"
ok 'minutes does not train again' again minutes --batch 8 --budget 1 --images 80 \
    --tests 80 --seeds 1 --methods fast,growing --train "--arch ,width=4 --precision f32" \
    "${sets[@]}"

ok 'temperature succeeds' study temperature --epochs 2 --batch 16 --factor 0.1 \
    --seeds 2 --methods rho-0.3-eta-0.3,simclr --train "$small" "${sets[@]}"
ok 'temperature prints a class in each line' grep -qE '^[^ ]+ +[0-9]+ +0\.[0-9]{4}$' \
    "$work/out"
ok 'temperature draws its plots' pictures temperature rho-0.3-eta-0.3-1/temperature
ok 'temperature does not train again' again temperature --epochs 2 --batch 16 \
    --factor 0.1 --seeds 2 --methods rho-0.3-eta-0.3,simclr --train "$small" \
    "${sets[@]}"
ok 'temperature compares encoders with the tuned one' grep -q '^probe .* - tuned ' \
    "$work/temperature/table.txt"
ok 'temperature prints the correlation with class sizes' \
    grep -qE '^rho-0.3-eta-0.3 +-?[0-9.e-]+ +[0-9.e-]+$' \
    <(sed -n '/^spearman /,/^$/p' "$work/temperature/table.txt")

ok 'batch-loss succeeds' study batch-loss --images 128 --batch 8 --epochs 1 \
    --trainer swap --train "$small" "${sets[0]}"
cp "$work/out" "$work/out.loss"
# shellcheck disable=SC2016 # of awk
ok 'swapped batches have larger losses' awk '$1 == "swap" && $5 > 1.02 { n++ }
    END { exit n != 1 }' "$work/out"
# shellcheck disable=SC2016 # of awk
ok 'the hardest of ten random batches have larger losses' awk '
    $1 == "osgd" && $5 > 1.02 { n++ } END { exit n != 1 }' "$work/out.loss"
# shellcheck disable=SC2016 # of awk
ok 'the gradient of swapped batches is farther from that of all images' awk '
    $1 == "random" { all = $6 } $1 == "swap" && $6 > .1 && $6 < all { n++ }
    END { exit n != 1 }' "$work/out.loss"
ok 'batch-loss draws its plots' pictures batch-loss losses
ok 'batch-loss with an unknown --trainer exits with 2' refuses 2 "no method 'x'" \
    study batch-loss -r "$work/planless" --images 128 --trainer x "${sets[0]}"

ok 'gradient-norm succeeds' study gradient-norm --images 40 --linear-steps 40 \
    --conv-steps 20 --points 2 --seeds 1 --methods simclr,emc2-P1.5,cache \
    "${sets[0]}"
cp "$work/out" "$work/out.norms"
ok 'gradient-norm compares methods seed by seed' \
    grep -qE '^simclr / scale-free +seed 1$' \
    "$work/out.norms"
ok 'gradient-norm compares the means of the last weights' \
    grep -qE '^simclr / mean: scale-free +seed 1$' "$work/out.norms"
ok 'the plot of gradient-norm has the claim of the paper' \
    grep -q 'title "a hundred times below simclr"' \
    "$work/gradient-norm/linear/curves.gp"
ok 'the curves of gradient-norm have the means of weights' grep -q '^"simclr:mean"' \
    "$work/gradient-norm/linear/curves.tsv"
ok 'gradient-norm draws its plots' pictures gradient-norm linear/curves conv/curves

ok 'tails succeeds' \
    study tails --epochs 2 --batch 16 --factor 0.1 --anchors 100 --seeds 1 \
    --train "$small" "${sets[0]}"
ok 'tails compares methods class by class' grep -qE '^seed 1( +-?[0-9.]+){4}$' "$work/out"
ok 'convergence succeeds' \
    study convergence --images 40 --lengths 40,80 --points 4 --seeds 2 \
    --methods simclr,sogclr-.9,emc2-exact-bank "${sets[0]}"
cp "$work/out" "$work/out.slopes"
ok 'convergence prints the slope of each method' test "$(grep -cE \
    '^[a-z0-9.-]+ +-?[0-9.]+ \( *[0-9.]+\)$' "$work/out.slopes")" -eq 6
ok 'selection succeeds' study selection --epochs 2 --batch 8 --images 64 --pairs 32 \
    --seeds 2 --methods simclr-shuffle,simclr-swap,simclr-osgd --train "$small" \
    "${sets[@]}"
cp "$work/out" "$work/out.selection"
ok 'selection prints the cost of hardness' \
    test "$(grep -cE '^(same class (weight|share)|hardest pairs) +mean' \
    "$work/out.selection")" -ge 3
ok 'selection prints the loss over all pairs' \
    grep -qE '^loss +mean' "$work/out.selection"
ok 'selection compares at equal time' grep -q '^equal time' "$work/out.selection"
ok 'selection reuses random batches for equal time' \
    test "$(readlink "$work/selection/time/simclr-shuffle-1")" = \
    ../epochs/simclr-shuffle-1

ok 'selection --corrupted succeeds' study selection --epochs 1 --batch 8 \
    --images 64 --seeds 1 --protocols epochs --corrupted 4 \
    --methods simclr-shuffle --train "$small" -r "$work/damaged" "${sets[@]}"
cp "$work/out" "$work/out.damaged"
ok 'selection --corrupted has 19 versions of each image' \
    test "$("$BIN/foil-data" list "$work/damaged/damaged.tar" | wc -l)" = 77
ok 'selection --corrupted prints R@1 of the versions' \
    grep -qE '^R@1 corrupted +mean' "$work/out.damaged"
ok 'selection --versions succeeds' study selection --epochs 1 --batch 8 \
    --images 64 --seeds 1 --protocols epochs --versions "$work/damaged/damaged.tar" \
    --methods simclr-shuffle --train "$small" -r "$work/versions" "${sets[@]}"
ok 'selection --versions has the same R@1' diff \
    <(grep -EA 1 '^R@1 corrupted +mean' "$work/out.damaged") \
    <(grep -EA 1 '^R@1 corrupted +mean' "$work/out")

# images with captions, by small encoders
pair='--arch linear --text bow:8 --embed 8'
ok 'image-text succeeds' study image-text --epochs 1 --batch 16 --size 16 \
    --seeds 2 --methods clip,siglip,sogclr_bimodal --train "$pair" "${sets[@]}"
cp "$work/out" "$work/printed"
ok 'image-text compares r_mean only, without a verdict for two seeds' \
    test "$(grep -c 'no verdict: this study judges r_mean only' \
    "$work/printed") $(grep -c 'no verdict: 2 seeds' "$work/printed")" = '2 1'
ok 'image-text prints R@1 of both directions' \
    test "$(grep -cE '^(TR|IR)@1 ' "$work/printed")" -eq 2
ok 'image-text does not train again' again image-text --epochs 1 --batch 16 --size 16 \
    --seeds 2 --methods clip,siglip,sogclr_bimodal --train "$pair" "${sets[@]}"
ok 'image-text-selection succeeds' study image-text-selection --epochs 3 \
    --sizes 8,16 --size 16 --seeds 2 --train "$pair" "${sets[@]}"
cp "$work/out" "$work/printed"
for b in 8 16; do
    ok "image-text-selection prints batches of $b" \
        grep -q "^160 images, batches of $b, 3 epochs:" \
        "$work/printed"
    for name in spectral swap swap-.5; do
        ok "$name and shuffle give different encoders, batches of $b" \
            exits 1 cmp -s "$work/image-text-selection/$b/"{\
shuffle,"$name"}-1/latest/model.safetensors
    done
done
done_testing
