#!/usr/bin/env bash
# Every study in its smallest form: it ends, has its table and pictures, and is
# not trained again when it is called again.  That of geometry has a test of its
# own.
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

# again NAME ARG... : the same table without any training
again() {
    local before
    before=$(cat "$work/$1/table.txt") || return
    study "$@" 2>"$work/said" >/dev/null || return
    test "$before" = "$(cat "$work/$1/table.txt")" || return
    ! grep 'steps,' "$work/said"
}

cat >"$work/alone" <<'END'
#!/usr/bin/env foil-run
# Nobody else has the folder from study to the first trial, nor from gather on.
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
ok 'calls that begin at once prepare one by one' \
    "$BIN/foil" run "$work/alone" -r "$work/study"
ok 'results are gathered' diff "$work/study/results.tsv" \
    <(printf 'a\t%d\tx\t1\n' 1 2 3 4 5)
names() {
    printf '%s\n' '1 1' 'primary ' 'operands ' 'embed ' 'select ' 'train ' \
        'negatives ' 'augment '
}
ok 'settings are lines of a name and a value' diff "$work/study/settings" <(names)
printf '1\n\n\n\n\n\n\n\n' >"$work/study/settings"
ok 'the same settings by an older version, without names' \
    "$BIN/foil" run "$work/alone" -r "$work/study"
ok 'are written with names' diff "$work/study/settings" <(names)
ok 'with other settings: 1' refuses 1 "'$work/study' holds a study with other settings" \
    "$BIN/foil" run "$work/alone" -r "$work/study" --train '--lr 1'
ok 'which stay as they were' diff "$work/study/settings" <(names)

cat >"$work/fails" <<'END'
#!/usr/bin/env foil-run
# A trial without a result, or one that fails when it has one.
#: option trial none|half none 'which one'
#: study
none() { :; }
half() {
    printf 'x\t1\n' >"$RUN/result.new"
    false
    say 'goes on'
}
study
trial "$TRIAL" "$TRIAL"
END
fails() {
    "$BIN/foil" run "$work/fails" -r "$work/failed" --trial "$1"
}
ok 'a trial without a result: 1' refuses 1 \
    "none/result.new' is empty: none has written no result" fails none
ok 'a trial that fails: 1' refuses 1 ': half$' fails half
ok 'ends there' test "$(grep -c 'continues' "$work/refuses.err") $(ls \
    "$work/failed/half")" = '0 result.new'
ok 'a trial that another call works at: 1' refuses 1 \
    "another foil run uses '.*/half'" flock "$work/failed/half" \
    "$BIN/foil" run "$work/fails" -r "$work/failed" --trial half

ok 'unknown method: 2' refuses 2 "no method 'x'" study small-batch \
    --methods x "${sets[@]}"

ok 'small batches' study small-batch --batch 8 --epochs 1 --images 80 --base dcl \
    --seeds 2 --methods simclr,dcl,emc2-fresh --train "$small" "${sets[@]}"
ok 'have no verdict with two seeds' \
    grep -q '^no verdict: 2 seeds, of 5 or more' "$work/out"
ok 'are compared with the method that is asked for' \
    grep -q '^probe .* - dcl ' "$work/small-batch/table.txt"
ok 'with every kind of proposal' study small-batch --batch 8 --epochs 1 \
    --images 80 --seeds 1 --methods emc2-once,emc2-exact,emc2-P1.5,emc2-A4,cache \
    -r "$work/kinds" --train "$small" "${sets[@]}"
ok 'are not trained again' again small-batch --batch 8 --epochs 1 --images 80 \
    --base dcl --seeds 2 --methods simclr,dcl,emc2-fresh --train "$small" "${sets[@]}"
ok 'and judged by nothing else afterwards: 1' refuses 1 'other settings' \
    study small-batch --batch 8 --epochs 1 --images 80 --primary 1-NN \
    --train "$small" "${sets[@]}"
ok 'with other settings: 1' refuses 1 'other settings' study small-batch \
    --batch 8 --epochs 2 --images 80 "${sets[@]}"
ok 'small batches by the clock' study small-batch --batch 8 --budget 1 \
    --images 80 --seeds 1 --methods simclr --train "$small" \
    -r "$work/clock" "${sets[@]}"

ok 'temperatures' study temperature --epochs 2 --batch 16 --factor 0.1 \
    --seeds 2 --methods rho-0.3-eta-0.3,simclr --train "$small" "${sets[@]}"
ok 'have a class in each line' grep -qE '^[^ ]+ +[0-9]+ +0\.[0-9]{4}$' \
    "$work/out"
ok 'are drawn' pictures temperature rho-0.3-eta-0.3-1/temperature
ok 'are not learnt again' again temperature --epochs 2 --batch 16 \
    --factor 0.1 --seeds 2 --methods rho-0.3-eta-0.3,simclr --train "$small" \
    "${sets[@]}"
ok 'encoders are compared with the tuned one' grep -q '^probe .* - tuned ' \
    "$work/temperature/table.txt"
ok 'go with the size of the class by so much' \
    grep -qE '^rho-0.3-eta-0.3 +-?[0-9.e-]+ +[0-9.e-]+$' \
    <(sed -n '/^spearman /,/^$/p' "$work/temperature/table.txt")

ok 'batch losses' study batch-loss --images 128 --batch 8 --epochs 1 \
    --trainer swap --train "$small" "${sets[0]}"
cp "$work/out" "$work/out.loss"
# shellcheck disable=SC2016 # of awk
ok 'of swapped batches are larger' awk '$1 == "swap" && $5 > 1.02 { n++ }
    END { exit n != 1 }' "$work/out"
# shellcheck disable=SC2016 # of awk
ok 'so are those of the hardest of ten random ones' awk '
    $1 == "osgd" && $5 > 1.02 { n++ } END { exit n != 1 }' "$work/out.loss"
ok 'are drawn' pictures batch-loss losses
ok 'no method plans for the encoder: 2' refuses 2 "no method 'x'" \
    study batch-loss -r "$work/planless" --images 128 --trainer x "${sets[0]}"

ok 'gradient norms' study gradient-norm --images 40 --linear-steps 40 \
    --conv-steps 20 --points 2 --seeds 1 --methods simclr,emc2-P1.5,cache \
    "${sets[0]}"
cp "$work/out" "$work/out.norms"
ok 'are compared seed by seed' grep -qE '^simclr / scale-free +seed 1$' \
    "$work/out.norms"
ok 'by the mean of the last weights, too' \
    grep -qE '^simclr / mean: scale-free +seed 1$' "$work/out.norms"
ok 'with the claim of the paper' \
    grep -q 'title "a hundred times below simclr"' \
    "$work/gradient-norm/linear/curves.gp"
ok 'and of the mean of weights' grep -q '^"simclr:mean"' \
    "$work/gradient-norm/linear/curves.tsv"
ok 'are drawn' pictures gradient-norm linear/curves conv/curves

ok 'tails' study tails --epochs 2 --batch 16 --factor 0.1 --anchors 100 --seeds 1 \
    --train "$small" "${sets[0]}"
ok 'are compared class by class' grep -qE '^seed 1( +-?[0-9.]+){4}$' "$work/out"
ok 'convergence' study convergence --images 40 --lengths 40,80 --points 4 --seeds 2 \
    --methods simclr,sogclr-.9,emc2-exact-bank "${sets[0]}"
cp "$work/out" "$work/out.slopes"
ok 'has the slope of each method' test "$(grep -cE \
    '^[a-z0-9.-]+ +-?[0-9.]+ \( *[0-9.]+\)$' "$work/out.slopes")" -eq 6
ok 'selection' study selection --epochs 2 --batch 8 --images 64 --pairs 32 \
    --seeds 2 --methods simclr-shuffle,simclr-swap,simclr-osgd --train "$small" \
    "${sets[@]}"
cp "$work/out" "$work/out.selection"
ok 'says what hardness costs' test "$(grep -cE '^(own (class|shown)|hardest pairs) +mean' \
    "$work/out.selection")" -ge 3
ok 'says the loss over all pairs' \
    grep -qE '^loss +mean' "$work/out.selection"
ok 'in equal time' grep -q '^equal time' "$work/out.selection"
ok 'for which random batches count as they are' \
    test "$(readlink "$work/selection/time/simclr-shuffle-1")" = \
    ../epochs/simclr-shuffle-1

ok 'selection on corrupted images' study selection --epochs 1 --batch 8 \
    --images 64 --seeds 1 --protocols epochs --corrupted 4 \
    --methods simclr-shuffle --train "$small" -r "$work/damaged" "${sets[@]}"
cp "$work/out" "$work/out.damaged"
ok 'of which each has 19 versions' \
    test "$("$BIN/foil-data" list "$work/damaged/damaged.tar" | wc -l)" = 77
ok 'finds some of them' grep -qE '^R@1 corrupted +mean' "$work/out.damaged"
ok 'selection on corrupted images of another' study selection --epochs 1 --batch 8 \
    --images 64 --seeds 1 --protocols epochs --versions "$work/damaged/damaged.tar" \
    --methods simclr-shuffle --train "$small" -r "$work/versions" "${sets[@]}"
ok 'finds as many in the same ones' diff \
    <(grep -EA 1 '^R@1 corrupted +mean' "$work/out.damaged") \
    <(grep -EA 1 '^R@1 corrupted +mean' "$work/out")

# images with captions, by small encoders
pair='--arch linear --text bow:8 --embed 8'
ok 'images and texts' study image-text --epochs 1 --batch 16 --size 16 \
    --seeds 2 --methods clip,siglip,sogclr_bimodal --train "$pair" "${sets[@]}"
cp "$work/out" "$work/printed"
ok 'judge the mean of recalls, and with two seeds nothing' \
    test "$(grep -c 'no verdict: what this study judges is r_mean' \
    "$work/printed") $(grep -c 'no verdict: 2 seeds' "$work/printed")" = '2 1'
ok 'both ways' test "$(grep -cE '^(TR|IR)@1 ' "$work/printed")" -eq 2
ok 'are not trained again' again image-text --epochs 1 --batch 16 --size 16 \
    --seeds 2 --methods clip,siglip,sogclr_bimodal --train "$pair" "${sets[@]}"
ok 'selection for images and texts' study image-text-selection --epochs 3 \
    --sizes 8,16 --size 16 --seeds 2 --train "$pair" "${sets[@]}"
cp "$work/out" "$work/printed"
for b in 8 16; do
    ok "batches of $b" grep -q "^160 images, batches of $b, 3 epochs:" \
        "$work/printed"
    for name in spectral swap swap-.5; do
        ok "are others by $name" exits 1 cmp -s "$work/image-text-selection/$b/"{\
shuffle,"$name"}-1/latest/model.safetensors
    done
done
done_testing
