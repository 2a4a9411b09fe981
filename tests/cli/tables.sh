#!/usr/bin/env bash
# The tables of studies: differences paired by seeds, Student's t, Holm's correction over
# methods and measures, and how often a study without any difference has a verdict.  The
# reference numbers are from scipy.
# Not for sanitizers: only scripts.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
studies=${0%/*}/../../pipelines/studies
tuned=${0%/*}/../../pipelines/parts/tuned.sh

# rows MEASURE METHOD X... : prints results of a measure, seed by seed
rows() {
    local i
    for ((i = 3; i <= $#; i++)); do
        printf '%s\t%d\t%s\t%s\n' "$2" "$((i - 2))" "$1" "${!i}"
    done
}

# table MEASURE BASE [PRIMARY [PARTS]] : the table of results.tsv
table() {
    awk -F '\t' -v measure="$1" -v base="$2" -v format=%.4g \
        -v primary="${3-x}" -v parts="${4-1}" -f "$studies/verdict.awk" \
        -f "$studies/table.awk" "$work/results.tsv" | tee "$work/table"
}

# line PATTERN : a line of the table matches
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
ok 'a table of four methods' table x a
# p of x = .0000372, .790, .0716 with 4 degrees of freedom; of y = .0993,
# .00000336, .621
ok 'the smallest of three p-values counts three times' \
    line '^b +1\.234 +0\.092 +0\.22 +0\.031 +0\.000  beyond noise$'
ok 'the second p-value counts twice' \
    line '^d +1\.05 +0\.043 +0\.04 +0\.046 +0\.143  within noise$'
ok 'the largest p-value counts once' \
    line '^c +1\.016 +0\.073 +0\.006 +0\.059 +0\.790  within noise$'
ok 'the base has no comparison' line '^a +1\.01 +0\.074$'
ok "the table names Holm's correction and its comparisons" \
    line "Holm's correction for 3 comparisons;"
ok 'a table of two measures' table x a x,y
ok 'the third of six p-values counts four times' \
    line '^d .* 0\.287  within noise$'
ok 'the table prints six comparisons' line 'for 6 comparisons;'
ok 'a table of a study with two parts' table x a x 2
ok 'two parts double the number of comparisons' line '^d .* 0\.287  within noise$'
ok 'a table of a measure that is not primary' table y a x
ok 'a measure that is not primary has no verdict' line '^c +6\.04 +0\.082 +1 +0\.076$'
ok 'the table names the primary measure' line '^no verdict: this study judges x only$'

sed -i '/\t5\t/d' "$work/results.tsv"
ok 'a table of four seeds' table x a
ok 'four seeds give no verdict' line '^b +1\.225 +0\.1 +0\.23 +0\.046$'
ok 'the table says that five seeds are needed' \
    line '^no verdict: 4 seeds, and at least 5 are needed$'
ok 'the table has no warning about equal spreads' exits 1 grep beware "$work/table"
ok 'a table without a base' table x ''
ok 'a table without a base has no verdict' exits 1 grep -q 'noise\|verdict' "$work/table"

{
    rows x a 1 2 3 4 5
    rows x b 1 2 3 4 5
    rows x c 1 2 3 4 25
} >"$work/results.tsv"
ok 'a table of equal methods' table x a
ok 'equal methods do not differ' line '^b +3 +1\.6 +0 +0 +1\.000  within noise$'
ok 'the table warns about unequal spreads' \
    line '^beware: the spreads of c and a differ by more than 3 times$'

{
    rows x a .30 .31 .32
    rows x a-1 .33 .31 .30
    rows y a-1 1 2 3
    rows x ab .9 .9 .9
} >"$work/results.tsv"
"$tuned" "$work" x,y a >"$work/tuned"
ok 'tuned.sh tunes a method without the seed that it prints' \
    cmp "$work/tuned" <(printf 'tuned\t%s\t%s\t%s\n' 1 x .30 2 x .31 3 x .30 2 y 2 3 y 3)
ok 'tuned.sh prints a single method unchanged' cmp <("$tuned" "$work" x ab) \
    <(printf 'tuned\t%s\tx\t.9\n' 1 2 3)
sed -i '/\t[23]\t/d' "$work/results.tsv"
ok 'tuned.sh tunes nothing with one seed' cmp <("$tuned" "$work" x a) /dev/null

# null STUDIES METHODS SEEDS SPREADS [GAIN] : prints the share of studies with a verdict,
# for two measures with correlation .7 and methods that differ only in these spreads;
# GAIN is added to the last method
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

# Of 1,500 studies a share of .05 is at most .067, except once in a thousand times.
for case in '6 5 1 1 1 1 1 1' '6 8 1 1 1 1 1 1' '6 5 1 1 1 1 1 3' \
    '6 5 3 1 1 1 1 1' '3 8 3 1 1'; do
    read -r methods seeds spreads <<<"$case"
    found=$(null 1500 "$methods" "$seeds" "$spreads")
    ok "nothing is found in studies of nothing: $methods methods, $seeds seeds,\
 spreads $spreads" holds "$found < 0.067"
done
ok 'a real difference is found' \
    holds "$(null 300 4 8 '1 1 1 1' 3) > 0.9"
done_testing
