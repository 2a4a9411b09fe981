#!/usr/bin/env bash
# The tables of studies: differences paired by seeds, Student's t, Holm's
# correction.  Numbers to compare with are scipy's.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
table=${0%/*}/../../pipelines/studies/table.awk

# rows METHOD X... : results of the measure x, seed by seed
rows() {
    local i
    for ((i = 2; i <= $#; i++)); do
        printf '%s\t%d\tx\t%s\n' "$1" "$((i - 1))" "${!i}"
    done
}

# show BASE : the table of what is in results.tsv
show() {
    awk -F '\t' -v measure=x -v base="$1" -v format=%.4g -f "$table" \
        "$work/results.tsv" | tee "$work/table"
}

{
    rows a 1.0 1.1 0.9 1.0
    rows b 1.2 1.35 1.1 1.25
    rows c 1.02 1.11 0.96 0.93
    rows d 1.04 1.11 0.99 1.06
    rows e 1.09 1.19 1.02 1.2
    rows f 1.03 1.05 1.07 1.0
} >"$work/results.tsv"
ok 'of six methods' show a
# p = 1.696e-5, .8922, .1884, .003608, .3177, 15 degrees of freedom
ok 'the smallest of five probabilities counts five times' \
    grep -qE '^b .* 0\.2[23] +0\.000  beyond noise$' "$work/table"
ok 'the next one four times' \
    grep -qE '^e .* 0\.12 +0\.014  beyond noise$' "$work/table"
ok 'three times' grep -qE '^d .* 0\.05 +0\.565  within noise$' "$work/table"
ok 'twice' grep -qE '^f .* 0\.0?37?[58]? +0\.635  within noise$' "$work/table"
ok 'the largest as it is' \
    grep -qE '^c .* 0\.005 +0\.892  within noise$' "$work/table"
ok 'the base is not compared' grep -qE '^a +1 +0\.082$' "$work/table"
ok 'what any of five differences must exceed' \
    grep -q '5 comparisons; .* exceeds 0.11$' "$work/table"

{
    rows a 1.0 1.1 0.9
    rows b 1.2 1.35 1.1
    rows c 1.02 1.11 0.96
    rows d 1.09 1.19 1.02
} >"$work/results.tsv"
ok 'of an even number of degrees of freedom' show a
# p = 2.27e-5, .1543, .001614, 6 degrees
ok 'three times .001614 is not .005' \
    grep -qE '^d .* 0\.1 +0\.003  beyond noise$' "$work/table"
ok 'noise' grep -q '3 comparisons; .* exceeds 0.061$' "$work/table"

{
    rows a 1.0 1.1
    rows b 1.2 1.35
} >"$work/results.tsv"
ok 'of one degree' show a
ok 'one comparison is not corrected' \
    grep -qE '^b .* 0\.2[23] +0\.070  within noise$' "$work/table"

{
    rows a 1 2
    rows b 1 2
} >"$work/results.tsv"
ok 'of equal methods' show a
ok 'which do not differ' \
    grep -qE '^b .* 0 +1\.000  within noise$' "$work/table"
ok 'without a base' show ''
ok 'nothing is judged' \
    test "$(grep -cE 'noise' "$work/table")" = 0
done_testing
