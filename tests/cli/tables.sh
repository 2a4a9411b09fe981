#!/usr/bin/env bash
# The tables of studies: differences paired by seeds, Student's t, Holm's
# correction over methods and measures, and how often a study in which nothing
# differs has a verdict.  Numbers to compare with are scipy's.
# Not for sanitizers: scripts alone.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
studies=${0%/*}/../../pipelines/studies
tuned=${0%/*}/../../pipelines/parts/tuned.sh

# rows MEASURE METHOD X... : results of a measure, seed by seed
rows() {
    local i
    for ((i = 3; i <= $#; i++)); do
        printf '%s\t%d\t%s\t%s\n' "$2" "$((i - 2))" "$1" "${!i}"
    done
}

# table MEASURE BASE [PRIMARY [PARTS]] : of what is in results.tsv
table() {
    awk -F '\t' -v measure="$1" -v base="$2" -v format=%.4g \
        -v primary="${3-x}" -v parts="${4-1}" -f "$studies/verdict.awk" \
        -f "$studies/table.awk" "$work/results.tsv" | tee "$work/table"
}

# line PATTERN : of the table
line() {
    cat "$work/table"
    grep -qE -- "$1" "$work/table"
}

{
    rows x a 1.0 1.1 0.9 1.0 1.05
    rows x b 1.2 1.35 1.1 1.25 1.27
    rows x c 1.02 1.11 0.96 0.93 1.06
    rows x d 1.04 1.11 0.99 1.06 1.05
    rows y a 5.0 5.1 5.2 5.0 4.9
    rows y b 5.1 5.1 5.3 5.2 4.9
    rows y c 6.0 6.15 6.1 6.0 5.95
    rows y d 5.0 5.0 5.3 5.1 4.9
} >"$work/results.tsv"
ok 'of four methods' table x a
# p of x = .0000372, .790, .0716 with 4 degrees of freedom; of y = .0993,
# .00000336, .621
ok 'the smallest of three probabilities counts three times' \
    line '^b +1\.234 +0\.092 +0\.22 +0\.031 +0\.000  beyond noise$'
ok 'the next one twice' \
    line '^d +1\.05 +0\.043 +0\.04 +0\.046 +0\.143  within noise$'
ok 'the largest as it is' \
    line '^c +1\.016 +0\.073 +0\.006 +0\.059 +0\.790  within noise$'
ok 'the base is not compared' line '^a +1\.01 +0\.074$'
ok 'what was corrected is said' line "Holm's correction for 3 comparisons;"
ok 'two measures are corrected together' table x a x,y
ok 'of six probabilities the third smallest counts four times' \
    line '^d .* 0\.287  within noise$'
ok 'and six comparisons are said' line 'for 6 comparisons;'
ok 'two parts of a study' table x a x 2
ok 'count twice' line '^d .* 0\.287  within noise$'
ok 'a measure that is not the primary one' table y a x
ok 'has no verdict' line '^c +6\.04 +0\.082 +1 +0\.076$'
ok 'and says why' line '^no verdict: what this study judges is x$'

sed -i '/\t5\t/d' "$work/results.tsv"
ok 'of four seeds' table x a
ok 'there is no verdict' line '^b +1\.225 +0\.1 +0\.23 +0\.046$'
ok 'which five seeds would have' \
    line '^no verdict: 4 seeds, of 5 or more that it takes$'
ok 'no spread is three times another' exits 1 grep beware "$work/table"
ok 'without a base' table x ''
ok 'nothing is judged' exits 1 grep -q 'noise\|verdict' "$work/table"

{
    rows x a 1 2 3 4 5
    rows x b 1 2 3 4 5
    rows x c 1 2 3 4 25
} >"$work/results.tsv"
ok 'of equal methods' table x a
ok 'which do not differ' line '^b +3 +1\.6 +0 +0 +1\.000  within noise$'
ok 'unequal spreads are said' \
    line '^beware: the spreads of c and a differ by more than 3 times$'

{
    rows x a .30 .31 .32
    rows x a-1 .33 .31 .30
    rows y a-1 1 2 3
    rows x ab .9 .9 .9
} >"$work/results.tsv"
"$tuned" "$work" x,y a >"$work/tuned"
ok 'a method is tuned by all seeds but the one that it is judged by' \
    cmp "$work/tuned" <(printf 'tuned\t%s\t%s\t%s\n' 1 x .30 2 x .31 3 x .30 2 y 2 3 y 3)
ok 'and one by itself as it is' cmp <("$tuned" "$work" x ab) \
    <(printf 'tuned\t%s\tx\t.9\n' 1 2 3)
sed -i '/\t[23]\t/d' "$work/results.tsv"
ok 'one seed tunes nothing' cmp <("$tuned" "$work" x a) /dev/null

# null STUDIES METHODS SEEDS SPREADS : the share of studies with a verdict,
# where two measures, of correlation .7, of methods that differ in nothing but
# in these spreads are judged; GAIN is what the last method has more
null() {
    awk -v studies="$1" -v methods="$2" -v seeds="$3" -v spreads="$4" \
        -v gain="${5-0}" -f "$studies/verdict.awk" -f <(cat <<'AWK'
function normal() {
    return sqrt(-2 * log(1 - rand())) * cos(2 * atan2(0, -1) * rand())
}
function draw(    i, j, common, both, k) {
    for (j = 1; j <= seeds; j++) {
        common = normal()
        for (i = 1; i <= methods; i++) {
            both = normal()
            for (k = 1; k <= 2; k++)
                x["m" k, i, j] = common + (i == methods ? gain : 0) + \
                    spread[i] * (sqrt(0.7) * both + sqrt(0.3) * normal())
        }
    }
}
BEGIN {
    srand(1)
    split(spreads, spread, " ")
    for (i = 1; i <= methods; i++)
        method[i] = i
    for (j = 1; j <= seeds; j++)
        seed[j] = j
    for (; s < studies; s++) {
        draw()
        split("", corrected)
        judge("m1,m2", 1, 1, corrected)
        any = 0
        for (key in corrected)
            any = any || corrected[key] < 0.05
        hits += any
    }
    print hits / studies
}
AWK
)
}

# Of 1,500 studies a share of .05 is .067 at most, but once in a thousand times.
for case in '6 5 1 1 1 1 1 1' '6 8 1 1 1 1 1 1' '6 5 1 1 1 1 1 3' \
    '6 5 3 1 1 1 1 1' '3 8 3 1 1'; do
    read -r methods seeds spreads <<<"$case"
    found=$(null 1500 "$methods" "$seeds" "$spreads")
    ok "nothing is found in studies of nothing: $methods methods, $seeds seeds,\
 spreads $spreads" holds "$found < 0.067"
done
ok 'what is there is found' \
    holds "$(null 300 4 8 '1 1 1 1' 3) > 0.9"
done_testing
