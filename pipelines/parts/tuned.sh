#!/bin/bash
# usage: tuned.sh STUDY MEASURES NAME
#
# Results of a method `tuned`: with each seed those of NAME or NAME-..., by the
# best mean of the first of MEASURES over the other seeds, so that no choice depends on
# the result that it is judged by.  A single method is `tuned` without a choice.
set -eu
awk -F '\t' -v OFS='\t' -v measure="${2%%,*}" -v name="$3" '
    $1 == name || index($1, name "-") == 1 {
        line[++lines] = $0
        method[$1]
        seed[$2]
        if ($3 == measure)
            x[$1, $2] = $4
    }
    function best(but,    m, s, sum, n, mean, most, found) {
        for (m in method) {
            sum = n = 0
            for (s in seed)
                if (s != but && (m, s) in x) {
                    sum += x[m, s]
                    n++
                }
            mean = n ? sum / n : 0
            if (found == "" || mean > most || (mean == most && m < found)) {
                most = mean
                found = m
            }
        }
        return found
    }
    END {
        for (m in method)
            methods++
        for (s in seed)
            seeds++
        for (s in seed)
            chosen[s] = methods > 1 && seeds == 1 ? "" : best(s)
        for (i = 1; i <= lines; i++) {
            $0 = line[i]
            if ($1 == chosen[$2])
                print "tuned", $2, $3, $4
        }
    }' "$1/results.tsv"
